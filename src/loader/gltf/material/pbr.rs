//! glTF's material model with its extensions, as plain validated numbers. Defaults are those of the specification.

use glam::Affine2;

/// A material: metallic-roughness (glTF 2.0, 3.9) and the KHR_materials extensions. Colours are linear; factors are
/// within the bounds that the specification gives.
#[derive(Clone, Debug, PartialEq)]
pub struct PbrMaterial {
    pub name: String,
    /// Red, green, blue and alpha.
    pub base_color: [f32; 4],
    pub base_color_texture: Option<TextureRef>,
    pub metallic: f32,
    pub roughness: f32,
    /// Roughness in green, metallic in blue.
    pub metallic_roughness_texture: Option<TextureRef>,
    pub normal_texture: Option<TextureRef>,
    /// Multiplies x and y of the normal map.
    pub normal_scale: f32,
    /// Whether the file has an occlusion texture. It is not read: rays find what is occluded.
    pub has_occlusion: bool,
    /// Multiplied by the strength of KHR_materials_emissive_strength.
    pub emissive: [f32; 3],
    pub emissive_texture: Option<TextureRef>,
    pub alpha: Alpha,
    pub double_sided: bool,
    /// KHR_materials_unlit: the base colour is shown as it is.
    pub unlit: bool,
    /// KHR_materials_ior; 0 stands for infinity (full Fresnel reflection).
    pub ior: f32,
    /// KHR_materials_dispersion: 20 / Abbe number.
    pub dispersion: f32,
    pub specular: Option<Specular>,
    pub transmission: Option<Transmission>,
    pub diffuse_transmission: Option<DiffuseTransmission>,
    pub volume: Option<Volume>,
    pub clearcoat: Option<Clearcoat>,
    pub sheen: Option<Sheen>,
    pub iridescence: Option<Iridescence>,
    pub anisotropy: Option<Anisotropy>,
    /// Which of the file's sets of texture coordinates (TEXCOORD_n) a mesh of this material has as its `uvs` and `uvs1`.
    pub uv_sets: [u32; 2],
}

impl Default for PbrMaterial {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            has_occlusion: false,
            emissive: [0.0; 3],
            emissive_texture: None,
            alpha: Alpha::Opaque,
            double_sided: false,
            unlit: false,
            ior: 1.5,
            dispersion: 0.0,
            specular: None,
            transmission: None,
            diffuse_transmission: None,
            volume: None,
            clearcoat: None,
            sheen: None,
            iridescence: None,
            anisotropy: None,
            uv_sets: [0, 1],
        }
    }
}

/// How a material reads a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into [`crate::loader::gltf::Model::textures`].
    pub texture: u32,
    /// 0 for the mesh's `uvs`, 1 for its `uvs1`.
    pub uv_set: u32,
    /// KHR_texture_transform, for coordinates with v = 0 at the bottom: `texture_uv = transform · mesh_uv`.
    pub transform: Affine2,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    Opaque,
    /// Opaque where alpha is at least this, else invisible.
    Mask(f32),
    Blend,
}

/// KHR_materials_specular.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specular {
    pub factor: f32,
    /// Multiplies the factor by its alpha.
    pub texture: Option<TextureRef>,
    pub color: [f32; 3],
    pub color_texture: Option<TextureRef>,
}

/// KHR_materials_transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    pub factor: f32,
    /// Multiplies the factor by its red channel.
    pub texture: Option<TextureRef>,
}

/// KHR_materials_diffuse_transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiffuseTransmission {
    pub factor: f32,
    /// Multiplies the factor by its alpha.
    pub texture: Option<TextureRef>,
    pub color: [f32; 3],
    pub color_texture: Option<TextureRef>,
}

/// KHR_materials_volume. A thickness of 0 means a thin wall; other thicknesses and their texture are not read, as rays measure what they
/// pass through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    pub thickness: f32,
    /// Scene units; infinite where nothing is absorbed.
    pub attenuation_distance: f32,
    pub attenuation_color: [f32; 3],
}

/// KHR_materials_clearcoat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearcoat {
    pub factor: f32,
    /// Multiplies the factor by its red channel.
    pub texture: Option<TextureRef>,
    pub roughness: f32,
    /// Multiplies the roughness by its green channel.
    pub roughness_texture: Option<TextureRef>,
    pub normal_texture: Option<TextureRef>,
    pub normal_scale: f32,
}

