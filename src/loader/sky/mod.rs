//! Daylight: the sky as a latitude-longitude image, and the sun as a light of its own.
//!
//! Scattering of sunlight once in a spherical atmosphere of air, haze and ozone (Nishita et al. 1993, with the
//! constants of Bruneton and Neyret 2008), with all further scattering by the closed form of Hillaire 2020. Three
//! wavelengths stand for linear Rec.709. The sun's disc is not in the image; `Light::Sun` is the disc.

mod atmosphere;

use crate::scene::{Environment, FloatImage, Light, desc::SunSky};
use atmosphere::{Atmosphere, GROUND_RADIUS, Rgb, step};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

const WIDTH: usize = 512;
const HEIGHT: usize = 256;
/// Columns that are computed, from the sun's azimuth to the opposite; the sky mirrors in that plane.
const COLUMNS: usize = 129;
/// Steps along a view ray.
const STEPS: usize = 32;
/// Height of the viewer in km.
const VIEWER: f64 = 0.2;
/// Irradiance of the sun above the atmosphere, so that daylight suits exposure 0. Its tint is a camera's daylight
/// white balance: sun and sky together come down white when the sun is high, and the low sun stays golden.
const SUN_IRRADIANCE: Rgb = Rgb::new(8.6, 9.4, 10.9);

/// The sky of `sky` as an environment and its sun, if that is wanted and up.
///
/// Takes about 50 ms of two cores. With intensity 1 and the sun high, surfaces that face the sun receive an
/// irradiance of about 7, and the sky's radiance is about 0.3 to 1.
pub fn daylight(sky: &SunSky) -> (Environment, Option<Light>) {
    let model = Model::new(sky);
    let sun = sky.sun.then(|| model.sun_light(sky.sun_size.0)).flatten();
    (Environment::Image { pixels: model.image(), rotation: 0.0 }, sun)
}

struct Model {
    air: Atmosphere,
    /// Direction towards the sun, which stands in the XY plane here.
    sun: DVec3,
    azimuth: f64,
    /// Irradiance of the sun above the atmosphere.
    irradiance: Rgb,
    albedo: Rgb,
}

impl Model {
    fn new(sky: &SunSky) -> Self {
        let elevation = f64::from(sky.elevation.0).to_radians();
        let albedo = sky.ground.0.as_dvec3();
        Self {
            air: Atmosphere::new(f64::from(sky.turbidity.0), albedo),
            sun: DVec3::new(elevation.cos(), elevation.sin(), 0.0),
            azimuth: f64::from(sky.azimuth.0).to_radians(),
            irradiance: SUN_IRRADIANCE * f64::from(sky.intensity.0),
            albedo,
        }
    }

    fn sun_light(&self, diameter_degrees: f32) -> Option<Light> {
        let irradiance = self.air.sunlight(GROUND_RADIUS + VIEWER, self.sun.y) * self.irradiance;
        let (z, x) = self.azimuth.sin_cos();
        let direction = DVec3::new(x * self.sun.x, self.sun.y, z * self.sun.x).as_vec3().normalize();
        let angular_radius = diameter_degrees.to_radians() * 0.5;
        (irradiance.max_element() > 1e-6).then(|| Light::Sun {
            direction,
            irradiance: irradiance.as_vec3(),
            angular_radius,
        })
    }

    fn image(&self) -> FloatImage {
        let upper: Vec<Rgb> = self.rows(0..HEIGHT / 2, Rgb::ZERO);
        let skylight = irradiance_below(&upper);
        let lower = self.rows(HEIGHT / 2..HEIGHT, skylight);
        let half = [upper, lower].concat();
        let data = half.par_chunks(COLUMNS).flat_map_iter(|row| (0..WIDTH).map(|x| self.unfold(row, x))).collect();
        FloatImage { width: WIDTH as u32, height: HEIGHT as u32, data }
    }

    fn rows(&self, rows: std::ops::Range<usize>, skylight: Rgb) -> Vec<Rgb> {
        let pixel = |y: usize, x: usize| {
            let (sin_polar, up) = ((y as f64 + 0.5) * PI / HEIGHT as f64).sin_cos();
            let (side, ahead) = (x as f64 * PI / (COLUMNS - 1) as f64).sin_cos();
            self.radiance(DVec3::new(ahead * sin_polar, up, side * sin_polar), skylight)
        };
        rows.into_par_iter().flat_map_iter(|y| (0..COLUMNS).map(move |x| pixel(y, x))).collect()
    }

    /// A pixel of the whole image from the columns on one side of the sun.
    fn unfold(&self, row: &[Rgb], x: usize) -> [f32; 3] {
        let azimuth = ((x as f64 + 0.5) / WIDTH as f64 - 0.5) * TAU;
        let from_sun = (azimuth - self.azimuth + PI).rem_euclid(TAU) - PI;
        let at = from_sun.abs() / PI * (COLUMNS - 1) as f64;
        let left = (at as usize).min(COLUMNS - 2);
        row[left].lerp(row[left + 1], at - left as f64).as_vec3().max(Vec3::ZERO).to_array()
    }

