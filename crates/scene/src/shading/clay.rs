//! Materials that show only shapes.

use crate::{Alpha, Material, NONE};
use glam::Vec3;

/// Albedo of potter's clay.
#[doc(hidden)]
pub const CLAY: Vec3 = Vec3::new(0.46, 0.33, 0.25);

impl Material {
    /// A clay version of this material. Keeps the emitted light, cutouts, invisible back faces and camera visibility.
    pub(crate) fn in_clay(&self) -> Self {
        Self {
            color: CLAY,
            opacity: self.opacity,
            alpha: self.alpha,
            // The map's alpha defines the cutouts.
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
