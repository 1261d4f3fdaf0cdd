//! The roar: the standing dragon draws back its neck, rears up, and opens its jaws and wings wide.

use super::bones::{Bones, Wing};
use crate::modelling::sdf::smoothstep;
use crate::rigging::clip::{Clip, Movement};
use crate::rigging::pose::Pose;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

/// Progress of each part of the roar, from 0 to 1.
struct Moment {
    phase: f32,
    /// Drawing back before the roar.
    draw: f32,
    /// Roaring.
    roar: f32,
    /// Shivering during the roar.
    shiver: f32,
}

impl Moment {
    fn at(phase: f32) -> Self {
        let roar = smoothstep(0.22, 0.38, phase) * (1.0 - smoothstep(0.7, 0.96, phase));
        let draw = smoothstep(0.0, 0.2, phase) * (1.0 - smoothstep(0.22, 0.36, phase));
        Self { phase, draw, roar, shiver: roar * (phase * TAU * 20.0).sin() }
    }
}

pub fn roar(bones: &Bones) -> Movement {
    Clip::looped("Roar", 4.0, 96, |phase| {
        let moment = Moment::at(phase);
        let mut pose = Pose::rest(&bones.skeleton);
        let (draw, roar) = (moment.draw, moment.roar);
        pose.offsets[bones.body] = Vec3::new(-0.22 * draw + 0.05 * roar, -0.05 - 0.2 * draw + 0.02 * roar, 0.0);
        pose.turn(bones.body, 0.0, 0.0, -0.03 * draw + 0.06 * roar);
        pose.turn(bones.chest, 0.0, 0.0, 0.03 * draw + 0.05 * roar);
        raise_neck(&mut pose, bones, &moment);
        for (side, wing) in bones.wings.iter().enumerate() {
            fling_wing(&mut pose, wing, 1.0 - 2.0 * side as f32, &moment);
        }
        for (i, &joint) in bones.tail.iter().enumerate() {
            let lag = 0.6 * i as f32;
            let lash = 0.05 + 0.06 * (roar + draw);
            pose.turn(joint, 0.0, lash * (2.0 * phase * TAU - lag).sin(), 0.012 * (phase * TAU - lag).cos());
        }
        for leg in &bones.legs {
            pose.plant(&bones.skeleton, [leg[0], leg[1]]);
            pose.face(&bones.skeleton, leg[2], Quat::IDENTITY);
        }
        pose
    })
}

fn raise_neck(pose: &mut Pose, bones: &Bones, moment: &Moment) {
    const CALM: [f32; 6] = [0.16, 0.1, 0.02, -0.06, -0.14, -0.2];
    const DRAWN: [f32; 6] = [0.24, 0.26, 0.16, -0.12, -0.28, -0.3];
    const ROARING: [f32; 6] = [0.12, 0.12, 0.1, 0.06, 0.02, -0.02];
    let &Moment { phase, draw, roar, shiver } = moment;
    let sweep = 0.05 * roar * (2.0 * phase * TAU).sin();
    for (i, &joint) in bones.neck.iter().enumerate() {
        let calm = CALM[i] + 0.012 * (phase * TAU - 0.5 * i as f32).sin();
        let bend = calm + (DRAWN[i] - calm) * draw;
        let bend = bend + (ROARING[i] - bend) * roar;
        pose.turn(joint, 0.0, sweep + 0.004 * shiver, bend);
    }
    pose.turn(bones.head, 0.03 * shiver, 0.6 * sweep, 0.12 - 0.1 * draw + 0.12 * roar);
    let open = -0.22 * roar + 0.03 * shiver;
    pose.turn(bones.jaw, 0.0, 0.0, 0.5 * (1.0 - roar) + open);
}

/// A wing, half folded over the back and then opened wide.
fn fling_wing(pose: &mut Pose, wing: &Wing, mirror: f32, moment: &Moment) {
    let &Moment { phase, draw, roar, shiver } = moment;
    let fold = 0.72 * (1.0 - roar) + 0.12 * draw;
    let lift = 0.5 - 0.12 * draw + 0.28 * roar + 0.02 * (phase * TAU).sin();
    pose.turn(wing.upper, -mirror * lift, -mirror * 0.5 * fold, 0.0);
    pose.turn(wing.fore, -mirror * (0.1 + 0.12 * roar), mirror * 0.8 * fold, 0.0);
    for (i, finger) in wing.fingers.iter().enumerate() {
        let close = -mirror * fold * (1.15 - 0.27 * i as f32);
        let flex = 0.04 + 0.08 * roar - 0.1 * draw + 0.025 * shiver;
        pose.turn(finger[0], -mirror * flex, close, 0.0);
        pose.turn(finger[1], -mirror * (flex + 0.04), close * 0.18, 0.0);
    }
}
