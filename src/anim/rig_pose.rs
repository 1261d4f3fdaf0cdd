//! A rig at a time: where its nodes are, what its morph weights are, and what its joints do to vertices.

use super::clip::{Playback, sample};
use crate::scene::rig::{Channel, Local, Property, Rig, Trs};
use glam::{Affine3A, Quat, Vec3};

/// Transforms and weights of all nodes. Keeps its memory from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct RigPose {
    locals: Vec<Local>,
    worlds: Vec<Affine3A>,
    weights: Vec<f32>,
    /// Where each node's weights begin, and where the last one's end.
    first_weight: Vec<u32>,
}

impl RigPose {
    /// Evaluates `rig` at `time`, in seconds: at rest but for what clips drive. Where several drive the same property, the
    /// last one does. O(nodes + channels · log keys), without recursion.
    pub fn evaluate(&mut self, rig: &Rig, playbacks: &[Playback], time: f32) {
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
            self.worlds
                .push(parent.map_or(local, |parent| *parent * local));
        }
    }

    /// `root_from_node`. A node that the rig does not have is its root.
    pub fn world(&self, node: u32) -> Affine3A {
        let world = self.worlds.get(node as usize);
        world.copied().unwrap_or(Affine3A::IDENTITY)
    }

    /// `root_from_node` of all nodes.
    pub fn worlds(&self) -> &[Affine3A] {
        &self.worlds
    }

    /// The weight of each morph target of a node's mesh; empty where there are none.
    pub fn weights(&self, node: u32) -> &[f32] {
        let node = node as usize;
        let bounds = self.first_weight.get(node).zip(self.first_weight.get(node + 1));
        let range = bounds.map(|(&first, &end)| first as usize..end as usize);
        range
            .and_then(|range| self.weights.get(range))
            .unwrap_or(&[])
    }

    /// What each joint of a skin does to the vertices of a mesh, `root_from_mesh`, into `out`. Skinned meshes are in the
    /// rig's root space, wherever their own node is (glTF 2.0, 3.7.3.3).
    pub fn palette(&self, rig: &Rig, skin: u32, out: &mut Vec<Affine3A>) {
        out.clear();
        let Some(skin) = rig.skins.get(skin as usize) else {
            return;
        };
        let joints = skin.joints.iter().zip(&skin.joint_from_mesh);
        out.extend(
            joints.map(|(&joint, from_mesh)| self.world(joint) * Affine3A::from(*from_mesh)),
        );
    }

    fn rest(&mut self, rig: &Rig) {
        self.locals.clear();
        self.locals.extend(rig.nodes.iter().map(|node| node.local));
        self.weights.clear();
        self.first_weight.clear();
        self.first_weight.push(0);
        for node in &rig.nodes {
            self.weights.extend_from_slice(&node.weights);
            self.first_weight.push(self.weights.len() as u32);
        }
    }

    /// Replaces what a channel drives. Nodes that are given as a matrix have no parts to drive.
    fn drive(&mut self, channel: &Channel, time: f32) {
        let node = channel.node as usize;
        if channel.property == Property::Weights {
            let bounds = self.first_weight.get(node..node + 2);
            if let Some(&[first, end]) = bounds {
                sample(
                    channel,
                    time,
                    &mut self.weights[first as usize..end as usize],
                );
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
            Property::Weights => {}
        }
    }
}

fn drive_vector(channel: &Channel, time: f32, vector: &mut Vec3) {
    sample(channel, time, vector.as_mut());
}

fn parent_from_node(local: &Local) -> Affine3A {
    match *local {
        Local::Matrix(matrix) => matrix.into(),
        Local::Parts(Trs {
            translation,
            rotation,
            scale,
        }) => Affine3A::from_scale_rotation_translation(scale, rotation, translation),
    }
}
