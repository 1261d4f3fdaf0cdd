//! Estimates how much motions rotate objects in a time span, which determines the number of linear segments for motion blur.

use super::{Moment, ShutterTime};
use crate::{
    Ease, Follower, Instance, Keyframe, Motion, MotionPart, PlacementTables, Rotations, Scene, TableRun, Track, Travel,
};
use glam::{Affine3A, Vec3A};
use std::f32::consts::TAU;

/// Allowance, in radians, for sudden changes of speed at a key of linear interpolation or at the end of a clip.
const KINK: f32 = 0.25;
/// Number of positions at which the bends of curves are sampled.
const CURVE_SAMPLES: u32 = 256;
/// Number of moments at which rigs and rows of tables are sampled.
const SAMPLES: u32 = 5;

/// Rotation of everything in a scene during the exposure, in radians. Oscillations count by their phase. 0 for static objects.
pub struct Turning<'a> {
    motions: Vec<f32>,
    nodes: Vec<f32>,
    tables: &'a PlacementTables,
    /// Moments at equal steps over the exposure; empty unless a node follows a rig or rows of tables place something.
    moments: Vec<Moment>,
}

impl<'a> Turning<'a> {
    /// Measures the time during which the shutter is open.
    pub fn new(scene: &'a Scene, time: ShutterTime) -> Self {
        let of = |motion: &Motion| -> f32 {
            let parts = motion.parts.iter();
            parts.map(|part| part_turning(part, time.seconds as f32)).sum()
        };
        let mut turning = Self {
            motions: scene.motions.iter().map(of).collect(),
            nodes: Vec::with_capacity(scene.nodes.len()),
            tables: &scene.placement_tables,
            moments: moments(scene, time),
        };
        for (index, node) in (0..).zip(&scene.nodes) {
            let parent = turning.nodes.get(node.parent as usize).copied();
            let rig = node.follows.map_or(0.0, |rig_node| turning.path(|moment| moment.world(rig_node)));
            let row = if scene.placement_tables.places_node(index) {
                turning.path(|moment| moment.local_of_node(index, &node.local).into())
            } else {
                0.0
            };
            let own = turning.of_motion(node.motion);
            turning.nodes.push(parent.unwrap_or_default() + own + rig + row);
        }
        turning
    }

    /// Rotation of an instance, whose number in the scene is `id`, in radians.
    pub fn of(&self, id: u32, instance: &Instance) -> f32 {
        let node = self.nodes.get(instance.node as usize).copied();
        let row = if TableRun::find(&self.tables.instances, id).is_some() {
            self.path(|moment| moment.local(id, &instance.local).transform.into())
        } else {
            0.0
        };
        node.unwrap_or_default() + self.of_motion(instance.motion) + row
    }

    fn of_motion(&self, motion: u32) -> f32 {
        let own = self.motions.get(motion as usize).copied();
        own.unwrap_or_default()
    }

    /// Rotation of something whose transform at a moment is `at`, in radians.
    fn path(&self, at: impl Fn(&Moment) -> Affine3A) -> f32 {
        let mut places = [Affine3A::IDENTITY; SAMPLES as usize];
        places.iter_mut().zip(&self.moments).for_each(|(place, moment)| *place = at(moment));
        path_turning(&places)
    }
}

/// Times at equal steps over the exposure; empty if nothing is sampled.
fn moments(scene: &Scene, time: ShutterTime) -> Vec<Moment> {
    let is_sampled = !scene.placement_tables.is_empty() || scene.nodes.iter().any(|node| node.follows.is_some());
    let times = is_sampled.then(|| time.times(SAMPLES - 1)).into_iter().flatten();
    times.map(|at| Moment::of(scene, at).in_frame(time.frame)).collect()
}

fn part_turning(part: &MotionPart, seconds: f32) -> f32 {
    let phase = |period: f64| TAU * (f64::from(seconds) / period).abs() as f32;
    match part {
        MotionPart::Spin { period, .. } => phase(*period),
        // An arc of a small angle is nearly straight, but the speed along it varies.
        MotionPart::Sway { angle, period, .. } => phase(*period) * angle.abs().max(angle.abs().sqrt()),
        MotionPart::Bob { period, .. } => phase(*period),
        MotionPart::Keyframes { track, rotations } => keyframes_turning(track, *rotations, seconds),
        MotionPart::Follow(follower) => follower_turning(follower, seconds),
        // The object that it faces may pass close by.
        MotionPart::LookAt { .. } => KINK,
        // Gradient noise reverses its direction about four times per period.
        MotionPart::Noise(noise) => KINK + 2.0 * phase(noise.period),
        MotionPart::Bend(_) | MotionPart::Clip { .. } => 0.0,
    }
}

