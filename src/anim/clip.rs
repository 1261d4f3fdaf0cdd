//! Clips of a rig: the value of each channel at a time, and how the time of a scene becomes that of a clip.

use crate::scene::rig::{Channel, Interpolation, Property};
use glam::{Quat, Vec4};

/// How a clip is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Index into [`Rig::clips`](crate::scene::rig::Rig::clips).
    pub clip: u32,
    /// Seconds of the clip per second; negative plays backwards.
    pub speed: f32,
    /// Time of the clip at time 0, in seconds.
    pub offset: f32,
    /// Start over at the end, instead of holding the last pose (the first one when played backwards).
    pub looped: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: 0,
            speed: 1.0,
            offset: 0.0,
            looped: true,
        }
    }
}

impl Playback {
    /// Time within a clip of `duration` seconds, at `time` seconds. In [0, duration].
    pub fn clip_time(&self, duration: f32, time: f32) -> f32 {
        let end = f64::from(duration);
        let position = f64::from(self.offset) + f64::from(self.speed) * f64::from(time);
        let inside = if !self.looped {
            position.clamp(0.0, end)
        } else if end > 0.0 {
            position.rem_euclid(end)
        } else {
            0.0
        };
        // What is no number stays out of the poses.
        (inside as f32).max(0.0)
    }
}

/// Most numbers of a property that is not a list of weights.
const PARTS: usize = 4;

/// Writes the value of `channel` at `time`, in seconds of its clip, to `out`: as many numbers as the property has (3, 4, or one per
/// weight). Before the first key and after the last one the value is theirs. False, and nothing is written, if the
/// channel does not have that many numbers per key.
pub fn sample(channel: &Channel, time: f32, out: &mut [f32]) -> bool {
    let per_key = match channel.interpolation {
        Interpolation::CubicSpline => 3 * out.len(),
        _ => out.len(),
    };
    if channel.times.is_empty() || channel.values.len() != per_key * channel.times.len() {
        return false;
    }
    let (key, next, share) = surrounding_keys(&channel.times, time);
    let block = |key: usize| &channel.values[key * per_key..][..per_key];
    let (from, to) = (block(key), block(next));
    let rotation = channel.property == Property::Rotation;
    match channel.interpolation {
        Interpolation::Step => out.copy_from_slice(from),
        Interpolation::Linear if rotation && out.len() == PARTS => {
            let quat = |q: &[f32]| Quat::from_vec4(Vec4::from_slice(q));
            out.copy_from_slice(&slerp(quat(from), quat(to), share).to_array());
        }
        Interpolation::Linear => {
            for (out, (from, to)) in out.iter_mut().zip(from.iter().zip(to)) {
                *out = from + (to - from) * share;
            }
        }
        Interpolation::CubicSpline => {
            let seconds = channel.times[next] - channel.times[key];
            hermite(from, to, share, seconds, out);
        }
    }
    if rotation && channel.interpolation == Interpolation::CubicSpline {
        normalize(out);
    }
    true
}

/// The keys before and after `time`, and how far it is from the first to the second, in [0, 1]. Both are the same
/// before the first key and after the last one.
fn surrounding_keys(times: &[f32], time: f32) -> (usize, usize, f32) {
    let after = times.partition_point(|&key| key <= time);
    if after == 0 || after == times.len() {
        let nearest = after.saturating_sub(1);
        return (nearest, nearest, 0.0);
    }
    let (from, to) = (times[after - 1], times[after]);
    (after - 1, after, (time - from) / (to - from))
}

/// Spherical interpolation along the shorter arc (glTF 2.0, appendix C.4). The angle comes from an arc tangent, which is
/// exact for small ones, too.
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

/// A cubic spline between keys of in-tangent, value and out-tangent each (glTF 2.0, appendix C.5).
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

/// Makes a quaternion one of a rotation; one of length 0 becomes the identity.
fn normalize(quaternion: &mut [f32]) {
    if let Ok(parts) = <[f32; PARTS]>::try_from(&*quaternion) {
        let unit = Vec4::from(parts).normalize_or(Vec4::W);
        quaternion.copy_from_slice(&unit.to_array());
    }
}
