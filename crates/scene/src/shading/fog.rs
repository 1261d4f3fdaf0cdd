//! Fog: a medium that fills the scene and scatters light.

use crate::Scene;
use glam::Vec3;

/// Fog in the scene. Its density depends only on the height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fog {
    /// Share of light that is scattered or absorbed per scene unit, at the greatest density.
    pub density: f32,
    /// Share of the lost light that is scattered, 0 to 1.
    pub albedo: Vec3,
    /// Mean cosine of the scattering angle (Henyey and Greenstein 1941), within (-1, 1).
    pub anisotropy: f32,
    /// Decrease of the density with height. None for uniform fog.
    pub thinning: Option<Thinning>,
    /// Height above which there is no fog. None: no limit.
    pub top: Option<f32>,
}

/// Exponential decrease of the density: above y = `base` it falls by a factor of e per `height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thinning {
    /// The y below which fog has its full density.
    pub base: f32,
    /// Scale height in scene units.
    pub height: f32,
}

impl Fog {
    /// A copy with all heights raised.
    #[doc(hidden)]
    pub fn lifted(self, by: f32) -> Self {
        let thinning = self.thinning.map(|thinning| Thinning { base: thinning.base + by, ..thinning });
        Self { thinning, top: self.top.map(|top| top + by), ..self }
    }

    /// Whether it is visible.
    #[doc(hidden)]
    pub fn is_seen(&self) -> bool {
        self.density > 0.0
    }

    /// Whether it blocks all light from infinite distance.
    #[doc(hidden)]
    pub fn hides_the_sky(&self) -> bool {
        self.is_seen() && self.thinning.is_none() && self.top.is_none()
    }
}

impl Scene {
    /// Whether the scene has visible fog.
    #[doc(hidden)]
    pub fn is_foggy(&self) -> bool {
        self.fog.is_some_and(|fog| fog.is_seen())
    }
}
