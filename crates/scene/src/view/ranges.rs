//! The ranges of all settings of pictures and frames, for scene files and the command line.

use std::{fmt::Display, ops::RangeInclusive};

/// Width and height of a picture, in pixels.
pub const SIDE: RangeInclusive<u32> = 1..=65_536;
pub const SAMPLES: RangeInclusive<u32> = 1..=1 << 20;
pub const BOUNCES: RangeInclusive<u32> = 0..=1000;
pub const FRAMES: RangeInclusive<u32> = 1..=1_000_000;
pub const FIRST_FRAME: RangeInclusive<u32> = 0..=1_000_000_000;
/// Exposure in stops. Far beyond this range, every picture is black or white.
pub const EXPOSURE: RangeInclusive<f32> = -64.0..=64.0;
/// Full width of the pixel filter, in pixels.
pub const FILTER_WIDTH: RangeInclusive<f32> = 0.1..=16.0;
/// Maximum radiance from a light after a bounce.
pub const CLAMP_INDIRECT: RangeInclusive<f32> = 1e-3..=1e9;
/// Colour temperature of white in kelvin: the range in which the Planckian locus is defined.
pub const KELVIN: RangeInclusive<f32> = 1667.0..=25_000.0;

/// The range in words, such as "1 to 1000".
pub fn describe<T: Display>(range: &RangeInclusive<T>) -> String {
    format!("{} to {}", range.start(), range.end())
}
