//! The shaders of a material.

use crate::{
    ExportError,
    shapes::UV_SETS,
    textures::{Stored, Textures},
};
use glam::{Affine2, Vec2};
use throng_scene::{Scene, TextureMap, Wrap};
use throng_usd::{AttributeType, LayerValue, Prim, names::Names};

/// The shaders of a material so far.
pub struct Network<'a, 'b, 'c> {
    pub scene: &'a Scene,
    /// Path of the material.
    path: String,
    textures: &'b mut Textures<'c>,
    names: Names,
    shaders: Vec<Prim>,
    /// Names of the material's outputs, and the paths that they are connected to.
    outputs: Vec<(String, String)>,
}

/// An output of a shader: its path.
pub type Output = String;

/// Factors and summands of texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub scale: [f32; 4],
    pub bias: [f32; 4],
}

impl Range {
    /// Texels times these factors.
    pub fn scaled(scale: [f32; 4]) -> Self {
        Self { scale, bias: [0.0; 4] }
    }

    /// Normals in tangent space.
    pub const NORMAL: Self = Self { scale: [2.0, 2.0, 2.0, 1.0], bias: [-1.0, -1.0, -1.0, 0.0] };
}

/// Scale, rotation in radians counter-clockwise, and translation of texture coordinates, applied in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UvParts {
    pub scale: Vec2,
    pub angle: f32,
    pub translation: Vec2,
}

/// The parts of a transform of texture coordinates. None if it shears.
pub fn parts_of(transform: Affine2) -> Option<UvParts> {
    let (x, y) = (transform.matrix2.x_axis, transform.matrix2.y_axis);
    let translation = transform.translation;
    if x.y == 0.0 && y.x == 0.0 {
        return Some(UvParts { scale: Vec2::new(x.x, y.y), angle: 0.0, translation });
    }
    let (scale, angle, _) = transform.to_scale_angle_translation();
    let again = Affine2::from_scale_angle_translation(scale, angle, translation);
    let largest = x.abs().max(y.abs()).max_element();
    again.abs_diff_eq(transform, 1e-5 * largest.max(1e-9)).then_some(UvParts { scale, angle, translation })
}

impl<'a, 'b, 'c> Network<'a, 'b, 'c> {
    /// No shaders yet.
    pub fn new(scene: &'a Scene, path: String, textures: &'b mut Textures<'c>) -> Self {
        Self { scene, path, textures, names: Names::default(), shaders: Vec::new(), outputs: Vec::new() }
    }

    /// A shader that computes what the definition `id` says.
    pub fn shader(&mut self, name: &str, id: &str) -> Prim {
        let mut shader = Prim::new(self.names.unique(name), "Shader");
        shader.set_uniform("info:id", "token", LayerValue::token(id));
        shader
    }

    /// Adds a shader with an output. Returns the output's path.
    pub fn add(&mut self, mut shader: Prim, output: &str, kind: AttributeType) -> Output {
        shader.declare(format!("outputs:{output}"), kind);
        let path = format!("{}/{}.outputs:{output}", self.path, shader.name);
        self.shaders.push(shader);
        path
    }

    /// Connects an output of the material.
    pub fn surface(&mut self, context: &str, source: Output) {
        let name = if context.is_empty() { "outputs:surface".to_owned() } else { format!("outputs:{context}:surface") };
        self.outputs.push((name, source));
    }

