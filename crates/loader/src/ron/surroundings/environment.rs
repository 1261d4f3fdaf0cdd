//! Validation and conversion of the `environment` section, including its images.

use crate::{
    LoadError, files, image,
    ron::{checked::Fields, file::Source, source::Place},
    sky,
};
use std::{
    collections::{HashMap, hash_map::Entry},
    path::PathBuf,
};
use throng_scene::{
    Environment, FloatImage, Light, Stars,
    desc::{DEGREES, EnvironmentDesc, EnvironmentImage, Moon, SunSky, UNIT},
};

/// Range of factors on radiance.
const FACTOR: (f32, f32) = (0.0, 1e6);

/// Cache of environment images, at an intensity of 1.
#[derive(Default)]
pub struct Pictures(HashMap<PathBuf, FloatImage>);

impl Pictures {
    fn read(&mut self, source: &Source, file: &str, intensity: f32) -> Result<FloatImage, LoadError> {
        if let Some(picture) = source.pictures.get(file) {
            return Ok(image::radiance(picture, intensity));
        }
        let path = source.resolve(file);
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
            let pixels = pictures.read(source, &e.file, e.intensity.0)?;
            (Environment::Image { pixels, rotation: e.rotation.0.to_radians(), stars: Stars::default() }, Vec::new())
        }
    })
}

/// Checks everything in `environment:` except the content of its image.
///
/// # Errors
/// As [`convert`].
pub fn check(source: &Source, environment: Option<&EnvironmentDesc>) -> Result<(), LoadError> {
    let fields = Fields { source, place: &Place::ROOT.key("environment") };
    match environment {
        Some(EnvironmentDesc::SunSky(e)) => check_sky(fields, e),
        Some(EnvironmentDesc::Image(e)) => check_picture(fields, e),
        Some(EnvironmentDesc::Constant(_) | EnvironmentDesc::Gradient(_)) | None => Ok(()),
    }
}

fn check_sky(fields: Fields, e: &SunSky) -> Result<(), LoadError> {
    fields.within(e.elevation, "elevation", (-90.0, 90.0))?;
    fields.within(e.azimuth, "azimuth", DEGREES)?;
    fields.within(e.turbidity, "turbidity", (1.0, 20.0))?;
    fields.within(e.intensity, "intensity", FACTOR)?;
    fields.within(e.sun_size, "sun_size", (0.0, 90.0))?;
    fields.within(e.stars, "stars", FACTOR)?;
    if let Some(moon) = &e.moon {
        check_moon(Fields { place: &fields.place.key("moon"), ..fields }, moon)?;
    }
    fields.reflectance(e.ground, "ground").map(|_| ())
}

fn check_moon(fields: Fields, moon: &Moon) -> Result<(), LoadError> {
    fields.within(moon.elevation, "elevation", (-90.0, 90.0))?;
    fields.within(moon.azimuth, "azimuth", DEGREES)?;
    fields.within(moon.size, "size", (0.0, 90.0))?;
    fields.within(moon.intensity, "intensity", FACTOR)?;
    moon.phase.map_or(Ok(()), |phase| fields.within(phase, "phase", UNIT).map(|_| ()))
}

fn check_picture(fields: Fields, e: &EnvironmentImage) -> Result<(), LoadError> {
    fields.within(e.intensity, "intensity", FACTOR)?;
    if let Some(picture) = fields.source.pictures.get(&e.file) {
        return fields.check("file", image::check(picture));
    }
    let path = fields.source.resolve(&e.file);
    if !(files::exists(&path) && path.is_file()) {
        return fields.fail("file", format!("the image {} does not exist: check the path", path.display()));
    }
    Ok(())
}
