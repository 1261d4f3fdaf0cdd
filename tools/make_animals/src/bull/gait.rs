//! Gaits: positions of the feet during a stride, and the motion of the body.
//!
//! The clip leaves the animal in place. A scene moves it forward by `speed` metres per second, or `speed · duration` per loop; otherwise
//! the feet slide.

use super::bones::Bones;
use crate::modelling::sdf::smoothstep;
use crate::rigging::clip::{Clip, Movement};
use crate::rigging::pose::Pose;
use glam::{Affine3A, Quat, Vec3};
use std::f32::consts::TAU;

/// A gait. Phases are fractions of a stride.
pub struct Gait {
    pub name: &'static str,
    /// Seconds per stride.
    pub duration: f32,
    /// Metres per second.
    pub speed: f32,
    /// Fraction of the stride in which a foot is on the ground.
    duty: f32,
    /// Phase at which each foot lands: front right and left, hind right and left.
    lands: [f32; 4],
    /// Height to which front and hind toes are lifted.
    lift: [f32; 2],
    /// Forward offset of the steps of front and hind feet from their rest positions.
    ahead: [f32; 2],
    sway: fn(&mut Pose, &Bones, f32),
}

/// A transverse gallop on the left lead: hind right, hind left, fore right, fore left, and then all four feet
/// are off the ground, gathered under the body. 8 m/s, strides of 3.84 m.
pub const GALLOP: Gait = Gait {
    name: "Gallop",
    duration: 0.48,
    speed: 8.0,
    duty: 0.22,
    lands: [0.37, 0.51, 0.0, 0.12],
    lift: [0.29, 0.3],
    ahead: [0.04, 0.08],
    sway: gallop_body,
};

/// A walk in lateral sequence, with two or three feet on the ground: hind right, fore right, hind left, fore left.
/// 1 m/s, strides of 1.2 m.
pub const WALK: Gait = Gait {
    name: "Walk",
    duration: 1.2,
    speed: 1.0,
    duty: 0.64,
    lands: [0.25, 0.75, 0.0, 0.5],
    lift: [0.13, 0.1],
    ahead: [0.0, 0.02],
    sway: walk_body,
};

impl Gait {
    pub fn clip(&self, bones: &Bones) -> Movement {
        const KEYS: usize = 48;
        Clip::looped(self.name, self.duration, KEYS, |phase| {
            let mut pose = Pose::rest(&bones.skeleton);
            (self.sway)(&mut pose, bones, phase);
            for (i, leg) in bones.legs.iter().enumerate() {
                let step = self.step((phase - self.lands[i]).rem_euclid(1.0), i / 2);
                place_foot(&mut pose, bones, leg, &step, i >= 2);
            }
            pose
        })
    }

    /// The step of a foot at `since`, the phase since it landed.
    fn step(&self, since: f32, hind: usize) -> Step {
        let reach = self.speed * self.duration * self.duty;
        let (x, y, hoof, fold) = if since < self.duty {
            let t = since / self.duty;
            (reach * (0.5 - t), 0.0, -0.65 * smoothstep(0.6, 1.05, t), 0.0)
        } else {
            let t = (since - self.duty) / (1.0 - self.duty);
            let high = (t.powf(0.8) * TAU * 0.5).sin();
            let curl = -0.6 - 0.9 * smoothstep(0.0, 0.35, t) * self.lift[hind] / 0.3;
            let hoof = curl * (1.0 - smoothstep(0.3, 0.92, t))
                + 0.12 * smoothstep(0.5, 0.85, t) * (1.0 - smoothstep(0.85, 1.0, t));
            (swing(t) * reach, self.lift[hind] * high, hoof, high)
        };
        Step { toe: Vec3::new(x + self.ahead[hind], y, 0.0), swing: x / reach, hoof, fold }
    }
}

/// State of a foot at one moment.
struct Step {
    /// Offset of the toe from its rest position.
    toe: Vec3,
    /// Swing of the leg, from -0.5 (back) to 0.5 (forward).
    swing: f32,
    /// Angle of the hoof; negative if the heel is up.
    hoof: f32,
    /// Fold of the leg, from 0 on the ground to 1.
    fold: f32,
}

/// Swing from -0.5 to 0.5, with a slight overshoot at both ends: a foot is drawn back before it lands.
fn swing(t: f32) -> f32 {
    const DRAW: f32 = 0.6;
    let (t2, t3) = (t * t, t * t * t);
    let ease = 3.0 * t2 - 2.0 * t3;
    ease - 0.5 - DRAW * ((t3 - 2.0 * t2 + t) + (t3 - t2))
}

/// Bends a leg so that its toe reaches the position of the step.
fn place_foot(pose: &mut Pose, bones: &Bones, leg: &[usize; 4], step: &Step, hind: bool) {
    let skeleton = &bones.skeleton;
    let [_, lower, cannon, hoof] = *leg;
    let (fetlock, toe) = (skeleton.joints[hoof].at, skeleton.joints[hoof].tip);
    let turn = Quat::from_rotation_z(step.hoof);
    let target = toe + step.toe + turn * (fetlock - toe);
    let (pole, angle) = if hind {
        (Vec3::NEG_X, 0.55 * step.swing + 0.3 * step.fold)
    } else {
        (Vec3::X, 0.75 * step.swing + 0.1 * step.fold)
    };
    turn_upper(pose, bones, leg, target, angle);
    pose.reach(skeleton, [lower, cannon], target, pole);
    pose.face(skeleton, hoof, turn);
}

