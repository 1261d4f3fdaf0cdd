//! Validation and conversion of the `air` section.

use super::{environment::within, file::Source, source::Place};
use crate::LoadError;
use throng_scene::{
    Fog, Thinning,
    desc::{AirDesc, FogDesc},
};

/// Converts `air:`; None without fog.
///
/// # Errors
/// If a number is out of range, or if heights contradict one another.
pub fn convert(source: &Source, air: Option<&AirDesc>) -> Result<Option<Fog>, LoadError> {
    let Some(AirDesc::Fog(desc)) = air else {
        return Ok(None);
    };
    fog(source, desc, &Place::ROOT.key("air")).map(Some)
}

fn fog(source: &Source, desc: &FogDesc, place: &Place) -> Result<Fog, LoadError> {
    within(source, desc.density, &place.key("density"), (0.0, 1e6))?;
    within(source, desc.anisotropy, &place.key("anisotropy"), (-0.99, 0.99))?;
    if desc.color.0.max_element() > 1.0 {
        return Err(
            source.error(&place.key("color"), "the colour of fog must be at most 1: it scatters no more than it meets")
        );
    }
    let thinning = thinning(source, desc, place)?;
    let top = desc.top.map(|top| top.0);
    if let (Some(thinning), Some(top)) = (thinning, top)
        && top <= thinning.base
    {
        let message = format!("the top is not above the base, {}: raise it, or leave out height", thinning.base);
        return Err(source.error(&place.key("top"), message));
    }
    Ok(Fog { density: desc.density.0, albedo: desc.color.0, anisotropy: desc.anisotropy.0, thinning, top })
}

fn thinning(source: &Source, desc: &FogDesc, place: &Place) -> Result<Option<Thinning>, LoadError> {
    match (desc.height, desc.base) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let message = "a base without a height changes nothing: add height, or write top for a layer of even fog";
            Err(source.error(&place.key("base"), message))
        }
        (Some(height), base) => {
            within(source, height, &place.key("height"), (1e-3, 1e6))?;
            Ok(Some(Thinning { base: base.map_or(0.0, |base| base.0), height: height.0 }))
        }
    }
}
