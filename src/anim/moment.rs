//! A moment of a scene: the time, and the pose of each actor at it.

use super::RigPose;
use crate::scene::{
    Scene,
    rig::{Actor, RigNodeRef},
};
use glam::Affine3A;
use rayon::prelude::*;

/// What everything else about a scene at a time is computed from. Keeps its memory from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    time: f32,
    actors: Vec<RigPose>,
}

impl Moment {
    /// `scene` at `time`, in seconds.
    pub fn of(scene: &Scene, time: f32) -> Self {
        let mut moment = Self::default();
        moment.move_to(&scene.actors, time);
        moment
    }

    /// The time alone, for what no actor moves.
    pub(super) fn bare(time: f32) -> Self {
        Self {
            time,
            ..Self::default()
        }
    }

    /// Poses `actors` as they are at `time`, in seconds; side by side.
    pub fn move_to(&mut self, actors: &[Actor], time: f32) {
        self.time = time;
        self.actors.resize_with(actors.len(), RigPose::default);
        let pairs = self.actors.par_iter_mut().zip(actors);
        pairs.for_each(|(pose, actor)| pose.evaluate(&actor.rig, &actor.playbacks, time));
    }

    /// In seconds.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// The pose of an actor of the scene.
    pub fn actor(&self, actor: u32) -> Option<&RigPose> {
        self.actors.get(actor as usize)
    }

    /// `root_from_node`. A node that no rig has is the root.
    pub fn world(&self, node: RigNodeRef) -> Affine3A {
        let pose = self.actor(node.actor);
        pose.map_or(Affine3A::IDENTITY, |pose| pose.world(node.node))
    }
}
