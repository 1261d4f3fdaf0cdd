//! The night sky: airglow, stars and the moon. All are brighter relative to daylight than in reality, so that nights suit an exposure of
//! about 7 stops.

use super::{Rgb, SUN_IRRADIANCE};
use glam::DVec3;
use throng_scene::{Stars, desc::SunSky};

/// Radiance of the night sky at the zenith and at the horizon.
const ZENITH_GLOW: Rgb = Rgb::new(1.3e-4, 1.9e-4, 3.3e-4);
const HORIZON_GLOW: Rgb = Rgb::new(3.6e-4, 3.9e-4, 4.6e-4);
/// Irradiance of a star of magnitude 0 above the atmosphere.
const BRIGHT_STAR: f64 = 5e-7;
/// Magnitude of the faintest stars.
const FAINTEST: f64 = 8.0;
/// Elevations of the sun, in degrees, at which the first stars appear and at which all stars are visible.
const DUSK: f64 = -6.0;
const NIGHT: f64 = -18.0;
/// Irradiance of the full moon above the atmosphere, relative to the sun's.
const FULL_MOON: f64 = 2e-3;

/// Radiance of the night sky, independent of the azimuth.
pub struct Glow {
    brightness: f64,
    albedo: Rgb,
}

impl Glow {
    pub fn new(sky: &SunSky) -> Self {
        Self { brightness: brightness(sky), albedo: sky.ground.0.as_dvec3() }
    }

    /// Radiance from a unit direction with the vertical component `up`. Below the horizon, the radiance of the ground.
    pub fn radiance(&self, up: f64) -> Rgb {
        let radiance = if up > 0.0 {
            ZENITH_GLOW.lerp(HORIZON_GLOW, (1.0 - up).powi(5))
        } else {
            // The cosine-weighted mean of the radiance above, over the hemisphere.
            self.albedo * ZENITH_GLOW.lerp(HORIZON_GLOW, 1.0 / 21.0)
        };
        radiance * self.brightness
    }
}

fn brightness(sky: &SunSky) -> f64 {
    f64::from(sky.stars.0) * f64::from(sky.intensity.0)
}

/// The visible stars. Fainter ones appear as the sun sinks.
pub fn stars(sky: &SunSky) -> Stars {
    let night = ((DUSK - f64::from(sky.elevation.0)) / (DUSK - NIGHT)).clamp(0.0, 1.0);
    if night == 0.0 || brightness(sky) == 0.0 {
        return Stars::default();
    }
    let irradiance = |magnitude: f64| (BRIGHT_STAR * brightness(sky) * 10f64.powf(-0.4 * magnitude)) as f32;
    // The limit starts at magnitude -1. At night, stars are practically not dimmed.
    let limit = -1.0 + night * (FAINTEST + 4.0);
    Stars { faintest: irradiance(FAINTEST), dimming: irradiance(limit), turn: sky.azimuth.0.to_radians() }
}

/// The moon's phase.
pub struct Phase {
    /// Irradiance above the atmosphere.
    pub irradiance: Rgb,
    /// Cosine of the angle at the moon between the sun and the viewer.
    pub cosine: f64,
    /// Unit vector orthogonal to the direction of the moon, towards its lit side.
    pub bright_limb: DVec3,
}

impl Phase {
    /// The phase of a moon in the direction `moon`. `lit` is the lit share of its disc; if None, the position of the sun determines it.
    pub fn new(moon: DVec3, sun: DVec3, lit: Option<f64>, brightness: f64) -> Self {
        let cosine = lit.map_or(-moon.dot(sun), |lit| 2.0 * lit - 1.0).clamp(-1.0, 1.0);
        let across = (sun - moon * moon.dot(sun)).try_normalize();
        Self {
            irradiance: SUN_IRRADIANCE * (FULL_MOON * brightness * 0.5 * (1.0 + cosine)),
            cosine,
            bright_limb: across.unwrap_or_else(|| moon.any_orthonormal_vector()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::desc::Finite;

    #[test]
    fn stars_come_out_one_by_one() {
        let at =
            |elevation: f32| stars(&SunSky { elevation: Finite(elevation), stars: Finite(1.0), ..SunSky::default() });
        assert_eq!(at(-6.0), Stars::default());
        let dimming = [-7.0, -9.0, -12.0, -18.0].map(|elevation| at(elevation).dimming);
        assert!(dimming.is_sorted_by(|a, b| a > b), "{dimming:?}");
        assert!(at(-7.0).dimming > 100.0 * at(-7.0).faintest && at(-18.0).dimming < 0.1 * at(-18.0).faintest);
        assert_eq!(at(-18.0).dimming, at(-90.0).dimming);
    }

    #[test]
    fn the_moon_is_lit_from_where_the_sun_is() {
        let moon = DVec3::new(0.6, 0.8, 0.0);
        let full = Phase::new(moon, -moon, None, 1.0);
        let half = Phase::new(moon, DVec3::Z, None, 1.0);
        let crescent = Phase::new(moon, DVec3::Z, Some(0.1), 1.0);
        assert!((full.irradiance / SUN_IRRADIANCE).distance(Rgb::splat(FULL_MOON)) < 1e-9);
        assert!(half.irradiance.distance(full.irradiance * 0.5) < 1e-9 && half.cosine.abs() < 1e-9);
        assert!(crescent.irradiance.distance(full.irradiance * 0.1) < 1e-9);
        assert!(half.bright_limb.distance(DVec3::Z) < 1e-9 && full.bright_limb.dot(moon).abs() < 1e-9);
    }
}
