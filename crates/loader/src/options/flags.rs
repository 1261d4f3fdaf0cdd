//! Parsers of flags. Their errors are sentences with the remedy.

use super::parse_triple;
use glam::{Vec2, Vec3};
use std::{fmt::Display, ops::RangeInclusive, str::FromStr};
pub use throng_base::flags::choice;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::{FrameRate, MAX_BLADES, MOST_SHIFT, ranges::describe};

/// A key and its value, as `--set` takes them.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("write a key and a value like render.samples=4".into()),
    }
}

pub fn point(text: &str) -> Result<Vec3, String> {
    parse_triple(text).ok_or_else(|| "write three numbers like 1,2.5,-3".to_owned())
}

/// An axis letter, with or without a sign, or a direction other than 0.
pub fn up(text: &str) -> Result<Vec3, String> {
    let (sign, axis) = match text.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, text),
    };
    let direction = match axis {
        "x" => Some(sign * Vec3::X),
        "y" => Some(sign * Vec3::Y),
        "z" => Some(sign * Vec3::Z),
        _ => parse_triple(text).filter(|up| up.length() > 0.0 && up.length().is_finite()),
    };
    direction.ok_or_else(|| "write an axis like z or -y, or a direction like 0,0,1".to_owned())
}

pub fn fov(text: &str) -> Result<f32, String> {
    let degrees = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x < 180.0);
    degrees.ok_or_else(|| "must be above 0 and below 180 degrees".to_owned())
}

pub fn shift(text: &str) -> Result<Vec2, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|x: &f32| x.abs() <= MOST_SHIFT);
    let shift = text.split_once(',').and_then(|(x, y)| Some(Vec2::new(number(x)?, number(y)?)));
    shift.ok_or_else(|| format!("write two shares of the longer side like 0.1,-0.25, within {MOST_SHIFT}"))
}

/// `2.8` or `f/2.8`.
pub fn f_stop(text: &str) -> Result<f32, String> {
    let number = text.strip_prefix("f/").unwrap_or(text).parse().ok();
    let number = number.filter(|x: &f32| *x == 0.0 || (1e-3..=1e6).contains(x));
    number.ok_or_else(|| "write an f-stop like 2.8, from 0.001 to 1000000, or 0".to_owned())
}

/// The height of an orthographic view.
pub fn height(text: &str) -> Result<f32, String> {
    let height = text.parse().ok().filter(|x| *x > 0.0 && *x <= LARGEST_COORDINATE);
    height.ok_or_else(|| "write a height above 0 like 2.5".to_owned())
}

/// The width of lines.
pub fn width(text: &str) -> Result<f32, String> {
    let width = text.parse().ok().filter(|x| *x > 0.0 && *x <= LARGEST_COORDINATE);
    width.ok_or_else(|| "write a width above 0 like 0.01".to_owned())
}

/// The radius of an aperture.
pub fn radius(text: &str) -> Result<f32, String> {
    let radius = text.parse().ok().filter(|x| (0.0..=1e18).contains(x));
    radius.ok_or_else(|| "write a radius like 0.05, at least 0".to_owned())
}

pub fn blades(text: &str) -> Result<u32, String> {
    let blades = text.parse().ok();
    let blades = blades.filter(|n| *n == 0 || (3..=MAX_BLADES).contains(n));
    blades.ok_or_else(|| format!("must be 3 to {MAX_BLADES}, or 0"))
}

pub fn duration(text: &str) -> Result<f32, String> {
    let seconds = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x <= 86400.0);
    seconds.ok_or_else(|| "write a number of seconds above 0, at most 86400".to_owned())
}

pub fn rate(text: &str) -> Result<f64, String> {
    let rate = FrameRate::parse(text).map(FrameRate::fps).filter(|fps| (0.1..=1000.0).contains(fps));
    rate.ok_or_else(|| "write a number from 0.1 to 1000, or a fraction like 24000/1001".to_owned())
}

pub fn number(text: &str) -> Result<f32, String> {
    within(-1e6..=1e6)(text)
}

pub fn double(text: &str) -> Result<f64, String> {
    within(-1e6..=1e6)(text)
}

/// Parses a number in `range`.
pub fn within<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let number = text.parse().ok().filter(|x| range.contains(x));
        number.ok_or_else(|| format!("write a number from {}", describe(&range)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_split_at_the_first_equals_sign() {
        let of = |k: &str, v: &str| Ok((k.to_owned(), v.to_owned()));
        assert_eq!(pair("a.b=1"), of("a.b", "1"));
        assert_eq!(pair("a = (b=1)"), of("a", "(b=1)"));
        assert_eq!(pair("a="), of("a", ""));
        assert!(pair("a").is_err());
        assert!(pair("=1").is_err());
    }

    #[test]
    fn f_stops_are_written_as_on_lenses() {
        assert_eq!(f_stop("f/2.8"), Ok(2.8));
        assert_eq!(f_stop("0"), Ok(0.0));
        for wrong in ["", "f/", "-1", "nan", "inf"] {
            assert!(f_stop(wrong).is_err(), "{wrong}");
        }
        assert_eq!(shift("0.1, -0.25"), Ok(Vec2::new(0.1, -0.25)));
        for wrong in ["0.1", "nan,0", "0,1e9", "0,0,0"] {
            assert!(shift(wrong).is_err(), "{wrong}");
        }
        assert!(blades("2").is_err() && blades("5").is_ok());
    }
}
