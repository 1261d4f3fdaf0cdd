//! Materials: the core of glTF's material model (glTF 2.0, 3.9). `khr` reads the extensions.

mod khr;
pub mod pbr;
pub mod textures;

use super::{
    fault::{Fault, fault},
    file::{document::Document, extensions},
    model::ColorSpace,
    nodes::name,
};
use crate::scene::animated::TexturePlace;
use glam::Affine2;
use gltf::json::{material, validation::Checked};
use pbr::{Alpha, PbrMaterial, TextureRef};
use serde::Deserialize;
use serde_json::{Map, Value};
use textures::Table;

/// All materials of the file, and the textures that they use, still to be decoded.
///
/// # Errors
/// When a number is not finite or an index out of range.
pub fn read<'a>(document: &'a Document<'a>) -> Result<(Vec<PbrMaterial>, Table<'a>), Fault> {
    let mut textures = Table::new(document);
    let mut materials = Vec::with_capacity(document.root.materials.len());
    for (index, material) in document.root.materials.iter().enumerate() {
        let mut reader = Reader {
            document,
            textures: &mut textures,
            path: format!("/materials/{index}"),
        };
        let read = reader.material(material, index);
        materials.push(document.faults.keep(read)?.unwrap_or_default());
    }
    Ok((materials, textures))
}

/// Reads parts of one material.
pub struct Reader<'a, 'd> {
    document: &'d Document<'d>,
    textures: &'a mut Table<'d>,
    /// JSON pointer to the object that is being read.
    pub path: String,
}

/// A texture as the JSON names it, wherever it occurs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    index: u32,
    #[serde(default)]
    tex_coord: u32,
    #[serde(default)]
    extensions: Option<Map<String, Value>>,
    /// Strength of a normal texture.
    #[serde(default = "one")]
    pub scale: f32,
}

fn one() -> f32 {
    1.0
}

/// KHR_texture_transform.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Transform {
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
    tex_coord: Option<u32>,
}

impl Default for Transform {
    fn default() -> Self {
        Self {
            offset: [0.0; 2],
            rotation: 0.0,
            scale: [1.0; 2],
            tex_coord: None,
        }
    }
}

impl Transform {
    fn matrix(&self) -> Affine2 {
        self.place().matrix()
    }

    pub fn place(&self) -> TexturePlace {
        TexturePlace {
            offset: self.offset.into(),
            rotation: self.rotation,
            scale: self.scale.into(),
        }
    }
}

impl Reader<'_, '_> {
    fn material(&mut self, m: &material::Material, index: usize) -> Result<PbrMaterial, Fault> {
        let mut read = self.core(m, index)?;
        let others = m.extensions.as_ref().map(|e| &e.others);
        khr::read(self, others, &mut read)?;
        self.choose_uv_sets(&mut read);
        Ok(read)
    }

    /// Chooses the two sets of texture coordinates that a mesh keeps for the material, and makes its textures refer to
    /// these. 0 and 1 keep their places if they are used.
    fn choose_uv_sets(&self, material: &mut PbrMaterial) {
        let mut used: Vec<u32> = material.textures_mut().map(|t| t.uv_set).collect();
        used.sort_unstable();
        used.dedup();
        material.uv_sets = match used[..] {
            [] | [0] | [1] => [0, 1],
            [set] => [set, 1],
            [1, other] => [other, 1],
            [a, b, ..] => [a, b],
        };
        let [first, second] = material.uv_sets;
        if let [_, _, left_over @ ..] = &used[..]
            && !left_over.is_empty()
        {
            let message = format!(
                "its textures use {} sets of texture coordinates, but no more than two are supported; TEXCOORD_{first} is \
                 taken for all but TEXCOORD_{second}",
                used.len()
            );
            self.document.warnings.add(&self.path, message);
        }
        for texture in material.textures_mut() {
            texture.uv_set = u32::from(texture.uv_set == second);
        }
    }

    fn core(&mut self, m: &material::Material, index: usize) -> Result<PbrMaterial, Fault> {
        let pbr = &m.pbr_metallic_roughness;
        let (srgb, linear) = (ColorSpace::Srgb, ColorSpace::Linear);
        let normal = m.normal_texture.as_ref();
        self.check_unused(m.occlusion_texture.as_ref().map(|o| {
            let others = o.extensions.as_ref().map(|e| &e.others);
            texture_info(o.index.value(), o.tex_coord, others)
        }))?;
        Ok(PbrMaterial {
            name: name(m.name.as_deref(), "material", index),
            base_color: self.units(
                pbr.base_color_factor.0,
                "pbrMetallicRoughness/baseColorFactor",
            )?,
            base_color_texture: self.texture(info(pbr.base_color_texture.as_ref()), srgb)?,
            metallic: self.unit(pbr.metallic_factor.0, "pbrMetallicRoughness/metallicFactor")?,
            roughness: self.unit(
                pbr.roughness_factor.0,
                "pbrMetallicRoughness/roughnessFactor",
            )?,
            metallic_roughness_texture: self
                .texture(info(pbr.metallic_roughness_texture.as_ref()), linear)?,
            normal_scale: self.finite(normal.map_or(1.0, |n| n.scale), "normalTexture/scale")?,
            normal_texture: self.texture(
                normal.map(|n| {
                    let others = n.extensions.as_ref().map(|e| &e.others);
                    texture_info(n.index.value(), n.tex_coord, others)
                }),
                linear,
            )?,
            has_occlusion: m.occlusion_texture.is_some(),
            emissive: self.units(m.emissive_factor.0, "emissiveFactor")?,
            emissive_texture: self.texture(info(m.emissive_texture.as_ref()), srgb)?,
            alpha: self.alpha(m)?,
            double_sided: m.double_sided,
            ..PbrMaterial::default()
        })
    }

