//! Scenes that show their forms alone.

use super::{Alpha, Material, NONE, Scene};
use glam::Vec3;

/// Albedo of potter's clay.
pub const CLAY: Vec3 = Vec3::new(0.46, 0.33, 0.25);

impl Scene {
    /// Makes everything of clay except for what a standalone model stands on, and clears the air. Light that materials emit stays, and so
    /// do their cutouts and what cameras see of them.
    pub(crate) fn turn_to_clay(&mut self) {
        self.fog = None;
        let stage = self.stage.and_then(|stage| self.instances.get(stage as usize));
        let stage = stage.and_then(|instance| self.material_slots.get(instance.slot_base as usize).copied());
        for (row, material) in (0..).zip(&mut self.materials) {
            if Some(row) != stage && !material.unlit {
                *material = Material {
                    color: CLAY,
                    opacity: material.opacity,
                    alpha: material.alpha,
                    // Its alpha is what is cut out.
                    color_map: if material.alpha == Alpha::Opaque { NONE } else { material.color_map },
                    emission: material.emission,
                    emission_map: material.emission_map,
                    one_sided: material.one_sided,
                    to_camera: material.to_camera,
                    ..Material::default()
                };
            }
        }
        for animated in &mut self.animated {
            animated.materials.clear();
        }
    }
}