/// KHR_materials_sheen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheen {
    pub color: [f32; 3],
    pub color_texture: Option<TextureRef>,
    pub roughness: f32,
    /// Multiplies the roughness by its alpha.
    pub roughness_texture: Option<TextureRef>,
}

/// KHR_materials_iridescence. Thicknesses are in nanometres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iridescence {
    pub factor: f32,
    /// Multiplies the factor by its red channel.
    pub texture: Option<TextureRef>,
    pub ior: f32,
    pub thickness_min: f32,
    pub thickness_max: f32,
    /// Interpolates between the two thicknesses by its green channel.
    pub thickness_texture: Option<TextureRef>,
}

/// KHR_materials_anisotropy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anisotropy {
    pub strength: f32,
    /// Direction in which highlights are stretched, in radians, counter-clockwise from the tangent.
    pub rotation: f32,
    /// Direction in red and green, strength in blue.
    pub texture: Option<TextureRef>,
}

impl PbrMaterial {
    /// Names of the features that the material uses beyond factors of colour, metal and roughness.
    pub fn features(&self) -> Vec<&'static str> {
        let facts = [
            (self.base_color_texture.is_some(), "base colour texture"),
            (
                self.metallic_roughness_texture.is_some(),
                "metal and roughness texture",
            ),
            (self.normal_texture.is_some(), "normal map"),
            (self.has_occlusion, "occlusion texture"),
            (self.emissive != [0.0; 3], "emission"),
            (matches!(self.alpha, Alpha::Mask(_)), "alpha mask"),
            (self.alpha == Alpha::Blend, "alpha blending"),
            (self.double_sided, "double-sided"),
            (self.unlit, "unlit"),
            (self.ior != 1.5, "ior"),
            (self.dispersion != 0.0, "dispersion"),
            (self.specular.is_some(), "specular"),
            (self.transmission.is_some(), "transmission"),
            (self.diffuse_transmission.is_some(), "diffuse transmission"),
            (self.volume.is_some(), "volume"),
            (self.clearcoat.is_some(), "clearcoat"),
            (self.sheen.is_some(), "sheen"),
            (self.iridescence.is_some(), "iridescence"),
            (self.anisotropy.is_some(), "anisotropy"),
        ];
        let used = facts.into_iter().filter(|(is_used, _)| *is_used);
        used.map(|(_, name)| name).collect()
    }

    /// All references to textures that the material has.
    pub fn textures_mut(&mut self) -> impl Iterator<Item = &mut TextureRef> {
        let core = [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.emissive_texture,
        ];
        let specular = self.specular.as_mut();
        let diffuse = self.diffuse_transmission.as_mut();
        let coat = self.clearcoat.as_mut();
        let sheen = self.sheen.as_mut();
        let film = self.iridescence.as_mut();
        let one = [
            self.transmission.as_mut().map(|t| &mut t.texture),
            self.anisotropy.as_mut().map(|a| &mut a.texture),
        ];
        let two = [
            specular.map(|s| [&mut s.texture, &mut s.color_texture]),
            diffuse.map(|d| [&mut d.texture, &mut d.color_texture]),
            sheen.map(|s| [&mut s.color_texture, &mut s.roughness_texture]),
            film.map(|i| [&mut i.texture, &mut i.thickness_texture]),
        ];
        let three = coat.map(|c| {
            let (roughness, normal) = (&mut c.roughness_texture, &mut c.normal_texture);
            [&mut c.texture, roughness, normal]
        });
        let extensions = one.into_iter().flatten();
        let extensions = extensions.chain(two.into_iter().flatten().flatten());
        let extensions = extensions.chain(three.into_iter().flatten());
        core.into_iter().chain(extensions).flatten()
    }

    /// The uv set of a texture that needs tangents, if there is one.
    pub fn tangent_uv_set(&self) -> Option<u32> {
        let coat = self.clearcoat.and_then(|c| c.normal_texture);
        let map = self.normal_texture.or(coat);
        match (map, self.anisotropy) {
            (Some(map), _) => Some(map.uv_set),
            (None, Some(anisotropy)) => Some(anisotropy.texture.map_or(0, |t| t.uv_set)),
            (None, None) => None,
        }
    }
}
