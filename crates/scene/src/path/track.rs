//! Values over time: keys, the interpolation between them, and the behaviour before the first key and after the last.

use glam::{Vec3, Vec4};
use std::ops::{Add, Mul, Sub};
use throng_base::choice::choice;

/// Types of values that can be interpolated: numbers and vectors.
pub trait Interpolate: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self> {}

impl Interpolate for f32 {}
impl Interpolate for Vec3 {}
impl Interpolate for Vec4 {}

/// Interpolation of a value from the previous key to this one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ease {
    /// The previous value until the key's time.
    Step,
    /// Linear interpolation.
    #[default]
    Linear,
    /// Slow start and end: 3t² - 2t³.
    Smooth,
    /// A Catmull-Rom spline through all keys.
    CatmullRom,
    /// A cubic Bézier curve from (0, 0) to (1, 1) with the control points (x₁, y₁) and (x₂, y₂), as in CSS Easing Functions Level 1; x₁ and
    /// x₂ are 0 to 1.
    Bezier([f32; 4]),
}

choice! {
    /// Behaviour of a track before its first key and after its last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Ends = Hold {
        /// Keeps the value of the first or the last key.
        Hold = "hold",
        /// Repeats from the start.
        Loop = "loop",
        /// Alternates forwards and backwards.
        PingPong = "ping_pong",
    }
}

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<T> {
    /// Time in seconds.
    pub time: f64,
    /// The value at this time.
    pub value: T,
    /// Interpolation from the previous key.
    pub ease: Ease,
}

/// Keys at increasing times, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Track<T> {
    /// Keys in order of time.
    pub keys: Vec<Key<T>>,
    /// Behaviour before the first key and after the last.
    pub ends: Ends,
}

/// Position of a time relative to the keys of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(hidden)]
pub enum Position {
    /// At this key; before the first key or after the last.
    At(usize),
    /// Between this key and the next, with the share of the time in between, without easing.
    Between(usize, f64),
}

impl<T> Track<T> {
    /// The position of `time`, in seconds.
    pub(crate) fn position(&self, time: f64) -> Position {
        let seconds = |i: usize| self.keys[i].time;
        let last = self.keys.len() - 1;
        let (start, length) = (seconds(0), seconds(last) - seconds(0));
        let time = match self.ends {
            Ends::Loop if length > 0.0 => start + (time - start).rem_euclid(length),
            Ends::PingPong if length > 0.0 => {
                let passed = (time - start).rem_euclid(2.0 * length);
                start + passed.min(2.0 * length - passed)
            }
            _ => time,
        };
        let next = self.keys.partition_point(|key| key.time <= time);
        match next.checked_sub(1) {
            None => Position::At(0),
            Some(key) if key == last => Position::At(last),
            Some(key) => {
                let share = (time - seconds(key)) / (seconds(next) - seconds(key));
                Position::Between(key, share)
            }
        }
    }
}

impl Track<bool> {
    /// The value of the last key at or before `time`, in seconds.
    pub fn at(&self, time: f64) -> bool {
        let (Position::At(key) | Position::Between(key, _)) = self.position(time);
        self.keys[key].value
    }
}

impl<T: Copy> Track<T> {
    /// A track of the values returned by `of`, with equal times and interpolation.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Track<U> {
        let keys = self.keys.iter().map(|key| Key { time: key.time, value: of(&key.value), ease: key.ease });
        Track { keys: keys.collect(), ends: self.ends }
    }
}

impl<T: Interpolate> Track<T> {
    /// The value at `time`, in seconds.
    pub fn at(&self, time: f64) -> T {
        let (key, share) = match self.position(time) {
            Position::At(key) => return self.keys[key].value,
            Position::Between(key, share) => (key, share),
        };
        let (from, to) = (&self.keys[key], &self.keys[key + 1]);
        match to.ease {
            Ease::CatmullRom => self.spline(key, share as f32),
            ease => from.value + (to.value - from.value) * ease.share(share) as f32,
        }
    }

    /// The cubic Hermite segment after `key` (see `catmull_rom`). The keys of a loop have neighbours beyond its ends.
    pub(crate) fn spline(&self, key: usize, share: f32) -> T {
        let keys = &self.keys;
        let last = keys.len() - 1;
        let (a, b) = (&keys[key], &keys[key + 1]);
        let mirrored = |end: &Key<T>, other: &Key<T>| (2.0 * end.time - other.time, end.value * 2.0 - other.value);
        let around = (self.ends == Ends::Loop).then(|| keys[last].time - keys[0].time);
        let before = match (key.checked_sub(1), around) {
            (Some(before), _) => (keys[before].time, keys[before].value),
            (None, Some(length)) => (keys[last - 1].time - length, keys[last - 1].value),
            (None, None) => mirrored(a, b),
        };
        let after = match (keys.get(key + 2), around) {
            (Some(after), _) => (after.time, after.value),
            (None, Some(length)) => (keys[1].time + length, keys[1].value),
            (None, None) => mirrored(b, a),
        };
        let length = b.time - a.time;
        let from = (b.value - before.1) * (length / (b.time - before.0)) as f32;
        let to = (after.1 - a.value) * (length / (after.0 - a.time)) as f32;
        let rise = b.value - a.value;
        a.value + (from + (rise * 3.0 - from * 2.0 - to + (from + to - rise * 2.0) * share) * share) * share
    }
}

