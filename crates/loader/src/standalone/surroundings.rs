//! The environment and the lights of a standalone model.
//!
//! The studio light consists of three large discs, stored as suns so that they are sampled like lights, and a gradient whose horizon is as
//! bright as the far ground. The ground therefore has no visible end. It darkens with distance, so that the model stands in a pool of
//! light. A file with its own lights gets hardly any other light, because daylight would outshine them.

use crate::{LoadError, files, image, options::EnvironmentChoice, sky};
use glam::{Quat, Vec3};
use std::{
    f32::consts::{PI, TAU},
    path::Path,
};
use throng_scene::{Environment, FloatImage, Light, Metering, Scene, Stars, desc::SunSky};

/// Uniform radiance for files with their own lights. It is just enough to distinguish shapes in their shadows.
const DIM: f32 = 0.05;

/// Maximum radiance of indirect light on models. Higher values cause white specks from glossy surfaces.
const CLAMP: f32 = 2.0;

/// Sets the light of `scene`: as overridden (`set`), or as chosen. The default is the file's environment (`own`), or else a studio, or dim light if the file has lights (`is_lit`). The brightness of a file's own light is arbitrary, so the exposure is measured; with this program's
/// light, it is adapted slightly to the model.
///
/// # Errors
/// If the picture of an environment is missing or damaged.
pub fn light(
    scene: &mut Scene,
    (choice, rotation): (Option<&EnvironmentChoice>, Option<f32>),
    set: Option<(Environment, Vec<Light>)>,
    (own, is_lit): (Option<Environment>, bool),
) -> Result<(), LoadError> {
    let is_lit = is_lit || !scene.lights.is_empty();
    let is_own = is_lit || choice.is_none() && set.is_none() && own.is_some();
    let is_shown = set.is_some() || matches!(choice, Some(EnvironmentChoice::Color(_) | EnvironmentChoice::File(_)));
    (scene.settings.metering, scene.settings.clamp_indirect) = match (is_own, is_shown) {
        (true, _) => (Metering::Full, None),
        // The exposure does not change for a colour or picture that the user has chosen.
        (false, true) => (Metering::Off, Some(CLAMP)),
        (false, false) => (Metering::Gentle, Some(CLAMP)),
    };
    let own_lights = scene.lights.len();
    match (set, choice, own) {
        (Some((environment, suns)), ..) => {
            scene.environment = environment;
            scene.lights.extend(suns);
        }
        (None, None, Some(own)) => scene.environment = own,
        (None, None, None) if !is_lit => set_studio(scene),
        (None, None, None) => scene.environment = constant(Vec3::splat(DIM)),
        (None, Some(EnvironmentChoice::Sky), _) => set_daylight(scene),
        (None, Some(EnvironmentChoice::Studio), _) => set_studio(scene),
        (None, Some(EnvironmentChoice::Color(color)), _) => scene.environment = constant(*color),
        (None, Some(EnvironmentChoice::File(path)), _) => scene.environment = picture(path)?,
    }
    if let Some(degrees) = rotation {
        turn(scene, own_lights, degrees.to_radians());
    }
    Ok(())
}

/// Rotates the environment and its suns, which are the lights from index `first`, about +Y.
fn turn(scene: &mut Scene, first: usize, angle: f32) {
    if let Environment::Image { rotation, .. } = &mut scene.environment {
        *rotation += angle;
    }
    for light in &mut scene.lights[first..] {
        if let Light::Sun { direction, .. } | Light::Moon { direction, .. } = light {
            *direction = Quat::from_rotation_y(angle) * *direction;
        }
    }
}

/// A picture of all directions, as it is.
pub fn still_picture(pixels: FloatImage) -> Environment {
    Environment::Image { pixels, rotation: 0.0, stars: Stars::default() }
}

fn constant(radiance: Vec3) -> Environment {
    Environment::Constant { radiance }
}

/// Checks that a picture exists.
///
/// # Errors
/// If there is no such file.
pub fn check_picture(path: &Path) -> Result<(), LoadError> {
    if files::exists(path) && path.is_file() {
        Ok(())
    } else {
        Err(LoadError::file(path, "the picture of --environment does not exist: check the path"))
    }
}

fn picture(path: &Path) -> Result<Environment, LoadError> {
    check_picture(path)?;
    let pixels = image::load_radiance(path, 1.0)?;
    Ok(still_picture(pixels))
}

/// Sets a clear sky, with the sun behind the camera's left shoulder.
pub fn set_daylight(scene: &mut Scene) {
    let (environment, suns) = sky::daylight(&SunSky::default());
    scene.environment = environment;
    scene.lights.extend(suns);
}

