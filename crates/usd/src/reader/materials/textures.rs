//! Shaders that compute values: textures, readers of primvars, and arithmetic with constants.
//!
//! Shaders of USD, of MaterialX (`ND_…`, as they appear in prims) and of Arnold are covered by one table of names. A shader that the table does
//! not have passes on its first input that has a value, and is counted.

use super::{
    Notes,
    coordinates::{Coordinates, gltf_place},
    network::{Feed, Node},
    spaces::ColorSpace,
    wire::{Wire, numbers},
};
use crate::{
    NONE, Read, TexelSpace, WrapMode,
    reader::{pictures::Pictures, values::Values},
};
use glam::Affine2;
use openusd::usd::Prim;

/// Shaders that one material may evaluate, counted with repetitions. It bounds networks that branch and join.
const BUDGET: u32 = 2000;
/// Operations and pictures of one value.
const LARGEST: usize = 4000;
/// Shaders between an input and a texture. More of them are a cycle.
const MAX_DEPTH: u32 = 64;

/// Evaluates the inputs of one material.
pub struct Evaluator<'a> {
    /// What could not be evaluated.
    pub notes: &'a mut Notes,
    values: &'a Values,
    pictures: &'a Pictures,
    budget: u32,
    depth: u32,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for one material.
    pub fn new(values: &'a Values, pictures: &'a Pictures, notes: &'a mut Notes) -> Self {
        Self { notes, values, pictures, budget: BUDGET, depth: 0 }
    }

    /// The value of a shader's input. `None` if it has none that can be computed; its default is used then.
    pub fn input(&mut self, node: &Node, name: &str) -> Option<Wire> {
        self.feed(node.input(name)?)
    }

    /// The value that feeds an input.
    pub fn feed(&mut self, feed: Feed) -> Option<Wire> {
        let wire = match feed {
            Feed::Value(prim, name, value) => {
                self.notes.check_animation(self.values, &prim, &name);
                let value = numbers(&value)?;
                Wire::Constant(self.color_space(&prim, &name).map_or(value, |space| space.decode(value)))
            }
            Feed::Output(node, output) => self.output(&node, &output)?,
        };
        wire.is_finite().then_some(wire)
    }

    /// The value of a shader's output.
    fn output(&mut self, node: &Node, output: &str) -> Option<Wire> {
        if self.budget == 0 || self.depth == MAX_DEPTH {
            self.notes.cycle(node);
            return None;
        }
        self.budget -= 1;
        self.depth += 1;
        let wire = self.shader(node, output);
        self.depth -= 1;
        wire
    }

    fn shader(&mut self, node: &Node, output: &str) -> Option<Wire> {
        let kind = Kind::of(&node.id);
        let wire = match kind.name {
            "UsdUVTexture" => self.uv_texture(node),
            "UsdPrimvarReader" | "geompropvalue" | "geompropvalueuniform" | "user_data" | "geomcolor" => {
                self.primvar(node, &kind)
            }
            "image" | "tiledimage" | "gltf_image" | "gltf_colorimage" => self.image(node, &kind),
            "arnold:image" => self.arnold_image(node),
            "constant" => self.input(node, "value"),
            "arnold:flat" => self.input(node, "color"),
            "normalmap" | "gltf_normalmap" => self.normal_map(node),
            // Maps of heights, and normals in world space: those of the mesh stay.
            "bump" | "heighttonormal" | "hextilednormalmap" => {
                self.notes.left_out(node, &format!("the relief of {}", node.id));
                return None;
            }
            "normal" | "tangent" | "bitangent" => return None,
            "arnold:normal_map" => self.input(node, "input").map(|wire| wire.affine([2.0; 4], [-1.0; 4])),
            _ => match self.computed(node, &kind) {
                Ok(wire) => wire,
                Err(_) => {
                    self.notes.unknown(node);
                    self.first_value(node)
                }
            },
        }?;
        if wire.size() > LARGEST {
            self.notes.cycle(node);
            return None;
        }
        Some(match channel_of(output) {
            Some(channel) => wire.channel(channel),
            None => wire,
        })
    }

    /// UsdUVTexture.
    fn uv_texture(&mut self, node: &Node) -> Option<Wire> {
        let four = |name: &str, default: [f32; 4]| node.numbers(name).unwrap_or(default);
        let space = match node.text("sourceColorSpace").as_deref() {
            Some("raw") => self.space(node, "raw"),
            Some("sRGB") => self.space(node, "srgb"),
            _ => None,
        };
        let read = Read {
            scale: four("scale", [1.0; 4]),
            bias: four("bias", [0.0; 4]),
            wrap: [wrap(node.text("wrapS").as_deref()), wrap(node.text("wrapT").as_deref())],
            ..plain()
        };
        self.read(node, ["file", "st", "fallback"], read, space)
    }

    /// The images of MaterialX. Those of single numbers are the first channel.
    fn image(&mut self, node: &Node, kind: &Kind) -> Option<Wire> {
        let is_color = kind.result.starts_with("color") || kind.name == "gltf_colorimage";
        let is_gltf = kind.name.starts_with("gltf_");
        let read = Read {
            transform: if is_gltf { gltf_place(node) } else { tiling(node) },
            wrap: [wrap(node.text("uaddressmode").as_deref()), wrap(node.text("vaddressmode").as_deref())],
            space: if is_color { TexelSpace::Auto } else { TexelSpace::Raw },
            ..plain()
        };
        let wire = self.read(node, ["file", "texcoord", "default"], read, None)?;
        let wire = if kind.result.starts_with("float") { wire.channel(0) } else { wire };
        match kind.name {
            "gltf_image" => wire.product(self.or(node, "factor", 1.0)),
            "gltf_colorimage" => wire.product(self.or(node, "color", 1.0)),
            _ => Some(wire),
        }
    }

    /// Arnold's image, whose coordinates are those of the mesh with factors and offsets.
    fn arnold_image(&mut self, node: &Node) -> Option<Wire> {
        let one = |name: &str, default: f32| node.numbers(name).map_or(default, |value| value[0]);
        let scale = glam::vec2(one("sscale", 1.0), one("tscale", 1.0));
        let offset = glam::vec2(one("soffset", 0.0), one("toffset", 0.0));
        let read = Read {
            scale: node.numbers("multiply").unwrap_or([1.0; 4]),
            bias: node.numbers("offset").map_or([0.0; 4], |[r, g, b, _]| [r, g, b, 0.0]),
            uvs: node.text("uvset").unwrap_or_default(),
            transform: Affine2::from_scale_angle_translation(scale, 0.0, offset),
            wrap: [wrap(node.text("swrap").as_deref()), wrap(node.text("twrap").as_deref())],
            ..plain()
        };
        let space = node.text("color_space").and_then(|name| self.space(node, &name));
        self.read(node, ["filename", "uvcoords", "missing_texture_color"], read, space)
    }

    /// Completes `read` with the picture, its coordinates and its fallback, from the inputs with these names.
    fn read(
        &mut self,
        node: &Node,
        [file, coordinates, fallback]: [&str; 3],
        read: Read,
        space: Option<ColorSpace>,
    ) -> Option<Wire> {
        let fallback = node.numbers(fallback);
        // Only colours have a colour space.
        let is_color = read.space == TexelSpace::Auto;
        let (picture, named) = match node.input(file) {
            Some(Feed::Value(prim, name, _)) => {
                let named = if is_color { self.color_space(&prim, &name) } else { None };
                (self.pictures.add(self.values, &prim, &name), named)
            }
            _ => (NONE, None),
        };
        if picture == NONE {
            return Some(Wire::Constant(fallback?).affine(read.scale, read.bias));
        }
        let Coordinates { uvs, transform } = Coordinates::of(node.input(coordinates), self.notes);
        let space = space.or(named);
        let texels = Wire::Picture(Read {
            picture,
            fallback: fallback.unwrap_or(read.fallback),
            uvs: if uvs.is_empty() { read.uvs } else { uvs },
            transform: read.transform * transform,
            space: space.map_or(read.space, |space| space.texels),
            scale: [1.0; 4],
            bias: [0.0; 4],
            ..read
        });
        let linear = match space {
            Some(space) => space.convert(texels),
            None => texels,
        };
        Some(linear.affine(read.scale, read.bias))
    }

    /// The picture that an input of a surface names, over the mesh's first set of texture coordinates.
    pub fn picture(&mut self, node: &Node, name: &str) -> Option<Read> {
        let Some(Feed::Value(prim, name, _)) = node.input(name) else { return None };
        let picture = self.pictures.add(self.values, &prim, &name);
        (picture != NONE).then(|| Read {
            picture,
            space: self.color_space(&prim, &name).map_or(TexelSpace::Auto, |space| space.texels),
            ..plain()
        })
    }

    /// The colour space in the metadata `colorSpace` of an attribute.
    fn color_space(&mut self, prim: &Prim, name: &str) -> Option<ColorSpace> {
        let space = self.values.metadata(prim, name, "colorSpace")?;
        self.named_space(prim.path().as_str(), &space)
    }

    fn space(&mut self, node: &Node, name: &str) -> Option<ColorSpace> {
        self.named_space(node.path(), name)
    }

    fn named_space(&mut self, path: &str, name: &str) -> Option<ColorSpace> {
        let space = ColorSpace::named(name)?;
        if space.is_err() {
            self.notes.space(path, name);
        }
        space.ok().or_else(|| ColorSpace::named("raw")?.ok())
    }

    /// Readers of primvars. The mesh's own colours are the only ones that a material can read.
    fn primvar(&mut self, node: &Node, kind: &Kind) -> Option<Wire> {
        let name = ["varname", "geomprop", "attribute"].iter().find_map(|name| node.text(name));
        let fallback = ["fallback", "default", "defaultInput"].iter().find_map(|name| node.numbers(name));
        let is_color = kind.name == "geomcolor" || matches!(name.as_deref(), Some("displayColor" | "displayOpacity"));
        if is_color {
            return Some(Wire::display(fallback.unwrap_or([1.0; 4])));
        }
        if matches!(kind.result, "vector2" | "float2") {
            return Some(Wire::coordinates(name.unwrap_or_default(), Affine2::IDENTITY));
        }
        self.notes.primvar(node, name.as_deref().unwrap_or_default());
        Some(Wire::Constant(fallback?))
    }

    /// A map of normals in tangent space: `2 · texel - 1`, with a factor for its slopes.
    fn normal_map(&mut self, node: &Node) -> Option<Wire> {
        let name = if node.id.contains("gltf") { "file" } else { "in" };
        let wire = if name == "file" { self.image(node, &Kind::of(&node.id))? } else { self.input(node, "in")? };
        let s = node.numbers("scale").map_or([1.0; 2], |[x, y, ..]| [x, y]);
        Some(wire.affine([2.0 * s[0], 2.0 * s[1], 2.0, 2.0], [-s[0], -s[1], -1.0, -1.0]))
    }

    /// The first input of an unknown shader that has a value.
    fn first_value(&mut self, node: &Node) -> Option<Wire> {
        const NAMES: [&str; 12] = [
            "in",
            "input",
            "in1",
            "input1",
            "value",
            "default",
            "color",
            "base_color",
            "diffuseColor",
            "fg",
            "bg",
            "fallback",
        ];
        NAMES.iter().find_map(|name| self.input(node, name))
    }
}

