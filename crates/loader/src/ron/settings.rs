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

/// Converts `render:`.
///
/// # Errors
/// If a number is out of the range of its flag.
pub fn convert(source: &Source, r: &RenderDesc) -> Result<RenderDefaults, LoadError> {
    let fields = Fields { source, place: &Place::ROOT.key("render") };
    let optional =
        |x: Option<Finite>, range, field| x.map(|x| fields.check(field, setting(x.0, range, field))).transpose();
    Ok(RenderDefaults {
        width: fields.check("size", setting(r.size.0, &ranges::SIDE, "width"))?,
        height: fields.check("size", setting(r.size.1, &ranges::SIDE, "height"))?,
        samples: fields.check("samples", setting(r.samples, &ranges::SAMPLES, "samples"))?,
        bounces: fields.check("bounces", setting(r.bounces, &ranges::BOUNCES, "bounces"))?,
        seed: r.seed,
        frames: fields.check("frames", setting(r.frames, &ranges::FRAMES, "frames"))?,
        first_frame: fields.check("first_frame", setting(r.first_frame, &ranges::FIRST_FRAME, "first_frame"))?,
        // The exact rate that the number approximates.
        fps: FrameRate::of(fields.check("fps", above_zero(r.fps.0, "fps"))?).fps(),
        start: r.start.0,
        integrator: r.integrator.unwrap_or(RenderDefaults::default().integrator),
        exposure: fields.check("exposure", setting(r.exposure.0, &ranges::EXPOSURE, "exposure"))?,
        tone_map: r.tone_map,
        filter: r.filter,
        filter_width: optional(r.filter_width, &ranges::FILTER_WIDTH, "filter_width")?,
        white_balance: optional(r.white_balance, &ranges::KELVIN, "white_balance")?,
        denoise: r.denoise,
        clamp_indirect: optional(r.clamp_indirect, &ranges::CLAMP_INDIRECT, "clamp_indirect")?,
        ..RenderDefaults::default()
    })
}
