//! Surface shaders: a table of their names, and what each becomes in the model of [`Surface`].
//!
//! `standard`, `open_pbr` and `gltf` have the layered ones, and `layers` the formulas that they share.

mod displacement;
mod gltf;
mod layers;
mod open_pbr;
mod standard;

pub use displacement::displacement;

use super::{
    network::{Feed, Node},
    textures::Evaluator,
    wire::Wire,
};
use crate::{Input, Operation, Read, Source, Surface, TexelSpace};

/// Shaders of surfaces that are mixed or layered. More of them are a cycle.
const MAX_LAYERS: usize = 16;

/// The surface that a shader computes.
pub fn surface(node: &Node, evaluator: &mut Evaluator) -> Surface {
    let mut node = node.clone();
    for _ in 0..MAX_LAYERS {
        let mut shader = Shader { node: &node, evaluator };
        match Model::of(&node.id) {
            Some(Model::Preview) => return shader.preview(),
            Some(Model::Standard) => return shader.standard(),
            Some(Model::OpenPbr) => return shader.open_pbr(),
            Some(Model::Gltf) => return shader.gltf(),
            Some(Model::Lambert) => return shader.lambert(),
            Some(Model::Unlit) => return shader.unlit(),
            Some(Model::Mdl) => return shader.mdl(),
            None => {
                evaluator.notes.surface(&node);
                match below(&node) {
                    Some(lower) => node = lower,
                    None => return Shader { node: &node, evaluator }.similar(),
                }
            }
        }
    }
    Surface::default()
}

/// Whether the table has the shader.
pub fn is_known(node: &Node) -> bool {
    Model::of(&node.id).is_some()
}

/// A surface that an unknown shader mixes or modifies.
fn below(node: &Node) -> Option<Node> {
    ["fg", "bg", "in1", "in", "top", "base", "shader1", "shader", "surfaceshader"].iter().find_map(|name| {
        match node.input(name)? {
            Feed::Output(lower, _) if is_known(&lower) => Some(lower),
            _ => None,
        }
    })
}

/// Surface shaders with an entry in the table.
enum Model {
    Preview,
    Standard,
    OpenPbr,
    Gltf,
    Lambert,
    Unlit,
    Mdl,
}

impl Model {
    fn of(id: &str) -> Option<Self> {
        let definition = id.strip_prefix("ND_").unwrap_or(id);
        Some(match definition {
            _ if definition.starts_with("UsdPreviewSurface") => Self::Preview,
            "arnold:standard_surface" => Self::Standard,
            _ if definition.starts_with("standard_surface") => Self::Standard,
            _ if definition.starts_with("open_pbr_surface") || definition == "arnold:openpbr_surface" => Self::OpenPbr,
            _ if definition.starts_with("gltf_pbr") => Self::Gltf,
            "arnold:lambert" => Self::Lambert,
            "arnold:flat" => Self::Unlit,
            "surface_unlit" => Self::Unlit,
            _ if definition.contains("OmniPBR") => Self::Mdl,
            _ => return None,
        })
    }
}

/// A surface shader whose inputs are read.
struct Shader<'a, 'b> {
    node: &'a Node,
    evaluator: &'a mut Evaluator<'b>,
}

impl Shader<'_, '_> {
    fn input(&mut self, name: &str) -> Option<Wire> {
        self.evaluator.input(self.node, name)
    }

    fn or(&mut self, name: &str, default: f32) -> Wire {
        self.evaluator.or(self.node, name, default)
    }

    /// A number that is the same everywhere. One that varies is replaced by a typical value, with a warning.
    fn number(&mut self, name: &str, default: f32) -> f32 {
        match self.input(name) {
            None => default,
            Some(Wire::Constant(value)) => value[0],
            Some(wire) => {
                self.evaluator.notes.left_out(self.node, &format!("the picture of {name}"));
                wire.single().value
            }
        }
    }