/// A shader's name in the table, and the type of its result.
pub struct Kind<'a> {
    /// Name without the prefix of MaterialX's definitions, without the type of the result and without a version.
    pub name: &'a str,
    /// The type of the result, such as `color3`, if the name ends with it.
    pub result: &'a str,
}

impl<'a> Kind<'a> {
    /// `ND_multiply_color3FA` is `multiply` with the result `color3FA`; `UsdPrimvarReader_float2` is `UsdPrimvarReader`.
    pub fn of(id: &'a str) -> Self {
        const PREFIXES: [(&str, &str); 4] = [
            ("UsdPrimvarReader_", "UsdPrimvarReader"),
            ("ND_UsdPrimvarReader_", "UsdPrimvarReader"),
            ("ND_UsdUVTexture", "UsdUVTexture"),
            ("arnold:user_data_", "user_data"),
        ];
        for (prefix, name) in PREFIXES {
            if let Some(result) = id.strip_prefix(prefix) {
                return Self { name, result };
            }
        }
        match id.strip_prefix("ND_") {
            Some(definition) => match definition.split_once('_') {
                Some(("gltf", rest)) => {
                    let length = "gltf_".len() + rest.find('_').unwrap_or(rest.len());
                    let (name, result) = definition.split_at(length);
                    Self { name, result: result.trim_start_matches('_') }
                }
                Some((name, result)) => Self { name, result },
                None => Self { name: definition, result: "" },
            },
            None => Self { name: id, result: "" },
        }
    }
}

