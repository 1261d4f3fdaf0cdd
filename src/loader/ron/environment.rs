//! The `environment` and `lights` sections, checked, images read.

use super::{file::Source, placements::direction, source::Place};
use crate::loader::{LoadError, image, sky};
use crate::scene::{
    Environment, Light,
    desc::{EnvironmentDesc, EnvironmentImage, Finite, LightDesc, SpotLight, SunSky},
};

/// Converts `environment:`, with the sun that belongs to a sky.
///
/// # Errors
/// Numbers out of range, image files that are missing or damaged.
pub fn convert(
    source: &Source,
    environment: Option<&EnvironmentDesc>,
) -> Result<(Environment, Option<Light>), LoadError> {
    let place = Place::ROOT.key("environment");
    Ok(match environment {
        None => (Environment::default(), None),
        Some(EnvironmentDesc::Constant(e)) => (Environment::Constant { radiance: e.radiance.0 }, None),
        Some(EnvironmentDesc::Gradient(e)) => {
            let (zenith, horizon, nadir) = (e.zenith.0, e.horizon.0, e.nadir.0);
            (Environment::Gradient { zenith, horizon, nadir }, None)
        }
        Some(EnvironmentDesc::SunSky(e)) => sun_sky(source, e, &place)?,
        Some(EnvironmentDesc::Image(e)) => (picture(source, e, &place)?, None),
    })
}

fn sun_sky(source: &Source, e: &SunSky, place: &Place) -> Result<(Environment, Option<Light>), LoadError> {
    let check = |x: Finite, field: &str, (least, most): (f32, f32)| within(source, x, &place.key(field), (least, most));
    check(e.elevation, "elevation", (-18.0, 90.0))?;
    check(e.azimuth, "azimuth", (-3600.0, 3600.0))?;
    check(e.turbidity, "turbidity", (1.0, 20.0))?;
    check(e.intensity, "intensity", (0.0, 1e6))?;
    check(e.sun_size, "sun_size", (0.0, 90.0))?;
    if e.ground.0.max_element() > 1.0 {
        return Err(source.error(&place.key("ground"), "the ground's albedo must be at most 1"));
    }
    Ok(sky::daylight(e))
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
    Ok(Environment::Image { pixels, rotation: e.rotation.0.to_radians() })
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
