//! The `environment` and `lights` sections, checked, images read.

use super::{file::Source, placements::direction, source::Place};
use crate::loader::{LoadError, image, sky};
use crate::scene::{
    Environment, FloatImage, Light,
    desc::{EnvironmentDesc, EnvironmentImage, Finite, LightDesc, SpotLight, SunSky},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    path::PathBuf,
};

/// Pictures of environments that were read before, at an intensity of 1.
#[derive(Default)]
pub struct Pictures(HashMap<PathBuf, FloatImage>);

impl Pictures {
    fn read(&mut self, path: PathBuf, intensity: f32) -> Result<FloatImage, LoadError> {
        let picture = match self.0.entry(path) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let picture = image::load_radiance(entry.key(), 1.0)?;
                entry.insert(picture)
            }
        };
        let data = picture.data.iter().map(|pixel| pixel.map(|x| x * intensity));
        Ok(FloatImage { data: data.collect(), ..*picture })
    }
}

/// Converts `environment:`, with the sun that belongs to a sky.
///
/// # Errors
/// Numbers out of range, image files that are missing or damaged.
pub fn convert(
    source: &Source,
    environment: Option<&EnvironmentDesc>,
    pictures: &mut Pictures,
) -> Result<(Environment, Option<Light>), LoadError> {
    check(source, environment)?;
    Ok(match environment {
        None => (Environment::default(), None),
        Some(EnvironmentDesc::Constant(e)) => (Environment::Constant { radiance: e.radiance.0 }, None),
        Some(EnvironmentDesc::Gradient(e)) => {
            let (zenith, horizon, nadir) = (e.zenith.0, e.horizon.0, e.nadir.0);
            (Environment::Gradient { zenith, horizon, nadir }, None)
        }
        Some(EnvironmentDesc::SunSky(e)) => sky::daylight(e),
        Some(EnvironmentDesc::Image(e)) => {
            let pixels = pictures.read(source.resolve(&e.file), e.intensity.0)?;
            (Environment::Image { pixels, rotation: e.rotation.0.to_radians() }, None)
        }
    })
}

/// Checks all of `environment:` but for the content of its picture.
///
/// # Errors
/// As [`convert`].
pub fn check(source: &Source, environment: Option<&EnvironmentDesc>) -> Result<(), LoadError> {
    let place = Place::ROOT.key("environment");
    match environment {
        Some(EnvironmentDesc::SunSky(e)) => check_sky(source, e, &place),
        Some(EnvironmentDesc::Image(e)) => check_picture(source, e, &place),
        Some(EnvironmentDesc::Constant(_) | EnvironmentDesc::Gradient(_)) | None => Ok(()),
    }
}

fn check_sky(source: &Source, e: &SunSky, place: &Place) -> Result<(), LoadError> {
    let check = |x: Finite, field: &str, (least, most): (f32, f32)| within(source, x, &place.key(field), (least, most));
    check(e.elevation, "elevation", (-18.0, 90.0))?;
    check(e.azimuth, "azimuth", (-3600.0, 3600.0))?;
    check(e.turbidity, "turbidity", (1.0, 20.0))?;
    check(e.intensity, "intensity", (0.0, 1e6))?;
    check(e.sun_size, "sun_size", (0.0, 90.0))?;
    if e.ground.0.max_element() > 1.0 {
        return Err(source.error(&place.key("ground"), "the ground's albedo must be at most 1"));
    }
    Ok(())
}

fn check_picture(source: &Source, e: &EnvironmentImage, place: &Place) -> Result<(), LoadError> {
    within(source, e.intensity, &place.key("intensity"), (0.0, 1e6))?;
    let path = source.resolve(&e.file);
    if !path.is_file() {
        let message = format!("the image {} does not exist: check the path", path.display());
        return Err(source.error(&place.key("file"), message));
    }
    Ok(())
}

/// # Errors
/// When the number at `place` is out of range.
pub fn within(source: &Source, x: Finite, place: &Place, (least, most): (f32, f32)) -> Result<(), LoadError> {
    if (least..=most).contains(&x.0) {
        return Ok(());
    }
    Err(source.error(place, format!("{} is out of range: write {least} to {most}", x.0)))
}

/// Converts `lights:`.
///
/// # Errors
/// Suns and spots without a direction or of an impossible size.
pub fn lights(source: &Source, lights: &[LightDesc]) -> Result<Vec<Light>, LoadError> {
    let all = Place::ROOT.key("lights");
    lights.iter().enumerate().map(|(i, l)| light(source, l, &all.index(i))).collect()
}

fn light(source: &Source, light: &LightDesc, place: &Place) -> Result<Light, LoadError> {
    match light {
        LightDesc::Point(l) => Ok(Light::Point { position: l.position.0, intensity: l.intensity.0 }),
        LightDesc::Sun(l) => {
            within(source, l.size, &place.key("size"), (0.0, 90.0))?;
            let direction =
                direction(l.direction.0, "the direction").map_err(|m| source.error(&place.key("direction"), m))?;
            let angular_radius = l.size.0.to_radians() * 0.5;
            Ok(Light::Sun { direction, irradiance: l.irradiance.0, angular_radius })
        }
        LightDesc::Spot(l) => spot(source, l, place),
    }
}

fn spot(source: &Source, l: &SpotLight, place: &Place) -> Result<Light, LoadError> {
    within(source, l.angle, &place.key("angle"), (0.01, 180.0))?;
    within(source, l.blend, &place.key("blend"), (0.0, 1.0))?;
    let direction = direction(l.direction.0, "the direction").map_err(|m| source.error(&place.key("direction"), m))?;
    let outer = l.angle.0.to_radians() * 0.5;
    Ok(Light::Spot {
        position: l.position.0,
        direction,
        intensity: l.intensity.0,
        inner: outer * (1.0 - l.blend.0),
        outer,
    })
}
