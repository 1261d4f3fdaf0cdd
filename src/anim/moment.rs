//! A moment of a scene: a time, and the poses of the actors at it.

use super::RigPose;
use crate::scene::{
    Scene,
    rig::{Actor, RigNodeRef},
};
use glam::{Affine3A, Vec3};
use rayon::prelude::*;

/// A time and the poses of the actors, from which everything else at that time is computed. Keeps its memory from time to time.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    time: f64,
    /// Time of the frame that this moment is a part of, by which cameras are cut.
    frame_time: f64,
    actors: Vec<RigPose>,
    /// The place in the world from which positions are told.
    origin: Vec3,
}

impl Moment {
    /// The moment of `scene` at `time`, in seconds.
    pub fn of(scene: &Scene, time: f64) -> Self {
        let mut moment = Self::default();
        moment.move_to(&scene.actors, time);
        moment
    }

    /// The moment without actors, for things that no actor moves.
    pub(super) fn without_actors(time: f64) -> Self {
        Self { time, frame_time: time, ..Self::default() }
    }

    /// Poses `actors` at `time`, in seconds, in parallel.
    pub fn move_to(&mut self, actors: &[Actor], time: f64) {
        (self.time, self.frame_time) = (time, time);
        self.actors.resize_with(actors.len(), RigPose::default);
        let pairs = self.actors.par_iter_mut().zip(actors);
        pairs.for_each(|(pose, actor)| pose.evaluate(&actor.rig, &actor.playbacks, time));
    }

    /// This moment with what is shown at `other`, another moment of the same scene: pictures that look at several times, for blur or
    /// motion vectors, show the same things at all of them, through the same camera.
    pub fn showing(mut self, other: &Self) -> Self {
        self.frame_time = other.frame_time;
        self.actors.iter_mut().zip(&other.actors).for_each(|(own, other)| own.show_as(other));
        self
    }

    /// This moment with positions in the world that are told from `origin`, so that those close to it have more digits.
    pub fn relative_to(mut self, origin: Vec3) -> Self {
        self.origin = origin;
        self
    }

    /// The place in the world from which positions are told.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// The time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// This moment as a part of the frame at `time`, in seconds.
    pub fn in_frame(mut self, time: f64) -> Self {
        self.frame_time = time;
        self
    }

    /// The time of the frame in seconds.
    pub fn frame_time(&self) -> f64 {
        self.frame_time
    }

    /// The pose of an actor of the scene.
    pub fn actor(&self, actor: u32) -> Option<&RigPose> {
        self.actors.get(actor as usize)
    }

    /// Whether a rig's node is shown; true for a node that no rig has.
    pub fn is_shown(&self, node: RigNodeRef) -> bool {
        self.actor(node.actor).is_none_or(|pose| pose.is_shown(node.node))
    }

    /// `root_from_node` of a rig's node; the identity for a node that no rig has.
    pub fn world(&self, node: RigNodeRef) -> Affine3A {
        let pose = self.actor(node.actor);
        pose.map_or(Affine3A::IDENTITY, |pose| pose.world(node.node))
    }
}
