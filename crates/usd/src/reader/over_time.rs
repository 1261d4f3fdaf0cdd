//! Values that several attributes give together, over time.

use super::values::{FromUsd, Values, compact};
use crate::Sampled;
use openusd::usd::Prim;

/// The value that `read` makes of attributes with these names, at the first time (`None`), or at all times at which one of them has a
/// sample.
pub fn over_time<T: PartialEq>(
    values: &Values,
    prim: &Prim,
    names: &[&str],
    read: impl Fn(Option<f64>) -> T,
) -> Sampled<T> {
    let mut times: Vec<f64> = names.iter().flat_map(|name| values.sample_times(prim, name)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let samples = times.into_iter().map(|time| (time, read(Some(time)))).collect::<Vec<_>>();
    if samples.len() < 2 {
        return Sampled::Still(read(None));
    }
    compact(samples).unwrap_or_else(|| Sampled::Still(read(None)))
}

/// A value at a time, or at the first time, with a fallback.
pub fn at<T: FromUsd>(values: &Values, prim: &Prim, name: &str, time: Option<f64>, fallback: T) -> T {
    let value = match time {
        Some(time) => values.get_at(prim, name, time),
        None => values.get(prim, name),
    };
    value.unwrap_or(fallback)
}
