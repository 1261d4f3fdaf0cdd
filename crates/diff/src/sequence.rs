//! Difference of two frame sequences: per frame, and in their changes from one frame to the next (flicker).

use super::{DifferenceStats, LinearImage, SizeError, compare};
use glam::Vec3;

/// Number of histogram bins used for the percentile.
const STEPS: usize = 1 << 16;

/// Sums over the frames of two sequences. Frames are added in order.
pub struct SequenceDifference {
    pixels_per_degree: f32,
    frames: u32,
    mean: f64,
    differing: f64,
    broken: usize,
    not_finite: [usize; 2],
    /// Histogram of the pixels' differences.
    counts: Vec<u64>,
    /// Sum of [`SequenceStats::flicker`] over pairs of consecutive frames, and the number of these pairs.
    flicker: f64,
    pairs: u32,
    last: Option<(u32, Shown, Shown)>,
}

/// Statistics over the frames that both sequences have.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SequenceStats {
    pub frames: u32,
    /// Mean ꟻLIP.
    pub mean: f64,
    /// The 99th percentile over all pixels of all frames.
    pub p99: f64,
    /// Mean absolute difference between the two sequences' changes from one frame to the next, over pixels and colours, in sRGB values from
    /// 0 to 1. None if no two frames are consecutive.
    pub flicker: Option<f64>,
    /// Number of pairs of consecutive frames.
    pub pairs: u32,
    /// Share of pixels that are not bitwise equal, from 0 to 1.
    pub differing: f64,
    /// See [`DifferenceStats`]; summed over all frames.
    pub broken: usize,
    pub not_finite: [usize; 2],
}

impl SequenceDifference {
    pub fn new(pixels_per_degree: f32) -> Self {
        let counts = vec![0; STEPS + 1];
        Self {
            pixels_per_degree,
            frames: 0,
            mean: 0.0,
            differing: 0.0,
            broken: 0,
            not_finite: [0; 2],
            counts,
            flicker: 0.0,
            pairs: 0,
            last: None,
        }
    }

    /// Adds frame `frame` of the reference `a` and of the compared sequence `b`, and returns the difference of the two pictures.
    ///
    /// # Errors
    /// If the two pictures differ in size, or if the size changed since the previous frame.
    pub fn add(&mut self, frame: u32, a: &LinearImage, b: &LinearImage) -> Result<DifferenceStats, SizeError> {
        let found = compare(a, b, self.pixels_per_degree)?;
        self.frames += 1;
        self.mean += found.stats.mean;
        self.differing += found.stats.differing;
        self.broken += found.stats.broken;
        for (all, own) in self.not_finite.iter_mut().zip(found.stats.not_finite) {
            *all += own;
        }
        for value in &found.values {
            let step = (value.clamp(0.0, 1.0) * STEPS as f32) as usize;
            self.counts[step.min(STEPS)] += 1;
        }
        let (a, b) = (Shown::of(a), Shown::of(b));
        let follows = |(last, ..): &(u32, Shown, Shown)| last.checked_add(1) == Some(frame);
        if let Some((_, before_a, before_b)) = self.last.as_ref().filter(|last| follows(last)) {
            self.flicker += changes(before_a, &a, before_b, &b)?;
            self.pairs += 1;
        }
        self.last = Some((frame, a, b));
        Ok(found.stats)
    }

    pub fn stats(&self) -> SequenceStats {
        let frames = f64::from(self.frames.max(1));
        SequenceStats {
            frames: self.frames,
            mean: self.mean / frames,
            p99: self.percentile(0.99),
            flicker: (self.pairs > 0).then(|| self.flicker / f64::from(self.pairs)),
            pairs: self.pairs,
            differing: self.differing / frames,
            broken: self.broken,
            not_finite: self.not_finite,
        }
    }

    fn percentile(&self, share: f64) -> f64 {
        let total: u64 = self.counts.iter().sum();
        let wanted = (share * total as f64).ceil() as u64;
        let mut so_far = 0;
        let step = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        });
        step.unwrap_or_default() as f64 / STEPS as f64
    }
}

