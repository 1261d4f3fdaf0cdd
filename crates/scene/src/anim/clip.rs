//! Clips of a rig: values of channels at a time, and the clip's time at a time of the scene.

use crate::rig::{Channel, Interpolation, Playback, Property};
use glam::{Quat, Vec4};

impl Playback {
    /// Time in [0, duration] of a clip with `duration` seconds, when the scene's time is `time` seconds.
    pub fn clip_time(&self, duration: f32, time: f64) -> f64 {
        let end = f64::from(duration);
        let position = self.offset + self.speed * time;
        let inside = if !self.looped {
            position.clamp(0.0, end)
        } else if end > 0.0 {
            position.rem_euclid(end)
        } else {
            0.0
        };
        // NaN becomes 0, so that poses have no NaN.
        inside.max(0.0)
    }
}

/// Maximum number of values per key, except for lists of weights.
const PARTS: usize = 4;

/// Writes the value of `channel` at `time`, in seconds of its clip, to `out`, whose length must be that of the property: 3, 4, or the
/// number of weights. Times before the first and after the last key get the value of that key. Returns false, without writing, if the
/// channel has another number of values per key.
pub fn sample(channel: &Channel, time: f64, out: &mut [f32]) -> bool {
    let keys = Keys { interpolation: channel.interpolation, times: &channel.times, values: &channel.values };
    let rotation = channel.property == Property::Rotation && out.len() == PARTS;
    if rotation && keys.interpolation == Interpolation::Linear {
        let Some(between) = keys.around(time, PARTS) else {
            return false;
        };
        let quat = |q: &[f32]| Quat::from_vec4(Vec4::from_slice(q));
        let (from, to) = (quat(between.from), quat(between.to));
        out.copy_from_slice(&slerp(from, to, between.share).to_array());
        return true;
    }
    let fits = interpolate(keys, time, out);
    if fits && rotation && keys.interpolation == Interpolation::CubicSpline {
        normalize(out);
    }
    fits
}

/// The keys of a channel or a track.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub interpolation: Interpolation,
    pub times: &'a [f32],
    pub values: &'a [f32],
}

/// A pair of keys around a time.
struct Between<'a> {
    from: &'a [f32],
    to: &'a [f32],
    /// Position between the keys, from 0 (first) to 1 (second).
    share: f32,
    /// Seconds from the first key to the second.
    seconds: f32,
}

impl<'a> Keys<'a> {
    /// The keys around `time`. None if the keys do not have `width` values each.
    fn around(&self, time: f64, width: usize) -> Option<Between<'a>> {
        if self.times.is_empty() || self.values.len() != width * self.times.len() {
            return None;
        }
        let (key, next, share) = surrounding_keys(self.times, time);
        let block = |key: usize| &self.values[key * width..][..width];
        Some(Between { from: block(key), to: block(next), share, seconds: self.times[next] - self.times[key] })
    }
}

/// Like [`sample`], but interpolates each number independently.
pub fn interpolate(keys: Keys, time: f64, out: &mut [f32]) -> bool {
    let width = match keys.interpolation {
        Interpolation::CubicSpline => 3 * out.len(),
        _ => out.len(),
    };
    let Some(between) = keys.around(time, width) else {
        return false;
    };
    let Between { from, to, .. } = between;
    match keys.interpolation {
        Interpolation::Step => out.copy_from_slice(from),
        Interpolation::Linear => {
            for (out, (from, to)) in out.iter_mut().zip(from.iter().zip(to)) {
                *out = from + (to - from) * between.share;
            }
        }
        Interpolation::CubicSpline => hermite(from, to, between.share, between.seconds, out),
    }
    true
}

/// Indices of the keys before and after `time`, and its position between them, from 0 to 1. Before the first and after the last key, both
/// indices are equal.
fn surrounding_keys(times: &[f32], time: f64) -> (usize, usize, f32) {
    let after = times.partition_point(|&key| f64::from(key) <= time);
    if after == 0 || after == times.len() {
        let nearest = after.saturating_sub(1);
        return (nearest, nearest, 0.0);
    }
    let (from, to) = (f64::from(times[after - 1]), f64::from(times[after]));
    (after - 1, after, ((time - from) / (to - from)) as f32)
}

