//! Motions at a time, as transforms in the space of the moved object.

use super::turn::{sin_cos_of_turns, sin_of_turns};
use crate::{
    Ease, Ends, Face, Follow, Follower, Keyframe, Motion, MotionPart, Noise, Phase, Position, Rotations, Track, Travel,
    curve::CurvePoint,
};
use glam::{Affine3, Affine3A, EulerRot, Mat3A, Quat, Vec3, Vec3A};
use std::f32::consts::{PI, TAU};
use throng_base::math::{hash_unit, thicken};

/// Seed for the speeds at which instances play a clip. It makes them independent of the phases.
const SPEED_SEED: u32 = 0x5eed_c11b;

/// Gravity in m/s², against which banking is balanced. Units are assumed to be metres.
pub(super) const GRAVITY: f32 = 9.81;

/// A motion at one time, prepared for many instances.
pub struct PosedMotion<'a> {
    time: f64,
    parts: Vec<PosedPart<'a>>,
    phase: Phase,
    /// The transform, if all instances share it.
    shared: Option<Affine3A>,
}

/// A part of a motion, with the elapsed periods (of which only the fraction counts) or seconds.
struct PosedPart<'a> {
    part: &'a MotionPart,
    passed: f64,
    /// The point in world space that this part faces.
    target: Option<Vec3>,
}

