//! Materials: rows of the flat material table, and the maps by which they read textures.

use super::NONE;
use glam::{Affine2, Vec3};

/// One row of the flat material table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    pub kind: MaterialKind,
    /// Diffuse albedo, mirror tint or base colour, multiplied by `color_map`.
    pub color: Vec3,
    /// Index into [`super::Scene::maps`] or [`NONE`], like all maps below. The map's alpha multiplies `opacity`.
    pub color_map: u32,
    /// Emitted radiance, multiplied by `emission_map`.
    pub emission: Vec3,
    pub emission_map: u32,
    /// Whether the emission is seen by cameras and mirrors, but lights nothing.
    pub unlit: bool,
    pub opacity: f32,
    pub alpha: Alpha,
    /// Whether back faces are meant to be visible. Both sides are rendered in any case.
    pub double_sided: bool,
    /// The lobes of a [`MaterialKind::Layered`] material; other kinds ignore them.
    pub lobes: Lobes,
}

/// Greatest absorption coefficient of a medium, per scene unit: no light gets through such a medium anyway.
const MAX_ABSORPTION: f32 = 1e12;

/// Absorption coefficients per scene unit of a medium that leaves `color` of white light after `distance` (KHR_materials_volume).
///
/// A distance of infinity absorbs nothing. Where `color` is black, the least positive colour stands in for it.
pub fn absorption(color: Vec3, distance: f32) -> Vec3 {
    let left = color.max(Vec3::splat(f32::MIN_POSITIVE));
    (-left.map(f32::ln) / distance).clamp(Vec3::ZERO, Vec3::splat(MAX_ABSORPTION))
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
            opacity: 1.0,
            alpha: Alpha::Opaque,
            double_sided: true,
            lobes: Lobes::default(),
        }
    }
}

impl Material {
    /// All maps that the material may read, [`NONE`] in place of those that it lacks.
    pub fn maps(&self) -> [u32; 17] {
        let l = &self.lobes;
        let lobes = match self.kind {
            MaterialKind::Layered => [
                l.metallic_roughness_map,
                l.normal_map,
                l.specular_map,
                l.specular_color_map,
                l.transmission_map,
                l.diffuse_transmission_map,
                l.diffuse_transmission_color_map,
                l.clearcoat_map,
                l.clearcoat_roughness_map,
                l.clearcoat_normal_map,
                l.sheen_color_map,
                l.sheen_roughness_map,
                l.iridescence_map,
                l.iridescence_thickness_map,
                l.anisotropy_map,
            ],
            MaterialKind::Diffuse | MaterialKind::Mirror => [NONE; 15],
        };
        let mut maps = [NONE; 17];
        maps[0] = self.color_map;
        maps[1] = self.emission_map;
        maps[2..].copy_from_slice(&lobes);
        maps
    }

    /// Whether shading needs tangents at the vertices: for normal maps and anisotropy.
    pub fn uses_tangents(&self) -> bool {
        let l = &self.lobes;
        let turns = l.normal_map != NONE || l.clearcoat_normal_map != NONE || l.anisotropy > 0.0;
        self.kind == MaterialKind::Layered && turns
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialKind {
    /// Lambert's law.
    Diffuse,
    /// A perfect mirror.
    Mirror,
    /// The metallic-roughness model of glTF 2.0 with the lobes of its KHR_materials extensions.
    Layered,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    Opaque,
    /// Opaque where alpha is at least this, else invisible.
    Mask(f32),
    /// Partly transparent, as alpha says.
    Blend,
}

/// The lobes of a material, as glTF's extensions name and define them. Defaults leave each layer out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lobes {
    pub metallic: f32,
    /// Perceptual roughness: GGX's alpha is its square.
    pub roughness: f32,
    /// Roughness in green, metallic in blue.
    pub metallic_roughness_map: u32,
    pub normal_map: u32,
    /// Multiplies x and y of the normal map.
    pub normal_scale: f32,
    /// Refractive index of the dielectric base; 0 stands for infinity: everything is reflected.
    pub ior: f32,
    /// Dispersion: 20 / Abbe number.
    pub dispersion: f32,
    /// Weight of the dielectric reflection, which `specular_color` tints at normal incidence.
    pub specular: f32,
    /// Multiplies `specular` by its alpha.
    pub specular_map: u32,
    pub specular_color: Vec3,
    pub specular_color_map: u32,
    pub transmission: f32,
    /// Multiplies `transmission` by its red channel.
    pub transmission_map: u32,
    /// Whether the surface is a thin wall, which does not refract light and encloses no volume.
    pub thin: bool,
    /// Absorption coefficient of the volume behind the surface, per scene unit.
    pub absorption: Vec3,
    pub diffuse_transmission: f32,
    /// Multiplies `diffuse_transmission` by its alpha.
    pub diffuse_transmission_map: u32,
    pub diffuse_transmission_color: Vec3,
    pub diffuse_transmission_color_map: u32,
    pub clearcoat: f32,
    /// Multiplies `clearcoat` by its red channel.
    pub clearcoat_map: u32,
    pub clearcoat_roughness: f32,
    /// Multiplies `clearcoat_roughness` by its green channel.
    pub clearcoat_roughness_map: u32,
    pub clearcoat_normal_map: u32,
    pub clearcoat_normal_scale: f32,
    pub sheen_color: Vec3,
    pub sheen_color_map: u32,
    pub sheen_roughness: f32,
    /// Multiplies `sheen_roughness` by its alpha.
    pub sheen_roughness_map: u32,
    pub iridescence: f32,
    /// Multiplies `iridescence` by its red channel.
    pub iridescence_map: u32,
    pub iridescence_ior: f32,
    /// Thickness of the film in nanometres where the map is 0 and where it is 1; without a map, the second applies.
    pub iridescence_thickness: [f32; 2],
    /// Interpolates between the two thicknesses by its green channel.
    pub iridescence_thickness_map: u32,
    pub anisotropy: f32,
    /// Direction in which highlights are stretched, in radians, counter-clockwise from the tangent.
    pub anisotropy_rotation: f32,
    /// Direction in red and green, strength in blue.
    pub anisotropy_map: u32,
}

impl Default for Lobes {
    fn default() -> Self {
        Self {
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_map: NONE,
            normal_map: NONE,
            normal_scale: 1.0,
            ior: 1.5,
            dispersion: 0.0,
            specular: 1.0,
            specular_map: NONE,
            specular_color: Vec3::ONE,
            specular_color_map: NONE,
            transmission: 0.0,
            transmission_map: NONE,
            thin: true,
            absorption: Vec3::ZERO,
            diffuse_transmission: 0.0,
            diffuse_transmission_map: NONE,
            diffuse_transmission_color: Vec3::ONE,
            diffuse_transmission_color_map: NONE,
            clearcoat: 0.0,
            clearcoat_map: NONE,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_map: NONE,
            clearcoat_normal_map: NONE,
            clearcoat_normal_scale: 1.0,
            sheen_color: Vec3::ZERO,
            sheen_color_map: NONE,
            sheen_roughness: 0.0,
            sheen_roughness_map: NONE,
            iridescence: 0.0,
            iridescence_map: NONE,
            iridescence_ior: 1.3,
            iridescence_thickness: [100.0, 400.0],
            iridescence_thickness_map: NONE,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_map: NONE,
        }
    }
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
        Self {
            texture,
            uv_set: 0,
            transform: Affine2::IDENTITY,
        }
    }
}
