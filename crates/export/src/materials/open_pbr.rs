//! OpenPBR, as a network of MaterialX.

use super::network::{Network, Output, uv_parts};
use crate::{ExportError, shapes::UV_SETS, textures::Stored};
use glam::Vec3;
use throng_scene::{Alpha, Lobes, Material, MaterialKind, TextureMap};
use throng_usd::{AttributeType, LayerValue, Prim};

/// Distance in metres at which a volume has its colour.
const DEPTH: f32 = 1.0;

/// Adds the surface that is nearest to a material. `is_colored` says that vertices have colours.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn add(network: &mut Network, material: &Material, is_colored: bool) -> Result<(), ExportError> {
    let mut shader = network.shader("OpenPbr", "ND_open_pbr_surface_surfaceshader");
    let mut surface = Surface { network, shader: &mut shader };
    surface.base(material, is_colored)?;
    surface.emission(material)?;
    match material.kind {
        MaterialKind::Diffuse | MaterialKind::Hair => surface.number("specular_weight", 0.0),
        MaterialKind::Mirror => {
            surface.number("base_metalness", 1.0);
            surface.number("specular_roughness", 0.0);
        }
        MaterialKind::Layered => surface.layers(&material.lobes)?,
    }
    let output = network.add(shader, "out", "token");
    network.surface("mtlx", output);
    Ok(())
}

/// A shader whose inputs are set.
struct Surface<'n, 'a, 'b, 'c> {
    network: &'n mut Network<'a, 'b, 'c>,
    shader: &'n mut Prim,
}

impl Surface<'_, '_, '_, '_> {
    fn number(&mut self, name: &str, value: f32) {
        self.shader.set(format!("inputs:{name}"), "float", LayerValue::Float(value));
    }

    fn color(&mut self, name: &str, value: [f32; 3]) {
        self.shader.set(format!("inputs:{name}"), "color3f", LayerValue::Float3(value));
    }

    fn base(&mut self, material: &Material, is_colored: bool) -> Result<(), ExportError> {
        let color = if material.unlit { Vec3::ZERO } else { material.color };
        if is_colored && !material.unlit {
            let mut reader = self.network.shader("VertexColors", "ND_geompropvalue_color3");
            reader.set("inputs:geomprop", "string", LayerValue::Text("displayColor".to_owned()));
            reader.set("inputs:default", "color3f", LayerValue::Float3([1.0; 3]));
            let colors = self.network.add(reader, "out", "color3f");
            let own = self.textured(material.color_map, color.to_array())?;
            let product = self.product(colors, own.unwrap_or(Factor::Constant(color.to_array())));
            self.shader.connect("inputs:base_color", "color3f", product);
        } else {
            self.colored("base_color", color.to_array(), material.color_map)?;
        }
        match (material.alpha, self.network.map(material.color_map)) {
            (Alpha::Opaque, _) => {}
            (_, Some(map)) => {
                let alpha = self.channel(map, "outa", material.opacity)?;
                self.shader.connect("inputs:geometry_opacity", "float", alpha);
            }
            (_, None) => self.number("geometry_opacity", material.opacity),
        }
        Ok(())
    }

    fn emission(&mut self, material: &Material) -> Result<(), ExportError> {
        if material.emission != Vec3::ZERO {
            self.number("emission_luminance", 1.0);
            self.colored("emission_color", material.emission.to_array(), material.emission_map)?;
        }
        Ok(())
    }

    fn layers(&mut self, lobes: &Lobes) -> Result<(), ExportError> {
        match self.network.map(lobes.metallic_roughness_map) {
            Some(map) => {
                let metal = self.channel(map, "outb", lobes.metallic)?;
                let rough = self.channel(map, "outg", lobes.roughness)?;
                self.shader.connect("inputs:base_metalness", "float", metal);
                self.shader.connect("inputs:specular_roughness", "float", rough);
            }
            None => {
                self.number("base_metalness", lobes.metallic);
                self.number("specular_roughness", lobes.roughness);
            }
        }
        self.number("specular_weight", lobes.specular);
        self.number("specular_ior", lobes.ior.max(1.0));
        self.colored("specular_color", lobes.specular_color.map(|x| x.min(1.0)), lobes.specular_color_map)?;
        self.passing(lobes)?;
        self.coats(lobes)?;
        if let Some(map) = self.network.map(lobes.normal_map) {
            let normal = self.normal(map, lobes.normal_scale)?;
            self.shader.connect("inputs:geometry_normal", "vector3f", normal);
        }
        Ok(())
    }

