//! Which instances of a scene move.

use crate::{
    Ease, Ends, Motion, MotionPart, NONE, Phase, Rotations, Scene, Track, Travel,
    rig::{Appearance, ShownBy},
};

/// Seconds before and after a time from which the bank of an object on a curve is computed, and a little more.
const BANKING: f64 = 0.02;

/// Times of a scene in seconds, the first and the last.
pub type TimeSpan = [f64; 2];

/// For each instance, whether its transform, its visibility or what it shows may change during `span`; without one, at any time. What an instance of an
/// assembly shows is all of the assembly's content. An instance that stands still is shown. Rigs, tables of placements and objects that face others
/// always count as moving.
pub fn moving_instances(scene: &Scene, span: Option<TimeSpan>) -> Vec<bool> {
    let motions: Vec<bool> = scene.motions.iter().map(|motion| !span.is_some_and(|span| motion.rests(span))).collect();
    let moves = |motion: u32| motion != NONE && motions.get(motion as usize).is_none_or(|moves| *moves);
    let nodes = moving_nodes(scene, &moves);
    let mut moving = scene.placement_tables.affected(scene.instances.len());
    for appearance in scene.appearances.iter().filter(|appearance| !stays(scene, appearance, span)) {
        moving[appearance.instance as usize] = true;
    }
    for (moving, instance) in moving.iter_mut().zip(&scene.instances) {
        let is_carried = nodes.get(instance.node as usize).is_some_and(|moves| *moves);
        *moving |= is_carried || moves(instance.motion);
    }
    // Meshes, then assemblies.
    let meshes = scene.meshes.len();
    let mut shown = vec![false; meshes + scene.assemblies.len()];
    scene.deforming.iter().for_each(|deforming| shown[deforming.mesh as usize] = true);
    // Assemblies come before those that they contain.
    let levels = scene.assemblies.iter().map(|assembly| assembly.range()).enumerate();
    let levels = levels.map(|(index, range)| (Some(meshes + index), range)).rev();
    for (unit, range) in levels.chain([(None, scene.world())]) {
        for id in range.clone() {
            moving[id] |= shown.get(scene.instances[id].mesh as usize).is_some_and(|moves| *moves);
        }
        unit.into_iter().for_each(|unit| shown[unit] = moving[range.clone()].contains(&true));
    }
    moving
}

/// Whether some motion or visibility of `scene` may stay for a while.
pub fn has_rests(scene: &Scene) -> bool {
    let has_keys = |part: &MotionPart| match part {
        MotionPart::Keyframes { .. } => true,
        MotionPart::Follow(follower) => matches!(follower.travel, Travel::Keys(_)),
        _ => false,
    };
    !scene.switches.is_empty() || scene.motions.iter().any(|motion| motion.parts.iter().all(has_keys))
}

/// For each node, whether it or a node above it moves.
fn moving_nodes(scene: &Scene, moves: &impl Fn(u32) -> bool) -> Vec<bool> {
    let mut moving: Vec<bool> = Vec::with_capacity(scene.nodes.len());
    for (index, node) in (0..).zip(&scene.nodes) {
        let is_carried = moving.get(node.parent as usize).is_some_and(|moves| *moves);
        let is_placed = scene.placement_tables.places_node(index);
        moving.push(is_carried || is_placed || moves(node.motion) || node.follows.is_some());
    }
    moving
}

/// Whether an instance is visible during all of `span`.
fn stays(scene: &Scene, appearance: &Appearance, span: Option<TimeSpan>) -> bool {
    let ShownBy::Switch(switch) = appearance.by else { return false };
    let switch = scene.switches.get(switch as usize);
    span.is_some_and(|span| switch.is_none_or(|switch| switch.rests(span) && switch.at(span[0])))
}

impl Motion {
    /// Whether all instances with this motion stand still during `span`.
    fn rests(&self, [from, to]: TimeSpan) -> bool {
        // The lead of instances, in seconds for keyframes.
        let lead = match self.phase {
            Phase::Same => 0.0..=0.0,
            Phase::Random { spread, .. } => f64::from(spread.min(0.0))..=f64::from(spread.max(0.0)),
            Phase::Wave { .. } => return false,
        };
        self.parts.iter().all(|part| match part {
            MotionPart::Keyframes { track, rotations } => {
                *rotations != Rotations::Squad && track.rests([from + lead.start(), to + lead.end()])
            }
            MotionPart::Follow(follower) => match &follower.travel {
                Travel::Speed { speed, .. } => *speed == 0.0,
                Travel::Keys(track) => track.rests([from - BANKING, to + BANKING]),
            },
            _ => false,
        })
    }
}

