//! The light of a scene: the materials in use, and the sources of light.

use crate::{Environment, Light, Material, MaterialKind, NONE, Scene, ToCamera};
use glam::Vec3;

/// Sources of a scene's light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum LightSource {
    /// Lights or the environment, and possibly materials.
    Lights,
    /// Only materials.
    Materials,
    /// There are none.
    Nothing,
}

impl Scene {
    /// Indices of the materials used by instances, ascending.
    #[doc(hidden)]
    pub fn used_materials(&self) -> Vec<usize> {
        let mut used = vec![false; self.materials.len()];
        for &row in &self.material_slots {
            if let Some(used) = used.get_mut(row as usize) {
                *used = true;
            }
        }
        (0..used.len()).filter(|&row| used[row]).collect()
    }

    /// Whether any shadow catcher is in use.
    #[doc(hidden)]
    pub fn catches_shadows(&self) -> bool {
        self.used_materials().iter().any(|&row| self.materials[row].to_camera == ToCamera::ShadowCatcher)
    }

    /// The sources of light. Animated lights count as lights, even if they start dark.
    #[doc(hidden)]
    pub fn light_source(&self) -> LightSource {
        let used = self.used_materials();
        let mut emissive = self.at_any_time(&used).filter(|material| material.emission.max_element() > 0.0);
        let keyed = self.timeline.as_ref().is_some_and(|timeline| timeline.changes_lights());
        if keyed || !self.animated.is_empty() || self.lights.iter().any(Light::shines) || self.environment.shines() {
            LightSource::Lights
        } else if emissive.next().is_some() {
            LightSource::Materials
        } else {
            LightSource::Nothing
        }
    }

    /// Materials of the rows `used`, ascending, at the first frame and at all keys.
    fn at_any_time(&self, used: &[usize]) -> impl Iterator<Item = Material> {
        let keyed = self.timeline.iter().flat_map(|timeline| timeline.materials_at_keys());
        let keyed = keyed.filter(|(row, _)| used.binary_search(&(*row as usize)).is_ok());
        used.iter().map(|&row| self.materials[row]).chain(keyed.map(|(_, material)| material))
    }
}

impl Light {
    fn shines(&self) -> bool {
        match self {
            Self::Point { intensity, .. } | Self::Spot { intensity, .. } | Self::Lamp { intensity, .. } => {
                intensity.max_element() > 0.0
            }
            Self::Sun { irradiance, .. } | Self::Moon { irradiance, .. } => irradiance.max_element() > 0.0,
        }
    }
}

impl Environment {
    /// Whether it emits light.
    #[doc(hidden)]
    pub fn shines(&self) -> bool {
        let shines = |radiance: Vec3| radiance.max_element() > 0.0;
        match self {
            Self::Constant { radiance } => shines(*radiance),
            Self::Gradient { zenith, horizon, nadir } => [*zenith, *horizon, *nadir].into_iter().any(shines),
            Self::Image { pixels, .. } => pixels.data.iter().any(|&pixel| shines(pixel.into())),
        }
    }
}

/// Roughness below which a dielectric shows visible reflections.
const GLOSSY: f32 = 0.5;
/// Roughness below which a metal does not look matt.
const METALLIC: f32 = 0.8;

impl Material {
    /// Whether the material looks like neither a matt surface nor a mirror, the only ones that the Whitted integrator supports. Roughness
    /// and metalness from textures are ignored.
    #[doc(hidden)]
    pub fn needs_paths(&self) -> bool {
        let l = &self.lobes;
        let is_plain = l.metallic_roughness_map == NONE;
        let is_metal = is_plain && l.metallic >= 0.5 && l.roughness < METALLIC;
        let is_glossy = is_plain && l.specular > 0.0 && l.roughness < GLOSSY;
        let sheen = Vec3::from(l.sheen_color).max_element();
        let layers = [l.transmission, l.diffuse_transmission, l.clearcoat, l.iridescence, sheen];
        let is_layered = is_metal || is_glossy || layers.iter().any(|&weight| weight > 0.0);
        match self.kind {
            MaterialKind::Diffuse | MaterialKind::Mirror => false,
            MaterialKind::Layered => !self.unlit && !self.is_polished() && is_layered,
            MaterialKind::Hair => !self.unlit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lobes;

    fn layered(lobes: Lobes) -> Material {
        Material { kind: MaterialKind::Layered, lobes, ..Material::default() }
    }

    #[test]
    fn glass_brushed_metal_and_hair_need_paths_and_chalk_and_mirrors_do_not() {
        let plain = Lobes::default();
        for lobes in [
            Lobes { transmission: 1.0, roughness: 0.0, ..plain },
            Lobes { metallic: 1.0, roughness: 0.3, ..plain },
            Lobes { roughness: 0.1, ..plain },
            Lobes { clearcoat: 0.5, ..plain },
        ] {
            assert!(layered(lobes).needs_paths(), "{lobes:?}");
        }
        let polished = Lobes { metallic: 1.0, roughness: 0.05, ..plain };
        assert!(!layered(plain).needs_paths() && !layered(polished).needs_paths());
        assert!(!Material { kind: MaterialKind::Mirror, ..layered(Lobes::default()) }.needs_paths());
        assert!(Material { kind: MaterialKind::Hair, ..layered(Lobes::default()) }.needs_paths());
    }

    #[test]
    fn materials_that_nothing_uses_are_no_light() {
        let lamp = Material { emission: Vec3::ONE, ..Material::default() };
        let mut scene = Scene { materials: vec![Material::default(), lamp], ..Scene::default() };
        scene.material_slots = vec![0];
        assert_eq!(scene.light_source(), LightSource::Nothing);
        scene.material_slots = vec![0, 1, 1];
        assert_eq!(scene.used_materials(), [0, 1]);
        assert_eq!(scene.light_source(), LightSource::Materials);
        scene.environment = Environment::Constant { radiance: Vec3::X };
        assert_eq!(scene.light_source(), LightSource::Lights);
    }
}