    /// Radiance that arrives from `direction`; `skylight` is what lights the ground besides the sun.
    fn radiance(&self, direction: DVec3, skylight: Rgb) -> Rgb {
        let eye = DVec3::Y * (GROUND_RADIUS + VIEWER);
        let ground = self.air.distance_to_ground(eye, direction);
        let end = ground.unwrap_or_else(|| self.air.distance_to_space(eye, direction));
        let cos_sun = direction.dot(self.sun);
        let (mut light, mut through) = (Rgb::ZERO, Rgb::ONE);
        for i in 0..STEPS {
            let (distance, length) = step(i, STEPS, end);
            let at = eye + direction * distance;
            let (source, extinction) = self.air.scattered(at, self.sun, cos_sun);
            let passed = (-extinction * length).exp();
            light += through * source * (Rgb::ONE - passed) / extinction.max(Rgb::splat(1e-12));
            through *= passed;
        }
        light *= self.irradiance;
        if ground.is_some() {
            light += through * self.ground(eye + direction * end, skylight);
        }
        light
    }

    fn ground(&self, at: DVec3, skylight: Rgb) -> Rgb {
        let cos = at.normalize().dot(self.sun);
        let direct = self.air.sunlight(GROUND_RADIUS + 1e-3, cos) * cos.max(0.0) * self.irradiance;
        self.albedo / PI * (direct + skylight)
    }
}

/// Irradiance on the ground from the upper half of the sky.
fn irradiance_below(upper: &[Rgb]) -> Rgb {
    let cell = (PI / HEIGHT as f64) * (TAU / (2 * (COLUMNS - 1)) as f64);
    let mut sum = Rgb::ZERO;
    for (y, row) in upper.chunks(COLUMNS).enumerate() {
        let (sin, cos) = ((y as f64 + 0.5) * PI / HEIGHT as f64).sin_cos();
        let ends = (row[0] + row[COLUMNS - 1]) * 0.5;
        let inner: Rgb = row[1..COLUMNS - 1].iter().sum();
        sum += (ends + inner) * (2.0 * sin * cos * cell);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::desc::Finite;

    fn luminance(c: [f32; 3]) -> f32 {
        0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    }

    fn sky(elevation: f32, turbidity: f32) -> (FloatImage, Option<Light>) {
        let desc = SunSky { elevation: Finite(elevation), turbidity: Finite(turbidity), ..SunSky::default() };
        match daylight(&desc) {
            (Environment::Image { pixels, .. }, light) => (pixels, light),
            other => panic!("{other:?}"),
        }
    }

    fn pixel(image: &FloatImage, azimuth: f32, elevation: f32) -> [f32; 3] {
        let u = 0.5 + azimuth / 360.0;
        let v = 0.5 - elevation / 180.0;
        image.data[(v * 256.0) as usize * 512 + ((u * 512.0) as usize).min(511)]
    }

    fn irradiance(image: &FloatImage) -> f32 {
        let row = |y: usize| {
            let (s, c) = ((y as f64 + 0.5) * PI / 256.0).sin_cos();
            let weight = (s * c * PI / 256.0 * TAU / 512.0) as f32;
            image.data[y * 512..(y + 1) * 512].iter().map(|p| luminance(*p) * weight).sum::<f32>()
        };
        (0..128).map(row).sum()
    }

    #[test]
    fn a_midday_sky_is_blue_and_well_exposed() {
        let (image, light) = sky(50.0, 2.5);
        let zenith = pixel(&image, 0.0, 85.0);
        let Some(Light::Sun { irradiance: sun, .. }) = light else { panic!("no sun") };
        let ratio = luminance(sun.to_array()) * 50f32.to_radians().sin() / irradiance(&image);
        assert!(zenith[2] > 1.5 * zenith[0], "{zenith:?}");
        assert!((0.1..1.0).contains(&luminance(zenith)), "{zenith:?}");
        assert!((5.0..8.0).contains(&luminance(sun.to_array())), "{sun}");
        assert!((3.5..9.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_low_sun_is_warm_and_so_is_its_horizon() {
        let (image, light) = sky(4.0, 2.5);
        let Some(Light::Sun { irradiance: sun, .. }) = light else { panic!("no sun") };
        let (towards, away) = (pixel(&image, 60.0, 2.0), pixel(&image, -120.0, 2.0));
        assert!(sun.x > 2.0 * sun.z, "{sun}");
        assert!(towards[0] > 1.2 * towards[2] && luminance(towards) > luminance(away));
    }

    #[test]
    fn the_sun_stands_where_the_sky_is_brightest() {
        let (image, light) = sky(30.0, 2.5);
        let Some(Light::Sun { direction, .. }) = light else { panic!("no sun") };
        // Haze makes the horizon bright as well, and pulls the brightest point down a little.
        let brightest = (0..512 * 115).max_by(|a, b| luminance(image.data[*a]).total_cmp(&luminance(image.data[*b])));
        let (x, y) = brightest.map(|i| (i % 512, i / 512)).unwrap_or_default();
        let (u, v) = ((x as f32 + 0.5) / 512.0, (y as f32 + 0.5) / 256.0);
        let (s, c) = ((u - 0.5) * std::f32::consts::TAU).sin_cos();
        let (sin, cos) = (v * std::f32::consts::PI).sin_cos();
        assert!(direction.dot(Vec3::new(c * sin, cos, s * sin)) > 0.99);
    }

    #[test]
    fn night_and_haze_are_finite_and_the_night_has_no_sun() {
        for (elevation, turbidity) in [(-18.0, 2.5), (90.0, 1.0), (0.0, 20.0)] {
            let (image, _) = sky(elevation, turbidity);
            assert!(image.data.iter().flatten().all(|x| x.is_finite() && *x >= 0.0));
        }
        assert!(sky(-5.0, 2.5).1.is_none());
    }
}