/// A picture in sRGB values from 0 to 1, as a screen shows it.
struct Shown {
    size: (usize, usize),
    pixels: Vec<Vec3>,
}

impl Shown {
    fn of(image: &LinearImage) -> Self {
        let encode = |v: f32| match v.clamp(0.0, 1.0) {
            v if v <= 0.003_130_8 => 12.92 * v,
            v => 1.055 * v.powf(1.0 / 2.4) - 0.055,
        };
        let pixels = image.pixels.iter().map(|pixel| Vec3::from_array(pixel.to_array().map(encode))).collect();
        Self { size: image.size(), pixels }
    }
}

/// Mean absolute difference between the changes `a_next - a` and `b_next - b`.
fn changes(a: &Shown, a_next: &Shown, b: &Shown, b_next: &Shown) -> Result<f64, SizeError> {
    if a.size != a_next.size {
        return Err(SizeError { a: a.size, b: a_next.size });
    }
    let first = a_next.pixels.iter().zip(&a.pixels).map(|(next, now)| *next - *now);
    let second = b_next.pixels.iter().zip(&b.pixels).map(|(next, now)| *next - *now);
    let sum: f64 = first.zip(second).map(|(a, b)| f64::from((a - b).abs().element_sum())).sum();
    Ok(sum / (3 * a.pixels.len().max(1)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PIXELS_PER_DEGREE;

    /// A uniform grey picture. `value` is in sRGB.
    fn grey(value: f32, width: usize) -> LinearImage {
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        LinearImage { width, pixels: vec![Vec3::splat(linear); width * 8], ..LinearImage::default() }
    }

    fn sequence(frames: &[(u32, f32, f32)]) -> SequenceStats {
        let mut sequence = SequenceDifference::new(PIXELS_PER_DEGREE);
        for &(frame, a, b) in frames {
            sequence.add(frame, &grey(a, 8), &grey(b, 8)).unwrap();
        }
        sequence.stats()
    }

    #[test]
    fn what_is_off_alike_in_all_frames_does_not_flicker() {
        let steady = sequence(&[(1, 0.2, 0.3), (2, 0.4, 0.5), (3, 0.6, 0.7)]);
        assert!(steady.flicker.unwrap() < 1e-5 && steady.mean > 0.01, "{steady:?}");
        assert_eq!((steady.frames, steady.pairs, steady.differing), (3, 2, 1.0));
        let flickering = sequence(&[(1, 0.5, 0.6), (2, 0.5, 0.4), (3, 0.5, 0.6)]);
        assert!((flickering.flicker.unwrap() - 0.2).abs() < 1e-5, "{flickering:?}");
    }

    #[test]
    fn frames_that_do_not_follow_each_other_are_no_pair() {
        assert_eq!(sequence(&[(1, 0.5, 0.6), (3, 0.5, 0.4)]).flicker, None);
        assert_eq!(sequence(&[(1, 0.5, 0.6), (3, 0.5, 0.4), (4, 0.5, 0.4)]).pairs, 1);
    }

    #[test]
    fn the_percentile_is_that_of_all_pixels() {
        let one = sequence(&[(1, 0.0, 0.0); 1]);
        assert_eq!((one.mean, one.p99), (0.0, 0.0));
        let frames: Vec<_> = (0..100).map(|frame| (frame, 0.0, if frame < 2 { 1.0 } else { 0.0 })).collect();
        let found = sequence(&frames);
        assert!(found.p99 > 0.9 && found.mean < 0.03, "{found:?}");
    }

    #[test]
    fn all_frames_have_one_size() {
        let mut sequence = SequenceDifference::new(PIXELS_PER_DEGREE);
        sequence.add(1, &grey(0.5, 8), &grey(0.5, 8)).unwrap();
        assert!(sequence.add(2, &grey(0.5, 9), &grey(0.5, 9)).is_err());
        assert!(sequence.add(3, &grey(0.5, 8), &grey(0.5, 9)).is_err());
    }
}