    fn alpha(&self, m: &material::Material) -> Result<Alpha, Fault> {
        match m.alpha_mode {
            Checked::Valid(material::AlphaMode::Opaque) => Ok(Alpha::Opaque),
            Checked::Valid(material::AlphaMode::Blend) => Ok(Alpha::Blend),
            Checked::Valid(material::AlphaMode::Mask) => {
                let cutoff = m.alpha_cutoff.unwrap_or_default().0;
                Ok(Alpha::Mask(self.at_least(cutoff, 0.0, "alphaCutoff")?))
            }
            Checked::Invalid => Err(fault(format!("{}/alphaMode", self.path), "unknown mode")),
        }
    }

    /// The reference to a texture; None without one. Its `uv_set` is still that of the file.
    ///
    /// # Errors
    /// When it does not exist, or its transform is not finite.
    pub fn texture(
        &mut self,
        info: Option<TextureInfo>,
        space: ColorSpace,
    ) -> Result<Option<TextureRef>, Fault> {
        let Some(info) = info else {
            return Ok(None);
        };
        let others = info.extensions.as_ref();
        let transform =
            extensions::read::<Transform>(others, extensions::TEXTURE_TRANSFORM, &self.path)?
                .unwrap_or_default();
        let matrix = transform.matrix();
        if !matrix.is_finite() {
            return Err(fault(&self.path, "a texture transform must be finite"));
        }
        let texture = self
            .textures
            .intern(info.index as usize, space, &self.path)?;
        Ok(texture.map(|texture| TextureRef {
            texture,
            uv_set: transform.tex_coord.unwrap_or(info.tex_coord),
            transform: matrix,
        }))
    }

    /// Checks a texture that is not used, which is neither decoded nor takes a set of texture coordinates.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn check_unused(&self, info: Option<TextureInfo>) -> Result<(), Fault> {
        info.map_or(Ok(()), |info| {
            self.textures.check(info.index as usize, &self.path)
        })
    }

    /// # Errors
    /// At member `what` when the number is not finite.
    pub fn finite(&self, x: f32, what: &str) -> Result<f32, Fault> {
        match x.is_finite() {
            true => Ok(x),
            false => Err(fault(
                format!("{}/{what}", self.path),
                "the number must be finite",
            )),
        }
    }

    /// Clamps to what the specification allows, with a warning.
    ///
    /// # Errors
    /// When the number is not finite.
    pub fn within(&self, x: f32, low: f32, high: f32, what: &str) -> Result<f32, Fault> {
        let clamped = self.finite(x, what)?.clamp(low, high);
        if clamped != x {
            let message = format!("{x} is out of range; {clamped} is used");
            self.document
                .warnings
                .add(&format!("{}/{what}", self.path), message);
        }
        Ok(clamped)
    }

    /// As [`Reader::within`] for 0 to 1.
    ///
    /// # Errors
    /// When the number is not finite.
    pub fn unit(&self, x: f32, what: &str) -> Result<f32, Fault> {
        self.within(x, 0.0, 1.0, what)
    }

    /// As [`Reader::unit`] for each number.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn units<const N: usize>(&self, mut x: [f32; N], what: &str) -> Result<[f32; N], Fault> {
        for value in &mut x {
            *value = self.unit(*value, what)?;
        }
        Ok(x)
    }

    /// As [`Reader::within`] without an upper bound.
    ///
    /// # Errors
    /// When the number is not finite.
    pub fn at_least(&self, x: f32, low: f32, what: &str) -> Result<f32, Fault> {
        self.within(x, low, f32::MAX, what)
    }
}

fn info(info: Option<&gltf::json::texture::Info>) -> Option<TextureInfo> {
    let info = info?;
    let others = info.extensions.as_ref().map(|e| &e.others);
    Some(texture_info(info.index.value(), info.tex_coord, others))
}

fn texture_info(index: usize, tex_coord: u32, others: Option<&Map<String, Value>>) -> TextureInfo {
    TextureInfo {
        index: index as u32,
        tex_coord,
        extensions: others.cloned(),
        scale: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn a_texture_transform_is_adapted_to_v_growing_upwards() {
        let transform = Transform {
            offset: [0.1, 0.2],
            rotation: 0.5,
            scale: [2.0, 3.0],
            tex_coord: None,
        };
        let (u, v) = (0.3f32, 0.7f32);
        // The extension's own words: translation * rotation * scale, with v growing downwards.
        let (sin, cos) = 0.5f32.sin_cos();
        let (x, y) = (2.0 * u, 3.0 * v);
        let expected = Vec2::new(cos * x + sin * y + 0.1, -sin * x + cos * y + 0.2);
        let got = transform.matrix().transform_point2(Vec2::new(u, 1.0 - v));
        assert!(got.abs_diff_eq(Vec2::new(expected.x, 1.0 - expected.y), 1e-6));
        assert_eq!(Transform::default().matrix(), Affine2::IDENTITY);
    }
}
