//! A part of a picture that is rendered on its own.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A rectangle of pixels in a picture, measured from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// First column.
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    #[error("write the first column and row, width and height like 0,512,1024,512")]
    Form,
    #[error("a region of {width}x{height} pixels at {x},{y} reaches beyond the picture, which has {}x{}", .size.0, .size.1)]
    Outside { x: u32, y: u32, width: u32, height: u32, size: (u32, u32) },
}

impl Region {
    /// A region that covers a whole picture.
    pub fn of_picture((width, height): (u32, u32)) -> Self {
        Self { x: 0, y: 0, width, height }
    }

    /// The column after the last one.
    pub fn right(&self) -> u32 {
        self.x.saturating_add(self.width)
    }

    /// The row after the last one.
    pub fn bottom(&self) -> u32 {
        self.y.saturating_add(self.height)
    }

    /// Whether `other` lies completely inside this region.
    pub fn contains(&self, other: &Self) -> bool {
        self.x <= other.x && self.y <= other.y && other.right() <= self.right() && other.bottom() <= self.bottom()
    }

    /// Checks the region against a picture's size.
    ///
    /// # Errors
    /// [`RegionError::Outside`] if it is not inside a picture of this size.
    pub fn check(&self, size: (u32, u32)) -> Result<(), RegionError> {
        let Self { x, y, width, height } = *self;
        let fits = x.checked_add(width).is_some_and(|right| right <= size.0)
            && y.checked_add(height).is_some_and(|bottom| bottom <= size.1);
        if fits { Ok(()) } else { Err(RegionError::Outside { x, y, width, height, size }) }
    }
}

impl FromStr for Region {
    type Err = RegionError;

    fn from_str(text: &str) -> Result<Self, RegionError> {
        let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        match numbers.map_err(|_| RegionError::Form)?[..] {
            [x, y, width, height] if width > 0 && height > 0 => Ok(Self { x, y, width, height }),
            _ => Err(RegionError::Form),
        }
    }
}

/// Writes the region in the syntax of the command line.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{},{},{},{}", self.x, self.y, self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_read_as_they_are_written() {
        let region = Region { x: 3, y: 40, width: 5, height: 600 };
        assert_eq!("3,40, 5,600".parse(), Ok(region));
        assert_eq!(region.to_string().parse(), Ok(region));
        for bad in ["", "1,2,3", "1,2,3,4,5", "0,0,0,4", "a,0,1,1", "-1,0,1,1"] {
            assert_eq!(bad.parse::<Region>(), Err(RegionError::Form), "{bad}");
        }
    }

    #[test]
    fn regions_have_to_be_within_their_picture() {
        let region = |x, width| Region { x, y: 0, width, height: 1 };
        assert_eq!(region(3, 5).check((8, 1)), Ok(()));
        for outside in [region(4, 5), region(u32::MAX, u32::MAX)] {
            assert!(outside.check((8, 1)).is_err());
        }
    }
}