/// Rotation at the greatest speed between two keys, in radians.
fn keyframes_turning(track: &Track<Keyframe>, rotations: Rotations, seconds: f32) -> f32 {
    let pairs = || track.keys.windows(2);
    if pairs().all(|pair| pair[0].value == pair[1].value) {
        return 0.0;
    }
    let speeds = pairs().map(|pair| {
        let (a, b) = (&pair[0].value, &pair[1].value);
        let angle = match rotations {
            Rotations::Slerp => a.rotation.angle_between(b.rotation),
            // The smooth path is longer than the shortest.
            Rotations::Squad => 2.0 * a.rotation.angle_between(b.rotation),
            Rotations::Euler => (b.angles - a.angles).abs().element_sum(),
        };
        steepness(pair[1].ease) * angle / (pair[1].time - pair[0].time) as f32
    });
    KINK + seconds * speeds.fold(0.0, f32::max)
}

/// Approximate greatest speed of an ease, relative to its mean speed.
fn steepness(ease: Ease) -> f32 {
    match ease {
        Ease::Linear => 1.0,
        Ease::Step => 0.0,
        Ease::Smooth => 1.5,
        Ease::CatmullRom => 2.0,
        Ease::Bezier(_) => {
            let steps = (0..32).map(|i| ease.share(f64::from(i + 1) / 32.0) - ease.share(f64::from(i) / 32.0));
            32.0 * steps.map(|step| step.abs() as f32).fold(0.0, f32::max)
        }
    }
}

/// Rotation at the sharpest bend of a curve, at the greatest speed, in radians.
fn follower_turning(follower: &Follower, seconds: f32) -> f32 {
    let speed = match &follower.travel {
        Travel::Speed { speed, .. } => speed.abs() as f32,
        Travel::Keys(track) => {
            let speeds = track.keys.windows(2).map(|pair| {
                steepness(pair[1].ease) * (pair[1].value - pair[0].value).abs() / (pair[1].time - pair[0].time) as f32
            });
            speeds.fold(0.0, f32::max)
        }
    };
    let travelled = speed * seconds;
    if travelled == 0.0 {
        return 0.0;
    }
    let curve = &follower.curve;
    let step = curve.length() / CURVE_SAMPLES as f32;
    let ahead = travelled.min(step);
    let bends = (0..CURVE_SAMPLES).map(|i| {
        let at = |distance: f32| curve.at(distance).tangent;
        let start = i as f32 * step;
        at(start).angle_between(at(start + ahead))
    });
    KINK + travelled / ahead * bends.fold(0.0, f32::max)
}

/// Rotation over a sequence of transforms, in radians.
fn path_turning(places: &[Affine3A]) -> f32 {
    let steps = places.windows(2);
    if steps.clone().all(|step| step[0] == step[1]) {
        return 0.0;
    }
    KINK + steps.map(|step| turn(&step[0], &step[1])).sum::<f32>()
}

/// Rotation between two transforms, in radians. Scaling counts as rotation.
fn turn(a: &Affine3A, b: &Affine3A) -> f32 {
    let length = |columns: [Vec3A; 3]| -> f32 {
        let squares = columns.iter().map(|column| column.length_squared());
        squares.sum::<f32>().sqrt()
    };
    let (m, n) = (&a.matrix3, &b.matrix3);
    let difference = [n.x_axis - m.x_axis, n.y_axis - m.y_axis, n.z_axis - m.z_axis];
    // For a rotation by a small angle, the Frobenius norm of the difference is √2 times the angle; the norm of the matrix is √3.
    let relative = length(difference) / length([m.x_axis, m.y_axis, m.z_axis]).max(1e-30);
    (relative * 1.5f32.sqrt()).min(TAU)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Key};
    use glam::{Quat, Vec3};

    #[test]
    fn the_distance_of_two_rotations_is_the_angle_between_them() {
        let turned = |angle: f32| {
            Affine3A::from_scale_rotation_translation(
                Vec3::splat(3.0),
                Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle),
                Vec3::X * angle,
            )
        };
        let found = turn(&turned(0.3), &turned(0.4));
        assert!((found - 0.1).abs() < 1e-3, "{found}");
    }

    #[test]
    fn what_comes_back_to_its_start_within_the_shutter_has_turned_all_the_same() {
        let spin = MotionPart::Spin { axis: Vec3::Y, period: -0.25 };
        assert!((part_turning(&spin, 0.5) - 2.0 * TAU).abs() < 1e-5);
    }

    #[test]
    fn keys_that_are_all_alike_stand_still() {
        let turning = |xs: [f32; 2]| {
            let pose = |x| Keyframe {
                translation: Vec3::X * x,
                rotation: Quat::IDENTITY,
                angles: Vec3::ZERO,
                scale: Vec3::ONE,
            };
            let key = |time: f64, x| Key { time, value: pose(x), ease: Ease::Linear };
            let track = Track { keys: vec![key(0.0, xs[0]), key(1.0, xs[1])], ends: Ends::Hold };
            keyframes_turning(&track, Rotations::Slerp, 1.0)
        };
        assert_eq!(turning([1.0, 1.0]), 0.0);
        assert!(turning([1.0, 2.0]) > 0.0);
    }
}