/// A round soft light: azimuth (0 is +X, 90 is +Z), elevation and angular radius in degrees, and the irradiance on surfaces that face it.
struct Softbox {
    azimuth: f32,
    elevation: f32,
    radius: f32,
    irradiance: Vec3,
}

/// Key light from the left of the camera at its first frame, fill light from the right, rim light from behind.
const SOFTBOXES: [Softbox; 3] = [
    Softbox { azimuth: 112.0, elevation: 48.0, radius: 14.0, irradiance: Vec3::new(3.6, 3.45, 3.25) },
    Softbox { azimuth: 0.0, elevation: 28.0, radius: 20.0, irradiance: Vec3::new(0.8, 0.86, 0.95) },
    Softbox { azimuth: 225.0, elevation: 38.0, radius: 10.0, irradiance: Vec3::new(1.4, 1.4, 1.45) },
];
/// Albedo of the studio's ground far from the model.
const FAR_GROUND: Vec3 = Vec3::new(0.28, 0.275, 0.27);
/// Radiance of the studio's ceiling.
const CEILING: Vec3 = Vec3::new(0.7, 0.73, 0.76);

/// Sets soft neutral light. The horizon is as bright as the end of the ground, so that both meet without an edge.
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
    let horizon = backdrop(&lights, FAR_GROUND);
    scene.environment = Environment::Gradient { zenith: CEILING, horizon, nadir: horizon };
    scene.lights.extend(lights);
}

/// Radiance `h` of the horizon that equals the radiance of a ground with `albedo`, see [`skylight`].
fn backdrop(lights: &[Light], albedo: Vec3) -> Vec3 {
    albedo * (sunlight(lights) / PI + CEILING * (2.0 / 3.0)) / (Vec3::ONE - albedo / 3.0)
}

/// Irradiance of horizontal ground from suns.
fn sunlight(lights: &[Light]) -> Vec3 {
    let direct = lights.iter().map(|light| match light {
        Light::Sun { direction, irradiance, .. } | Light::Moon { direction, irradiance, .. } => {
            *irradiance * direction.y.max(0.0)
        }
        Light::Point { .. } | Light::Spot { .. } | Light::Lamp { .. } => Vec3::ZERO,
    });
    direct.sum()
}

/// Irradiance of horizontal ground from an environment. A gradient from `h` to `z` gives `∫ (h + (z - h) y) y dω = π h / 3 + 2π z / 3`.
fn skylight(environment: &Environment) -> Vec3 {
    match environment {
        Environment::Constant { radiance } => *radiance * PI,
        Environment::Gradient { zenith, horizon, .. } => (*horizon + *zenith * 2.0) * (PI / 3.0),
        Environment::Image { pixels, .. } => {
            let (width, height) = (pixels.width as usize, pixels.height);
            let row = |y: u32| {
                let start = y as usize * width;
                let sum: Vec3 = pixels.data[start..start + width].iter().copied().map(Vec3::from).sum();
                let edge = |y: u32| (PI * y as f32 / height as f32).cos().powi(2);
                sum * (PI * (edge(y) - edge(y + 1)) / width as f32)
            };
            (0..height / 2).map(row).sum()
        }
    }
}

/// The colours of the ground in `sectors` directions, from +X towards +Z, for which it is as bright as the horizon there. An image of the
/// sky is extended below the horizon, because the ground ends before reaching it.
pub fn meet_ground(scene: &mut Scene, sectors: u32) -> Vec<Vec3> {
    let irradiance = sunlight(&scene.lights) + skylight(&scene.environment);
    let horizon: Vec<Vec3> = match &mut scene.environment {
        Environment::Constant { radiance } => vec![*radiance; sectors as usize],
        Environment::Gradient { horizon, .. } => vec![*horizon; sectors as usize],
        Environment::Image { pixels, rotation, .. } => {
            let width = pixels.width as usize;
            let row = (pixels.height / 2).saturating_sub(1) as usize * width;
            let row = pixels.data[row..row + width].to_vec();
            for below in pixels.data.chunks_mut(width).skip(pixels.height.div_ceil(2) as usize) {
                below.copy_from_slice(&row);
            }
            let at = |sector| {
                let turns = 0.5 + sector as f32 / sectors as f32 + *rotation / TAU;
                row[(turns.rem_euclid(1.0) * width as f32) as usize % width].into()
            };
            (0..sectors).map(at).collect()
        }
    };
    let albedo = |radiance: Vec3| (radiance * PI / irradiance.max(Vec3::splat(1e-9))).clamp(Vec3::ZERO, Vec3::ONE);
    horizon.into_iter().map(albedo).collect()
}
