//! Materials: rows of the flat material table, and the maps by which they read textures.

use super::{NONE, material_values::MapUse};
/// The lobes are kept as kernels read them.
pub use crate::abi::LobesRecord as Lobes;
use glam::{Affine2, Vec3};

/// One row of the flat material table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// The law by which it reflects.
    pub kind: MaterialKind,
    /// Diffuse albedo, mirror tint or base colour, multiplied by `color_map`.
    pub color: Vec3,
    /// Index into [`super::Scene::maps`] or [`NONE`], like all maps below. The map's alpha multiplies `opacity`.
    pub color_map: u32,
    /// Emitted radiance, multiplied by `emission_map`.
    pub emission: Vec3,
    /// Index of a map, like [`Self::color_map`].
    pub emission_map: u32,
    /// Whether the emission is seen by cameras and mirrors, but lights nothing.
    pub unlit: bool,
    /// Whether back faces emit nothing.
    pub one_sided: bool,
    /// From 0 to 1; what it means is up to [`Self::alpha`].
    pub opacity: f32,
    /// What opacity does.
    pub alpha: Alpha,
    /// Whether back faces are there; those of glass are always there, as light inside of it has to meet them.
    pub double_sided: bool,
    /// Whether all meshes of the material are closed and face outwards, so that its backs are only met from inside.
    pub encloses: bool,
    /// What cameras see of it.
    pub to_camera: ToCamera,
    /// The lobes of a [`MaterialKind::Layered`] material; other kinds ignore them.
    pub lobes: Lobes,
}

/// From this metalness on, and up to this roughness, the Whitted integrator takes a layered material for a mirror.
const METAL: f32 = 0.9;
const POLISHED: f32 = 0.15;

/// Greatest absorption coefficient of a medium, per scene unit: no light gets through such a medium anyway.
const MAX_ABSORPTION: f32 = 1e12;

/// Absorption coefficients per scene unit of a medium that leaves `color` of white light after `distance` (KHR_materials_volume).
///
/// A distance of infinity absorbs nothing. Where `color` is black, the least positive colour stands in for it.
pub fn absorption(color: Vec3, distance: f32) -> Vec3 {
    let left = color.max(Vec3::splat(f32::MIN_POSITIVE));
    (-left.map(f32::ln) / distance).clamp(Vec3::ZERO, Vec3::splat(MAX_ABSORPTION))
}

/// Share of light that particles of a medium have to scatter for a deep layer of it to look like `color` (KHR_materials_volume_scatter,
/// after Kulla and Conty 2017). `anisotropy` is the mean cosine of the angles.
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
    /// All maps that the material may read, [`NONE`] in place of those that it lacks.
    pub fn maps(&self) -> Vec<u32> {
        let mut maps = Vec::new();
        let mut own = *self;
        own.for_each_map(|map| maps.push(*map));
        maps
    }

    /// Calls `change` with each map that the material may read, [`NONE`] in place of those that it lacks.
    pub(crate) fn for_each_map(&mut self, mut change: impl FnMut(&mut u32)) {
        change(&mut self.color_map);
        change(&mut self.emission_map);
        if self.kind == MaterialKind::Layered {
            MapUse::of_lobes().for_each(|map| change(map.of(self)));
        }
    }

    /// Whether the Whitted integrator takes the material, which is layered, for a mirror.
    pub(crate) fn is_polished(&self) -> bool {
        let l = &self.lobes;
        let polished = l.metallic >= METAL && l.roughness <= POLISHED && l.metallic_roughness_map == NONE;
        polished && self.kind == MaterialKind::Layered
    }

    /// Whether back faces are invisible, to cameras and to light that comes from behind. Light inside of glass has to meet them.
    pub(crate) fn is_culled(&self) -> bool {
        let l = &self.lobes;
        let lets_light_in = l.transmission > 0.0 || l.diffuse_transmission > 0.0;
        !(self.double_sided || self.kind == MaterialKind::Layered && lets_light_in)
    }

    /// Whether light may be scattered in the volume behind the surface.
    #[cfg_attr(not(throng_cuda), allow(dead_code))]
    pub(crate) fn has_scattering_volume(&self) -> bool {
        self.kind == MaterialKind::Layered && self.lobes.thin == 0 && self.lobes.scatter_albedo != [0.0; 3]
    }

    /// Whether shading needs tangents at the vertices: for normal maps and anisotropy.
    pub(crate) fn uses_tangents(&self) -> bool {
        let l = &self.lobes;
        let turns = l.normal_map != NONE || l.clearcoat_normal_map != NONE || l.anisotropy > 0.0;
        self.kind == MaterialKind::Layered && turns
    }
}

/// The law by which a material reflects light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialKind {
    /// Lambert's law.
    Diffuse,
    /// A perfect mirror.
    Mirror,
    /// The metallic-roughness model of glTF 2.0 with the lobes of its KHR_materials extensions.
    Layered,
}

/// What cameras see of a material. Light, mirrors and glass meet it in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToCamera {
    /// All of it.
    #[default]
    Visible,
    /// A hole in the picture, with an alpha of 0.
    Holdout,
    /// Black that covers as much as light is blocked there.
    ShadowCatcher,
}

/// What a material makes of its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Nothing: all of the surface is there.
    Opaque,
    /// Opaque where alpha is at least this, else invisible.
    Mask(f32),
    /// Partly transparent, as alpha says.
    Blend,
}

/// How a material reads a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureMap {
    /// Index into [`super::Scene::textures`].
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
