//! Materials: rows of the flat material table, and maps, which describe how they read textures.

use super::material_values::MapUse;
use crate::NONE;
use glam::{Affine2, Vec3};
/// Lobes are stored in the kernels' layout.
pub use throng_abi::LobesRecord as Lobes;

/// One row of the flat material table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Reflection model.
    pub kind: MaterialKind,
    /// Diffuse albedo, mirror tint, base colour or the colour of dense hair ([`crate::hair_color`]), multiplied by `color_map`.
    pub color: Vec3,
    /// Index into [`crate::Scene::maps`] or [`NONE`], like all maps below. The map's alpha multiplies `opacity`.
    pub color_map: u32,
    /// Emitted radiance, multiplied by `emission_map`.
    pub emission: Vec3,
    /// Index of a map, like [`Self::color_map`].
    pub emission_map: u32,
    /// Whether the emission is visible to cameras and mirrors, but lights nothing.
    pub unlit: bool,
    /// Whether back faces emit nothing.
    pub one_sided: bool,
    /// Opacity from 0 to 1. [`Self::alpha`] sets its use.
    pub opacity: f32,
    /// Use of the opacity.
    pub alpha: Alpha,
    /// Whether back faces are visible. Back faces of glass always are, because light inside must hit them.
    pub double_sided: bool,
    /// Whether all meshes of the material are closed and face outwards, so that back faces are only hit from inside.
    pub encloses: bool,
    /// Visibility to cameras.
    pub to_camera: ToCamera,
    /// The lobes of a [`MaterialKind::Layered`] or [`MaterialKind::Hair`] material; other kinds ignore them.
    pub lobes: Lobes,
}

/// Minimum metalness and maximum roughness at which the Whitted integrator treats a layered material as a mirror.
const METAL: f32 = 0.9;
const POLISHED: f32 = 0.15;

/// Maximum absorption coefficient of a medium, per scene unit. Such a medium blocks all light anyway.
const MAX_ABSORPTION: f32 = 1e12;

/// Absorption coefficients per scene unit of a medium in which white light has `color` after `distance` (KHR_materials_volume).
///
/// An infinite distance means no absorption. Black components of `color` are replaced by the smallest positive value.
pub fn absorption(color: Vec3, distance: f32) -> Vec3 {
    let left = color.max(Vec3::splat(f32::MIN_POSITIVE));
    (-left.map(f32::ln) / distance).clamp(Vec3::ZERO, Vec3::splat(MAX_ABSORPTION))
}

/// Single-scattering albedo of a medium whose deep layer has the colour `color` (KHR_materials_volume_scatter, after Kulla and Conty 2017).
/// `anisotropy` is the mean cosine of the scattering angles.
pub fn scatter_albedo(color: Vec3, anisotropy: f32) -> Vec3 {
    let albedo = |color: f32| {
        let root = (9.59217 + color * (41.6808 + 17.7126 * color)).sqrt();
        let s = (4.09712 + 4.20863 * color - root).clamp(0.0, 1.0);
        (1.0 - s * s) / (1.0 - anisotropy * s * s)
    };
    color.map(|color| if color > 0.0 { albedo(color) } else { 0.0 })
}

impl Default for Material {
    fn default() -> Self {
        Self {
            kind: MaterialKind::Diffuse,
            color: Vec3::splat(0.8),
            color_map: NONE,
            emission: Vec3::ZERO,
            emission_map: NONE,
            unlit: false,
            one_sided: false,
            opacity: 1.0,
            alpha: Alpha::Opaque,
            double_sided: true,
            encloses: false,
            to_camera: ToCamera::Visible,
            lobes: Lobes::default(),
        }
    }
}

impl Material {
    /// All maps that the material may read. Missing maps are [`NONE`].
    pub fn maps(&self) -> Vec<u32> {
        let mut maps = Vec::new();
        let mut own = *self;
        own.for_each_map(|map| maps.push(*map));
        maps
    }

    /// Calls `change` with each map that the material may read. Missing maps are [`NONE`].
    #[doc(hidden)]
    pub fn for_each_map(&mut self, mut change: impl FnMut(&mut u32)) {
        change(&mut self.color_map);
        change(&mut self.emission_map);
        if self.kind == MaterialKind::Layered {
            MapUse::of_lobes().for_each(|map| change(map.of(self)));
        }
    }

    /// Whether the Whitted integrator treats this layered material as a mirror.
    #[doc(hidden)]
    pub fn is_polished(&self) -> bool {
        let l = &self.lobes;
        let polished = l.metallic >= METAL && l.roughness <= POLISHED && l.metallic_roughness_map == NONE;
        polished && self.kind == MaterialKind::Layered
    }

    /// Whether back faces are invisible, both to cameras and to light from behind. Not for glass, because light inside must hit them.
    #[doc(hidden)]
    pub fn is_culled(&self) -> bool {
        let l = &self.lobes;
        let lets_light_in = l.transmission > 0.0 || l.diffuse_transmission > 0.0;
        !(self.double_sided || self.kind == MaterialKind::Layered && lets_light_in)
    }

    /// Whether light may be scattered in the volume behind the surface.
    #[doc(hidden)]
    pub fn has_scattering_volume(&self) -> bool {
        self.kind == MaterialKind::Layered && self.lobes.thin == 0 && self.lobes.scatter_albedo != [0.0; 3]
    }

    /// Whether shading needs tangents at the vertices: for normal maps, anisotropy and hair.
    #[doc(hidden)]
    pub fn uses_tangents(&self) -> bool {
        let l = &self.lobes;
        let turns = l.normal_map != NONE || l.clearcoat_normal_map != NONE || l.anisotropy > 0.0;
        self.kind == MaterialKind::Hair || self.kind == MaterialKind::Layered && turns
    }
}

/// Reflection model of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialKind {
    /// Lambert's law.
    Diffuse,
    /// A perfect mirror.
    Mirror,
    /// The metallic-roughness model of glTF 2.0 with the lobes of its KHR_materials extensions.
    Layered,
    /// Hair and fur (Chiang et al. 2016), for curves. [`Lobes`] lists the fields that it reads.
    Hair,
}

/// Visibility of a material to cameras. It does not affect light, mirrors and glass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToCamera {
    /// Fully visible.
    #[default]
    Visible,
    /// A hole in the picture, with an alpha of 0.
    Holdout,
    /// Black, with an alpha equal to the share of blocked light.
    ShadowCatcher,
}

/// Use of a material's opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Opacity is ignored.
    Opaque,
    /// Opaque where alpha is at least this threshold, otherwise invisible.
    Mask(f32),
    /// Transparent according to alpha.
    Blend,
}

/// How a material reads a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureMap {
    /// Index into [`crate::Scene::textures`].
    pub texture: u32,
    /// 0 for the mesh's `uvs`, 1 for its `uvs1`.
    pub uv_set: u32,
    /// `texture_uv = transform · mesh_uv`.
    pub transform: Affine2,
}

impl TextureMap {
    /// A map that reads `texture` at the mesh's first texture coordinates, untransformed.
    pub fn plain(texture: u32) -> Self {
        Self { texture, uv_set: 0, transform: Affine2::IDENTITY }
    }
}
