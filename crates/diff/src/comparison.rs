//! Differences between two pictures, and their statistics.

use crate::{LinearImage, exposure, flip};
use glam::Vec3;

/// Pixels per degree of visual angle in the paper's setup: a screen 0.7 m wide with 3840 pixels, seen from 0.7 m.
pub const PIXELS_PER_DEGREE: f32 = 67.02;

/// The result of a comparison. Pixel differences range from 0 (invisible) to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub width: usize,
    pub height: usize,
    /// Difference of each pixel, row by row from the top.
    pub values: Vec<f32>,
    pub stats: DifferenceStats,
}

/// Statistics over all pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct DifferenceStats {
    pub mean: f64,
    /// The 99th percentile.
    pub p99: f64,
    pub max: f64,
    /// Root mean square difference of the linear colours.
    pub rmse: f64,
    /// Share of pixels that are not bitwise equal, from 0 to 1.
    pub differing: f64,
    /// Number of pixels with a channel that is NaN or infinite in one picture but not equal in the other. Their difference is 1.
    pub broken: usize,
    /// Number of pixels with a NaN or an infinity, in each picture.
    pub not_finite: [usize; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}x{} pixels cannot be compared with {}x{}; render both with the same --size", .a.0, .a.1, .b.0, .b.1)]
pub struct SizeError {
    pub(crate) a: (usize, usize),
    pub(crate) b: (usize, usize),
}

/// Compares `b` with the reference `a`. If either picture is unbounded, a pixel's difference is the maximum over several exposures, which
/// are chosen from `a`. Large pictures take several seconds.
///
/// # Errors
/// If the sizes differ.
pub fn compare(a: &LinearImage, b: &LinearImage, pixels_per_degree: f32) -> Result<Difference, SizeError> {
    if a.size() != b.size() {
        return Err(SizeError { a: a.size(), b: b.size() });
    }
    let (width, height) = a.size();
    let mut values = if a.unbounded || b.unbounded {
        over_exposures(a, b, pixels_per_degree)
    } else {
        flip::differences(a, b, pixels_per_degree)
    };
    for (value, (a, b)) in values.iter_mut().zip(a.exact().zip(b.exact())) {
        if is_broken(a, b) {
            *value = 1.0;
        }
    }
    let stats = stats(&values, a, b);
    Ok(Difference { width, height, values, stats })
}

fn over_exposures(a: &LinearImage, b: &LinearImage, pixels_per_degree: f32) -> Vec<f32> {
    let mut greatest = vec![0f32; a.pixels.len()];
    for stops in exposure::exposures(a) {
        let values = flip::differences(&exposure::expose(a, stops), &exposure::expose(b, stops), pixels_per_degree);
        greatest.iter_mut().zip(values).for_each(|(greatest, value)| *greatest = greatest.max(value));
    }
    greatest
}

/// Whether a channel is not finite in either colour and differs between them.
fn is_broken(a: Vec3, b: Vec3) -> bool {
    (0..3).any(|c| (!a[c].is_finite() || !b[c].is_finite()) && !is_same(a[c], b[c]))
}

/// Equality in which NaN equals NaN.
fn is_same(a: f32, b: f32) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn stats(values: &[f32], a: &LinearImage, b: &LinearImage) -> DifferenceStats {
    let count = values.len().max(1) as f64;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = (0.99 * count).ceil() as usize;
    let of = |index: usize| f64::from(sorted.get(index).copied().unwrap_or_default());
    let pairs = || a.pixels.iter().zip(&b.pixels);
    let square = |(a, b): (&Vec3, &Vec3)| (*a - *b).as_dvec3().length_squared();
    let exact = || a.exact().zip(b.exact());
    let differs = |(a, b): &(Vec3, Vec3)| (0..3).any(|c| !is_same(a[c], b[c]));
    DifferenceStats {
        mean: values.iter().copied().map(f64::from).sum::<f64>() / count,
        p99: of(at.saturating_sub(1)),
        max: of(sorted.len().saturating_sub(1)),
        rmse: (pairs().map(square).sum::<f64>() / (3.0 * count)).sqrt(),
        differing: exact().filter(differs).count() as f64 / count,
        broken: exact().filter(|&(a, b)| is_broken(a, b)).count(),
        not_finite: [a, b].map(LinearImage::not_finite),
    }
}
