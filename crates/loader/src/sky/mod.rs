//! Daylight: the sky as a latitude-longitude image, and the sun as a separate light.
//!
//! Single scattering of sunlight is computed in a spherical atmosphere of air, haze and ozone (Nishita et al. 1993, with the constants of
//! Bruneton and Neyret 2008). Further scattering uses the closed form of Hillaire 2020. Three wavelengths represent linear Rec.709. The
//! sun's disc is not part of the image; it is a `Light::Sun`. Moonlight is scattered in the same way.

mod atmosphere;
mod night;

use atmosphere::{Atmosphere, GROUND_RADIUS, Phases, Rgb, step};
use glam::{DVec3, Vec3};
use night::{Glow, Phase};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};
use throng_scene::{Environment, FloatImage, Light, desc::SunSky};

const WIDTH: usize = 512;
const HEIGHT: usize = 256;
/// Number of computed columns, from the sun's azimuth to the opposite one. The sky is symmetric about this plane.
const COLUMNS: usize = 129;
/// Steps along a view ray.
const STEPS: usize = 32;
/// Height of the viewer in km.
const VIEWER: f64 = 0.2;
/// Irradiance of the sun above the atmosphere, scaled so that daylight suits exposure 0. Its tint is a camera's daylight white balance: sun
/// and sky together are white for a high sun, and a low sun stays golden.
const SUN_IRRADIANCE: Rgb = Rgb::new(8.6, 9.4, 10.9);

/// Elevation in degrees below which the sun illuminates no visible air.
const LOWEST: f32 = -18.0;

/// The environment of `sky`, and its lights: the sun and the moon, if they are enabled and above the horizon.
///
/// A pure function of `sky`. Takes about 60 ms on two cores for the sun, and again for the moon, while they illuminate the air. Takes 20 ms
/// more if turbidity or ground differ from the last call. With intensity 1 and a high sun, surfaces that face the sun receive an irradiance
/// of about 7, and the sky's radiance is about 0.3 to 1.
pub fn daylight(sky: &SunSky) -> (Environment, Vec<Light>) {
    let air = Atmosphere::shared(f64::from(sky.turbidity.0), sky.ground.0.as_dvec3());
    let intensity = f64::from(sky.intensity.0);
    let mut lights = Vec::new();
    let sun = Model::new(&air, sky.elevation.0, sky.azimuth.0, SUN_IRRADIANCE * intensity);
    if sky.sun {
        lights.extend(sun.sun_light(sky.sun_size.0));
    }
    let moon = sky.moon.as_ref().map(|moon| {
        let mut model = Model::new(&air, moon.elevation.0, moon.azimuth.0, Rgb::ZERO);
        let lit = moon.phase.map(|lit| f64::from(lit.0));
        let phase = Phase::new(model.direction(), sun.direction(), lit, intensity * f64::from(moon.intensity.0));
        model.irradiance = phase.irradiance;
        lights.extend(model.moon_light(&phase, moon.size.0));
        (model, moon.elevation.0)
    });
    let models = [Some((sun, sky.elevation.0)), moon].into_iter().flatten();
    let models: Vec<Model> = models.filter(|(_, elevation)| *elevation >= LOWEST).map(|(model, _)| model).collect();
    let pixels = image(&models, &Glow::new(sky));
    (Environment::Image { pixels, rotation: 0.0, stars: night::stars(sky) }, lights)
}

/// The image of the light of all models and of the night sky.
fn image(models: &[Model], glow: &Glow) -> FloatImage {
    let halves: Vec<Vec<Rgb>> = models.iter().map(Model::half).collect();
    let row = |y: usize| {
        let (halves, glow) = (&halves, glow.radiance(height_of(y)));
        (0..WIDTH).map(move |x| {
            let row = y * COLUMNS..(y + 1) * COLUMNS;
            let light = models.iter().zip(halves).map(|(model, half)| model.unfold(&half[row.clone()], x));
            (light.sum::<Rgb>() + glow).as_vec3().max(Vec3::ZERO).to_array()
        })
    };
    let data = (0..HEIGHT).into_par_iter().flat_map_iter(row).collect();
    FloatImage { width: WIDTH as u32, height: HEIGHT as u32, data }
}

