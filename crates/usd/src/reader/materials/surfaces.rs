//! Surface shaders: the inputs of USD's preview surface, and a table of other shaders to the nearest inputs of it.

use super::{
    network::{Feed, Node},
    textures::Evaluator,
    wire::{Wire, zip},
};
use crate::{Input, Read, Source, Surface, TexelSpace};

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
        self.input(name).unwrap_or(Wire::Constant([default; 4]))
    }

    /// A number that is the same everywhere; otherwise the default.
    fn number(&self, name: &str, default: f32) -> f32 {
        self.node.numbers(name).map_or(default, |value| value[0])
    }

    /// The value of an input times the constant value of a weight.
    fn weighted(&mut self, weight: &str, default: f32, color: &str, default_color: f32) -> Wire {
        let color = self.or(color, default_color);
        match self.or(weight, default) {
            Wire::Constant(weight) => color.times([weight[0]; 4]),
            // A picture of weights and a constant colour.
            weight => match color {
                Wire::Constant(color) => weight.times(color),
                color => color,
            },
        }
    }

    fn set(input: &mut Input<f32>, wire: Option<Wire>) {
        if let Some(wire) = wire {
            *input = wire.single();
        }
    }

    /// The normal in tangent space. Constant ones are those of the mesh.
    fn normal(&mut self, name: &str) -> Option<Read> {
        match self.input(name)?.single().source? {
            Source::Picture(read) => Some(read),
            Source::DisplayPrimvar => None,
        }
    }

    /// Counts parts that have an effect but are left out.
    fn left_out(&mut self, parts: &[(&str, &str)]) {
        for (name, part) in parts {
            let used = match self.node.input(name) {
                Some(Feed::Output(..)) => true,
                Some(Feed::Value(..)) => self.number(name, 0.0) != 0.0,
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
        self.left_out(&[("displacement", "displacement of UsdPreviewSurface")]);
        surface
    }

    fn standard(&mut self) -> Surface {
        let base = self.weighted("base", 1.0, "base_color", 0.8);
        let base = self.blended(base, "subsurface", "subsurface_color");
        let transmission = self.or("transmission", 0.0);
        let surface = Surface {
            diffuse_color: self.tinted(base, &transmission, "transmission_color").color(),
            emissive_color: self.weighted("emission", 0.0, "emission_color", 1.0).color(),
            metallic: self.or("metalness", 0.0).single(),
            roughness: self.or("specular_roughness", 0.2).single(),
            clearcoat: self.or("coat", 0.0).single(),
            clearcoat_roughness: self.or("coat_roughness", 0.1).single(),
            opacity: self.or("opacity", 1.0).single(),
            keeps_reflections: false,
            ior: self.reflectance("specular", "specular_IOR"),
            normal: self.normal("normal"),
            transmission: transmission.single(),
            ..Surface::default()
        };
        self.left_out(&[
            ("sheen", "sheen"),
            ("thin_film_thickness", "thin film"),
            ("diffuse_roughness", "diffuse roughness"),
        ]);
        surface
    }

    fn open_pbr(&mut self) -> Surface {
        let base = self.weighted("base_weight", 1.0, "base_color", 0.8);
        let base = self.blended(base, "subsurface_weight", "subsurface_color");
        let transmission = self.or("transmission_weight", 0.0);
        let surface = Surface {
            diffuse_color: self.tinted(base, &transmission, "transmission_color").color(),
            emissive_color: self.weighted("emission_luminance", 0.0, "emission_color", 1.0).color(),
            metallic: self.or("base_metalness", 0.0).single(),
            roughness: self.or("specular_roughness", 0.3).single(),
            clearcoat: self.or("coat_weight", 0.0).single(),
            clearcoat_roughness: self.or("coat_roughness", 0.0).single(),
            opacity: self.or("geometry_opacity", 1.0).single(),
            keeps_reflections: false,
            ior: self.reflectance("specular_weight", "specular_ior"),
            normal: self.normal("geometry_normal"),
            transmission: transmission.single(),
            ..Surface::default()
        };
        self.left_out(&[
            ("fuzz_weight", "fuzz"),
            ("thin_film_weight", "thin film"),
            ("base_diffuse_roughness", "diffuse roughness"),
        ]);
        surface
    }

    fn gltf(&mut self) -> Surface {
        let alpha_mode = self.number("alpha_mode", 0.0) as i32;
        let opacity = if alpha_mode == 0 { Wire::Constant([1.0; 4]) } else { self.or("alpha", 1.0) };
        let surface = Surface {
            diffuse_color: self.or("base_color", 1.0).color(),
            emissive_color: self.weighted("emissive_strength", 1.0, "emissive", 0.0).color(),
            metallic: self.or("metallic", 1.0).single(),
            roughness: self.or("roughness", 1.0).single(),
            clearcoat: self.or("clearcoat", 0.0).single(),
            clearcoat_roughness: self.or("clearcoat_roughness", 0.0).single(),
            opacity: opacity.single(),
            opacity_threshold: if alpha_mode == 1 { self.number("alpha_cutoff", 0.5) } else { 0.0 },
            keeps_reflections: false,
            ior: self.reflectance("specular", "ior"),
            normal: self.normal("normal"),
            transmission: self.or("transmission", 0.0).single(),
            ..Surface::default()
        };
        self.left_out(&[("iridescence", "iridescence")]);
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
            if let Some(Source::Picture(read)) = normal.single().source {
                surface.normal = Some(Read { space: TexelSpace::Raw, ..read });
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

    /// `mix(base, color, weight)` for constants; otherwise the base.
    fn blended(&mut self, base: Wire, weight: &str, color: &str) -> Wire {
        let weight = self.number(weight, 0.0).clamp(0.0, 1.0);
        match (base.constant(), self.or(color, 0.8)) {
            _ if weight == 0.0 => base,
            (Some(base), color) => color.affine([weight; 4], base.map(|value| value * (1.0 - weight))),
            (None, color) if weight == 1.0 => color,
            (None, Wire::Constant(color)) => base.affine([1.0 - weight; 4], color.map(|value| value * weight)),
            (None, _) => base,
        }
    }

    /// The colour of light that passes through, where all does. throng tints it with the surface's own colour.
    fn tinted(&mut self, base: Wire, transmission: &Wire, color: &str) -> Wire {
        match transmission.constant() {
            Some([weight, ..]) if weight > 0.0 => match (base.constant(), self.or(color, 1.0)) {
                (Some(base), Wire::Constant(color)) => {
                    Wire::Constant(zip(base, color, |base, color| base + (color - base) * weight.min(1.0)))
                }
                (_, color) if weight >= 0.5 => color,
                _ => base,
            },
            _ => base,
        }
    }

    /// The index of refraction whose reflectance is that of the input `ior` times the weight of specular reflections.
    fn reflectance(&mut self, weight: &str, ior: &str) -> f32 {
        let (weight, ior) = (self.number(weight, 1.0), self.number(ior, 1.5));
        if weight == 1.0 || ior <= 0.0 {
            return ior;
        }
        let at_normal = weight.clamp(0.0, 1.0) * ((ior - 1.0) / (ior + 1.0)).powi(2);
        let root = at_normal.sqrt().min(0.99);
        (1.0 + root) / (1.0 - root)
    }
}

/// Whether all numbers of a surface are finite. Those of pictures were checked before.
pub fn is_finite(surface: &Surface) -> bool {
    let single = |input: &Input<f32>| input.value.is_finite();
    let color = |input: &Input<[f32; 3]>| input.value.iter().all(|value| value.is_finite());
    let Surface { metallic, roughness, clearcoat, clearcoat_roughness, opacity, transmission, .. } = surface;
    let colors = [&surface.diffuse_color, &surface.emissive_color];
    colors.into_iter().chain(&surface.specular_color).all(color)
        && [metallic, roughness, clearcoat, clearcoat_roughness, opacity, transmission].into_iter().all(single)
        && surface.ior.is_finite()
        && surface.opacity_threshold.is_finite()
}
