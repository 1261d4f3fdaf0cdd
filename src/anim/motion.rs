//! A motion at a time, as a transform in the space of the object that it moves.

use super::turn::{sin_cos_of_turns, sin_of_turns};
use crate::{
    math::hash_unit,
    scene::{Keyframe, Motion, MotionPart, Phase},
};
use glam::{Affine3A, Vec3, Vec3A};
use std::f32::consts::TAU;

/// Seed for the speeds at which instances play a clip, which makes them independent of the phases.
const SPEED_SEED: u32 = 0x5eed_c11b;

/// A motion at one time, prepared for many instances.
pub struct PosedMotion<'a> {
    time: f32,
    parts: Vec<PosedPart<'a>>,
    phase: Phase,
    /// The transform, if all instances share it.
    shared: Option<Affine3A>,
}

/// A part with the number of periods that have passed (of which only the fraction counts), or of seconds.
struct PosedPart<'a> {
    part: &'a MotionPart,
    passed: f64,
}

impl<'a> PosedMotion<'a> {
    pub fn new(motion: &'a Motion, time: f32) -> Self {
        let parts: Vec<_> = motion.parts.iter().map(|part| PosedPart::new(part, f64::from(time))).collect();
        let shared = (motion.phase == Phase::Same).then(|| transform(&parts, 0.0));
        Self { time, parts, phase: motion.phase, shared }
    }

    /// The transform of the instance or node `index`, whose local translation is `origin`.
    pub fn of(&self, index: u32, origin: Vec3) -> Affine3A {
        if let Some(shared) = self.shared {
            return shared;
        }
        transform(&self.parts, self.phase_of(index, origin))
    }

    /// Index of the palette's pose that an instance shows; 0 where the motion plays no clip.
    pub fn pose(&self, index: u32, origin: Vec3) -> u32 {
        let clip = self.parts.iter().find_map(|part| match part.part {
            MotionPart::Clip { poses, speeds } => Some((poses, *speeds)),
            _ => None,
        });
        let Some((poses, [slow, fast])) = clip else {
            return 0;
        };
        let speed = match fast == slow {
            true => slow,
            false => slow + (fast - slow) * hash_unit(SPEED_SEED, index),
        };
        poses.bucket(self.phase_of(index, origin), speed, self.time)
    }

    fn phase_of(&self, index: u32, origin: Vec3) -> f32 {
        match self.phase {
            Phase::Same => 0.0,
            Phase::Random { seed, spread } => hash_unit(seed, index) * spread,
            Phase::Wave { direction, length } => origin.dot(direction) / length,
        }
    }
}

fn transform(parts: &[PosedPart], phase: f32) -> Affine3A {
    let Some((first, rest)) = parts.split_first() else {
        return Affine3A::IDENTITY;
    };
    let first = first.transform(phase);
    rest.iter().fold(first, |a, p| a * p.transform(phase))
}

impl<'a> PosedPart<'a> {
    fn new(part: &'a MotionPart, time: f64) -> Self {
        let passed = match part {
            MotionPart::Spin { period, .. } | MotionPart::Sway { period, .. } | MotionPart::Bob { period, .. } => {
                (time / f64::from(*period)).fract()
            }
            MotionPart::Keyframes { .. } | MotionPart::Clip { .. } => time,
        };
        Self { part, passed }
    }

    fn transform(&self, phase: f32) -> Affine3A {
        let turns = self.passed as f32 + phase;
        match self.part {
            MotionPart::Spin { axis, .. } => rotation(*axis, turns),
            MotionPart::Sway { axis, angle, .. } => rotation(*axis, angle / TAU * sin_of_turns(turns)),
            MotionPart::Bob { offset, .. } => Affine3A::from_translation(*offset * sin_of_turns(turns)),
            MotionPart::Keyframes { keys, repeat } => keyframes(keys, *repeat, self.passed + f64::from(phase)),
            MotionPart::Clip { .. } => Affine3A::IDENTITY,
        }
    }
}

/// Rotation about `axis` by Rodrigues' formula.
fn rotation(axis: Vec3, turns: f32) -> Affine3A {
    let (sin, cos) = sin_cos_of_turns(turns);
    let (s, o) = (axis * sin, Vec3A::from(axis) * (1.0 - cos));
    Affine3A::from_cols(
        o * axis.x + Vec3A::new(cos, s.z, -s.y),
        o * axis.y + Vec3A::new(-s.z, cos, s.x),
        o * axis.z + Vec3A::new(s.y, -s.x, cos),
        Vec3A::ZERO,
    )
}

