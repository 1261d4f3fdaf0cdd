//! A rig at a time: transforms of nodes and joints, morph weights, and visibility.

use super::clip::sample;
use crate::rig::{Channel, Local, Playback, Property, Rig, Trs};
use glam::{Affine3A, Quat, Vec3};
use throng_base::math::thicken;

/// Transforms, morph weights and visibility of all nodes. Its memory is reused from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct RigPose {
    locals: Vec<Local>,
    worlds: Vec<Affine3A>,
    weights: Vec<f32>,
    /// For each node, whether it and all of its parents are visible.
    shown: Vec<bool>,
    /// Index of each node's first weight; the last entry is the number of weights.
    first_weight: Vec<u32>,
}

impl RigPose {
    /// Evaluates `rig` at `time`, in seconds. Properties without animation have their rest values. If several clips animate a property, the
    /// last one applies. O(nodes + channels · log keys), without recursion.
    pub fn evaluate(&mut self, rig: &Rig, playbacks: &[Playback], time: f64) {
        self.rest(rig);
        for playback in playbacks {
            let Some(clip) = rig.clips.get(playback.clip as usize) else {
                continue;
            };
            let time = playback.clip_time(clip.duration, time);
            for channel in &clip.channels {
                self.drive(channel, time);
            }
        }
        self.worlds.clear();
        for (node, local) in rig.nodes.iter().zip(&self.locals) {
            let local = parent_from_node(local);
            let parent = self.worlds.get(node.parent as usize);
            self.worlds.push(parent.map_or(local, |parent| *parent * local));
        }
        for (index, node) in rig.nodes.iter().enumerate() {
            self.shown[index] &= self.is_shown(node.parent);
        }
    }

    /// `root_from_node` of a node; the identity if the rig does not have the node.
    pub fn world(&self, node: u32) -> Affine3A {
        let world = self.worlds.get(node as usize);
        world.copied().unwrap_or(Affine3A::IDENTITY)
    }

    /// `root_from_node` of all nodes.
    pub fn worlds(&self) -> &[Affine3A] {
        &self.worlds
    }

    /// Whether a node and all of its parents are visible; true if the rig does not have the node.
    pub fn is_shown(&self, node: u32) -> bool {
        self.shown.get(node as usize).copied().unwrap_or(true)
    }

    /// Copies the visibility of nodes from `other`, a pose of the same rig.
    pub(super) fn show_as(&mut self, other: &Self) {
        self.shown.clone_from(&other.shown);
    }

    /// Weights of the morph targets of a node's mesh; empty without targets.
    pub fn weights(&self, node: u32) -> &[f32] {
        let node = node as usize;
        let bounds = self.first_weight.get(node).zip(self.first_weight.get(node + 1));
        let range = bounds.map(|(&first, &end)| first as usize..end as usize);
        range.and_then(|range| self.weights.get(range)).unwrap_or(&[])
    }

    /// Writes the transform of each joint of a skin, `root_from_mesh`, to `out`. Skinned meshes are in the rig's root space, independent of
    /// their own node (glTF 2.0, 3.7.3.3).
    pub fn palette(&self, rig: &Rig, skin: u32, out: &mut Vec<Affine3A>) {
        out.clear();
        let Some(skin) = rig.skins.get(skin as usize) else {
            return;
        };
        let joints = skin.joints.iter().zip(&skin.joint_from_mesh);
        out.extend(joints.map(|(&joint, from_mesh)| self.world(joint) * Affine3A::from(*from_mesh)));
    }

    fn rest(&mut self, rig: &Rig) {
        self.locals.clear();
        self.locals.extend(rig.nodes.iter().map(|node| node.local));
        self.shown.clear();
        self.shown.extend(rig.nodes.iter().map(|node| node.visible));
        self.weights.clear();
        self.first_weight.clear();
        self.first_weight.push(0);
        for node in &rig.nodes {
            self.weights.extend_from_slice(&node.weights);
            self.first_weight.push(self.weights.len() as u32);
        }
    }

    /// Sets the property that a channel animates. Nodes given by a matrix have no such properties.
    fn drive(&mut self, channel: &Channel, time: f64) {
        let node = channel.node as usize;
        if channel.property == Property::Weights {
            let bounds = self.first_weight.get(node..node + 2);
            if let Some(&[first, end]) = bounds {
                sample(channel, time, &mut self.weights[first as usize..end as usize]);
            }
            return;
        }
        if channel.property == Property::Visibility {
            let mut value = [0.0];
            if let (Some(shown), true) = (self.shown.get_mut(node), sample(channel, time, &mut value)) {
                *shown = value[0] != 0.0;
            }
            return;
        }
        let Some(Local::Parts(parts)) = self.locals.get_mut(node) else {
            return;
        };
        match channel.property {
            Property::Translation => drive_vector(channel, time, &mut parts.translation),
            Property::Scale => drive_vector(channel, time, &mut parts.scale),
            Property::Rotation => {
                let mut rotation = parts.rotation.to_array();
                sample(channel, time, &mut rotation);
                parts.rotation = Quat::from_array(rotation);
            }
            Property::Weights | Property::Visibility => {}
        }
    }
}