    /// A colour that is the same everywhere, like [`Self::number`].
    fn constant_color(&mut self, name: &str, default: f32) -> [f32; 3] {
        let wire = self.or(name, default);
        if wire.constant().is_none() {
            self.evaluator.notes.left_out(self.node, &format!("the picture of {name}"));
        }
        let [r, g, b, _] = wire.typical();
        [r, g, b]
    }

    /// The result of an operation. Where colours of the mesh stand in its way, it is its first argument, with a warning.
    fn apply(&mut self, operation: Operation, arguments: Vec<Wire>) -> Wire {
        let first = arguments.first().cloned();
        Wire::apply(operation, arguments)
            .or_else(|| {
                self.evaluator.notes.unknown(self.node);
                first
            })
            .unwrap_or(Wire::number(0.0))
    }

    fn product(&mut self, a: Wire, b: Wire) -> Wire {
        self.apply(Operation::Multiply, vec![a, b])
    }

    /// `front · share + back · (1 - share)`.
    fn mixed(&mut self, back: Wire, front: Wire, share: Wire) -> Wire {
        let fallback = if share.typical()[0] > 0.5 { front.clone() } else { back.clone() };
        back.mixed(front, share).unwrap_or_else(|| {
            self.evaluator.notes.unknown(self.node);
            fallback
        })
    }

    /// The value of an input times that of a weight.
    fn weighted(&mut self, weight: &str, default: f32, color: &str, default_color: f32) -> Wire {
        let (color, weight) = (self.or(color, default_color), self.or(weight, default));
        self.product(color, weight)
    }

    fn set(input: &mut Input<f32>, wire: Option<Wire>) {
        if let Some(wire) = wire {
            *input = wire.single();
        }
    }

    /// The normal in tangent space. Constant ones are those of the mesh.
    fn normal(&mut self, name: &str) -> Option<Source> {
        match self.input(name)? {
            wire @ (Wire::Picture(_) | Wire::Computed(_)) => wire.color().source,
            _ => None,
        }
    }

    /// Counts parts that have an effect but are left out.
    fn left_out(&mut self, parts: &[(&str, &str)]) {
        for (name, part) in parts {
            let used = match self.node.input(name) {
                Some(Feed::Output(..)) => self.input(name).is_some_and(|wire| wire != Wire::number(0.0)),
                Some(Feed::Value(..)) => self.node.numbers(name).is_some_and(|value| value[0] != 0.0),
                None => false,
            };
            if used {
                self.evaluator.notes.left_out(self.node, part);
            }
        }
    }

    fn preview(&mut self) -> Surface {
        let mut surface = Surface::default();
        if let Some(wire) = self.input("diffuseColor") {
            surface.diffuse_color = wire.color();
        }
        if let Some(wire) = self.input("emissiveColor") {
            surface.emissive_color = wire.color();
        }
        if self.number("useSpecularWorkflow", 0.0) != 0.0 {
            surface.specular_color = Some(self.or("specularColor", 0.0).color());
        }
        Self::set(&mut surface.metallic, self.input("metallic"));
        Self::set(&mut surface.roughness, self.input("roughness"));
        Self::set(&mut surface.clearcoat, self.input("clearcoat"));
        Self::set(&mut surface.clearcoat_roughness, self.input("clearcoatRoughness"));
        Self::set(&mut surface.opacity, self.input("opacity"));
        surface.opacity_threshold = self.number("opacityThreshold", 0.0);
        surface.keeps_reflections = self.node.text("opacityMode").as_deref() != Some("presence");
        surface.ior = self.number("ior", 1.5);
        surface.normal = self.normal("normal");
        Self::set(&mut surface.displacement, self.input("displacement"));
        surface
    }

    /// A surface that scatters all light.
    fn lambert(&mut self) -> Surface {
        Surface {
            diffuse_color: self.weighted("Kd", 0.8, "Kd_color", 1.0).color(),
            roughness: Input::of(1.0),
            opacity: self.or("opacity", 1.0).single(),
            keeps_reflections: false,
            ior: 1.0,
            normal: self.normal("normal"),
            ..Surface::default()
        }
    }