/// Vertical component of the unit directions in a row of the image.
fn height_of(row: usize) -> f64 {
    ((row as f64 + 0.5) * PI / HEIGHT as f64).cos()
}

/// The atmosphere in the light of the sun or the moon.
struct Model<'a> {
    air: &'a Atmosphere,
    /// Direction towards the sun, which is in the XY plane here.
    sun: DVec3,
    azimuth: f64,
    /// Irradiance of the sun above the atmosphere.
    irradiance: Rgb,
}

impl<'a> Model<'a> {
    /// Creates the model for a sun at these angles, in degrees.
    fn new(air: &'a Atmosphere, elevation: f32, azimuth: f32, irradiance: Rgb) -> Self {
        let elevation = f64::from(elevation).to_radians();
        Self {
            air,
            sun: DVec3::new(elevation.cos(), elevation.sin(), 0.0),
            azimuth: f64::from(azimuth).to_radians(),
            irradiance,
        }
    }

    /// World-space direction towards the sun.
    fn direction(&self) -> DVec3 {
        let (z, x) = self.azimuth.sin_cos();
        DVec3::new(x * self.sun.x, self.sun.y, z * self.sun.x)
    }

    /// Irradiance of the sun at the ground.
    fn arriving(&self) -> Rgb {
        self.air.sunlight(GROUND_RADIUS + VIEWER, self.sun.y) * self.irradiance
    }

    fn sun_light(&self, diameter_degrees: f32) -> Option<Light> {
        let irradiance = self.arriving();
        (irradiance.max_element() > 1e-6).then(|| Light::Sun {
            direction: self.direction().as_vec3().normalize(),
            irradiance: irradiance.as_vec3(),
            angular_radius: diameter_degrees.to_radians() * 0.5,
        })
    }

    fn moon_light(&self, phase: &Phase, diameter_degrees: f32) -> Option<Light> {
        let irradiance = self.arriving();
        (irradiance.max_element() > 1e-9).then(|| Light::Moon {
            direction: self.direction().as_vec3().normalize(),
            irradiance: irradiance.as_vec3(),
            angular_radius: diameter_degrees.to_radians() * 0.5,
            bright_limb: phase.bright_limb.as_vec3(),
            phase_cosine: phase.cosine as f32,
        })
    }

    /// The columns on one side of the sun, row by row.
    fn half(&self) -> Vec<Rgb> {
        let upper: Vec<Rgb> = self.rows(0..HEIGHT / 2, Rgb::ZERO);
        let skylight = irradiance_below(&upper);
        let lower = self.rows(HEIGHT / 2..HEIGHT, skylight);
        [upper, lower].concat()
    }

    fn rows(&self, rows: std::ops::Range<usize>, skylight: Rgb) -> Vec<Rgb> {
        let pixel = |y: usize, x: usize| {
            let (sin_polar, up) = ((y as f64 + 0.5) * PI / HEIGHT as f64).sin_cos();
            let (side, ahead) = (x as f64 * PI / (COLUMNS - 1) as f64).sin_cos();
            self.radiance(DVec3::new(ahead * sin_polar, up, side * sin_polar), skylight)
        };
        rows.into_par_iter().flat_map_iter(|y| (0..COLUMNS).map(move |x| pixel(y, x))).collect()
    }

    /// A pixel of the whole image, given the columns on one side of the sun.
    fn unfold(&self, row: &[Rgb], x: usize) -> Rgb {
        let azimuth = ((x as f64 + 0.5) / WIDTH as f64 - 0.5) * TAU;
        let from_sun = (azimuth - self.azimuth + PI).rem_euclid(TAU) - PI;
        let at = from_sun.abs() / PI * (COLUMNS - 1) as f64;
        let left = (at as usize).min(COLUMNS - 2);
        row[left].lerp(row[left + 1], at - left as f64)
    }