fn drive_vector(channel: &Channel, time: f64, vector: &mut Vec3) {
    sample(channel, time, vector.as_mut());
}

fn parent_from_node(local: &Local) -> Affine3A {
    match *local {
        Local::Matrix(matrix) => matrix.into(),
        Local::Parts(Trs { translation, rotation, scale }) => {
            Affine3A::from_scale_rotation_translation(thicken(scale), rotation, translation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NONE,
        rig::{Clip, Interpolation, RigNode, Skin},
    };
    use glam::{Affine3, DAffine3, DQuat, DVec3};
    use proptest::prelude::*;
    use throng_base::math::hash_unit;

    fn node(parent: u32, local: Local) -> RigNode {
        RigNode { name: String::new(), parent, local, weights: Vec::new(), visible: true }
    }

    fn parts(seed: u32, index: u32) -> Trs {
        let u = |k| 2.0 * hash_unit(seed, 16 * index + k) - 1.0;
        Trs {
            translation: Vec3::new(u(0), u(1), u(2)),
            rotation: Quat::from_xyzw(u(3), u(4), u(5), u(6)).normalize(),
            // Includes mirrored and non-uniform scales.
            scale: Vec3::new(1.0 + 0.3 * u(7), u(8).signum(), 0.9 + 0.1 * u(9)),
        }
    }

    fn key(property: Property, node: u32, values: Vec<f32>) -> Channel {
        Channel { node, property, interpolation: Interpolation::Linear, times: vec![0.0, 1.0], values }
    }

    /// A rig in which every third node has a matrix; the others rotate, move and grow over one second.
    fn random_rig(seed: u32, count: u32) -> Rig {
        let mut rig = Rig::default();
        let mut channels = Vec::new();
        for i in 0..count {
            let parent = (hash_unit(seed + 1, i) * i as f32) as u32;
            let (rest, end) = (parts(seed, i), parts(seed + 2, i));
            let local = match i % 3 {
                0 => {
                    Local::Matrix(Affine3::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation))
                }
                _ => Local::Parts(rest),
            };
            rig.nodes.push(node(if i == 0 { NONE } else { parent }, local));
            let vectors = |a: Vec3, b: Vec3| [a.to_array(), b.to_array()].concat();
            let turns = [rest.rotation.to_array(), end.rotation.to_array()].concat();
            let moves = vectors(rest.translation, end.translation);
            let sizes = vectors(rest.scale, rest.scale * 1.5);
            channels.push(key(Property::Rotation, i, turns));
            channels.push(key(Property::Translation, i, moves));
            channels.push(key(Property::Scale, i, sizes));
        }
        rig.clips.push(Clip { name: "all".into(), duration: 1.0, channels, ..Clip::default() });
        rig
    }

    #[test]
    fn a_node_that_is_scaled_flat_has_an_inverse() {
        let scale = Vec3::new(1.0, 0.0, -2.0);
        let flat = Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale };
        let rig = Rig { nodes: vec![node(NONE, Local::Parts(flat))], ..Rig::default() };
        let mut pose = RigPose::default();
        pose.evaluate(&rig, &[], 0.0);
        assert!(Affine3::from(pose.world(0)).inverse().is_finite());
    }

    /// The transform of a node by recursion to its parents, in double precision.
    fn reference(rig: &Rig, seed: u32, node: u32, time: f64) -> DAffine3 {
        let (rest, end) = (parts(seed, node), parts(seed + 2, node));
        let local = match rig.nodes[node as usize].local {
            Local::Matrix(matrix) => DAffine3::from_cols(
                matrix.matrix3.x_axis.as_dvec3(),
                matrix.matrix3.y_axis.as_dvec3(),
                matrix.matrix3.z_axis.as_dvec3(),
                matrix.translation.as_dvec3(),
            ),
            Local::Parts(_) => {
                let t = time;
                let mix = |a: Vec3, b: Vec3| a.as_dvec3() * (1.0 - t) + b.as_dvec3() * t;
                DAffine3::from_scale_rotation_translation(
                    mix(rest.scale, rest.scale * 1.5),
                    shorter_arc(rest.rotation, end.rotation, t),
                    mix(rest.translation, end.translation),
                )
            }
        };
        match rig.nodes[node as usize].parent {
            NONE => local,
            parent => reference(rig, seed, parent, time) * local,
        }
    }

    fn shorter_arc(a: Quat, b: Quat, t: f64) -> DQuat {
        let (a, mut b) = (a.as_dquat(), b.as_dquat());
        if a.dot(b) < 0.0 {
            b = -b;
        }
        let angle = a.dot(b).min(1.0).acos();
        let (x, y) = (((1.0 - t) * angle).sin(), (t * angle).sin());
        (a * x + b * y).normalize()
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(32))]

        #[test]
        fn poses_are_those_of_an_evaluator_in_double_precision(
            seed in 0u32..1000,
            time in 0.0f64..1.0,
        ) {
            let rig = random_rig(seed, 40);
            let mut pose = RigPose::default();
            pose.evaluate(&rig, &[Playback::default()], time);
            let expected: Vec<_> = (0..40).map(|n| reference(&rig, seed, n, time)).collect();
            let size = expected.iter().map(|e| e.translation.length()).fold(1.0, f64::max);
            for (world, expected) in pose.worlds().iter().zip(&expected) {
                for point in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
                    let found = world.transform_point3(point.as_vec3()).as_dvec3();
                    let error = found.distance(expected.transform_point3(point));
                    prop_assert!(error < 1e-5 * size, "{error} of {size}");
                }
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_nodes_does_not_recurse() {
        let step = Trs { translation: Vec3::X, rotation: Quat::IDENTITY, scale: Vec3::ONE };
        let nodes = (0..100_000u32).map(|i| node(i.checked_sub(1).unwrap_or(NONE), Local::Parts(step)));
        let rig = Rig { nodes: nodes.collect(), ..Rig::default() };
        let mut pose = RigPose::default();
        pose.evaluate(&rig, &[], 0.0);
        assert_eq!(pose.world(99_999).translation.x, 100_000.0);
    }

    fn weighted() -> Rig {
        let mut rig = Rig {
            nodes: vec![node(NONE, Local::Parts(parts(1, 0))), node(0, Local::Parts(parts(1, 1)))],
            ..Rig::default()
        };
        rig.nodes[1].weights = vec![0.25, 0.5];
        let clip = |channels| Clip { name: String::new(), duration: 1.0, channels, ..Clip::default() };
        let to = |x: f32| vec![0.0, 0.0, 0.0, x, x, x];
        rig.clips = vec![
            clip(vec![key(Property::Translation, 0, to(1.0)), key(Property::Weights, 1, vec![0.0, 0.0, 1.0, 2.0])]),
            clip(vec![key(Property::Translation, 0, to(3.0))]),
        ];
        rig
    }

    fn playing(clip: u32) -> Playback {
        Playback { clip, ..Playback::default() }
    }

    #[test]
    fn later_clips_override_what_they_drive_and_nothing_else() {
        let rig = weighted();
        let mut pose = RigPose::default();
        pose.evaluate(&rig, &[playing(0), playing(1), playing(7)], 0.5);
        assert_eq!(pose.world(0).translation, Vec3::splat(1.5).into());
        assert_eq!(pose.weights(1), [0.5, 1.0]);
        assert!(pose.weights(0).is_empty() && pose.weights(2).is_empty());
    }

    #[test]
    fn a_pose_does_not_remember_the_one_before() {
        let rig = weighted();
        let (mut used, mut new) = (RigPose::default(), RigPose::default());
        used.evaluate(&rig, &[playing(0)], 0.7);
        used.evaluate(&rig, &[], 0.0);
        new.evaluate(&rig, &[], 0.0);
        assert_eq!(used.worlds(), new.worlds());
        assert_eq!(used.weights(1), [0.25, 0.5]);
    }

    #[test]
    fn what_hangs_from_a_hidden_node_is_hidden_at_its_times() {
        let mut rig = weighted();
        rig.nodes.push(node(NONE, Local::Matrix(Affine3::IDENTITY)));
        rig.nodes[2].visible = false;
        let blink = Channel {
            interpolation: Interpolation::Step,
            times: vec![0.25, 0.5],
            ..key(Property::Visibility, 0, vec![0.0, 1.0])
        };
        rig.clips[0].channels.push(blink);
        let mut pose = RigPose::default();
        for (time, expected) in [(0.0, false), (0.25, false), (0.49, false), (0.5, true), (0.99, true)] {
            pose.evaluate(&rig, &[playing(0)], time);
            assert_eq!([0, 1, 2].map(|node| pose.is_shown(node)), [expected, expected, false], "at {time}");
        }
        pose.evaluate(&rig, &[], 0.0);
        assert_eq!([0, 1, 2].map(|node| pose.is_shown(node)), [true, true, false]);
    }

    #[test]
    fn joints_move_what_was_bound_to_them() {
        let mut rig = weighted();
        let mut pose = RigPose::default();
        pose.evaluate(&rig, &[], 0.0);
        let bind = Affine3::from(pose.world(1).inverse());
        rig.skins.push(Skin { name: String::new(), joints: vec![1], joint_from_mesh: vec![bind] });
        let mut palette = Vec::new();
        pose.palette(&rig, 0, &mut palette);
        assert!(palette[0].abs_diff_eq(Affine3A::IDENTITY, 1e-6));
        pose.palette(&rig, 1, &mut palette);
        assert!(palette.is_empty());
    }
}
