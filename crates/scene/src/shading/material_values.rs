//! Values and textures of glTF materials, which files set and clips animate. Each has one row: its JSON pointer within the material
//! (KHR_animation_pointer), the bounds of its specification, and its place in the scene's material.

use crate::{Alpha, Material, absorption, animated::MaterialBase, scatter_albedo};
use glam::Vec3;

/// Bound of values without a specified bound, so that their products stay finite.
pub const VAST: f32 = 1e18;

/// A factor of glTF's materials or of an extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MaterialValue(u8);

/// Sets a value in a material's row, and in the base values from which others are computed.
type Set = fn(&mut Material, &mut MaterialBase, [f32; 4]);

/// JSON pointer, number of components, clamping to the specification's range, and setter.
struct Value(&'static str, usize, fn(f32) -> f32, Set);

#[rustfmt::skip]
const VALUES: &[Value] = &[
    Value("pbrMetallicRoughness/baseColorFactor", 4, unit, set_base_color),
    Value("pbrMetallicRoughness/metallicFactor", 1, unit, |m, _, [x, ..]| m.lobes.metallic = x),
    Value("pbrMetallicRoughness/roughnessFactor", 1, unit, |m, _, [x, ..]| m.lobes.roughness = x),
    Value("normalTexture/scale", 1, any, |m, _, [x, ..]| m.lobes.normal_scale = x),
    Value("emissiveFactor", 3, unit, |m, base, v| { base.emissive = color(v); set_emission(m, base); }),
    Value("extensions/KHR_materials_emissive_strength/emissiveStrength", 1, positive, |m, base, [x, ..]| { base.emissive_strength = x; set_emission(m, base); }),
    Value("alphaCutoff", 1, positive, |m, _, [x, ..]| if let Alpha::Mask(cutoff) = &mut m.alpha { *cutoff = x }),
    Value("extensions/KHR_materials_ior/ior", 1, refractive_index, |m, _, [x, ..]| m.lobes.ior = x),
    Value("extensions/KHR_materials_dispersion/dispersion", 1, positive, |m, _, [x, ..]| m.lobes.dispersion = x),
    Value("extensions/KHR_materials_specular/specularFactor", 1, unit, |m, _, [x, ..]| m.lobes.specular = x),
    Value("extensions/KHR_materials_specular/specularColorFactor", 3, positive, |m, _, v| m.lobes.specular_color = color(v).into()),
    Value("extensions/KHR_materials_transmission/transmissionFactor", 1, unit, |m, _, [x, ..]| m.lobes.transmission = x),
    Value("extensions/KHR_materials_volume/thicknessFactor", 1, positive, |m, base, [x, ..]| { m.lobes.thin = u32::from(x == 0.0); set_volume(m, base); }),
    Value("extensions/KHR_materials_volume/attenuationDistance", 1, above_zero, |m, base, [x, ..]| { base.attenuation_distance = x; set_volume(m, base); }),
    Value("extensions/KHR_materials_volume/attenuationColor", 3, unit, |m, base, v| { base.attenuation_color = color(v); set_volume(m, base); }),
    Value("extensions/KHR_materials_volume_scatter/multiscatterColor", 3, unit, |m, base, v| { base.multiscatter_color = color(v); set_volume(m, base); }),
    Value("extensions/KHR_materials_volume_scatter/scatterAnisotropy", 1, phase, |m, _, [x, ..]| m.lobes.scatter_anisotropy = x),
    Value("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionFactor", 1, unit, |m, _, [x, ..]| m.lobes.diffuse_transmission = x),
    Value("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorFactor", 3, unit, |m, _, v| m.lobes.diffuse_transmission_color = color(v).into()),
    Value("extensions/KHR_materials_clearcoat/clearcoatFactor", 1, unit, |m, _, [x, ..]| m.lobes.clearcoat = x),
    Value("extensions/KHR_materials_clearcoat/clearcoatRoughnessFactor", 1, unit, |m, _, [x, ..]| m.lobes.clearcoat_roughness = x),
    Value("extensions/KHR_materials_clearcoat/clearcoatNormalTexture/scale", 1, any, |m, _, [x, ..]| m.lobes.clearcoat_normal_scale = x),
    Value("extensions/KHR_materials_sheen/sheenColorFactor", 3, unit, |m, _, v| m.lobes.sheen_color = color(v).into()),
    Value("extensions/KHR_materials_sheen/sheenRoughnessFactor", 1, unit, |m, _, [x, ..]| m.lobes.sheen_roughness = x),
    Value("extensions/KHR_materials_iridescence/iridescenceFactor", 1, unit, |m, _, [x, ..]| m.lobes.iridescence = x),
    Value("extensions/KHR_materials_iridescence/iridescenceIor", 1, from_one, |m, _, [x, ..]| m.lobes.iridescence_ior = x),
    Value("extensions/KHR_materials_iridescence/iridescenceThicknessMinimum", 1, positive, |m, _, [x, ..]| m.lobes.iridescence_thickness[0] = x),
    Value("extensions/KHR_materials_iridescence/iridescenceThicknessMaximum", 1, positive, |m, _, [x, ..]| m.lobes.iridescence_thickness[1] = x),
    Value("extensions/KHR_materials_anisotropy/anisotropyStrength", 1, unit, |m, _, [x, ..]| m.lobes.anisotropy = x),
    Value("extensions/KHR_materials_anisotropy/anisotropyRotation", 1, any, |m, _, [x, ..]| m.lobes.anisotropy_rotation = x),
];

fn unit(x: f32) -> f32 {
    x.clamp(0.0, 1.0)
}

/// Beyond these bounds, the phase function is extremely narrow.
fn phase(x: f32) -> f32 {
    x.clamp(-0.99, 0.99)
}

fn positive(x: f32) -> f32 {
    x.clamp(0.0, VAST)
}

fn above_zero(x: f32) -> f32 {
    x.clamp(f32::MIN_POSITIVE, VAST)
}

fn from_one(x: f32) -> f32 {
    x.clamp(1.0, VAST)
}

/// 0 stands for infinity; other values below 1 are invalid.
fn refractive_index(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { from_one(x) }
}

fn any(x: f32) -> f32 {
    x.clamp(-VAST, VAST)
}

impl MaterialValue {
    /// All values.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..VALUES.len()).map(|row| Self(row as u8))
    }

    /// The value at this JSON pointer within a material; None if it cannot be animated.
    pub fn at(pointer: &str) -> Option<Self> {
        Self::all().find(|value| value.pointer() == pointer)
    }

    /// The JSON pointer of the value within a glTF material, without the leading slash.
    pub fn pointer(self) -> &'static str {
        VALUES[self.0 as usize].0
    }

    /// Number of components, 1 to 4.
    pub fn components(self) -> usize {
        VALUES[self.0 as usize].1
    }

    /// `x` clamped to the range that the specification permits for a component.
    pub fn clamp(self, x: f32) -> f32 {
        VALUES[self.0 as usize].2(x)
    }

    /// Sets the value in a material's row, and in `base`, from which some values are computed.
    pub fn set(self, row: &mut Material, base: &mut MaterialBase, value: [f32; 4]) {
        VALUES[self.0 as usize].3(row, base, value);
    }
}

