//! `throng diff --sequence`: perceived differences between two sequences, given as patterns of file names.

use super::command::told_not_finite;
use crate::cli::console::plural;
use anyhow::Context;
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};
use throng_base::files::serialize_lossy;
use throng_diff::{self as diff, SequenceDifference, SequenceStats};
use throng_output::FrameFiles;

/// The compared frames of two sequences, and their differences.
#[derive(serde::Serialize)]
pub struct SequenceReport<'a> {
    #[serde(serialize_with = "serialize_lossy")]
    a: &'a Path,
    #[serde(serialize_with = "serialize_lossy")]
    b: &'a Path,
    width: usize,
    height: usize,
    #[serde(flatten)]
    pub stats: SequenceStats,
    /// Frames that exist only in sequence A.
    only_a: Vec<u32>,
    only_b: Vec<u32>,
}

/// Compares the frames that exist in both sequences, in order.
///
/// # Errors
/// If a folder or picture cannot be read, sizes differ, or no frame exists in both sequences.
pub fn compare<'a>(a: &'a Path, b: &'a Path, pixels_per_degree: f32) -> anyhow::Result<SequenceReport<'a>> {
    let (first, second) = (frames(a)?, frames(b)?);
    let mut difference = SequenceDifference::new(pixels_per_degree);
    let mut size = (0, 0);
    for (&frame, path) in &first {
        let Some(other) = second.get(&frame) else { continue };
        let (picture, compared) = (diff::read(path)?, diff::read(other)?);
        size = picture.size();
        difference.add(frame, &picture, &compared).with_context(|| format!("frame {frame}"))?;
    }
    let stats = difference.stats();
    anyhow::ensure!(
        stats.frames > 0,
        "no frame is in both {} and {}; number their files alike",
        a.display(),
        b.display()
    );
    let only = |these: &BTreeMap<u32, PathBuf>, others: &BTreeMap<u32, PathBuf>| {
        these.keys().copied().filter(|frame| !others.contains_key(frame)).collect()
    };
    let (width, height) = size;
    Ok(SequenceReport { a, b, width, height, stats, only_a: only(&first, &second), only_b: only(&second, &first) })
}

fn frames(name: &Path) -> anyhow::Result<BTreeMap<u32, PathBuf>> {
    FrameFiles::parse(name)?.list().with_context(|| format!("{}", name.display()))
}

impl SequenceReport<'_> {
    /// Whether both sequences have equal frame numbers.
    pub fn has_same_frames(&self) -> bool {
        self.only_a.is_empty() && self.only_b.is_empty()
    }

    /// A line of numbers, and a line for each sequence with frames that the other one lacks.
    pub fn text(&self) -> String {
        let stats = &self.stats;
        let mut text = format!(
            "{}: FLIP: mean {:.6}, 99th percentile {:.6}; ",
            plural(stats.frames as usize, "frame"),
            stats.mean,
            stats.p99
        );
        match stats.flicker {
            Some(flicker) => {
                let _ = write!(text, "flicker {flicker:.6} over {} of frames", plural(stats.pairs as usize, "pair"));
            }
            None => text += "no consecutive frames, so flicker is not measured",
        }
        text += &told_not_finite([self.a, self.b], stats.not_finite);
        for (sequence, only) in [(self.a, &self.only_a), (self.b, &self.only_b)] {
            if !only.is_empty() {
                let _ = write!(text, "\nonly in {}: {}", sequence.display(), ranges(only));
            }
        }
        text
    }
}

/// Sorted numbers as a list of ranges: `1-3, 7`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
    }
}
