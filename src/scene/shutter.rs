//! When the camera's shutter is open: what moves meanwhile is blurred.

use std::{num::ParseFloatError, str::FromStr};

/// When the shutter opens and closes, in frames relative to the frame's time. Light counts equally throughout.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Shutter {
    open: f32,
    close: f32,
}

/// Why a text is no shutter.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum ShutterError {
    #[error("write the shutter time in frames, like 0.5, or its opening and closing times, like -0.25,0.25")]
    Text(#[from] ParseFloatError),
    #[error("the shutter must not close before it opens")]
    Order,
    #[error("the shutter must open and close within {} frames of the frame's time", Shutter::MOST)]
    Range,
}

impl Shutter {
    /// Greatest distance of opening and closing from the frame's time, in frames.
    pub const MOST: f32 = 100.0;

    /// # Errors
    /// Times beyond [`Self::MOST`], and a closing before the opening.
    pub fn new(open: f32, close: f32) -> Result<Self, ShutterError> {
        if !(open.abs() <= Self::MOST && close.abs() <= Self::MOST) {
            return Err(ShutterError::Range);
        }
        match open <= close {
            true => Ok(Self { open, close }),
            false => Err(ShutterError::Order),
        }
    }

    /// A shutter that is open for `length` frames, half of them before the frame's time, as in Blender and Cycles.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn centred(length: f32) -> Result<Self, ShutterError> {
        Self::new(-0.5 * length, 0.5 * length)
    }

    /// Whether the shutter is open for some time, and not just for a moment.
    pub fn is_open(&self) -> bool {
        self.open < self.close
    }

    /// Frames from the frame's time to the opening and to the closing.
    pub fn span(&self) -> [f32; 2] {
        [self.open, self.close]
    }
}

impl FromStr for Shutter {
    type Err = ShutterError;

    /// Parses one number, the length centred on the frame's time, or two with a comma in between, opening and closing.
    fn from_str(text: &str) -> Result<Self, ShutterError> {
        let number = |text: &str| text.trim().parse::<f32>();
        match text.split_once(',') {
            Some((open, close)) => Self::new(number(open)?, number(close)?),
            None => Self::centred(number(text)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shutter_is_written_as_a_length_or_as_two_times() {
        let parse = |text: &str| text.parse::<Shutter>().map(|shutter| shutter.span());
        assert_eq!(parse("0.5"), Ok([-0.25, 0.25]));
        assert_eq!(parse("0, 0.5"), Ok([0.0, 0.5]));
        assert_eq!(parse("0.5,0"), Err(ShutterError::Order));
        assert_eq!(parse("-1"), Err(ShutterError::Order));
        assert_eq!(parse("1e9"), Err(ShutterError::Range));
        assert_eq!(parse("nan"), Err(ShutterError::Range));
        assert!(matches!(parse("half"), Err(ShutterError::Text(_))));
    }

    #[test]
    fn a_shutter_of_no_length_is_never_open() {
        assert!(!Shutter::centred(0.0).unwrap().is_open());
        assert!(Shutter::centred(0.1).unwrap().is_open());
    }
}
