//! Texture coordinates: the primvar that a texture reads, and the transform between them.

use super::{
    Notes,
    network::{Feed, Node},
    textures::Kind,
    wire::numbers,
};
use glam::{Affine2, Mat2, Vec2};

/// Shaders between a texture and its primvar. More of them are a cycle.
const MAX_DEPTH: usize = 32;

/// Texture coordinates of a mesh, transformed.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// Name of the primvar; empty for the mesh's first set.
    pub uvs: String,
    /// `picture_uv = transform · mesh_uv`.
    pub transform: Affine2,
}

impl Coordinates {
    /// The coordinates that feed an input; the mesh's first set if nothing does.
    pub fn of(feed: Option<Feed>, notes: &mut Notes) -> Self {
        let mut transform = Affine2::IDENTITY;
        let mut next = feed;
        for _ in 0..MAX_DEPTH {
            let node = match next {
                None => return Self { uvs: String::new(), transform },
                Some(Feed::Value(_, _, value)) => return Self::constant(transform, numbers(&value)),
                Some(Feed::Output(node, _)) => node,
            };
            match step(&node) {
                Step::Primvar(uvs) => return Self { uvs, transform },
                Step::Transform(inner, input) => {
                    transform *= inner;
                    next = node.input(input);
                }
                Step::Constant(value) => return Self::constant(transform, Some(value)),
                Step::Unknown => {
                    notes.unknown(&node);
                    return Self { uvs: String::new(), transform };
                }
            }
        }
        Self { uvs: String::new(), transform: Affine2::IDENTITY }
    }

    /// The same coordinates everywhere.
    fn constant(transform: Affine2, value: Option<[f32; 4]>) -> Self {
        let [x, y, ..] = value.unwrap_or([0.0; 4]);
        let everywhere = Affine2::from_mat2_translation(Mat2::ZERO, Vec2::new(x, y));
        Self { uvs: String::new(), transform: transform * everywhere }
    }
}

/// What a shader does with coordinates.
enum Step {
    /// Reads this primvar.
    Primvar(String),
    /// Transforms the coordinates of the input with this name.
    Transform(Affine2, &'static str),
    /// Has this value everywhere.
    Constant([f32; 4]),
    /// Something else.
    Unknown,
}

fn step(node: &Node) -> Step {
    let kind = Kind::of(&node.id);
    let two = |name: &str, default: f32| two(node, name, default);
    let one = |name: &str| one(node, name);
    let affine = Affine2::from_scale_angle_translation;
    let scaled = |scale: Vec2| affine(scale, 0.0, Vec2::ZERO);
    match kind.name {
        "UsdPrimvarReader" | "geompropvalue" | "user_data" => {
            let name = ["varname", "geomprop", "attribute"].iter().find_map(|name| node.text(name));
            Step::Primvar(name.unwrap_or_default())
        }
        "texcoord" => match one("index") as u32 {
            0 => Step::Primvar(String::new()),
            index => Step::Primvar(format!("st{index}")),
        },
        "UsdTransform2d" => {
            Step::Transform(affine(two("scale", 1.0), one("rotation").to_radians(), two("translation", 0.0)), "in")
        }
        "place2d" => Step::Transform(place(node), "texcoord"),
        // MaterialX turns coordinates clockwise.
        "rotate2d" => Step::Transform(Affine2::from_angle(-one("amount").to_radians()), "in"),
        "multiply" | "divide" | "add" | "subtract" => {
            let (constant, input) = match node.numbers("in2") {
                Some([x, y, ..]) => (Vec2::new(x, y), "in1"),
                None => (two("in1", 0.0), "in2"),
            };
            match kind.name {
                "multiply" => Step::Transform(scaled(constant), input),
                "divide" if input == "in1" => Step::Transform(scaled(inverse(constant)), input),
                "add" => Step::Transform(Affine2::from_translation(constant), input),
                "subtract" if input == "in1" => Step::Transform(Affine2::from_translation(-constant), input),
                "subtract" => Step::Transform(affine(Vec2::NEG_ONE, 0.0, constant), input),
                _ => Step::Unknown,
            }
        }
        "dot" | "convert" | "swizzle" => Step::Transform(Affine2::IDENTITY, "in"),
        "constant" => Step::Constant(node.numbers("value").unwrap_or([0.0; 4])),
        _ => Step::Unknown,
    }
}

/// ND_place2d: around its pivot, divided by `scale`, turned clockwise by `rotate` degrees, minus `offset`; with `operationorder` 1 in the
/// reverse order.
fn place(node: &Node) -> Affine2 {
    let [pivot, scale, offset] = [("pivot", 0.0), ("scale", 1.0), ("offset", 0.0)].map(|(name, x)| two(node, name, x));
    placed(pivot, inverse(scale), -one(node, "rotate"), -offset, one(node, "operationorder") == 1.0)
}

/// The coordinates of the images of glTF (KHR_texture_transform), whose v points downwards from a pivot at the top.
pub fn gltf_place(node: &Node) -> Affine2 {
    let pivot = node.numbers("pivot").map_or(Vec2::Y, |[x, y, ..]| Vec2::new(x, y));
    let [scale, offset] = [("scale", 1.0), ("offset", 0.0)].map(|(name, x)| two(node, name, x));
    placed(pivot, scale, one(node, "rotate"), Vec2::new(offset.x, -offset.y), one(node, "operationorder") == 1.0)
}

/// A scale, a turn in degrees and a shift around a pivot, in this order or the reverse one.
fn placed(pivot: Vec2, scale: Vec2, degrees: f32, shift: Vec2, reverse: bool) -> Affine2 {
    let scale = Affine2::from_scale(scale);
    let turn = Affine2::from_angle(degrees.to_radians());
    let shift = Affine2::from_translation(shift);
    let inner = if reverse { scale * turn * shift } else { shift * turn * scale };
    Affine2::from_translation(pivot) * inner * Affine2::from_translation(-pivot)
}

fn two(node: &Node, name: &str, default: f32) -> Vec2 {
    node.numbers(name).map_or(Vec2::splat(default), |[x, y, ..]| Vec2::new(x, y))
}

fn one(node: &Node, name: &str) -> f32 {
    node.numbers(name).map_or(0.0, |value| value[0])
}

/// One over each component, and 1 for 0.
fn inverse(scale: Vec2) -> Vec2 {
    let one = |s: f32| if s == 0.0 { 1.0 } else { 1.0 / s };
    Vec2::new(one(scale.x), one(scale.y))
}