/// Turns the upper bone by `angle`, or by the nearest angle at which the rest of the leg reaches `target`.
fn turn_upper(pose: &mut Pose, bones: &Bones, [upper, lower, cannon, _]: &[usize; 4], target: Vec3, angle: f32) {
    const TRIES: usize = 24;
    const STEP: f32 = 0.04;
    let joint = |i: &usize| &bones.skeleton.joints[*i];
    let longest = (joint(lower).length() + joint(cannon).length()) * 0.995;
    let worlds = pose.worlds(&bones.skeleton);
    let base = joint(upper).parent.map_or(Affine3A::IDENTITY, |parent| worlds[parent]);
    let hip = Vec3::from(worlds[*upper].translation);
    let bone = joint(lower).at - joint(upper).at;
    let short_by = |angle: f32| {
        let knee = hip + base.transform_vector3(Quat::from_rotation_z(angle) * bone);
        knee.distance(target) - longest
    };
    // The nearest angle at which the target is in reach, on either side.
    let tries = (0..TRIES).flat_map(|i| [angle + STEP * i as f32, angle - STEP * i as f32]);
    let reaching = tries.into_iter().find(|&angle| short_by(angle) <= 0.0);
    pose.turns[*upper] = Quat::from_rotation_z(reaching.unwrap_or(angle));
}

fn wave(phase: f32, top: f32) -> f32 {
    ((phase - top) * TAU).cos()
}

/// Body motion of the gallop: the back arches as the hind feet swing forward, and stretches as the front feet reach out. Head and croup
/// rise alternately.
fn gallop_body(pose: &mut Pose, bones: &Bones, phase: f32) {
    pose.offsets[bones.body] = Vec3::new(0.03 * wave(phase, 0.3), -0.06 + 0.055 * wave(phase, 0.87), 0.0);
    pose.turn(bones.body, 0.025 * wave(phase, 0.1), 0.0, 0.085 * wave(phase, 0.18));
    pose.turn(bones.croup, 0.0, 0.0, 0.15 * wave(phase, 0.97));
    pose.turn(bones.chest, 0.0, 0.0, -0.04 * wave(phase, 0.97));
    for &joint in &bones.neck {
        pose.turn(joint, 0.0, 0.0, -0.06 - 0.05 * wave(phase, 0.1));
    }
    pose.turn(bones.head, 0.03 * wave(phase, 0.3), 0.0, 0.22 + 0.1 * wave(phase, 0.4));
    for (i, &joint) in bones.tail.iter().enumerate() {
        let lag = 0.14 * i as f32;
        let raise = [-0.55, -0.15, 0.1, 0.15][i.min(3)];
        pose.turn(joint, 0.0, 0.16 * wave(phase, 0.2 + lag), raise + 0.13 * wave(phase, 0.45 + lag));
    }
    for (side, &ear) in bones.ears.iter().enumerate() {
        let mirror = 1.0 - 2.0 * side as f32;
        pose.turn(ear, mirror * 0.2 * wave(phase, 0.7), -mirror * 0.35, 0.0);
    }
}

/// Body motion of the walk: the body rises over each pair of legs and rolls towards the supporting side. The head nods.
fn walk_body(pose: &mut Pose, bones: &Bones, phase: f32) {
    pose.offsets[bones.body] = Vec3::new(0.0, -0.03 + 0.012 * wave(2.0 * phase, 0.25), 0.012 * wave(phase, 0.3));
    pose.turn(bones.body, 0.02 * wave(phase, 0.3), 0.015 * wave(phase, 0.05), 0.012 * wave(2.0 * phase, 0.6));
    pose.turn(bones.croup, 0.03 * wave(phase, 0.55), 0.03 * wave(phase, 0.05), 0.0);
    for (i, &joint) in bones.neck.iter().enumerate() {
        pose.turn(
            joint,
            0.0,
            0.02 * wave(phase, 0.1 * i as f32),
            -0.06 + 0.03 * wave(2.0 * phase, 0.1 + 0.05 * i as f32),
        );
    }
    pose.turn(bones.head, 0.0, 0.0, 0.05 + 0.03 * wave(2.0 * phase, 0.5));
    for (i, &joint) in bones.tail.iter().enumerate() {
        let drop = [0.42, 0.12, -0.02, -0.1][i.min(3)];
        pose.turn(joint, 0.0, 0.13 * wave(phase, 0.2 + 0.1 * i as f32), drop);
    }
    for (side, &ear) in bones.ears.iter().enumerate() {
        let mirror = 1.0 - 2.0 * side as f32;
        pose.turn(ear, 0.12 * wave(phase, 0.4), mirror * 0.1 * wave(2.0 * phase, 0.2), 0.0);
    }
}