    /// The map with this index. None if there is none.
    pub fn map(&self, index: u32) -> Option<&'a TextureMap> {
        self.scene.maps.get(index as usize)
    }

    /// The picture of a map.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn picture(&mut self, map: &TextureMap) -> Result<Stored, ExportError> {
        self.textures.texture(map.texture)
    }

    /// Wrap modes of a map, in words for repeat, clamp and mirror.
    pub fn wraps(&self, map: &TextureMap, [repeat, clamp, mirror]: [&'static str; 3]) -> [&'static str; 2] {
        self.scene.textures[map.texture as usize].wrap.map(|wrap| match wrap {
            Wrap::Repeat => repeat,
            Wrap::Clamp => clamp,
            Wrap::Mirror => mirror,
        })
    }

    /// Adds UsdUVTexture for a map. Returns the path of its outputs without their names: `r`, `g`, `b`, `a` and `rgb`.
    ///
    /// # Errors
    /// If its picture cannot be encoded.
    pub fn texture(&mut self, name: &str, map: &TextureMap, range: Range) -> Result<Output, ExportError> {
        let Stored { asset, is_srgb } = self.picture(map)?;
        let st = self.coordinates(map);
        let mut shader = self.shader(name, "UsdUVTexture");
        shader.set("inputs:file", "asset", LayerValue::Asset(asset));
        shader.connect("inputs:st", "float2", st);
        let space = if is_srgb { "sRGB" } else { "raw" };
        shader.set("inputs:sourceColorSpace", "token", LayerValue::token(space));
        for (name, mode) in
            ["inputs:wrapS", "inputs:wrapT"].into_iter().zip(self.wraps(map, ["repeat", "clamp", "mirror"]))
        {
            shader.set(name, "token", LayerValue::token(mode));
        }
        if range.scale != [1.0; 4] {
            shader.set("inputs:scale", "float4", LayerValue::Float4(range.scale));
        }
        if range.bias != [0.0; 4] {
            shader.set("inputs:bias", "float4", LayerValue::Float4(range.bias));
        }
        for channel in ["r", "g", "b", "a"] {
            shader.declare(format!("outputs:{channel}"), "float");
        }
        let rgb = self.add(shader, "rgb", "float3");
        Ok(rgb.trim_end_matches("rgb").to_owned())
    }

    /// Texture coordinates of a map for UsdUVTexture.
    fn coordinates(&mut self, map: &TextureMap) -> Output {
        let set = UV_SETS[map.uv_set.min(1) as usize];
        let mut reader = self.shader("Coordinates", "UsdPrimvarReader_float2");
        reader.set("inputs:varname", "string", LayerValue::Text(set.to_owned()));
        let read = self.add(reader, "result", "float2");
        let parts = uv_parts(map.transform);
        if map.transform == Affine2::IDENTITY {
            return read;
        }
        let mut transform = self.shader("Transform", "UsdTransform2d");
        transform.connect("inputs:in", "float2", read);
        transform.set("inputs:scale", "float2", LayerValue::Float2(parts.scale.to_array()));
        transform.set("inputs:rotation", "float", LayerValue::Float(parts.angle.to_degrees()));
        transform.set("inputs:translation", "float2", LayerValue::Float2(parts.translation.to_array()));
        self.add(transform, "result", "float2")
    }

    /// The material with its shaders.
    pub fn finish(self, mut material: Prim) -> Prim {
        for (name, source) in self.outputs {
            material.connect(name, "token", source);
        }
        material.children = self.shaders;
        material
    }
}

/// The parts of a transform; of one that shears, the nearest ones.
pub fn uv_parts(transform: Affine2) -> UvParts {
    parts_of(transform).unwrap_or_else(|| {
        let (scale, angle, translation) = transform.to_scale_angle_translation();
        UvParts { scale, angle, translation }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texture_coordinates_have_parts_unless_they_are_sheared() {
        let plain = Affine2::from_scale_angle_translation(Vec2::new(-3.0, 0.5), 0.0, Vec2::new(0.25, 1.0));
        let parts = parts_of(plain).unwrap_or_else(|| panic!("none"));
        assert_eq!((parts.scale, parts.angle), (Vec2::new(-3.0, 0.5), 0.0));
        let turned = Affine2::from_scale_angle_translation(Vec2::new(2.0, 3.0), 0.7, Vec2::ONE);
        let parts = parts_of(turned).unwrap_or_else(|| panic!("none"));
        assert!((parts.angle - 0.7).abs() < 1e-6 && parts.scale.abs_diff_eq(Vec2::new(2.0, 3.0), 1e-5));
        assert_eq!(parts_of(Affine2::from_cols(Vec2::X, Vec2::new(0.5, 1.0), Vec2::ZERO)), None);
    }
}
