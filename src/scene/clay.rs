//! Materials that show forms alone.

use super::{Alpha, Material, NONE};
use glam::Vec3;

/// Albedo of potter's clay.
pub const CLAY: Vec3 = Vec3::new(0.46, 0.33, 0.25);

impl Material {
    /// Clay in place of this material. The light that it emits stays, and so do its cutouts, its missing back and what cameras see of it.
    pub(crate) fn in_clay(&self) -> Self {
        Self {
            color: CLAY,
            opacity: self.opacity,
            alpha: self.alpha,
            // Its alpha is what is cut out.
            color_map: if self.alpha == Alpha::Opaque { NONE } else { self.color_map },
            emission: self.emission,
            emission_map: self.emission_map,
            one_sided: self.one_sided,
            double_sided: self.double_sided,
            encloses: self.encloses,
            to_camera: self.to_camera,
            ..Self::default()
        }
    }
}
