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