impl<T: PartialEq> Track<T> {
    /// Whether the value is certainly the same during all of `span`.
    fn rests(&self, [from, to]: TimeSpan) -> bool {
        let keys = &self.keys;
        if keys.len() == 1 {
            return true;
        }
        let before = keys.partition_point(|key| key.time <= from).saturating_sub(1);
        let after = keys.partition_point(|key| key.time < to).min(keys.len() - 1);
        let around = &keys[before..=after.max(before)];
        self.ends == Ends::Hold
            && around.iter().all(|key| key.value == around[0].value)
            && around[1..].iter().all(|key| key.ease != Ease::CatmullRom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instance, Key, Keyframe};
    use glam::{Affine3, Quat, Vec3};

    fn track<T>(keys: Vec<(f64, T)>, ease: Ease) -> Track<T> {
        let keys = keys.into_iter().map(|(time, value)| Key { time, value, ease });
        Track { keys: keys.collect(), ends: Ends::Hold }
    }

    #[test]
    fn a_track_rests_between_equal_keys_and_beyond_its_ends() {
        let keys = || vec![(1.0, 0.0_f32), (2.0, 5.0), (4.0, 5.0), (5.0, 1.0)];
        let linear = track(keys(), Ease::Linear);
        for (span, rests) in [
            ([-3.0, 0.5], true),
            ([0.0, 1.5], false),
            ([2.0, 4.0], true),
            ([2.5, 3.5], true),
            ([1.9, 3.0], false),
            ([3.0, 4.1], false),
            ([5.0, 9.0], true),
            ([6.0, 6.0], true),
        ] {
            assert_eq!(linear.rests(span), rests, "{span:?}");
            let values = [span[0], 0.5 * (span[0] + span[1]), span[1]].map(|time| linear.at(time));
            assert!(!rests || values == [values[0]; 3]);
        }
        assert!(!track(keys(), Ease::CatmullRom).rests([2.5, 3.5]), "a spline swings between equal keys");
        assert!(!Track { ends: Ends::Loop, ..linear }.rests([6.0, 6.5]));
    }

    #[test]
    fn instances_move_while_their_keys_or_what_carries_them_do() {
        let key = |x: f32| Keyframe {
            translation: Vec3::X * x,
            rotation: Quat::IDENTITY,
            angles: Vec3::ZERO,
            scale: Vec3::ONE,
        };
        let track = |start: f64| track(vec![(start, key(0.0)), (start + 1.0, key(1.0))], Ease::Linear);
        let motion = |start: f64, phase| Motion {
            parts: vec![MotionPart::Keyframes { track: track(start), rotations: Rotations::Slerp }],
            phase,
        };
        let instance = |motion| Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion };
        let switch = |values: [bool; 2]| Track {
            keys: values
                .into_iter()
                .zip([0.0, 2.0])
                .map(|(value, time)| Key { time, value, ease: Ease::Step })
                .collect(),
            ends: Ends::Hold,
        };
        let scene = Scene {
            motions: vec![motion(1.0, Phase::Same), motion(1.0, Phase::Random { seed: 1, spread: 2.0 })],
            instances: vec![instance(NONE), instance(0), instance(1), instance(NONE), instance(NONE)],
            switches: vec![switch([false, true])],
            appearances: [3, 4].map(|instance| Appearance { instance, by: ShownBy::Switch(0) }).to_vec(),
            ..Scene::default()
        };
        assert_eq!(moving_instances(&scene, None), [false, true, true, true, true]);
        // The second motion is up to two seconds ahead. What is hidden is no instance at rest.
        assert_eq!(moving_instances(&scene, Some([0.0, 0.5])), [false, false, true, true, true]);
        assert_eq!(moving_instances(&scene, Some([1.5, 1.6])), [false, true, true, true, true]);
        assert_eq!(moving_instances(&scene, Some([3.0, 4.0])), [false, false, false, false, false]);
        assert!(has_rests(&scene));
    }
}
