//! Validation and conversion of the `environment` section, including its images.

use super::{file::Source, source::Place};
use crate::{LoadError, files, image, sky};
use std::{
    collections::{HashMap, hash_map::Entry},
    path::PathBuf,
};
use throng_scene::{
    Environment, FloatImage, Light, Stars,
    desc::{EnvironmentDesc, EnvironmentImage, Finite, Moon, SunSky},
};

/// Cache of environment images, at an intensity of 1.
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

/// Converts `environment:`. Also returns the lights of a sky.
///
/// # Errors
/// If a number is out of range, or if an image file is missing or damaged.
pub fn convert(
    source: &Source,
    environment: Option<&EnvironmentDesc>,
    pictures: &mut Pictures,
) -> Result<(Environment, Vec<Light>), LoadError> {
    check(source, environment)?;
    Ok(match environment {
        None => (Environment::default(), Vec::new()),
        Some(EnvironmentDesc::Constant(e)) => (Environment::Constant { radiance: e.radiance.0 }, Vec::new()),
        Some(EnvironmentDesc::Gradient(e)) => {
            let (zenith, horizon, nadir) = (e.zenith.0, e.horizon.0, e.nadir.0);
            (Environment::Gradient { zenith, horizon, nadir }, Vec::new())
        }
        Some(EnvironmentDesc::SunSky(e)) => sky::daylight(e),
        Some(EnvironmentDesc::Image(e)) => {
            let pixels = pictures.read(source.resolve(&e.file), e.intensity.0)?;
            (Environment::Image { pixels, rotation: e.rotation.0.to_radians(), stars: Stars::default() }, Vec::new())
        }
    })
}

/// Checks everything in `environment:` except the content of its image.
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
    check(e.elevation, "elevation", (-90.0, 90.0))?;
    check(e.azimuth, "azimuth", (-3600.0, 3600.0))?;
    check(e.turbidity, "turbidity", (1.0, 20.0))?;
    check(e.intensity, "intensity", (0.0, 1e6))?;
    check(e.sun_size, "sun_size", (0.0, 90.0))?;
    check(e.stars, "stars", (0.0, 1e6))?;
    if let Some(moon) = &e.moon {
        check_moon(source, moon, &place.key("moon"))?;
    }
    if e.ground.0.max_element() > 1.0 {
        return Err(source.error(&place.key("ground"), "the ground's albedo must be at most 1"));
    }
    Ok(())
}

fn check_picture(source: &Source, e: &EnvironmentImage, place: &Place) -> Result<(), LoadError> {
    within(source, e.intensity, &place.key("intensity"), (0.0, 1e6))?;
    let path = source.resolve(&e.file);
    if !(files::exists(&path) && path.is_file()) {
        let message = format!("the image {} does not exist: check the path", path.display());
        return Err(source.error(&place.key("file"), message));
    }
    Ok(())
}

fn check_moon(source: &Source, moon: &Moon, place: &Place) -> Result<(), LoadError> {
    let check = |x: Finite, field: &str, range: (f32, f32)| within(source, x, &place.key(field), range);
    check(moon.elevation, "elevation", (-90.0, 90.0))?;
    check(moon.azimuth, "azimuth", (-3600.0, 3600.0))?;
    check(moon.size, "size", (0.0, 90.0))?;
    check(moon.intensity, "intensity", (0.0, 1e6))?;
    moon.phase.map_or(Ok(()), |phase| check(phase, "phase", (0.0, 1.0)))
}

/// Checks that a number is in a range, both ends included.
///
/// # Errors
/// If the number, which is at `place`, is out of range.
pub fn within(source: &Source, x: Finite, place: &Place, (least, most): (f32, f32)) -> Result<(), LoadError> {
    if (least..=most).contains(&x.0) {
        return Ok(());
    }
    Err(source.error(place, format!("{} is out of range: write {least} to {most}", x.0)))
}
