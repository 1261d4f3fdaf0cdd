//! Fog: a medium that fills the scene and scatters light.

use super::Scene;
use glam::Vec3;

/// Fog between what is seen and the camera. Level by level it is the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fog {
    /// Share of light that is scattered or absorbed per scene unit, where the fog is densest.
    pub density: f32,
    /// Share of that which is scattered, 0 to 1.
    pub albedo: Vec3,
    /// Mean cosine of the angle by which it is scattered (Henyey and Greenstein 1941), within (-1, 1).
    pub anisotropy: f32,
    /// How fogs thin out above a level; None if they do not.
    pub thinning: Option<Thinning>,
    /// The level above which there is no fog; None if there is none.
    pub top: Option<f32>,
}

/// Density above y = `base` falls by a factor of e per `height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thinning {
    /// Height y below which fog is densest.
    pub base: f32,
    /// In scene units.
    pub height: f32,
}

impl Fog {
    /// The same fog with all levels higher.
    pub(crate) fn lifted(self, by: f32) -> Self {
        let thinning = self.thinning.map(|thinning| Thinning { base: thinning.base + by, ..thinning });
        Self { thinning, top: self.top.map(|top| top + by), ..self }
    }

    /// Whether it is seen at all.
    pub(crate) fn is_seen(&self) -> bool {
        self.density > 0.0
    }

    /// Whether all light from infinitely far away is lost in it.
    pub(crate) fn hides_the_sky(&self) -> bool {
        self.is_seen() && self.thinning.is_none() && self.top.is_none()
    }
}

impl Scene {
    /// Whether the scene has fog that is seen.
    pub(crate) fn is_foggy(&self) -> bool {
        self.fog.is_some_and(|fog| fog.is_seen())
    }
}
