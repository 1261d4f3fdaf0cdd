//! Light from directions without geometry.

use glam::Vec3;

/// Radiance from directions without geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// Uniform radiance.
    Constant {
        /// Linear RGB.
        radiance: Vec3,
    },
    /// Interpolated over the elevation: nadir at -Y, horizon at y = 0, zenith at +Y.
    Gradient {
        /// Radiance from straight up.
        zenith: Vec3,
        /// Radiance from the horizon.
        horizon: Vec3,
        /// Radiance from straight down.
        nadir: Vec3,
    },
    /// Latitude-longitude image of linear radiance. A unit direction d reads
    /// u = 0.5 + atan2(d.z, d.x) / 2π (+ rotation / 2π), v = acos(d.y) / π from the top.
    Image {
        /// Radiance by direction.
        pixels: FloatImage,
        /// Rotation about +Y in radians.
        rotation: f32,
        /// Stars in front of it.
        stars: Stars,
    },
}

/// Visible stars above the horizon, which emit no light into the scene. All skies have equal stars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stars {
    /// Irradiance of the faintest stars; 0 for no stars. Stars n times as bright are n^1.5 times as rare.
    pub faintest: f32,
    /// Irradiance that is subtracted from every star, down to 0.
    pub dimming: f32,
    /// Rotation of the sky about the celestial pole in radians. The pole is 45° above the horizon at -Z.
    pub turn: f32,
}

impl Default for Environment {
    fn default() -> Self {
        Self::Constant { radiance: Vec3::ZERO }
    }
}

/// Linear RGB, row-major, first row at the top; `data.len() == width * height`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green and blue of each pixel.
    pub data: Vec<[f32; 3]>,
}
