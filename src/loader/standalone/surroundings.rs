//! The environment and the lights around a standalone model.

use crate::{
    loader::{LoadError, image, options::EnvironmentChoice, sky},
    scene::{Environment, FloatImage, Light, Scene, desc::SunSky},
};
use glam::Vec3;
use std::{f32::consts::PI, path::Path};

/// Radiance from all around for files that have their own lights: enough to tell shapes apart in their shadows.
const DIM: f32 = 0.05;

/// Lights `scene` as chosen; by default by the picture that its file has of the light around it, else as in a studio, or dimly if there
/// are lights in the file. Both may have any brightness, so the exposure is measured.
///
/// # Errors
/// When the picture of an environment is missing or damaged.
pub fn light(scene: &mut Scene, choice: Option<&EnvironmentChoice>, own: Option<FloatImage>) -> Result<(), LoadError> {
    match choice {
        None if scene.lights.is_empty() && own.is_none() => set_studio(scene),
        None => {
            scene.environment = match own {
                Some(pixels) => Environment::Image { pixels, rotation: 0.0 },
                None => constant(Vec3::splat(DIM)),
            };
            scene.settings.auto_exposure = true;
        }
        Some(EnvironmentChoice::Sky) => set_daylight(scene),
        Some(EnvironmentChoice::Studio) => set_studio(scene),
        Some(EnvironmentChoice::Color(color)) => scene.environment = constant(*color),
        Some(EnvironmentChoice::File(path)) => scene.environment = picture(path)?,
    }
    Ok(())
}

fn constant(radiance: Vec3) -> Environment {
    Environment::Constant { radiance }
}

fn picture(path: &Path) -> Result<Environment, LoadError> {
    if !path.is_file() {
        let message = "the picture of --environment does not exist: check the path";
        return Err(LoadError::file(path, message));
    }
    let pixels = image::load_radiance(path, 1.0)?;
    Ok(Environment::Image { pixels, rotation: 0.0 })
}

/// A clear sky with the sun behind the camera's left shoulder.
pub fn set_daylight(scene: &mut Scene) {
    let (environment, sun) = sky::daylight(&SunSky::default());
    scene.environment = environment;
    scene.lights.extend(sun);
}

/// A round soft light: azimuth (0 is +X, 90 is +Z), elevation and angular radius in degrees, and the irradiance on what
/// faces it.
struct Softbox {
    azimuth: f32,
    elevation: f32,
    radius: f32,
    irradiance: Vec3,
}

/// Key from the left of the camera at its first frame, fill from the right, rim from behind.
const SOFTBOXES: [Softbox; 3] = [
    Softbox { azimuth: 112.0, elevation: 48.0, radius: 14.0, irradiance: Vec3::new(3.6, 3.45, 3.25) },
    Softbox { azimuth: 0.0, elevation: 28.0, radius: 20.0, irradiance: Vec3::new(0.8, 0.86, 0.95) },
    Softbox { azimuth: 225.0, elevation: 38.0, radius: 10.0, irradiance: Vec3::new(1.4, 1.4, 1.45) },
];
/// Radiance of the studio's ceiling.
const CEILING: Vec3 = Vec3::new(0.7, 0.73, 0.76);

/// Soft neutral light. The horizon is as bright as the end of the ground, so that the two meet without an edge.
fn set_studio(scene: &mut Scene) {
    let lights = SOFTBOXES.map(|softbox| {
        let [azimuth, elevation] = [softbox.azimuth, softbox.elevation].map(f32::to_radians);
        let ((sin, cos), (up, around)) = (azimuth.sin_cos(), elevation.sin_cos());
        Light::Sun {
            direction: Vec3::new(cos * around, up, sin * around),
            irradiance: softbox.irradiance,
            angular_radius: softbox.radius.to_radians(),
        }
    });
    let horizon = backdrop(&lights, super::FAR_GROUND_COLOR);
    scene.environment = Environment::Gradient { zenith: CEILING, horizon, nadir: horizon };
    scene.lights.extend(lights);
}

/// Radiance `h` of the horizon that equals that of a ground of `albedo`. A gradient from `h` to `z` lights the ground by
/// `∫ (h + (z - h) y) y dω = π h / 3 + 2π z / 3`.
fn backdrop(lights: &[Light], albedo: Vec3) -> Vec3 {
    let direct = lights.iter().map(|light| match light {
        Light::Sun { direction, irradiance, .. } => *irradiance * direction.y,
        Light::Point { .. } | Light::Spot { .. } => Vec3::ZERO,
    });
    let direct: Vec3 = direct.sum();
    albedo * (direct / PI + CEILING * (2.0 / 3.0)) / (Vec3::ONE - albedo / 3.0)
}
