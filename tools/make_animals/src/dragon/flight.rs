//! Clips of flight: wing beats and gliding.

use super::bones::{Bones, Wing};
use crate::rigging::clip::{Clip, Movement};
use crate::rigging::pose::Pose;
use std::f32::consts::{PI, TAU};

/// Two wing beats, during which the tail swings from side to side once.
pub fn fly(bones: &Bones) -> Movement {
    Clip::looped("Fly", 2.4, 48, |phase| {
        let beat = phase * 2.0 * TAU;
        let sway = phase * TAU;
        let mut pose = Pose::rest(&bones.skeleton);
        stretch_out(&mut pose, bones);
        for (side, wing) in bones.wings.iter().enumerate() {
            beat_wing(&mut pose, wing, mirror(side), beat);
        }
        heave(&mut pose, bones, beat, 0.34);
        for (i, &joint) in bones.tail.iter().enumerate() {
            let lag = 0.62 * i as f32;
            let growth = 0.5 + 0.07 * i as f32;
            pose.turn(
                joint,
                0.0,
                0.1 * growth * (sway - 0.45 * i as f32).sin(),
                0.105 * growth * (beat - 1.2 - lag).cos(),
            );
        }
        for (i, leg) in bones.legs.iter().enumerate() {
            let swing = (beat - 2.2 - 0.5 * (i / 2) as f32).cos();
            pose.turn(leg[0], 0.0, 0.0, 0.07 * swing);
            pose.turn(leg[1], 0.0, 0.0, 0.06 * (beat - 2.8).cos());
            pose.turn(leg[2], 0.0, 0.0, 0.08 * (beat - 3.4).cos());
        }
        pose.turn(bones.jaw, 0.0, 0.0, 0.48 + 0.04 * beat.sin());
        pose
    })
}

/// Spread wings with small corrections, while the head slowly looks from side to side.
pub fn glide(bones: &Bones) -> Movement {
    Clip::looped("Glide", 5.0, 48, |phase| {
        let turn = phase * TAU;
        let mut pose = Pose::rest(&bones.skeleton);
        stretch_out(&mut pose, bones);
        let bank = 0.09 * turn.sin();
        pose.turn(bones.body, bank, 0.0, 0.02 * (turn + 0.6).cos());
        pose.offsets[bones.body].y = 0.16 * (turn + 0.4).cos();
        for (side, wing) in bones.wings.iter().enumerate() {
            let mirror = mirror(side);
            let lift = 0.13 + 0.04 * (2.0 * turn + 0.4).cos() + 0.05 * mirror * (turn - 0.5).sin();
            pose.turn(wing.upper, -mirror * lift, 0.0, 0.03);
            pose.turn(wing.fore, -mirror * (0.06 + 0.04 * (2.0 * turn - 0.6).cos()), 0.0, 0.0);
            for (i, finger) in wing.fingers.iter().enumerate() {
                let flutter = 0.03 * (6.0 * turn - 0.9 * i as f32 + side as f32).sin();
                let flex = 0.09 + 0.05 * (2.0 * turn - 1.6).cos();
                pose.turn(finger[0], -mirror * flex, 0.0, -0.03 * i as f32);
                pose.turn(finger[1], -mirror * (flex + flutter), 0.0, -(0.05 + flutter) * 0.5 * i as f32);
            }
        }
        let neck = bones.neck.len() as f32;
        for (i, &joint) in bones.neck.iter().enumerate() {
            let yaw = 0.4 / neck * (turn - 0.35 * i as f32).sin();
            pose.turn(joint, -bank / neck, yaw, 0.12 / neck * (2.0 * turn - 0.3 * i as f32).sin());
        }
        pose.turn(bones.head, 0.12 * turn.cos(), 0.12 * (turn - 1.9).sin(), 0.0);
        for (i, &joint) in bones.tail.iter().enumerate() {
            let lag = 0.5 * i as f32;
            pose.turn(joint, 0.0, 0.085 * (turn + PI - lag).sin(), 0.05 * (2.0 * turn - lag).cos());
        }
        pose.turn(bones.jaw, 0.0, 0.0, 0.5);
        pose
    })
}

/// +1 for the right wing, -1 for the left one.
fn mirror(side: usize) -> f32 {
    1.0 - 2.0 * side as f32
}

/// Stretches neck and tail along the flight direction and folds the legs back.
fn stretch_out(pose: &mut Pose, bones: &Bones) {
    pose.turn(bones.body, 0.0, 0.0, 0.05);
    let bends = [-0.2, -0.16, -0.1, -0.02, 0.02, 0.04];
    for (&joint, bend) in bones.neck.iter().zip(bends) {
        pose.turn(joint, 0.0, 0.0, bend);
    }
    pose.turn(bones.head, 0.0, 0.0, 0.26);
    for (i, &joint) in bones.tail.iter().enumerate() {
        pose.turn(joint, 0.0, 0.0, if i < 4 { 0.055 } else { -0.01 });
    }
    for (i, leg) in bones.legs.iter().enumerate() {
        let bends = if i < 2 { [-0.55, 0.75, -1.0, -0.5] } else { [-0.8, -0.35, -0.75, -0.6] };
        let inwards = mirror(i % 2) * 0.18;
        for (&joint, bend) in leg.iter().zip(bends) {
            pose.turn(joint, 0.0, 0.0, bend);
        }
        pose.turn(leg[0], inwards, 0.0, 0.0);
    }
}

/// One beat of a wing. It starts at the top, comes down stretched with its leading edge low, and rises half folded. Parts farther from the
/// shoulder follow later, and the trailing fingers last.
fn beat_wing(pose: &mut Pose, wing: &Wing, mirror: f32, beat: f32) {
    let fold = (0.5 - 0.5 * (beat - 0.25).sin()).powi(2);
    let lift = 0.16 + 0.62 * beat.cos();
    pose.turn(wing.upper, -mirror * lift, -mirror * 0.16 * fold, -0.16 * (beat - 0.2).sin());
    let elbow = 0.06 + 0.26 * (beat - 0.9).cos();
    pose.turn(wing.fore, -mirror * elbow, mirror * 0.3 * fold, -0.1 * (beat - 0.5).sin());
    for (i, finger) in wing.fingers.iter().enumerate() {
        let order = i as f32;
        let lag = 1.35 + 0.22 * order;
        let trail = -0.075 * order * (beat - 0.9 - 0.15 * order).sin();
        let close = -mirror * fold * (0.5 - 0.1 * order);
        pose.turn(finger[0], -mirror * (0.05 + 0.22 * (beat - lag).cos()), close, trail);
        pose.turn(finger[1], -mirror * (0.06 + 0.26 * (beat - lag - 0.55).cos()), close * 0.3, trail * 1.3);
    }
}

/// The body rises against the wings. The neck compensates, so that the head stays steady.
fn heave(pose: &mut Pose, bones: &Bones, beat: f32, height: f32) {
    let phase = beat - 0.9;
    pose.offsets[bones.body].y = -height * phase.cos();
    pose.turn(bones.body, 0.0, 0.0, 0.07 * (beat - 0.3).sin());
    pose.turn(bones.chest, 0.0, 0.0, 0.03 * (beat - 0.6).sin());
    let count = bones.neck.len() as f32;
    for (i, &joint) in bones.neck.iter().enumerate() {
        let lag = 0.3 * i as f32;
        pose.turn(joint, 0.0, 0.0, 0.36 / count * (phase - lag).cos() - 0.1 / count * (beat - 0.3).sin());
    }
    pose.turn(bones.head, 0.0, 0.0, -0.26 * (phase - 0.9).cos());
}