    /// Light that passes the surface.
    fn passing(&mut self, lobes: &Lobes) -> Result<(), ExportError> {
        let is_thin = lobes.thin != 0;
        if is_thin && (lobes.transmission > 0.0 || lobes.diffuse_transmission > 0.0) {
            self.shader.set("inputs:geometry_thin_walled", "bool", LayerValue::Bool(true));
        }
        if lobes.diffuse_transmission > 0.0 {
            // Light that passes a thin wall is that of a scattering which goes straight ahead.
            self.number("subsurface_weight", lobes.diffuse_transmission);
            self.colored("subsurface_color", lobes.diffuse_transmission_color, lobes.diffuse_transmission_color_map)?;
            self.number("subsurface_scatter_anisotropy", 1.0);
        }
        if lobes.transmission == 0.0 {
            return Ok(());
        }
        match self.network.map(lobes.transmission_map) {
            Some(map) => {
                let weight = self.channel(map, "outr", lobes.transmission)?;
                self.shader.connect("inputs:transmission_weight", "float", weight);
            }
            None => self.number("transmission_weight", lobes.transmission),
        }
        if lobes.extinction != [0.0; 3] && !is_thin {
            self.number("transmission_depth", DEPTH);
            self.color("transmission_color", lobes.extinction.map(|x| (-x * DEPTH).exp()));
            let scatter = std::array::from_fn(|i| lobes.extinction[i] * lobes.scatter_albedo[i] * DEPTH);
            if scatter != [0.0; 3] {
                self.color("transmission_scatter", scatter);
                self.number("transmission_scatter_anisotropy", lobes.scatter_anisotropy);
            }
        }
        if lobes.dispersion > 0.0 {
            self.number("transmission_dispersion_scale", 1.0);
            self.number("transmission_dispersion_abbe_number", 20.0 / lobes.dispersion);
        }
        Ok(())
    }

    /// Clear coat, fibres and film.
    fn coats(&mut self, lobes: &Lobes) -> Result<(), ExportError> {
        if lobes.clearcoat > 0.0 {
            let parts = [
                ("coat_weight", "outr", lobes.clearcoat, lobes.clearcoat_map),
                ("coat_roughness", "outg", lobes.clearcoat_roughness, lobes.clearcoat_roughness_map),
            ];
            for (name, channel, factor, map) in parts {
                match self.network.map(map) {
                    Some(map) => {
                        let value = self.channel(map, channel, factor)?;
                        self.shader.connect(format!("inputs:{name}"), "float", value);
                    }
                    None => self.number(name, factor),
                }
            }
            self.number("coat_ior", 1.5);
            self.number("coat_darkening", 0.0);
        }
        if lobes.sheen_color != [0.0; 3] {
            self.number("fuzz_weight", 1.0);
            self.colored("fuzz_color", lobes.sheen_color, lobes.sheen_color_map)?;
            self.number("fuzz_roughness", lobes.sheen_roughness);
        }
        if lobes.iridescence > 0.0 {
            self.number("thin_film_weight", lobes.iridescence);
            // In micrometres.
            self.number("thin_film_thickness", lobes.iridescence_thickness[1] / 1000.0);
            self.number("thin_film_ior", lobes.iridescence_ior);
        }
        Ok(())
    }

    /// Sets a colour, or connects it to a picture times the colour.
    fn colored(&mut self, name: &str, factor: [f32; 3], map: u32) -> Result<(), ExportError> {
        match self.textured(map, factor)? {
            Some(Factor::Output(output)) => self.shader.connect(format!("inputs:{name}"), "color3f", output),
            Some(Factor::Constant(_)) | None => self.color(name, factor),
        }
        Ok(())
    }

    /// The picture of a map times a colour.
    fn textured(&mut self, map: u32, factor: [f32; 3]) -> Result<Option<Factor>, ExportError> {
        let Some(map) = self.network.map(map) else { return Ok(None) };
        let picture = self.image(map, "ND_image_color3", "color3f")?;
        let is_plain = factor == [1.0; 3];
        let output = if is_plain { picture } else { self.product(picture, Factor::Constant(factor)) };
        Ok(Some(Factor::Output(output)))
    }