impl std::fmt::Debug for MaterialValue {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.pointer())
    }
}

fn color([r, g, b, _]: [f32; 4]) -> Vec3 {
    Vec3::new(r, g, b)
}

fn set_base_color(m: &mut Material, _: &mut MaterialBase, v: [f32; 4]) {
    if m.unlit {
        m.emission = color(v)
    } else {
        m.color = color(v)
    }
    if m.alpha != Alpha::Opaque {
        m.opacity = v[3];
    }
}

fn set_emission(m: &mut Material, base: &MaterialBase) {
    if !m.unlit {
        m.emission = base.emissive * base.emissive_strength;
    }
}

fn set_volume(m: &mut Material, base: &MaterialBase) {
    let (extinction, albedo) = match m.lobes.thin {
        0 => (
            absorption(base.attenuation_color, base.attenuation_distance),
            // The specification's formula leaves anisotropy out.
            scatter_albedo(base.multiscatter_color, 0.0),
        ),
        _ => (Vec3::ZERO, Vec3::ZERO),
    };
    (m.lobes.extinction, m.lobes.scatter_albedo) = (extinction.into(), albedo.into());
}

/// The property of a material that a texture is read for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapUse(u8);

/// JSON pointer of the texture, whether it holds colours, and the material's field for the index of its map. All but the first two belong
/// to the lobes.
struct Map(&'static str, bool, fn(&mut Material) -> &mut u32);

#[rustfmt::skip]
const MAPS: &[Map] = &[
    Map("pbrMetallicRoughness/baseColorTexture", true, |m| if m.unlit { &mut m.emission_map } else { &mut m.color_map }),
    Map("emissiveTexture", true, |m| &mut m.emission_map),
    Map("pbrMetallicRoughness/metallicRoughnessTexture", false, |m| &mut m.lobes.metallic_roughness_map),
    Map("normalTexture", false, |m| &mut m.lobes.normal_map),
    Map("extensions/KHR_materials_specular/specularTexture", false, |m| &mut m.lobes.specular_map),
    Map("extensions/KHR_materials_specular/specularColorTexture", true, |m| &mut m.lobes.specular_color_map),
    Map("extensions/KHR_materials_transmission/transmissionTexture", false, |m| &mut m.lobes.transmission_map),
    Map("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionTexture", false, |m| &mut m.lobes.diffuse_transmission_map),
    Map("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorTexture", true, |m| &mut m.lobes.diffuse_transmission_color_map),
    Map("extensions/KHR_materials_clearcoat/clearcoatTexture", false, |m| &mut m.lobes.clearcoat_map),
    Map("extensions/KHR_materials_clearcoat/clearcoatRoughnessTexture", false, |m| &mut m.lobes.clearcoat_roughness_map),
    Map("extensions/KHR_materials_clearcoat/clearcoatNormalTexture", false, |m| &mut m.lobes.clearcoat_normal_map),
    Map("extensions/KHR_materials_sheen/sheenColorTexture", true, |m| &mut m.lobes.sheen_color_map),
    Map("extensions/KHR_materials_sheen/sheenRoughnessTexture", false, |m| &mut m.lobes.sheen_roughness_map),
    Map("extensions/KHR_materials_iridescence/iridescenceTexture", false, |m| &mut m.lobes.iridescence_map),
    Map("extensions/KHR_materials_iridescence/iridescenceThicknessTexture", false, |m| &mut m.lobes.iridescence_thickness_map),
    Map("extensions/KHR_materials_anisotropy/anisotropyTexture", false, |m| &mut m.lobes.anisotropy_map),
];

impl MapUse {
    /// All uses, the base colour first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..MAPS.len()).map(|row| Self(row as u8))
    }

    /// All texture uses of lobes.
    pub fn of_lobes() -> impl Iterator<Item = Self> {
        Self::all().skip(2)
    }

    /// The use of the texture at this JSON pointer within a material; None if there is none.
    pub fn at(pointer: &str) -> Option<Self> {
        Self::all().find(|map| map.pointer() == pointer)
    }

    /// The JSON pointer of the texture within a glTF material, without the leading slash.
    pub fn pointer(self) -> &'static str {
        MAPS[self.0 as usize].0
    }

    /// The use with this [`Self::name`].
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|map| map.name() == name)
    }

    /// The last part of the pointer, which is unique.
    pub fn name(self) -> &'static str {
        let pointer = self.pointer();
        pointer.rsplit('/').next().unwrap_or(pointer)
    }

    /// Whether texels are colours, which files store in sRGB.
    pub fn holds_colors(self) -> bool {
        MAPS[self.0 as usize].1
    }

    /// The field of a material that holds the index of the map.
    pub fn of(self, material: &mut Material) -> &mut u32 {
        MAPS[self.0 as usize].2(material)
    }
}

impl std::fmt::Debug for MapUse {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.pointer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_map_of_a_material_has_a_use() {
        let mut material = Material::default();
        for (index, map) in MapUse::all().enumerate() {
            *map.of(&mut material) = index as u32;
        }
        let text = format!("{material:?}");
        assert!(!text.contains(&format!("map: {}", u32::MAX)), "{text}");
    }
}
