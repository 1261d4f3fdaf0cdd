//! Estimated remaining time of a run.

use std::time::Duration;

/// Minimum elapsed time and minimum finished share for an estimate.
const LEAST_TIME: Duration = Duration::from_secs(1);
const LEAST_SHARE: f64 = 0.005;
/// Weight of a new estimate against earlier ones.
const WEIGHT: f64 = 0.15;

/// A smoothed estimate of the remaining time.
#[derive(Debug, Default)]
pub struct Remaining {
    /// Estimated duration of all of the work, in seconds.
    whole: Option<f64>,
}

impl Remaining {
    /// The remaining time as text, after `share` of the work (0 to 1) took `elapsed`. Never zero.
    pub fn after(&mut self, elapsed: Duration, share: f64) -> String {
        if elapsed < LEAST_TIME || share.is_nan() || share < LEAST_SHARE {
            return "estimating".into();
        }
        let elapsed = elapsed.as_secs_f64();
        let whole = elapsed / share.min(1.0);
        let whole = self.whole.map_or(whole, |before| before + WEIGHT * (whole - before));
        self.whole = Some(whole);
        format!("{} left", rounded(whole - elapsed))
    }
}

/// A duration as rounded text, at least one second.
pub fn rounded(seconds: f64) -> String {
    let seconds = seconds.max(1.0).round() as u64;
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3599 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn nothing_is_told_before_something_is_known() {
        let mut remaining = Remaining::default();
        assert_eq!(remaining.after(Duration::from_millis(20), 0.5), "estimating");
        assert_eq!(remaining.after(seconds(9), 0.001), "estimating");
        assert_eq!(remaining.after(seconds(9), f64::NAN), "estimating");
        assert_eq!(remaining.after(seconds(9), 0.1), "2 min left");
    }

    #[test]
    fn estimates_follow_slowly_and_never_end_before_the_work() {
        let mut remaining = Remaining::default();
        assert_eq!(remaining.after(seconds(10), 0.25), "30 s left");
        // Half the speed from here on: 80 s in all.
        assert_eq!(remaining.after(seconds(20), 0.25), "26 s left");
        for _ in 0..50 {
            remaining.after(seconds(20), 0.25);
        }
        assert_eq!(remaining.after(seconds(20), 0.25), "1 min left");
        assert_eq!(Remaining::default().after(seconds(100), 1.0), "1 s left");
        let mut late = Remaining { whole: Some(10.0) };
        assert_eq!(late.after(seconds(100), 0.99), "1 s left");
    }

    #[test]
    fn long_times_are_rounded_up() {
        assert_eq!([0.2, 59.4, 61.0, 3599.0, 7325.0].map(rounded), ["1 s", "59 s", "2 min", "60 min", "2 h 3 min"]);
    }
}