    fn product(&mut self, first: Output, second: Factor) -> Output {
        let mut shader = self.network.shader("Product", "ND_multiply_color3");
        shader.connect("inputs:in1", "color3f", first);
        match second {
            Factor::Constant(value) => _ = shader.set("inputs:in2", "color3f", LayerValue::Float3(value)),
            Factor::Output(output) => shader.connect("inputs:in2", "color3f", output),
        }
        self.network.add(shader, "out", "color3f")
    }

    /// A channel of a picture, times a factor.
    fn channel(&mut self, map: &TextureMap, output: &str, factor: f32) -> Result<Output, ExportError> {
        let picture = self.image(map, "ND_image_color4", "color4f")?;
        let mut separate = self.network.shader("Channels", "ND_separate4_color4");
        separate.connect("inputs:in", "color4f", picture);
        let channel = self.network.add(separate, output, "float");
        if factor == 1.0 {
            return Ok(channel);
        }
        let mut product = self.network.shader("Product", "ND_multiply_float");
        product.connect("inputs:in1", "float", channel);
        product.set("inputs:in2", "float", LayerValue::Float(factor));
        Ok(self.network.add(product, "out", "float"))
    }

    fn normal(&mut self, map: &TextureMap, scale: f32) -> Result<Output, ExportError> {
        let picture = self.image(map, "ND_image_vector3", "vector3f")?;
        let mut shader = self.network.shader("NormalMap", "ND_normalmap_float");
        shader.connect("inputs:in", "vector3f", picture);
        shader.set("inputs:scale", "float", LayerValue::Float(scale));
        Ok(self.network.add(shader, "out", "vector3f"))
    }

    fn image(&mut self, map: &TextureMap, id: &str, kind: AttributeType) -> Result<Output, ExportError> {
        let Stored { asset, is_srgb } = self.network.picture(map)?;
        let coordinates = self.coordinates(map);
        let mut shader = self.network.shader("Image", id);
        let file = shader.set("inputs:file", "asset", LayerValue::Asset(asset));
        file.color_space = if is_srgb { "srgb_texture" } else { "lin_rec709" };
        shader.connect("inputs:texcoord", "float2", coordinates);
        let modes = self.network.wraps(map, ["periodic", "clamp", "mirror"]);
        for (name, mode) in ["inputs:uaddressmode", "inputs:vaddressmode"].into_iter().zip(modes) {
            shader.set(name, "string", LayerValue::Text(mode.to_owned()));
        }
        Ok(self.network.add(shader, "out", kind))
    }

    fn coordinates(&mut self, map: &TextureMap) -> Output {
        let mut reader = self.network.shader("MapCoordinates", "ND_geompropvalue_vector2");
        let set = UV_SETS[map.uv_set.min(1) as usize];
        reader.set("inputs:geomprop", "string", LayerValue::Text(set.to_owned()));
        let mut uv = self.network.add(reader, "out", "float2");
        let parts = uv_parts(map.transform);
        let mut step = |name: &str, id: &str, input: &str, kind: AttributeType, value: LayerValue| {
            let first = if id.contains("rotate") { "in" } else { "in1" };
            let mut shader = self.network.shader(name, id);
            shader.connect(format!("inputs:{first}"), "float2", uv.clone());
            shader.set(format!("inputs:{input}"), kind, value);
            uv = self.network.add(shader, "out", "float2");
        };
        if parts.scale != glam::Vec2::ONE {
            step("Scale", "ND_multiply_vector2", "in2", "float2", LayerValue::Float2(parts.scale.to_array()));
        }
        if parts.angle != 0.0 {
            // MaterialX turns coordinates clockwise.
            step("Rotate", "ND_rotate2d_vector2", "amount", "float", LayerValue::Float(-parts.angle.to_degrees()));
        }
        if parts.translation != glam::Vec2::ZERO {
            step("Move", "ND_add_vector2", "in2", "float2", LayerValue::Float2(parts.translation.to_array()));
        }
        uv
    }
}

/// A factor of a colour.
enum Factor {
    Constant([f32; 3]),
    Output(Output),
}
