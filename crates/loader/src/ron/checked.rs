//! Checks of the numbers in scene files. A check returns its number, or a sentence in which `what` names the number.

use super::{file::Source, source::Place};
use crate::{LoadError, files};
use glam::Vec3;
use std::{fmt::Display, ops::RangeInclusive, path::PathBuf};
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::{
    desc::{Color, Finite, Point},
    ranges,
};

pub fn above_zero<T: Default + PartialOrd>(x: T, what: &str) -> Result<T, String> {
    if x > T::default() { Ok(x) } else { Err(format!("{what} must be above 0")) }
}

pub fn not_negative(x: f32, what: &str) -> Result<f32, String> {
    if x >= 0.0 { Ok(x) } else { Err(format!("{what} must not be negative")) }
}

pub fn not_zero<T: Default + PartialEq>(x: T, what: &str) -> Result<T, String> {
    if x == T::default() { Err(format!("{what} must not be 0")) } else { Ok(x) }
}

/// A number in a range, both ends included.
pub fn within<T: PartialOrd + Display>(x: T, range: RangeInclusive<T>, what: &str) -> Result<T, String> {
    if range.contains(&x) { Ok(x) } else { Err(format!("{what} must be {}", ranges::describe(&range))) }
}

/// A setting in the range of its flag.
pub fn setting<T: PartialOrd + Display>(x: T, range: &RangeInclusive<T>, what: &str) -> Result<T, String> {
    let fault = |range| format!("{what} is {x}; it must be {range}");
    if range.contains(&x) { Ok(x) } else { Err(fault(ranges::describe(range))) }
}

/// A length in the world, above 0.
pub fn length(x: f32, what: &str) -> Result<f32, String> {
    let x = above_zero(x, what)?;
    let fault = || format!("{what} must be {:e} to {LARGEST_COORDINATE:e}", f32::MIN_POSITIVE);
    (f32::MIN_POSITIVE..=LARGEST_COORDINATE).contains(&x).then_some(x).ok_or_else(fault)
}

/// The unit vector along `v`.
pub fn direction(v: Vec3, what: &str) -> Result<Vec3, String> {
    v.as_dvec3().try_normalize().map(|d| d.as_vec3()).ok_or_else(|| format!("{what} must not be (0, 0, 0)"))
}

/// The path of a file that the field at `place` names. `what` is what the file is, such as "the mask".
///
/// # Errors
/// If there is no such file.
pub fn existing(source: &Source, file: &str, what: &str, place: &Place) -> Result<PathBuf, LoadError> {
    let path = source.resolve(file);
    if files::exists(&path) {
        return Ok(path);
    }
    Err(source.error(place, format!("{what} {} does not exist: check the path", path.display())))
}

/// The entry at `place`. An error is at the field with the number, and names the field.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    pub source: &'a Source,
    pub place: &'a Place<'a>,
}

impl Fields<'_> {
    pub fn fail<T>(&self, field: &str, fault: impl AsRef<str>) -> Result<T, LoadError> {
        self.check(field, Err(fault))
    }

    /// The result of a check of `field`.
    pub fn check<T>(&self, field: &str, checked: Result<T, impl AsRef<str>>) -> Result<T, LoadError> {
        self.source.check(&self.place.key(field), checked)
    }

    /// The path of the file that `field` names, as [`existing`].
    pub fn existing(&self, file: &str, what: &str, field: &str) -> Result<PathBuf, LoadError> {
        existing(self.source, file, what, &self.place.key(field))
    }

    pub fn above_zero(&self, x: Finite, field: &str) -> Result<f32, LoadError> {
        self.check(field, above_zero(x.0, &format!("`{field}`")))
    }

    pub fn not_negative(&self, x: Finite, field: &str) -> Result<f32, LoadError> {
        self.check(field, not_negative(x.0, &format!("`{field}`")))
    }

    pub fn direction(&self, v: Point, field: &str) -> Result<Vec3, LoadError> {
        self.check(field, direction(v.0, &format!("the {field}")))
    }

    /// A number in a range, both ends included.
    pub fn within(&self, x: Finite, field: &str, (least, most): (f32, f32)) -> Result<f32, LoadError> {
        let fault = || format!("{} is out of range: write {least} to {most}", x.0);
        self.check(field, (least..=most).contains(&x.0).then_some(x.0).ok_or_else(fault))
    }

    /// A whole number in a range, both ends included.
    pub fn whole(&self, x: u32, field: &str, range: RangeInclusive<u32>) -> Result<u32, LoadError> {
        let fault = || format!("`{field}` is {x}: write {}", ranges::describe(&range));
        self.check(field, range.contains(&x).then_some(x).ok_or_else(fault))
    }

    /// A reflectance, at most 1, as nothing reflects more light than it receives.
    pub fn reflectance(&self, color: Color, field: &str) -> Result<Vec3, LoadError> {
        let fault = "the colour is out of range: write 0 to 1 for red, green and blue";
        self.check(field, (color.0.max_element() <= 1.0).then_some(color.0).ok_or(fault))
    }
}
