//! Parts of a picture: some of its samples, or a region. They are stored in a film and joined with others later.

use super::{FramePlan, OngoingOptions};
use std::{fmt, num::NonZero, ops::Range, path::PathBuf, str::FromStr};
use throng_render::RenderJob;

/// Samples of a picture, counted from 1, both ends included (`--sample-range 1-32`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRange {
    first: NonZero<u32>,
    last: u32,
}

/// Reasons why a part of a picture cannot be rendered.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    #[error("write the first and the last sample like 1-32")]
    Form,
    #[error(
        "--sample-range: the picture has {samples} samples, and {range} exceeds them; set --samples to the total of all parts"
    )]
    Beyond { range: SampleRange, samples: u32 },
    #[error("--sample-range writes part of a picture for throng merge: choose an --output like a.film")]
    NoFilm,
    #[error("--output: a film holds the samples of one picture; choose it with --frames, like -f 1")]
    Frames,
    #[error("--video and --sheet require pictures, not films; make a picture with throng merge")]
    Video,
    #[error("--noise requires the whole picture, not a part; set --samples to the total of all parts")]
    Noise,
    #[error("--denoise and --background require finished pictures; join all films with throng merge first")]
    Finished,
}

impl SampleRange {
    /// The range, counted from 0.
    pub fn range(&self) -> Range<u32> {
        self.first.get() - 1..self.last
    }
}

impl FromStr for SampleRange {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let read = |text: &str| text.trim().parse::<NonZero<u32>>().map_err(|_| PartError::Form);
        let (first, last) = (read(first)?, read(last)?);
        if first <= last { Ok(Self { first, last: last.get() }) } else { Err(PartError::Form) }
    }
}

/// Writes the range in the form of the flag's value.
impl fmt::Display for SampleRange {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl OngoingOptions {
    /// The film that receives the samples of `job`, and the range of samples. None if pictures are written.
    ///
    /// # Errors
    /// If the output is not one part of one picture.
    pub fn part(&self, plan: &FramePlan, job: &RenderJob) -> Result<Option<(PathBuf, Range<u32>)>, PartError> {
        let samples = job.settings.samples;
        let Some(path) = plan.film() else {
            return if self.sample_range.is_some() { Err(PartError::NoFilm) } else { Ok(None) };
        };
        if plan.total() != 1 {
            return Err(PartError::Frames);
        }
        if plan.files.any() {
            return Err(PartError::Video);
        }
        if job.noise().is_some() {
            return Err(PartError::Noise);
        }
        if job.denoising.is_some() || job.background.is_some() {
            return Err(PartError::Finished);
        }
        match self.sample_range {
            Some(range) if range.last > samples => Err(PartError::Beyond { range, samples }),
            Some(range) => Ok(Some((path.to_owned(), range.range()))),
            None => Ok(Some((path.to_owned(), 0..samples))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_from_one() {
        let range: SampleRange = "1-32".parse().unwrap();
        assert_eq!((range.range(), range.to_string()), (0..32, "1-32".into()));
        assert_eq!("7".parse::<SampleRange>().unwrap().range(), 6..7);
        for bad in ["", "0-3", "3-2", "1-", "-1", "a-b", "1-2-3", "1-99999999999"] {
            assert_eq!(bad.parse::<SampleRange>(), Err(PartError::Form), "{bad}");
        }
    }
}
