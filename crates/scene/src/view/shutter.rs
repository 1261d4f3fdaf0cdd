//! The camera's shutter times, for motion blur.

use std::{num::ParseFloatError, str::FromStr};

/// Opening and closing times of the shutter, in frames relative to the frame's time. All light in between has equal weight.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Shutter {
    open: f32,
    close: f32,
}

/// Errors in a shutter's text.
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
    /// Maximum distance of opening and closing from the frame's time, in frames.
    pub const MOST: f32 = 100.0;

    /// A shutter with these opening and closing times.
    ///
    /// # Errors
    /// If a time is beyond [`Self::MOST`], or if the shutter closes before it opens.
    pub fn new(open: f32, close: f32) -> Result<Self, ShutterError> {
        if !(open.abs() <= Self::MOST && close.abs() <= Self::MOST) {
            return Err(ShutterError::Range);
        }
        if open <= close { Ok(Self { open, close }) } else { Err(ShutterError::Order) }
    }

    /// A shutter that is open for `length` frames, centred on the frame's time, as in Blender and Cycles.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`].
    pub fn centred(length: f32) -> Result<Self, ShutterError> {
        Self::new(-0.5 * length, 0.5 * length)
    }

    /// Whether the shutter is open for longer than an instant.
    pub fn is_open(&self) -> bool {
        self.open < self.close
    }

    /// Opening and closing times, in frames relative to the frame's time.
    pub fn span(&self) -> [f32; 2] {
        [self.open, self.close]
    }
}

impl FromStr for Shutter {
    type Err = ShutterError;

    /// Parses one number, the shutter time centred on the frame's time, or two comma-separated numbers, the opening and closing times.
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
