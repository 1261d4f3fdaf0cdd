//! The median and the spread of repeated measurements.

/// Statistics of one or more measurements, in the unit of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// Median absolute deviation from the median. Unlike `min` and `max`, it is robust against a single disturbed measurement.
    pub mad: f64,
}

impl Spread {
    /// Computes the statistics of `samples`, in any order.
    ///
    /// # Panics
    /// If `samples` is empty.
    pub fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let (min, max) = (samples[0], samples[samples.len() - 1]);
        let middle = median(&samples);
        for sample in &mut samples {
            *sample = (*sample - middle).abs();
        }
        samples.sort_by(f64::total_cmp);
        Self { median: middle, min, max, mad: median(&samples) }
    }
}

/// The median of a sorted, non-empty list.
pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_moves_neither_the_median_nor_the_deviation() {
        let spread = Spread::of(vec![5.0, 1.0, 3.0, 900.0, 4.0]);
        let expected = Spread { median: 4.0, min: 1.0, max: 900.0, mad: 1.0 };
        assert_eq!(spread, expected);
        assert_eq!(Spread::of(vec![2.0, 4.0]).median, 3.0);
    }
}
