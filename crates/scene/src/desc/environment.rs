//! The `environment` section.

use super::{Color, Finite, values};
use serde::Deserialize;

/// The `environment` section: light from all directions in which there is no geometry.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "environment")]
pub enum EnvironmentDesc {
    Constant(Constant),
    Gradient(Gradient),
    SunSky(SunSky),
    Image(EnvironmentImage),
}

/// `Constant(radiance: (0.2, 0.2, 0.25))`: uniform radiance from all directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Radiance from every direction.
    pub radiance: Color,
}

/// `Gradient(zenith: (0.2, 0.3, 0.8), horizon: "#ffffff", nadir: (0.1, 0.1, 0.1))`: radiance from above, from the horizon and from below,
/// interpolated over the elevation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gradient {
    /// Radiance from straight up.
    pub zenith: Color,
    /// Radiance from the horizon.
    pub horizon: Color,
    /// Radiance from straight down.
    pub nadir: Color,
}

/// `SunSky(elevation: 35, azimuth: 120, turbidity: 3)`: daylight and night sky of the Earth's atmosphere.
///
/// Suitable exposures: 0 by day, 3 at sunset, 6 at dusk (the sun at -6), 7 for a starry night, 6 with a full moon.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SunSky {
    /// Elevation of the sun above the horizon, in degrees, -90 to 90. At -18 and below, it gives no light. Default 40.
    pub elevation: Finite,
    /// Azimuth of the sun in degrees: 0 is +X, 90 is +Z. Default 60.
    pub azimuth: Finite,
    /// Haze: 1 is the purest air, 2.5 a clear day (default), 10 hazy. At most 20.
    pub turbidity: Finite,
    /// Factor on the light of sun, sky, moon and stars, 0 to 1000000. Default 1, suitable for exposure 0.
    pub intensity: Finite,
    /// Albedo of the ground below the horizon, at most 1. Default (0.3, 0.28, 0.25).
    pub ground: Color,
    /// Whether the sun emits light; with `false`, only the sky does. Default true.
    pub sun: bool,
    /// Angular diameter of the sun in degrees, 0 to 90; a larger sun casts softer shadows. Default 0.53.
    pub sun_size: Finite,
    /// Brightness of the stars and of the night sky, 0 to 1000000. Stars are visible to cameras and in mirrors: the first ones when the sun
    /// is at -6, all of them at -18. They rotate with the sun's azimuth, about a pole 45 degrees above -Z. Default 0: nights are black.
    pub stars: Finite,
    /// A moon. Default: none.
    pub moon: Option<Moon>,
}

/// `Moon(elevation: 30, azimuth: 200)`: a moon that is visible and emits light, and rises and sets like the sun.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moon {
    /// Elevation above the horizon in degrees, -90 to 90. Default 30.
    pub elevation: Finite,
    /// Azimuth in degrees, with the directions of the sun's. Default 240.
    pub azimuth: Finite,
    /// Lit share of the disc, from 0 (new) to 1 (full), on the side of the sun. Default: computed from the sun's position.
    pub phase: Option<Finite>,
    /// Angular diameter in degrees, 0 to 90; at 0 the moon is invisible. Default 0.52.
    pub size: Finite,
    /// Factor on its light, 0 to 1000000. Default 1: the full moon has 1/500 of the sun's irradiance.
    pub intensity: Finite,
}

impl Default for Moon {
    fn default() -> Self {
        Self {
            elevation: Finite(30.0),
            azimuth: Finite(240.0),
            phase: None,
            size: Finite(0.52),
            intensity: Finite(1.0),
        }
    }
}

impl Default for SunSky {
    fn default() -> Self {
        Self {
            elevation: Finite(40.0),
            azimuth: Finite(60.0),
            turbidity: Finite(2.5),
            intensity: Finite(1.0),
            ground: Color::new(0.3, 0.28, 0.25),
            sun: true,
            sun_size: Finite(0.53),
            stars: Finite(0.0),
            moon: None,
        }
    }
}

/// `Image(file: "studio.hdr", rotation: 90, intensity: 1)`: a panorama by longitude and latitude, with the zenith at its top.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentImage {
    /// The picture: OpenEXR or HDR with radiances, or another format with sRGB colours.
    pub file: String,
    /// Rotation of the picture about Y, in degrees. Default 0.
    #[serde(default)]
    pub rotation: Finite,
    /// Factor on the radiance of the picture, 0 to 1000000. Default 1.
    #[serde(default = "values::one")]
    pub intensity: Finite,
}