fn keyframes(keys: &[Keyframe], repeat: bool, time: f64) -> Affine3A {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return Affine3A::IDENTITY;
    };
    let (start, length) = (f64::from(first.time), f64::from(last.time) - f64::from(first.time));
    let time = if repeat && length > 0.0 { start + (time - start).rem_euclid(length) } else { time };
    let next = keys.partition_point(|k| f64::from(k.time) <= time);
    let k = match (next.checked_sub(1), keys.get(next)) {
        (Some(i), Some(b)) => between(&keys[i], b, time),
        (None, _) => *first,
        (_, None) => *last,
    };
    Affine3A::from_scale_rotation_translation(k.scale, k.rotation, k.translation)
}

fn between(a: &Keyframe, b: &Keyframe, time: f64) -> Keyframe {
    let t = ((time - f64::from(a.time)) / (f64::from(b.time) - f64::from(a.time))) as f32;
    Keyframe {
        time: time as f32,
        translation: a.translation.lerp(b.translation, t),
        rotation: a.rotation.slerp(b.rotation, t),
        scale: a.scale.lerp(b.scale, t),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use std::f32::consts::FRAC_PI_2;

    fn at(parts: Vec<MotionPart>, time: f32, point: Vec3) -> Vec3 {
        PosedMotion::new(&Motion { parts, phase: Phase::Same }, time).of(0, Vec3::ZERO).transform_point3(point)
    }

    #[test]
    fn spin_turns_once_per_period_even_after_a_long_time() {
        let spin = || vec![MotionPart::Spin { axis: Vec3::Y, period: 4.0 }];
        assert!(at(spin(), 1.0, Vec3::Z).distance(Vec3::X) < 1e-6);
        assert!(at(spin(), 1_000_001.0, Vec3::Z).distance(Vec3::X) < 1e-6);
    }

    #[test]
    fn sway_and_bob_reach_their_greatest_after_a_quarter() {
        let sway = vec![MotionPart::Sway { axis: Vec3::Z, angle: FRAC_PI_2, period: 4.0 }];
        assert!(at(sway, 1.0, Vec3::X).distance(Vec3::Y) < 1e-6);
        let bob = vec![MotionPart::Bob { offset: Vec3::Y, period: 4.0 }];
        assert!(at(bob, 3.0, Vec3::ZERO).distance(Vec3::NEG_Y) < 1e-6);
    }

    #[test]
    fn the_last_part_is_nearest_to_the_object() {
        let spin = MotionPart::Spin { axis: Vec3::Y, period: 4.0 };
        let bob = MotionPart::Bob { offset: Vec3::Z, period: 4.0 };
        assert!(at(vec![spin, bob], 1.0, Vec3::ZERO).distance(Vec3::X) < 1e-6);
    }

    #[test]
    fn keyframes_interpolate_hold_and_repeat() {
        let key = |time, x, scale| Keyframe {
            time,
            translation: Vec3::X * x,
            rotation: Quat::IDENTITY,
            scale: Vec3::splat(scale),
        };
        let keys = vec![key(1.0, 0.0, 1.0), key(3.0, 4.0, 3.0)];
        let pose = |repeat, time| at(vec![MotionPart::Keyframes { keys: keys.clone(), repeat }], time, Vec3::Y);
        assert_eq!(pose(false, 2.0), Vec3::new(2.0, 2.0, 0.0));
        assert_eq!(pose(false, 9.0), Vec3::new(4.0, 3.0, 0.0));
        assert_eq!(pose(false, 0.0), Vec3::new(0.0, 1.0, 0.0));
        assert_eq!(pose(true, 6.0), Vec3::new(2.0, 2.0, 0.0));
    }

    #[test]
    fn phases_differ_as_they_say() {
        let spin = || vec![MotionPart::Spin { axis: Vec3::Y, period: 4.0 }];
        let wave = Motion { parts: spin(), phase: Phase::Wave { direction: Vec3::X, length: 8.0 } };
        let turned = PosedMotion::new(&wave, 0.0).of(0, Vec3::new(2.0, 5.0, 0.0));
        assert!(turned.transform_point3(Vec3::Z).distance(Vec3::X) < 1e-6);
        let random = Motion { parts: spin(), phase: Phase::Random { seed: 1, spread: 1.0 } };
        let posed = PosedMotion::new(&random, 0.0);
        assert_ne!(posed.of(0, Vec3::ZERO), posed.of(1, Vec3::ZERO));
        assert_eq!(posed.of(7, Vec3::ZERO), PosedMotion::new(&random, 0.0).of(7, Vec3::ONE));
    }
}