/// Spherical interpolation along the shorter arc (glTF 2.0, appendix C.4). The angle is computed by an arc tangent, which is also exact for
/// small angles.
fn slerp(from: Quat, to: Quat, share: f32) -> Quat {
    let (a, mut b) = (Vec4::from(from), Vec4::from(to));
    if a.dot(b) < 0.0 {
        b = -b;
    }
    let angle = 2.0 * (b - a).length().atan2((b + a).length());
    let sine = angle.sin();
    let mixed = if sine > 1e-6 {
        (((1.0 - share) * angle).sin() * a + (share * angle).sin() * b) / sine
    } else {
        a.lerp(b, share)
    };
    Quat::from_vec4(mixed.normalize_or(a))
}

/// Cubic spline interpolation. Each key has an in-tangent, a value and an out-tangent (glTF 2.0, appendix C.5).
fn hermite(from: &[f32], to: &[f32], t: f32, seconds: f32, out: &mut [f32]) {
    let count = out.len();
    let (t2, t3) = (t * t, t * t * t);
    let value_from = 2.0 * t3 - 3.0 * t2 + 1.0;
    let tangent_from = seconds * (t3 - 2.0 * t2 + t);
    let value_to = 3.0 * t2 - 2.0 * t3;
    let tangent_to = seconds * (t3 - t2);
    for (i, out) in out.iter_mut().enumerate() {
        *out = value_from * from[count + i]
            + tangent_from * from[2 * count + i]
            + value_to * to[count + i]
            + tangent_to * to[i];
    }
}

