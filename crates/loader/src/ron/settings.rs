//! Validation and conversion of the `render` section.

use super::{
    checked::{Fields, above_zero, setting},
    file::Source,
    source::Place,
};
use crate::LoadError;
use throng_scene::{
    FrameRate, RenderDefaults,
    desc::{Finite, RenderDesc},
    ranges,
};

/// Converts `render:`. What it leaves out has the values of `usual`.
///
/// # Errors
/// If a number is out of the range of its flag.
pub fn convert(source: &Source, r: &RenderDesc, usual: RenderDefaults) -> Result<RenderDefaults, LoadError> {
    let fields = Fields { source, place: &Place::ROOT.key("render") };
    let whole = |x: Option<u32>, usual, range, field| fields.check(field, setting(x.unwrap_or(usual), range, field));
    let optional = |x: Option<Finite>, usual, range, field| match x {
        Some(x) => fields.check(field, setting(x.0, range, field)).map(Some),
        None => Ok(usual),
    };
    let (width, height) = r.size.unwrap_or((usual.width, usual.height));
    let exposure = r.exposure.map_or(usual.exposure, |stops| stops.0);
    let fps = r.fps.map_or(usual.fps, |rate| rate.0);
    Ok(RenderDefaults {
        width: fields.check("size", setting(width, &ranges::SIDE, "width"))?,
        height: fields.check("size", setting(height, &ranges::SIDE, "height"))?,
        samples: whole(r.samples, usual.samples, &ranges::SAMPLES, "samples")?,
        bounces: whole(r.bounces, usual.bounces, &ranges::BOUNCES, "bounces")?,
        seed: r.seed.unwrap_or(usual.seed),
        frames: whole(r.frames, usual.frames, &ranges::FRAMES, "frames")?,
        first_frame: whole(r.first_frame, usual.first_frame, &ranges::FIRST_FRAME, "first_frame")?,
        // The exact rate that the number approximates.
        fps: FrameRate::of(fields.check("fps", above_zero(fps, "fps"))?).fps(),
        start: r.start.map_or(usual.start, |start| start.0),
        integrator: r.integrator.unwrap_or(usual.integrator),
        exposure: fields.check("exposure", setting(exposure, &ranges::EXPOSURE, "exposure"))?,
        tone_map: r.tone_map.unwrap_or(usual.tone_map),
        filter: r.filter.unwrap_or(usual.filter),
        filter_width: optional(r.filter_width, usual.filter_width, &ranges::FILTER_WIDTH, "filter_width")?,
        white_balance: optional(r.white_balance, usual.white_balance, &ranges::KELVIN, "white_balance")?,
        denoise: r.denoise.unwrap_or(usual.denoise),
        clamp_indirect: optional(r.clamp_indirect, usual.clamp_indirect, &ranges::CLAMP_INDIRECT, "clamp_indirect")?,
        ..usual
    })
}
