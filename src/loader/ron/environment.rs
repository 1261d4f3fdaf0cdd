//! The `environment` section, checked, images read.

use super::{file::Source, source::Place};
use crate::loader::{LoadError, image, sky};
use crate::scene::{
    Environment, Light, Stars,
    desc::{EnvironmentDesc, EnvironmentImage, Finite, Moon, SunSky},
};

/// Converts `environment:`, with the lights that belong to a sky.
///
/// # Errors
/// Numbers out of range, image files that are missing or damaged.
pub fn convert(source: &Source, environment: Option<&EnvironmentDesc>) -> Result<(Environment, Vec<Light>), LoadError> {
    let place = Place::ROOT.key("environment");
    Ok(match environment {
        None => (Environment::default(), Vec::new()),
        Some(EnvironmentDesc::Constant(e)) => (Environment::Constant { radiance: e.radiance.0 }, Vec::new()),
        Some(EnvironmentDesc::Gradient(e)) => {
            let (zenith, horizon, nadir) = (e.zenith.0, e.horizon.0, e.nadir.0);
            (Environment::Gradient { zenith, horizon, nadir }, Vec::new())
        }
        Some(EnvironmentDesc::SunSky(e)) => sun_sky(source, e, &place)?,
        Some(EnvironmentDesc::Image(e)) => (picture(source, e, &place)?, Vec::new()),
    })
}

fn sun_sky(source: &Source, e: &SunSky, place: &Place) -> Result<(Environment, Vec<Light>), LoadError> {
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
    Ok(sky::daylight(e))
}

fn check_moon(source: &Source, moon: &Moon, place: &Place) -> Result<(), LoadError> {
    let check = |x: Finite, field: &str, range: (f32, f32)| within(source, x, &place.key(field), range);
    check(moon.elevation, "elevation", (-90.0, 90.0))?;
    check(moon.azimuth, "azimuth", (-3600.0, 3600.0))?;
    check(moon.size, "size", (0.0, 90.0))?;
    check(moon.intensity, "intensity", (0.0, 1e6))?;
    moon.phase.map_or(Ok(()), |phase| check(phase, "phase", (0.0, 1.0)))
}

/// # Errors
/// When the number at `place` is out of range.
pub fn within(source: &Source, x: Finite, place: &Place, (least, most): (f32, f32)) -> Result<(), LoadError> {
    if (least..=most).contains(&x.0) {
        return Ok(());
    }
    Err(source.error(place, format!("{} is out of range: write {least} to {most}", x.0)))
}

fn picture(source: &Source, e: &EnvironmentImage, place: &Place) -> Result<Environment, LoadError> {
    within(source, e.intensity, &place.key("intensity"), (0.0, 1e6))?;
    let path = source.resolve(&e.file);
    if !path.is_file() {
        let message = format!("the image {} does not exist: check the path", path.display());
        return Err(source.error(&place.key("file"), message));
    }
    let pixels = image::load_radiance(&path, e.intensity.0)?;
    Ok(Environment::Image { pixels, rotation: e.rotation.0.to_radians(), stars: Stars::default() })
}
