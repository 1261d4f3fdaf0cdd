//! Time codes of a stage as seconds of the scene.

use throng_scene::{Ease, Ends, Key, Track};
use throng_usd::{Sampled, Times};

/// Converts time codes. The first one of the stage's range is at 0 seconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: f64,
    per_second: f64,
}

impl Clock {
    pub fn new(times: &Times) -> Self {
        Self { start: times.range.map_or(0.0, |(first, _)| first), per_second: times.per_second }
    }

    /// The time in seconds.
    pub fn seconds(&self, code: f64) -> f64 {
        (code - self.start) / self.per_second
    }

    /// The track of a value that changes in steps; None if it stays.
    pub fn steps(&self, shown: &Sampled<bool>) -> Option<Track<bool>> {
        let Sampled::Moving(samples) = shown else { return None };
        let keys = samples.iter().map(|&(code, value)| Key { time: self.seconds(code), value, ease: Ease::Step });
        Some(Track { keys: keys.collect(), ends: Ends::Hold })
    }

    /// Keys of a number that changes; empty if it stays.
    pub fn keys<T>(&self, value: &Sampled<T>, of: impl Fn(&T) -> f32) -> Vec<(f64, f32)> {
        match value {
            Sampled::Still(_) => Vec::new(),
            Sampled::Moving(samples) => samples.iter().map(|(code, value)| (self.seconds(*code), of(value))).collect(),
        }
    }
}