/// A reading that leaves texels and coordinates as they are.
fn plain() -> Read {
    Read {
        picture: NONE,
        channel: 0,
        scale: [1.0; 4],
        bias: [0.0; 4],
        fallback: [0.0, 0.0, 0.0, 1.0],
        uvs: String::new(),
        transform: Affine2::IDENTITY,
        wrap: [WrapMode::Repeat; 2],
        space: TexelSpace::Auto,
    }
}

/// The channel that an output passes on. `None` for all of them.
fn channel_of(output: &str) -> Option<u8> {
    match output.strip_prefix("out").unwrap_or(output) {
        "r" | "x" => Some(0),
        "g" | "y" => Some(1),
        "b" | "z" => Some(2),
        "a" | "w" => Some(3),
        _ => None,
    }
}

/// Wrap modes of USD, MaterialX and Arnold.
fn wrap(name: Option<&str>) -> WrapMode {
    match name {
        Some("black" | "constant") => WrapMode::Black,
        Some("clamp") => WrapMode::Clamp,
        Some("mirror") => WrapMode::Mirror,
        _ => WrapMode::Repeat,
    }
}

/// Factors and offsets of ND_tiledimage: `(texcoord · uvtiling - uvoffset) / realworldimagesize · realworldtilesize`.
fn tiling(node: &Node) -> Affine2 {
    let two = |name: &str, default: f32| node.numbers(name).map_or([default; 2], |[x, y, ..]| [x, y]);
    let [tiling, offset] = [two("uvtiling", 1.0), two("uvoffset", 0.0)];
    let [image, tile] = [two("realworldimagesize", 1.0), two("realworldtilesize", 1.0)];
    let size: [f32; 2] = std::array::from_fn(|i| if image[i] == 0.0 { 1.0 } else { tile[i] / image[i] });
    let scale = glam::vec2(tiling[0] * size[0], tiling[1] * size[1]);
    Affine2::from_scale_angle_translation(scale, 0.0, -glam::vec2(offset[0] * size[0], offset[1] * size[1]))
}
