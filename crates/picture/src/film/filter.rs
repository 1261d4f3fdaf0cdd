//! Pixel filters in the form in which kernels sample them.

use std::{f64::consts::TAU, sync::LazyLock};
use throng_abi::{self as abi, FILTER_STEPS};
use throng_scene::PixelFilter;

/// Samples per pixel below which the negative lobes of Mitchell's filter are dropped; otherwise they would dominate some pixels.
const SIGNED_SAMPLES: u32 = 16;
/// Position at which Mitchell's filter changes sign, relative to its radius.
const MITCHELL_LOBE: f64 = 4.0 / 7.0;
/// Steps of numerical integration per interval of a table.
const FINE: usize = 64;

/// A pixel filter with its parameters for the kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledFilter {
    /// One of `abi::FILTER_*`.
    pub kind: u32,
    /// See `abi::Params::filter_scale`.
    pub scale: f32,
    /// Whether some samples have negative weights.
    pub signed: bool,
    /// Index in [`FILTER_TABLES`] at which the filter's table starts.
    pub table: usize,
}

impl SampledFilter {
    /// The filter for a picture with `samples` per pixel; none for an open-ended picture. `width` is the full width in pixels and replaces
    /// the filter's default; none keeps the default.
    pub fn new(filter: PixelFilter, width: Option<f32>, samples: Option<u32>) -> Self {
        let few = samples.is_some_and(|samples| samples < SIGNED_SAMPLES);
        let relative = width.map_or(1.0, |width| width / filter.width());
        let reach = 0.5 * relative * filter.width();
        let of = |kind, scale| Self { kind, scale, signed: false, table: 0 };
        let tabled = |table: usize| Self { table: table * (FILTER_STEPS as usize + 1), ..of(abi::FILTER_TABLE, reach) };
        match filter {
            PixelFilter::Box => of(abi::FILTER_BOX, reach),
            PixelFilter::Tent => of(abi::FILTER_TENT, reach),
            PixelFilter::Gaussian => of(abi::FILTER_GAUSSIAN, relative),
            PixelFilter::Shared => of(abi::FILTER_SHARED, 1.0),
            PixelFilter::BlackmanHarris => tabled(0),
            PixelFilter::Mitchell if few => tabled(2),
            PixelFilter::Mitchell => Self { signed: true, ..tabled(1) },
        }
    }
}

/// Concatenated tables of [`FILTER_STEPS`] + 1 positions each: Blackman-Harris, Mitchell, and Mitchell without its negative lobes.
pub static FILTER_TABLES: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let without_lobes = |x: f64| if x.abs() < MITCHELL_LOBE { mitchell(x) } else { 0.0 };
    let tables = [places(blackman_harris), places(mitchell), places(without_lobes)];
    tables.concat()
});

/// The Blackman-Harris window over [-1, 1].
fn blackman_harris(x: f64) -> f64 {
    let v = 0.5 * TAU * (x + 1.0);
    0.35875 - 0.48829 * v.cos() + 0.14128 * (2.0 * v).cos() - 0.01168 * (3.0 * v).cos()
}

/// Mitchell's filter over [-1, 1] (Mitchell and Netravali 1988, "Reconstruction Filters in Computer Graphics", B = C = 1/3).
fn mitchell(x: f64) -> f64 {
    let x = 2.0 * x.abs();
    if x < 1.0 {
        (7.0 * x.powi(3) - 12.0 * x.powi(2) + 16.0 / 3.0) / 6.0
    } else {
        (-7.0 / 3.0 * x.powi(3) + 12.0 * x.powi(2) - 20.0 * x + 32.0 / 3.0) / 6.0
    }
}

/// Positions from -1 to 1 that divide the area under `|filter|` into equal parts.
fn places(filter: impl Fn(f64) -> f64) -> Vec<f32> {
    let steps = FILTER_STEPS as usize;
    let count = FINE * steps;
    let at = |i: usize| -1.0 + 2.0 * i as f64 / count as f64;
    let mut sums = vec![0.0];
    for i in 0..count {
        let middle = 0.5 * (at(i) + at(i + 1));
        sums.push(sums[i] + filter(middle).abs());
    }
    let total = sums[count];
    let place = |step: usize| {
        let wanted = total * step as f64 / steps as f64;
        // Where the filter is zero over a range, the position closer to the centre is used.
        let is_before = |&sum: &f64| sum < wanted || (sum == wanted && 2 * step < steps);
        let after = sums.partition_point(is_before).clamp(1, count);
        let (low, high) = (sums[after - 1], sums[after]);
        let share = (wanted - low) / (high - low).max(f64::MIN_POSITIVE);
        (at(after - 1) + share * (at(after) - at(after - 1))) as f32
    };
    (0..=steps).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(index: usize) -> &'static [f32] {
        let size = FILTER_STEPS as usize + 1;
        &FILTER_TABLES[index * size..(index + 1) * size]
    }

    #[test]
    fn tables_are_the_filters_inverse_distributions() {
        for (index, filter) in [blackman_harris as fn(f64) -> f64, mitchell].into_iter().enumerate() {
            let table = table(index);
            let volume: f64 = (0..100_000).map(|i| filter(-1.0 + 2e-5 * (i as f64 + 0.5)).abs() * 2e-5).sum();
            for step in 100..900 {
                let (a, b) = (f64::from(table[step]), f64::from(table[step + 1]));
                let density = 1.0 / f64::from(FILTER_STEPS) / (b - a);
                let expected = filter(0.5 * (a + b)).abs() / volume;
                assert!((density / expected - 1.0).abs() < 0.02, "{index} {step}: {density} {expected}");
            }
        }
    }

    #[test]
    fn tables_are_symmetric_and_rise() {
        for index in 0..3 {
            let table = table(index);
            assert!(table.is_sorted());
            let mirrored = table.iter().zip(table.iter().rev());
            assert!(mirrored.into_iter().all(|(a, b)| (a + b).abs() < 1e-4));
        }
        let ends = |index: usize| f64::from(table(index)[FILTER_STEPS as usize]);
        assert!((ends(1) - 1.0).abs() < 1e-3);
        assert!((ends(2) - MITCHELL_LOBE).abs() < 1e-3);
    }

    #[test]
    fn few_samples_have_no_negative_ones() {
        let filter = |samples| SampledFilter::new(PixelFilter::Mitchell, None, samples);
        assert!(!filter(Some(15)).signed && filter(Some(16)).signed);
        // An open-ended picture may get many more samples than it has now.
        assert!(filter(None).signed);
        assert_eq!(filter(Some(16)).scale, 2.0);
        let narrow = SampledFilter::new(PixelFilter::Gaussian, Some(1.5), Some(4));
        assert_eq!(narrow.scale, 0.5);
    }
}
