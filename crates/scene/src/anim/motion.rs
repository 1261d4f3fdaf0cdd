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
mod tests {
    use super::*;
    use crate::{Key, Scene, curve::Curve};
    use std::{f32::consts::FRAC_PI_2, sync::Arc};

    fn posed(motion: &Motion, time: f64) -> PosedMotion<'_> {
        PosedMotion::new(motion, time, |_| None)
    }

    fn placed() -> Affine3A {
        Affine3A::IDENTITY
    }

    fn at(parts: Vec<MotionPart>, time: f64, point: Vec3) -> Vec3 {
        posed(&Motion { parts, phase: Phase::Same }, time).of(0, Vec3::ZERO, placed).transform_point3(point)
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
        let key = |time, x, scale| {
            let value = Keyframe { translation: Vec3::X * x, scale: Vec3::splat(scale), ..turned(Vec3::ZERO) };
            Key { time, value, ease: Ease::Linear }
        };
        let pose = |repeat, time| {
            let ends = if repeat { Ends::Loop } else { Ends::Hold };
            let track = Track { keys: vec![key(1.0, 0.0, 1.0), key(3.0, 4.0, 3.0)], ends };
            at(vec![MotionPart::Keyframes { track, rotations: Rotations::Slerp }], time, Vec3::Y)
        };
        assert_eq!(pose(false, 2.0), Vec3::new(2.0, 2.0, 0.0));
        assert_eq!(pose(false, 9.0), Vec3::new(4.0, 3.0, 0.0));
        assert_eq!(pose(false, 0.0), Vec3::new(0.0, 1.0, 0.0));
        assert_eq!(pose(true, 6.0), Vec3::new(2.0, 2.0, 0.0));
    }

    fn turned(angles: Vec3) -> Keyframe {
        let rotation = Quat::from_euler(EulerRot::ZYX, angles.z, angles.y, angles.x);
        Keyframe { translation: Vec3::ZERO, rotation, angles, scale: Vec3::ONE }
    }

    fn turning(degrees: &[f32], rotations: Rotations, ends: Ends) -> MotionPart {
        let key = |(i, degrees): (usize, &f32)| Key {
            time: i as f64,
            value: turned(Vec3::Y * degrees.to_radians()),
            ease: Ease::Linear,
        };
        MotionPart::Keyframes { track: Track { keys: degrees.iter().enumerate().map(key).collect(), ends }, rotations }
    }

    #[test]
    fn late_frames_turn_as_evenly_as_the_first() {
        for (start, fps, first, step) in [(0.0, 60.0, 999_989, 6.0), (86_400.0, 24.0, 1, 15.0), (1e6, 24.0, 1, 15.0)] {
            let mut scene = Scene::default();
            (scene.settings.start, scene.settings.fps) = (start, fps);
            let heading = |frame: u32| {
                let spin = vec![MotionPart::Spin { axis: Vec3::Z, period: 1.0 }];
                let p = at(spin, scene.time_of(frame), Vec3::X);
                p.y.atan2(p.x).to_degrees()
            };
            for frame in first..first + 11 {
                let turned = (heading(frame + 1) - heading(frame)).rem_euclid(360.0);
                assert!((turned - step).abs() < 1e-3, "frame {frame}: {turned}");
            }
        }
    }

    #[test]
    fn keyframes_far_from_the_start_are_met_at_their_times() {
        // A tenth of a unit per frame, after a million seconds.
        let key = |time: f64, x: f32| {
            let value = Keyframe { translation: Vec3::X * x, ..turned(Vec3::ZERO) };
            Key { time, value, ease: Ease::Linear }
        };
        let track = Track { keys: vec![key(1e6, 0.0), key(1_000_010.0, 24.0)], ends: Ends::Hold };
        let part = MotionPart::Keyframes { track, rotations: Rotations::Slerp };
        for frame in 0..240 {
            let x = at(vec![part.clone()], 1e6 + f64::from(frame) / 24.0, Vec3::ZERO).x;
            assert!((x - 0.1 * frame as f32).abs() < 1e-4, "{frame}: {x}");
        }
    }

    #[test]
    fn angles_count_on_and_quaternions_take_the_short_way() {
        let halfway = |rotations| at(vec![turning(&[0.0, 350.0], rotations, Ends::Hold)], 0.5, Vec3::X);
        let heading = |p: Vec3| (-p.z).atan2(p.x).to_degrees();
        assert!((heading(halfway(Rotations::Euler)) - 175.0).abs() < 0.01);
        assert!((heading(halfway(Rotations::Slerp)) + 5.0).abs() < 0.01);
    }

    #[test]
    fn squad_passes_its_keys_without_kinks() {
        let part = || vec![turning(&[0.0, 80.0, 90.0, 20.0], Rotations::Squad, Ends::Hold)];
        let heading = |time: f64| {
            let p = at(part(), time, Vec3::X);
            (-p.z).atan2(p.x).to_degrees()
        };
        assert!((heading(1.0) - 80.0).abs() < 0.01 && (heading(2.0) - 90.0).abs() < 0.01);
        let speed = |time: f64| (heading(time + 1e-2) - heading(time)) / 1e-2;
        assert!((speed(0.989) - speed(1.001)).abs() < 4.0, "{} {}", speed(0.989), speed(1.001));
    }

    #[test]
    fn followers_keep_their_gaps_and_face_along_the_curve() {
        let corners = [Vec3::ZERO, Vec3::X * 10.0, Vec3::new(10.0, 0.0, 10.0), Vec3::Z * 10.0];
        let curve = Curve::polyline(&corners, true).expect("curve");
        let curve = Arc::new(curve);
        let car = |behind| {
            let follower = Follower {
                curve: curve.clone(),
                travel: Travel::Speed { speed: 2.0, start: 0.0 },
                behind,
                ends: Ends::Hold,
                face: Face::Level,
                offset: Vec3::new(1.0, 0.5, 0.0),
                bank: 0.0,
            };
            let motion = Motion { parts: vec![MotionPart::Follow(follower)], phase: Phase::Same };
            posed(&motion, 3.0).of(0, Vec3::ZERO, placed)
        };
        assert!(car(0.0).translation.distance(Vec3A::new(6.0, 0.5, 1.0)) < 1e-4, "{}", car(0.0));
        assert!(car(4.0).translation.distance(Vec3A::new(2.0, 0.5, 1.0)) < 1e-4);
        // The third object is past the corner at which the curve closes, and moves along -Z.
        assert!(car(8.0).translation.distance(Vec3A::new(1.0, 0.5, 2.0)) < 1e-4, "{}", car(8.0));
        assert!(car(8.0).matrix3.x_axis.distance(Vec3A::NEG_Z) < 1e-5);
    }

    #[test]
    fn things_turn_to_what_they_look_at_wherever_they_are_placed() {
        let part = MotionPart::LookAt { point: Vec3::new(0.0, 3.0, 4.0), thing: None };
        let motion = Motion { parts: vec![part], phase: Phase::Same };
        let place = Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), Quat::from_rotation_y(1.0), Vec3::X);
        let world = place * posed(&motion, 0.0).of(0, Vec3::ZERO, || place);
        let expected = Vec3A::new(-1.0, 3.0, 4.0).normalize() * 2.0;
        assert!(world.matrix3.x_axis.distance(expected) < 1e-5, "{world}");
        assert!(world.matrix3.z_axis.y.abs() < 1e-5);
    }

    #[test]
    fn noise_is_smooth_and_stays_within_its_bounds() {
        let noise = Noise { translation: Vec3::ONE, rotation: Vec3::ZERO, period: 1.0, seed: 5 };
        let at = |time: f64| Vec3::from(noise.at(time).translation);
        let mut most: f32 = 0.0;
        for i in 0..20_000 {
            let time = f64::from(i) * 1e-3 - 5.0;
            assert!(at(time).abs().max_element() <= 1.0);
            assert!(at(time).distance(at(time + 1e-3)) < 0.04, "{time}");
            most = most.max(at(time).abs().max_element());
        }
        assert!(most > 0.4, "{most}");
    }

    #[test]
    fn phases_differ_as_they_say() {
        let spin = || vec![MotionPart::Spin { axis: Vec3::Y, period: 4.0 }];
        let wave = Motion { parts: spin(), phase: Phase::Wave { direction: Vec3::X, length: 8.0 } };
        let turned = posed(&wave, 0.0).of(0, Vec3::new(2.0, 5.0, 0.0), placed);
        assert!(turned.transform_point3(Vec3::Z).distance(Vec3::X) < 1e-6);
        let random = Motion { parts: spin(), phase: Phase::Random { seed: 1, spread: 1.0 } };
        let at_start = posed(&random, 0.0);
        assert_ne!(at_start.of(0, Vec3::ZERO, placed), at_start.of(1, Vec3::ZERO, placed));
        assert_eq!(at_start.of(7, Vec3::ZERO, placed), posed(&random, 0.0).of(7, Vec3::ONE, placed));
    }
}