impl Ease {
    /// Converts a share of the time between two keys to a share of the way between their values. Linear for splines, which are evaluated
    /// separately.
    pub(crate) fn share(self, share: f64) -> f64 {
        match self {
            Self::Step => 0.0,
            Self::Linear | Self::CatmullRom => share,
            Self::Smooth => share * share * (3.0 - 2.0 * share),
            Self::Bezier(_) if share <= 0.0 => 0.0,
            Self::Bezier([x1, y1, x2, y2]) => {
                let at = |a: f32, b: f32, s: f64| {
                    let (a, b, rest) = (f64::from(a), f64::from(b), 1.0 - s);
                    3.0 * rest * rest * s * a + 3.0 * rest * s * s * b + s * s * s
                };
                // x increases with the parameter, so bisection finds the parameter of a time.
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..30 {
                    let middle = 0.5 * (low + high);
                    *if at(x1, x2, middle) < share { &mut low } else { &mut high } = middle;
                }
                at(y1, y2, 0.5 * (low + high))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn track(keys: &[(f64, f32)], ease: Ease, ends: Ends) -> Track<f32> {
        Track { keys: keys.iter().map(|&(time, value)| Key { time, value, ease }).collect(), ends }
    }

    fn any_ease() -> impl Strategy<Value = Ease> {
        prop_oneof![
            Just(Ease::Linear),
            Just(Ease::Smooth),
            Just(Ease::CatmullRom),
            (0f32..1.0, -0.5f32..1.5, 0f32..1.0, -0.5f32..1.5).prop_map(|(a, b, c, d)| Ease::Bezier([a, b, c, d])),
        ]
    }

    fn any_ends() -> impl Strategy<Value = Ends> {
        prop_oneof![Just(Ends::Hold), Just(Ends::Loop), Just(Ends::PingPong)]
    }

    fn any_keys() -> impl Strategy<Value = Vec<(f64, f32)>> {
        prop::collection::vec((0.1f64..3.0, -5f32..5.0), 2..7).prop_map(|steps| {
            let mut time = -1.0;
            let key = |(step, value): (f64, f32)| {
                time += step;
                (time, value)
            };
            steps.into_iter().map(key).collect()
        })
    }

    proptest! {
        #[test]
        fn tracks_pass_through_their_keys_without_jumps(keys in any_keys(), ease in any_ease(), ends in any_ends()) {
            let track = track(&keys, ease, ends);
            let inner = if ends == Ends::Loop { &keys[..keys.len() - 1] } else { &keys[..] };
            for &(time, value) in inner {
                prop_assert!((track.at(time) - value).abs() < 1e-4);
                // At its end, a loop jumps to its start, unless both values are equal.
                if time > keys[0].0 || ends != Ends::Loop {
                    prop_assert!((track.at(time - 1e-6) - value).abs() < 0.05, "{} {}", track.at(time - 1e-6), value);
                }
            }
        }

        #[test]
        fn ends_hold_loop_and_turn_back(keys in any_keys(), ease in any_ease(), share in 0f64..1.0) {
            let (start, end) = (keys[0].0, keys[keys.len() - 1].0);
            let (length, time) = (end - start, start + share * (end - start));
            let near = |a: f32, b: f32| (a - b).abs() < 2e-3;
            let held = track(&keys, ease, Ends::Hold);
            prop_assert_eq!(held.at(start - share), keys[0].1);
            prop_assert_eq!(held.at(end + share), keys[keys.len() - 1].1);
            let looped = track(&keys, ease, Ends::Loop);
            prop_assert!(near(looped.at(time), looped.at(time + 3.0 * length)));
            let back = track(&keys, ease, Ends::PingPong);
            prop_assert!(near(back.at(time), back.at(2.0 * end - time)));
            prop_assert!(near(back.at(time), back.at(time - 2.0 * length)));
        }
    }

    #[test]
    fn easing_is_as_css_has_it() {
        // Values of Chromium's cubic-bezier(0.25, 0.1, 0.25, 1), which is `ease`.
        let ease = Ease::Bezier([0.25, 0.1, 0.25, 1.0]);
        for (share, expected) in [(0.0, 0.0), (0.25, 0.408_511), (0.5, 0.802_403), (0.75, 0.960_459), (1.0, 1.0)] {
            assert!((ease.share(share) - expected).abs() < 1e-5, "{share}: {}", ease.share(share));
        }
        assert!((Ease::Bezier([0.0, 0.0, 1.0, 1.0]).share(0.3) - 0.3).abs() < 1e-6);
    }

    #[test]
    fn steps_wait_for_their_key() {
        let track = track(&[(0.0, 1.0), (2.0, 5.0)], Ease::Step, Ends::Hold);
        assert_eq!([track.at(1.999), track.at(2.0)], [1.0, 5.0]);
    }

    #[test]
    fn a_looped_spline_is_smooth_where_it_closes() {
        let keys = [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, -1.0), (4.0, 0.0)];
        let track = track(&keys, Ease::CatmullRom, Ends::Loop);
        let slope = |time: f64| (track.at(time + 1e-3) - track.at(time)) / 1e-3;
        assert!((slope(4.0) - slope(3.998)).abs() < 0.02);
        assert!((slope(0.0) - 1.0).abs() < 0.02, "{}", slope(0.0));
    }
}