impl<'a> PosedMotion<'a> {
    /// Prepares `motion` at `time`. `find` returns the position of an object that the motion faces; None to disable turning.
    pub fn new(motion: &'a Motion, time: f64, find: impl Fn(&Follow) -> Option<Vec3>) -> Self {
        let part = |part: &'a MotionPart| {
            let target = match part {
                MotionPart::LookAt { thing: Some(thing), .. } => find(thing),
                MotionPart::LookAt { point, thing: None } => Some(*point),
                _ => None,
            };
            PosedPart::new(part, time, target)
        };
        let parts: Vec<_> = motion.parts.iter().map(part).collect();
        let turns = parts.iter().any(|part| part.target.is_some());
        let shared = (motion.phase == Phase::Same && !turns).then(|| transform(&parts, 0.0, &Affine3A::IDENTITY));
        Self { time, parts, phase: motion.phase, shared }
    }

    /// The transform of the instance or node `index`. `origin` is its local translation, `world_from_place` the transform of its parent.
    pub fn of(&self, index: u32, origin: Vec3, world_from_place: impl FnOnce() -> Affine3A) -> Affine3A {
        if let Some(shared) = self.shared {
            return shared;
        }
        let turns = self.parts.iter().any(|part| part.target.is_some());
        let world_from_place = if turns { world_from_place() } else { Affine3A::IDENTITY };
        transform(&self.parts, self.phase_of(index, origin), &world_from_place)
    }

    /// Index of the palette's pose that an instance placed by `local` shows. 0 if the motion has no clip and no bend.
    pub fn pose(&self, index: u32, local: &Affine3) -> u32 {
        let origin = local.translation;
        let bend = self.parts.iter().find_map(|part| match part.part {
            MotionPart::Bend(bend) => Some(bend),
            _ => None,
        });
        if let Some(bend) = bend {
            return bend.shown(local, self.phase_of(index, origin), self.time);
        }
        let clip = self.parts.iter().find_map(|part| match part.part {
            MotionPart::Clip { poses, speeds } => Some((poses, *speeds)),
            _ => None,
        });
        let Some((poses, [slow, fast])) = clip else {
            return 0;
        };
        let speed = if fast == slow { slow } else { slow + (fast - slow) * hash_unit(SPEED_SEED, index) };
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

/// The product of the parts' transforms, for an object placed by `world_from_place`.
fn transform(parts: &[PosedPart], phase: f32, world_from_place: &Affine3A) -> Affine3A {
    let Some((first, rest)) = parts.split_first() else {
        return Affine3A::IDENTITY;
    };
    let first = first.transform(phase, || *world_from_place);
    rest.iter().fold(first, |a, p| a * p.transform(phase, || *world_from_place * a))
}

impl<'a> PosedPart<'a> {
    fn new(part: &'a MotionPart, time: f64, target: Option<Vec3>) -> Self {
        let passed = match part {
            MotionPart::Spin { period, .. } | MotionPart::Sway { period, .. } | MotionPart::Bob { period, .. } => {
                (time / *period).fract()
            }
            MotionPart::Keyframes { .. }
            | MotionPart::Follow(_)
            | MotionPart::LookAt { .. }
            | MotionPart::Noise(_)
            | MotionPart::Bend(_)
            | MotionPart::Clip { .. } => time,
        };
        Self { part, passed, target }
    }

    /// The part's transform. `world_from_here` is the transform of the object's place and of the parts before this one.
    fn transform(&self, phase: f32, world_from_here: impl FnOnce() -> Affine3A) -> Affine3A {
        let turns = self.passed as f32 + phase;
        match self.part {
            MotionPart::Spin { axis, .. } => rotation(*axis, turns),
            MotionPart::Sway { axis, angle, .. } => rotation(*axis, angle / TAU * sin_of_turns(turns)),
            MotionPart::Bob { offset, .. } => Affine3A::from_translation(*offset * sin_of_turns(turns)),
            MotionPart::Keyframes { track, rotations } => keyframes(track, *rotations, self.passed + f64::from(phase)),
            MotionPart::Follow(follower) => follower.place(self.passed, phase),
            MotionPart::LookAt { .. } => match self.target {
                Some(target) => facing(&world_from_here(), target),
                None => Affine3A::IDENTITY,
            },
            MotionPart::Noise(noise) => noise.at(self.passed + f64::from(phase) * noise.period),
            MotionPart::Bend(_) | MotionPart::Clip { .. } => Affine3A::IDENTITY,
        }
    }
}

impl Follower {
    /// The transform on the curve at a time in seconds. `phase` is the lead, in lengths of the curve.
    fn place(&self, time: f64, phase: f32) -> Affine3A {
        let length = f64::from(self.curve.length());
        let forwards = self.travel.direction();
        let travelled =
            self.travel.at(time) + f64::from(forwards) * (f64::from(phase) * length - f64::from(self.behind));
        let distance = match self.ends {
            _ if self.curve.is_closed() => travelled.rem_euclid(length),
            Ends::Hold => travelled,
            Ends::Loop => travelled.rem_euclid(length),
            Ends::PingPong => {
                let passed = travelled.rem_euclid(2.0 * length);
                passed.min(2.0 * length - passed)
            }
        };
        let on_curve = self.curve.at(distance as f32 + forwards * self.offset.z);
        let place = CurvePoint { tangent: on_curve.tangent * forwards, ..on_curve };
        let right = place.right();
        let origin = place.position + right * self.offset.x + Vec3::Y * self.offset.y;
        // An object faces along its +X axis; its +Z axis points to the right.
        let axes = match self.face {
            Face::None => Mat3A::IDENTITY,
            Face::Level => Mat3A::from_cols(Vec3::Y.cross(right).into(), Vec3A::Y, right.into()),
            Face::Tangent => Mat3A::from_cols(place.tangent.into(), right.cross(place.tangent).into(), right.into()),
        };
        let mut placed = Affine3A::from_mat3_translation(axes.into(), origin);
        if self.bank != 0.0 {
            let step = 1e-3 * self.curve.length();
            let turned = self.curve.at(distance as f32 + step).tangent - self.curve.at(distance as f32 - step).tangent;
            let speed = (self.travel.at(time + 0.01) - self.travel.at(time - 0.01)) as f32 / 0.02;
            let pull = turned.dot(right) / (2.0 * step) * speed * speed / GRAVITY;
            placed *= Affine3A::from_rotation_x(bank_angle(self.bank * pull));
        }
        placed
    }
}

/// The angle, in radians, of what leans against a sideways acceleration of `pull`, relative to gravity. Angles above 40 degrees are reduced, and
/// none reaches 60 degrees.
pub fn bank_angle(pull: f32) -> f32 {
    const EASY: f32 = 40.0 * PI / 180.0;
    const ROOM: f32 = 20.0 * PI / 180.0;
    let angle = pull.atan();
    let excess = (angle.abs() - EASY) / ROOM;
    if excess > 0.0 { (EASY + ROOM * (1.0 - (-excess).exp())).copysign(angle) } else { angle }
}

impl Travel {
    /// 1, or -1 if the object moves and faces backwards along the curve.
    fn direction(&self) -> f32 {
        match self {
            Self::Speed { speed, .. } if *speed < 0.0 => -1.0,
            _ => 1.0,
        }
    }

    /// Distance along the curve at a time in seconds.
    fn at(&self, time: f64) -> f64 {
        match self {
            Self::Speed { speed, start } => start + speed * time,
            Self::Keys(track) => f64::from(track.at(time)),
        }
    }
}

/// The rotation that points +X at `target`, for an object placed by `world_from_object`.
fn facing(world_from_object: &Affine3A, target: Vec3) -> Affine3A {
    let m = world_from_object.matrix3;
    let axes =
        Mat3A::from_cols(m.x_axis.normalize_or_zero(), m.y_axis.normalize_or_zero(), m.z_axis.normalize_or_zero());
    let ahead = (Vec3A::from(target) - world_from_object.translation).normalize_or_zero();
    let right = ahead.cross(Vec3A::Y).normalize_or_zero();
    if ahead == Vec3A::ZERO || right == Vec3A::ZERO {
        return Affine3A::IDENTITY;
    }
    let wanted = Mat3A::from_cols(ahead, right.cross(ahead), right);
    Affine3A { matrix3: axes.transpose() * wanted, translation: Vec3A::ZERO }
}

impl Noise {
    /// The transform at a time in seconds.
    pub fn at(&self, time: f64) -> Affine3A {
        let cycles = time / self.period * 2.0;
        let values: [f32; 6] = std::array::from_fn(|channel| wave(self.seed.wrapping_add(channel as u32), cycles));
        let [x, y, z, a, b, c] = values;
        let angles = self.rotation * Vec3::new(a, b, c);
        let rotation = Quat::from_euler(EulerRot::ZYX, angles.z, angles.y, angles.x);
        Affine3A::from_rotation_translation(rotation, self.translation * Vec3::new(x, y, z))
    }
}

/// Smooth noise between -1 and 1: two octaves of gradient noise (Perlin 2002), with zeros at integers in the first octave.
pub(super) fn wave(seed: u32, x: f64) -> f32 {
    let octave = |seed: u32, x: f64| {
        let cell = x.floor();
        let t = (x - cell) as f32;
        let slope = |offset: f64| {
            // Distant cells may repeat.
            let index = (cell + offset).rem_euclid(4_294_967_296.0) as u32;
            2.0 * hash_unit(seed, index) - 1.0
        };
        let fade = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
        let (left, right) = (slope(0.0) * t, slope(1.0) * (t - 1.0));
        // Opposing slopes of 1 give the maximum, 0.5.
        2.0 * (left + (right - left) * fade)
    };
    (octave(seed, x) + 0.4 * octave(seed ^ 0x9e37_79b9, 2.3 * x)) / 1.4
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

fn keyframes(track: &Track<Keyframe>, rotations: Rotations, time: f64) -> Affine3A {
    let k = match track.position(time) {
        Position::At(key) => track.keys[key].value,
        Position::Between(key, share) => between(track, key, share, rotations),
    };
    Affine3A::from_scale_rotation_translation(thicken(k.scale), k.rotation, k.translation)
}

/// The pose at `share` of the time between key `i` and the next.
fn between(track: &Track<Keyframe>, i: usize, share: f64, rotations: Rotations) -> Keyframe {
    let (a, b) = (&track.keys[i].value, &track.keys[i + 1].value);
    let ease = track.keys[i + 1].ease;
    // Interpolation would round, and what rests would move by the last bit.
    if a == b && ease != Ease::CatmullRom && rotations != Rotations::Squad {
        return *a;
    }
    let t = ease.share(share) as f32;
    let along = |of: fn(&Keyframe) -> Vec3| match ease {
        Ease::CatmullRom => track.map(of).spline(i, share as f32),
        _ => of(a).lerp(of(b), t),
    };
    let rotation = match rotations {
        Rotations::Slerp => a.rotation.slerp(b.rotation, t),
        Rotations::Squad => {
            let (from, to) = (control(track, i), control(track, i + 1));
            a.rotation.slerp(b.rotation, t).slerp(from.slerp(to, t), 2.0 * t * (1.0 - t))
        }
        Rotations::Euler => {
            let angles = along(|key| key.angles);
            Quat::from_euler(EulerRot::ZYX, angles.z, angles.y, angles.x)
        }
    };
    Keyframe { translation: along(|key| key.translation), rotation, angles: Vec3::ZERO, scale: along(|key| key.scale) }
}

/// The inner quadrangle point of a key (Shoemake 1987, "Quaternion calculus and fast animation").
fn control(track: &Track<Keyframe>, i: usize) -> Quat {
    let keys = &track.keys;
    let own = keys[i].value.rotation;
    let way = |to: usize| {
        let to = keys[to].value.rotation;
        let to = if own.dot(to) < 0.0 { -to } else { to };
        (own.inverse() * to).to_scaled_axis()
    };
    let last = keys.len() - 1;
    let looped = track.ends == Ends::Loop;
    let before = if i > 0 {
        i - 1
    } else if looped {
        last - 1
    } else {
        i
    };
    let after = if i < last {
        i + 1
    } else if looped {
        1
    } else {
        i
    };
    own * Quat::from_scaled_axis((way(before) + way(after)) * -0.25)
}

#[cfg(test)]
mod tests;