/// Scales a quaternion to unit length. A quaternion of length 0 becomes the identity.
fn normalize(quaternion: &mut [f32]) {
    if let Ok(parts) = <[f32; PARTS]>::try_from(&*quaternion) {
        let unit = Vec4::from(parts).normalize_or(Vec4::W);
        quaternion.copy_from_slice(&unit.to_array());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec4};
    use proptest::prelude::*;
    use throng_base::math::hash_unit;

    const TIMES: [f32; 4] = [0.5, 0.75, 2.0, 2.25];

    fn channel(property: Property, interpolation: Interpolation, per_key: usize) -> Channel {
        let random = |i: usize| 2.0 * hash_unit(per_key as u32, i as u32) - 1.0;
        let mut values: Vec<f32> = (0..per_key * TIMES.len()).map(random).collect();
        if property == Property::Rotation {
            let [before, value, after] = match interpolation {
                Interpolation::CubicSpline => [4, 4, 4],
                _ => [0, 4, 0],
            };
            for key in values.chunks_mut(before + value + after) {
                normalize(&mut key[before..before + value]);
            }
        }
        Channel { node: 0, property, interpolation, times: TIMES.to_vec(), values }
    }

    /// The key before `time`, the position between it and the next key, and the seconds between them, found by a linear search.
    fn segment(time: f64) -> (usize, f64, f64) {
        let key = (0..3).rev().find(|&k| time >= f64::from(TIMES[k]));
        let key = key.unwrap_or(0);
        let (from, to) = (f64::from(TIMES[key]), f64::from(TIMES[key + 1]));
        (key, ((time - from) / (to - from)).clamp(0.0, 1.0), to - from)
    }

    fn value(channel: &Channel, index: usize) -> f64 {
        f64::from(channel.values[index])
    }

    /// The value of a channel, as literally specified in glTF 2.0, appendix C.
    fn reference(channel: &Channel, time: f64, count: usize) -> Vec<f64> {
        let (key, t, seconds) = segment(time);
        let one = |i: usize| match channel.interpolation {
            Interpolation::Step if t >= 1.0 => value(channel, (key + 1) * count + i),
            Interpolation::Step => value(channel, key * count + i),
            Interpolation::Linear => {
                let (a, b) = (key * count + i, (key + 1) * count + i);
                (1.0 - t) * value(channel, a) + t * value(channel, b)
            }
            Interpolation::CubicSpline => {
                let at = |key: usize, part: usize| value(channel, (3 * key + part) * count + i);
                (2.0 * t.powi(3) - 3.0 * t.powi(2) + 1.0) * at(key, 1)
                    + seconds * (t.powi(3) - 2.0 * t.powi(2) + t) * at(key, 2)
                    + (-2.0 * t.powi(3) + 3.0 * t.powi(2)) * at(key + 1, 1)
                    + seconds * (t.powi(3) - t.powi(2)) * at(key + 1, 0)
            }
        };
        (0..count).map(one).collect()
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn numbers_are_interpolated_as_the_specification_says(
            time in 0.0f64..3.0,
            count in 1usize..6,
            interpolation in prop::sample::select(vec![
                Interpolation::Step,
                Interpolation::Linear,
                Interpolation::CubicSpline,
            ]),
        ) {
            let parts = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
            let channel = channel(Property::Weights, interpolation, parts * count);
            let mut out = vec![0.0; count];
            prop_assert!(sample(&channel, time, &mut out));
            for (out, expected) in out.iter().zip(reference(&channel, time, count)) {
                prop_assert!((f64::from(*out) - expected).abs() < 2e-6, "{out} {expected}");
            }
        }

        #[test]
        fn rotations_take_the_shorter_arc_at_a_steady_pace(time in 0.0f64..3.0) {
            let channel = channel(Property::Rotation, Interpolation::Linear, 4);
            let mut out = [0.0; 4];
            sample(&channel, time, &mut out);
            let (key, t, _) = segment(time);
            let quat = |k: usize| {
                DVec4::from_array(std::array::from_fn(|i| value(&channel, 4 * k + i)))
            };
            let (a, mut b) = (quat(key), quat(key + 1));
            if a.dot(b) < 0.0 {
                b = -b;
            }
            let angle = a.dot(b).min(1.0).acos();
            let expected = (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin();
            let found = DVec4::from(out.map(f64::from));
            let error = found.distance(expected).min(found.distance(-expected));
            prop_assert!(error < 1e-6, "{error}");
        }

        #[test]
        fn splines_of_rotations_have_unit_length(time in 0.0f64..3.0) {
            let channel = channel(Property::Rotation, Interpolation::CubicSpline, 12);
            let mut out = [0.0; 4];
            sample(&channel, time, &mut out);
            let expected = reference(&channel, time, 4);
            let expected = DQuat::from_slice(&expected).normalize();
            prop_assert!(DQuat::from_array(out.map(f64::from)).dot(expected) > 1.0 - 1e-6);
            prop_assert!((out.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
        }

        #[test]
        fn the_time_of_a_clip_is_always_within_it(
            offset in -10.0f64..10.0,
            speed in -3.0f64..3.0,
            time in 0.0f64..100.0,
            duration in prop::sample::select(vec![0.0f32, 1e-30, 0.1, 2.5]),
            looped in any::<bool>(),
        ) {
            let playback = Playback { clip: 0, speed, offset, looped };
            let inside = playback.clip_time(duration, time);
            prop_assert!((0.0..=f64::from(duration)).contains(&inside));
        }
    }

    #[test]
    fn loops_start_over_and_others_hold_their_end() {
        let playback = |speed, offset, looped| Playback { clip: 0, speed, offset, looped };
        assert_eq!(playback(2.0, 0.5, true).clip_time(2.0, 1.0), 0.5);
        assert_eq!(playback(-1.0, 0.0, true).clip_time(2.0, 0.5), 1.5);
        assert_eq!(playback(2.0, 0.5, false).clip_time(2.0, 1.0), 2.0);
        assert_eq!(playback(-1.0, 2.0, false).clip_time(2.0, 5.0), 0.0);
        assert_eq!(playback(f64::NAN, 0.0, true).clip_time(2.0, 1.0), 0.0);
    }

    #[test]
    fn nearly_equal_rotations_are_interpolated_without_noise() {
        let (a, b) = (Quat::IDENTITY, Quat::from_rotation_y(1e-4));
        let middle = slerp(a, b, 0.5);
        assert!((f64::from(middle.y) - 0.25e-4).abs() < 1e-11);
        assert_eq!(slerp(a, a, 0.3), a);
        assert!(slerp(a, -b, 0.5).dot(middle) > 0.999_999);
    }

    #[test]
    fn a_channel_with_a_wrong_number_of_values_drives_nothing() {
        let channel = channel(Property::Weights, Interpolation::Linear, 3);
        let mut out = [7.0; 4];
        assert!(!sample(&channel, 1.0, &mut out));
        let empty = Channel { times: Vec::new(), values: Vec::new(), ..channel };
        assert!(!sample(&empty, 1.0, &mut out));
        assert_eq!(out, [7.0; 4]);
    }
}
