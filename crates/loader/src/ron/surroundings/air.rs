//! Validation and conversion of the `air` section.

use crate::{
    LoadError,
    ron::{checked::Fields, file::Source, source::Place},
};
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
    fog(Fields { source, place: &Place::ROOT.key("air") }, desc).map(Some)
}

fn fog(fields: Fields, desc: &FogDesc) -> Result<Fog, LoadError> {
    let density = fields.within(desc.density, "density", (0.0, 1e6))?;
    let anisotropy = fields.within(desc.anisotropy, "anisotropy", (-0.99, 0.99))?;
    if desc.color.0.max_element() > 1.0 {
        return fields.fail("color", "the colour of fog must be at most 1: it scatters no more than it meets");
    }
    let thinning = thinning(fields, desc)?;
    let top = desc.top.map(|top| top.0);
    if let (Some(thinning), Some(top)) = (thinning, top)
        && top <= thinning.base
    {
        let message = format!("the top is not above the base, {}: raise it, or leave out height", thinning.base);
        return fields.fail("top", message);
    }
    Ok(Fog { density, albedo: desc.color.0, anisotropy, thinning, top })
}

fn thinning(fields: Fields, desc: &FogDesc) -> Result<Option<Thinning>, LoadError> {
    match (desc.height, desc.base) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let message = "a base without a height changes nothing: add height, or write top for a layer of even fog";
            fields.fail("base", message)
        }
        (Some(height), base) => {
            let height = fields.within(height, "height", (1e-3, 1e6))?;
            Ok(Some(Thinning { base: base.map_or(0.0, |base| base.0), height }))
        }
    }
}
