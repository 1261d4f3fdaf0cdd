//! Lists of frames to render, as in `--frames 1-48:2,60`.

use std::{ops::RangeInclusive, str::FromStr};

/// A list of single frames and ranges, in the order given.
///
/// `7` is one frame, `1-48` a range of 48 frames, `1-48:2` every second frame of that range, and `10-` all frames from 10 to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameList(Vec<FrameRange>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameRange {
    /// First frame; `None` for the scene's first frame.
    first: Option<u32>,
    /// Last frame, inclusive; `None` for the scene's last frame.
    last: Option<u32>,
    step: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramesError {
    #[error("`{0}` is not a frame or a range; write frames like 1-48:2,60")]
    Malformed(String),
    #[error("`{0}`: the step must be at least 1")]
    ZeroStep(String),
    #[error("`{0}`: a step needs a range, like 1-48:2")]
    StepWithoutRange(String),
    #[error("`{0}` runs backwards; write {1}")]
    Backwards(String, String),
    #[error("frame {frame} does not exist: the scene has {}", describe_range(.all))]
    Outside { frame: u32, all: RangeInclusive<u32> },
}

fn describe_range(all: &RangeInclusive<u32>) -> String {
    if all.start() == all.end() {
        format!("only frame {}", all.start())
    } else {
        format!("frames {} to {}", all.start(), all.end())
    }
}

impl FrameList {
    /// Every frame of the scene.
    pub fn all() -> Self {
        Self(vec![FrameRange { first: None, last: None, step: 1 }])
    }

    /// The listed frame numbers in the order given, each once, for a scene with the frames `all`. Uses memory proportional to the length of
    /// `all`.
    ///
    /// # Errors
    /// If a listed frame does not exist.
    pub fn resolve(&self, all: RangeInclusive<u32>) -> Result<Vec<u32>, FramesError> {
        for range in &self.0 {
            let ends = [range.first, range.last];
            if let Some(&frame) = ends.iter().flatten().find(|frame| !all.contains(*frame)) {
                return Err(FramesError::Outside { frame, all });
            }
        }
        let first = *all.start();
        let mut seen = vec![false; (all.end() - first) as usize + 1];
        let mut frames: Vec<u32> = self.0.iter().flat_map(|range| range.numbers(&all)).collect();
        frames.retain(|&frame| !std::mem::replace(&mut seen[(frame - first) as usize], true));
        Ok(frames)
    }
}

impl FrameRange {
    fn numbers(self, all: &RangeInclusive<u32>) -> impl Iterator<Item = u32> + use<> {
        (self.first.unwrap_or(*all.start())..=self.last.unwrap_or(*all.end())).step_by(self.step as usize)
    }

    /// Parses one item of the list.
    fn parse(text: &str) -> Result<Self, FramesError> {
        let (span, step) = match text.split_once(':') {
            Some((span, step)) => (span, Some(number(step, text)?)),
            None => (text, None),
        };
        let range = match span.split_once('-') {
            Some((first, "")) => (number(first, text)?, None),
            Some((first, last)) => (number(first, text)?, Some(number(last, text)?)),
            None if step.is_some() => return Err(FramesError::StepWithoutRange(text.into())),
            None => (number(span, text)?, Some(number(span, text)?)),
        };
        Self::check(range, step.unwrap_or(1), text)
    }

    fn check((first, last): (u32, Option<u32>), step: u32, text: &str) -> Result<Self, FramesError> {
        if step == 0 {
            return Err(FramesError::ZeroStep(text.into()));
        }
        match last {
            Some(last) if last < first => {
                let fix = format!("{last}-{first}");
                Err(FramesError::Backwards(text.into(), fix))
            }
            _ => Ok(Self { first: Some(first), last, step }),
        }
    }
}

/// Parses a number of digits only; `u32::from_str` would also accept a sign.
fn number(digits: &str, part: &str) -> Result<u32, FramesError> {
    let malformed = || FramesError::Malformed(part.into());
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(malformed());
    }
    digits.parse().map_err(|_| malformed())
}

impl FromStr for FrameList {
    type Err = FramesError;

    fn from_str(text: &str) -> Result<Self, FramesError> {
        text.split(',').map(|part| FrameRange::parse(part.trim())).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<u32> {
        text.parse::<FrameList>().unwrap().resolve(1..=12).unwrap()
    }

    fn error(text: &str) -> String {
        let list = text.parse::<FrameList>();
        list.and_then(|list| list.resolve(1..=12)).unwrap_err().to_string()
    }

    #[test]
    fn ranges_steps_and_single_frames_mix() {
        assert_eq!(frames("7"), [7]);
        assert_eq!(frames("1-3"), [1, 2, 3]);
        assert_eq!(frames("1-8:3,12"), [1, 4, 7, 12]);
        assert_eq!(frames("10-"), [10, 11, 12]);
        assert_eq!(frames("8-:2, 3"), [8, 10, 12, 3]);
        assert_eq!(FrameList::all().resolve(1..=3).unwrap(), [1, 2, 3]);
    }

    #[test]
    fn the_order_is_kept_and_repeats_are_dropped() {
        assert_eq!(frames("12,1-3,2-4,12"), [12, 1, 2, 3, 4]);
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["", "x", "1-x", "1,,2", "-5", "+5", "1-2-3", "1-2:", "99999999999"] {
            assert!(error(text).contains("is not a frame or a range"), "{text}");
        }
        assert!(error("1-4:0").contains("step must be at least 1"));
        assert!(error("4:2").contains("a step needs a range"));
        assert_eq!(error("9-3:2"), "`9-3:2` runs backwards; write 3-9");
    }

    #[test]
    fn numbers_are_those_of_the_scene() {
        let resolve =
            |text: &str, all| text.parse::<FrameList>().unwrap().resolve(all).map_err(|error| error.to_string());
        assert_eq!(resolve("1001-1005:2,1009-", 1001..=1010), Ok(vec![1001, 1003, 1005, 1009, 1010]));
        assert_eq!(resolve("0-2", 0..=4), Ok(vec![0, 1, 2]));
        assert_eq!(FrameList::all().resolve(0..=2), Ok(vec![0, 1, 2]));
        let outside = "frame 1 does not exist: the scene has frames 1001 to 1010";
        assert_eq!(resolve("1-1005", 1001..=1010), Err(outside.into()));
    }

    #[test]
    fn frames_outside_the_scene_are_refused_without_counting_to_them() {
        assert_eq!(error("1-4000000000"), "frame 4000000000 does not exist: the scene has frames 1 to 12");
        assert_eq!(error("13-"), "frame 13 does not exist: the scene has frames 1 to 12");
        assert_eq!(error("0-4"), "frame 0 does not exist: the scene has frames 1 to 12");
        let still = "2".parse::<FrameList>().unwrap().resolve(1..=1).unwrap_err();
        assert_eq!(still.to_string(), "frame 2 does not exist: the scene has only frame 1");
    }
}