    /// Radiance from `direction`. `skylight` is the irradiance of the ground without the sun.
    fn radiance(&self, direction: DVec3, skylight: Rgb) -> Rgb {
        let eye = DVec3::Y * (GROUND_RADIUS + VIEWER);
        let ground = self.air.distance_to_ground(eye, direction);
        let end = ground.unwrap_or_else(|| self.air.distance_to_space(eye, direction));
        let phases = Phases::of(direction.dot(self.sun));
        let (mut light, mut through) = (Rgb::ZERO, Rgb::ONE);
        for i in 0..STEPS {
            let (distance, length) = step(i, STEPS, end);
            let at = eye + direction * distance;
            let (source, extinction) = self.air.scattered(at, self.sun, &phases);
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
        self.air.albedo / PI * (direct + skylight)
    }
}

/// Irradiance at the ground from the upper half of the sky.
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
    use throng_scene::{
        Stars,
        desc::{Finite, Moon},
    };

    fn luminance(c: [f32; 3]) -> f32 {
        0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    }

    fn sky(elevation: f32, turbidity: f32) -> (FloatImage, Option<Light>) {
        let desc = SunSky { elevation: Finite(elevation), turbidity: Finite(turbidity), ..SunSky::default() };
        match daylight(&desc) {
            (Environment::Image { pixels, .. }, lights) => (pixels, lights.first().copied()),
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
        // Haze also brightens the horizon, which moves the brightest point down slightly.
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

    fn night(elevation: f32, moon: Option<Moon>) -> (FloatImage, Stars, Vec<Light>) {
        let desc = SunSky { elevation: Finite(elevation), stars: Finite(1.0), moon, ..SunSky::default() };
        match daylight(&desc) {
            (Environment::Image { pixels, stars, .. }, lights) => (pixels, stars, lights),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn night_falls_without_a_step_and_a_glow_and_stars_remain() {
        let zenith = |elevation: f32| luminance(pixel(&night(elevation, None).0, 0.0, 85.0));
        let fall = [-4.0, -6.0, -10.0, -17.9, -18.1, -90.0].map(zenith);
        assert!(fall.is_sorted_by(|a, b| a >= b) && fall[3] < 1.01 * fall[4] && fall[4] == fall[5], "{fall:?}");
        assert!((1e-4..3e-4).contains(&fall[5]), "{fall:?}");
        assert!(night(-18.0, None).1.faintest > 0.0 && night(0.0, None).1 == Stars::default());
    }

    #[test]
    fn the_full_moon_is_a_small_sun() {
        let moon = Moon { elevation: Finite(50.0), azimuth: Finite(60.0), phase: Some(Finite(1.0)), ..Moon::default() };
        let ((by_night, _, lights), (by_day, sun)) = (night(-40.0, Some(moon)), sky(50.0, 2.5));
        let [Light::Moon { irradiance, direction, .. }] = lights[..] else { panic!("{lights:?}") };
        let Some(Light::Sun { irradiance: sun, direction: towards, .. }) = sun else { panic!("no sun") };
        assert!((irradiance / sun).distance(Vec3::splat(2e-3)) < 1e-6 && direction == towards);
        let blue = |image: &FloatImage| pixel(image, 0.0, 85.0)[2];
        let glow = blue(&night(-40.0, None).0);
        assert!(((blue(&by_night) - glow) / blue(&by_day) - 2e-3).abs() < 1e-5);
    }

    #[test]
    fn a_moon_below_the_horizon_is_no_light() {
        let moon = Moon { elevation: Finite(-5.0), ..Moon::default() };
        assert!(night(-40.0, Some(moon)).2.is_empty());
    }
}
