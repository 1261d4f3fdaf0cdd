//! Ranges of settings, for flags and for scene files.

use super::SettingsError;
use std::{fmt::Display, ops::RangeInclusive, str::FromStr};
use throng_device::FrameSettings;
use throng_scene::{
    PixelFilter,
    ranges::{BOUNCES, CLAMP_INDIRECT, EXPOSURE, FILTER_WIDTH, FRAMES, KELVIN, SAMPLES, SIDE, describe},
};

/// Noise targets, relative to the square root of the brightness.
pub const NOISE: RangeInclusive<f32> = 1e-5..=10.0;
/// Numbers of neighbouring frames on either side.
pub const DENOISE_FRAMES: RangeInclusive<u32> = 0..=16;
/// Widths of edges in pixels.
pub const EDGE_WIDTH: RangeInclusive<f32> = 0.1..=100.0;
/// Intervals in seconds.
#[cfg(feature = "cli")]
const INTERVAL: RangeInclusive<f64> = 0.1..=1e6;
/// Dither amplitudes in 8-bit steps.
pub const DITHER: RangeInclusive<f32> = 0.0..=2.0;

/// Named sizes, each with its synonyms.
const SIZES: [(&[&str], (u32, u32)); 10] = [
    (&["360p"], (640, 360)),
    (&["480p"], (854, 480)),
    (&["720p", "hd"], (1280, 720)),
    (&["1080p", "fhd", "fullhd"], (1920, 1080)),
    (&["1440p", "qhd"], (2560, 1440)),
    (&["2160p", "4k", "uhd"], (3840, 2160)),
    (&["4320p", "8k"], (7680, 4320)),
    (&["square"], (1080, 1080)),
    (&["portrait", "vertical"], (1080, 1920)),
    (&["thumbnail", "thumb"], (256, 256)),
];

/// A picture size: `--size 1920x1080`, or a name such as `1080p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(
        "write width and height like 1920x1080, or 360p, 480p, 720p, 1080p, 1440p, 4k, 8k (all 16:9), square (1080x1080), \
         portrait (1080x1920) or thumbnail (256x256)"
    )]
    Size,
    #[error("must be {0}")]
    Outside(String),
}

impl FromStr for Size {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let is_named = |(names, _): &&(&[&str], _)| names.iter().any(|name| text.eq_ignore_ascii_case(name));
        if let Some(&(_, (width, height))) = SIZES.iter().find(is_named) {
            return Ok(Self { width, height });
        }
        let (width, height) = text.split_once(['x', 'X', '×']).ok_or(LimitError::Size)?;
        let side = |text: &str| match text.parse() {
            Ok(side) => in_range(side, &SIDE).map_err(|_| LimitError::Outside(sides())),
            Err(_) => Err(LimitError::Size),
        };
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

fn sides() -> String {
    format!("{} pixels on each side", describe(&SIDE))
}

/// Parses the value of a flag that must be in `range`.
#[cfg(feature = "cli")]
pub fn within<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, LimitError> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| parse(text, &range)
}

/// Parses an interval in seconds.
#[cfg(feature = "cli")]
pub fn parse_interval(text: &str) -> Result<std::time::Duration, LimitError> {
    parse(text, &INTERVAL).map(std::time::Duration::from_secs_f64)
}

/// Parses a number that must be in `range`.
pub fn parse<T: FromStr + PartialOrd + Display>(text: &str, range: &RangeInclusive<T>) -> Result<T, LimitError> {
    let outside = || LimitError::Outside(describe(range));
    in_range(text.parse().map_err(|_| outside())?, range)
}

fn in_range<T: PartialOrd + Display>(value: T, range: &RangeInclusive<T>) -> Result<T, LimitError> {
    if range.contains(&value) { Ok(value) } else { Err(LimitError::Outside(describe(range))) }
}

/// Checks settings that come from a scene file or a calling program.
pub fn check(settings: &FrameSettings) -> Result<(), SettingsError> {
    check_one("width", settings.width, &SIDE)?;
    check_one("height", settings.height, &SIDE)?;
    check_one("samples", settings.samples, &SAMPLES)?;
    check_one("bounces", settings.bounces, &BOUNCES)?;
    check_one("exposure", settings.exposure, &EXPOSURE)?;
    check_one("dither", settings.film.dither, &DITHER)?;
    check_some("noise", settings.noise, &NOISE)?;
    check_some("clamp_indirect", settings.clamp_indirect, &CLAMP_INDIRECT)?;
    check_some("wireframe", settings.wireframe, &EDGE_WIDTH)?;
    check_some("filter_width", settings.film.filter_width, &FILTER_WIDTH)?;
    if settings.film.filter == PixelFilter::Shared && settings.film.filter_width.is_some() {
        return Err(SettingsError::SharedWidth);
    }
    check_some("white_balance", settings.film.white_balance, &KELVIN)
}

pub fn check_frames(frames: u32) -> Result<(), SettingsError> {
    check_one("frames", frames, &FRAMES)
}

fn check_some(name: &'static str, value: Option<f32>, range: &RangeInclusive<f32>) -> Result<(), SettingsError> {
    value.map_or(Ok(()), |value| check_one(name, value, range))
}

fn check_one<T: PartialOrd + Display>(
    name: &'static str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<(), SettingsError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SettingsError::Scene { name, value: value.to_string(), allowed: describe(range) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse() {
        let size = |width, height| Size { width, height };
        assert_eq!("1920x1080".parse::<Size>().unwrap(), size(1920, 1080));
        assert_eq!("1X65536".parse::<Size>().unwrap(), size(1, 65_536));
        assert_eq!("3×2".parse::<Size>().unwrap(), size(3, 2));
    }

    #[test]
    fn usual_sizes_have_names() {
        let of = |name: &str| name.parse::<Size>().map(|size| (size.width, size.height)).unwrap();
        assert_eq!([of("720p"), of("HD")], [(1280, 720); 2]);
        assert_eq!([of("1080p"), of("4k"), of("square")], [(1920, 1080), (3840, 2160), (1080, 1080)]);
        let error = "2k".parse::<Size>().unwrap_err().to_string();
        let listed = SIZES.iter().filter(|(names, _)| names.iter().any(|name| error.contains(name)));
        assert_eq!(listed.count(), SIZES.len(), "{error}");
    }

    #[test]
    fn bad_sizes_say_what_is_right() {
        for text in ["", "x", "10", "10x", "x10", "10x10x10", "-1x5", "1.5x2", "99999999999x1"] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains("like 1920x1080"), "{text}: {error}");
        }
        for text in ["0x10", "10x0", "65537x1"] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert_eq!(error, "must be 1 to 65536 pixels on each side");
        }
    }

    #[test]
    fn numbers_outside_their_range_name_it() {
        assert_eq!(parse("16", &SAMPLES).unwrap(), 16);
        assert_eq!(parse("-1.5", &EXPOSURE).unwrap(), -1.5);
        for bad in ["0", "-1", "1048577", "x", ""] {
            assert_eq!(parse(bad, &SAMPLES).unwrap_err().to_string(), "must be 1 to 1048576");
        }
        for bad in ["nan", "inf", "65", "-1e9"] {
            assert_eq!(parse(bad, &EXPOSURE).unwrap_err().to_string(), "must be -64 to 64");
        }
        assert!(parse("1001", &BOUNCES).is_err());
    }
}