    /// A surface that only emits.
    fn unlit(&mut self) -> Surface {
        let color = if self.node.id == "arnold:flat" {
            self.or("color", 1.0)
        } else {
            self.weighted("emission", 1.0, "emission_color", 1.0)
        };
        Surface {
            diffuse_color: Input::of([0.0; 3]),
            emissive_color: color.color(),
            roughness: Input::of(1.0),
            opacity: self.or("opacity", 1.0).single(),
            keeps_reflections: false,
            ior: 1.0,
            ..Surface::default()
        }
    }

    /// Omniverse's OmniPBR: constants, and textures in inputs of their own.
    fn mdl(&mut self) -> Surface {
        let mut surface = self.similar();
        surface.diffuse_color = self.or("diffuse_color_constant", 0.2).color();
        surface.roughness = self.or("reflection_roughness_constant", 0.5).single();
        surface.metallic = self.or("metallic_constant", 0.0).single();
        if self.number("enable_emission", 0.0) != 0.0 {
            let nits = self.number("emissive_intensity", 40.0);
            surface.emissive_color = self.or("emissive_color", 1.0).times([nits; 4]).color();
        }
        if self.number("enable_opacity", 0.0) != 0.0 {
            surface.opacity = self.or("opacity_constant", 1.0).single();
            surface.opacity_threshold = self.number("opacity_threshold", 0.0);
        }
        if let Some(texture) = self.evaluator.picture(self.node, "diffuse_texture") {
            surface.diffuse_color = Wire::Picture(texture).color();
        }
        if let Some(texture) = self.evaluator.picture(self.node, "normalmap_texture") {
            let normal = Wire::Picture(texture).affine([2.0; 4], [-1.0; 4]);
            if let Wire::Picture(read) = normal {
                surface.normal = Some(Source::Picture(Read { space: TexelSpace::Raw, ..read }));
            }
        }
        surface
    }

    /// The inputs of an unknown shader that have usual names.
    fn similar(&mut self) -> Surface {
        let mut first = |names: &[&str]| names.iter().find_map(|name| self.input(name));
        let color = first(&[
            "diffuseColor",
            "baseColor",
            "base_color",
            "basecolor",
            "diffuse_color",
            "Kd_color",
            "color",
            "albedo",
            "diffuse",
            "displayColor",
            "diffuse_reflection_color",
            "diff_color",
            "surfaceColor",
        ]);
        let metallic = first(&["metallic", "metalness", "metallness", "base_metalness"]);
        let roughness = first(&["roughness", "specular_roughness", "specularRoughness", "diffuseRoughness"]);
        let opacity = first(&["opacity", "geometry_opacity", "alpha", "presence"]);
        let emission = first(&["emissiveColor", "emissive_color", "emission_color", "emissive"]);
        let mut surface = Surface::default();
        if let Some(color) = color {
            surface.diffuse_color = color.color();
        }
        if let Some(emission) = emission {
            surface.emissive_color = emission.color();
        }
        Self::set(&mut surface.metallic, metallic);
        Self::set(&mut surface.roughness, roughness);
        Self::set(&mut surface.opacity, opacity);
        surface
    }
}

/// Whether all numbers of a surface are finite. Those of pictures were checked before.
pub fn is_finite(surface: &Surface) -> bool {
    let volume = surface.volume.unwrap_or_default();
    let single =
        [surface.ior, surface.opacity_threshold, surface.dispersion, surface.anisotropy.0, surface.anisotropy.1];
    let film = [surface.film.thickness, surface.film.ior, volume.anisotropy];
    let numbers = surface.numbers().map(|input| input.value).chain(single).chain(film);
    let colors = surface.colors().map(|input| input.value).chain([volume.extinction, volume.albedo]);
    numbers.chain(colors.flatten()).all(f32::is_finite)
}
