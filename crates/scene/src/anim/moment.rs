//! A moment of a scene: a time, and the poses of all actors.

use super::{
    RigPose,
    posed_rows::{PosedRows, TimeOfRows},
};
use crate::{Placements, Scene, rig::RigNodeRef};
use glam::{Affine3, Affine3A, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// A time and the poses of all actors, from which everything else at that time is computed. Its memory is reused from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    time: f64,
    /// Time of the frame to which this moment belongs. It selects the camera at cuts.
    frame_time: f64,
    actors: Vec<RigPose>,
    /// World-space origin of positions.
    origin: Vec3,
    /// Transforms of instances that replace the scene's.
    placed: Option<Arc<Placements>>,
    /// Rows of the scene's tables, which place instances and nodes.
    rows: PosedRows,
}

/// The transform of an instance in its group.
#[derive(Clone, Copy)]
pub(super) struct LocalPlace {
    pub transform: Affine3,
    /// The position that determines the phase of a motion.
    pub origin: Vec3,
}

impl Moment {
    /// The moment of `scene` at `time`, in seconds.
    pub fn of(scene: &Scene, time: f64) -> Self {
        let mut moment = Self::default();
        moment.move_to(scene, time);
        moment
    }

    /// A moment without actors, for objects that no actor moves.
    pub(super) fn without_actors(time: f64) -> Self {
        Self { time, frame_time: time, ..Self::default() }
    }

    /// Moves to another time of `scene`, in seconds. Poses its actors in parallel.
    pub fn move_to(&mut self, scene: &Scene, time: f64) {
        (self.time, self.frame_time) = (time, time);
        self.rows = PosedRows::new(&scene.placement_tables);
        self.actors.resize_with(scene.actors.len(), RigPose::default);
        let pairs = self.actors.par_iter_mut().zip(&scene.actors);
        pairs.for_each(|(pose, actor)| pose.evaluate(&actor.rig, &actor.playbacks, time));
    }

    /// This moment with the visibility, the frame time and the replaced transforms of `other`. Pictures that combine several times, for motion blur or motion
    /// vectors, show one set of objects through one camera.
    pub fn showing(mut self, other: &Self) -> Self {
        self = self.in_frame(other.frame_time);
        self.placed = other.placed.clone();
        self.actors.iter_mut().zip(&other.actors).for_each(|(own, other)| own.show_as(other));
        self
    }

    /// This moment with positions relative to `origin`, which increases the precision of positions close to it.
    pub fn relative_to(mut self, origin: Vec3) -> Self {
        self.origin = origin;
        self
    }

    /// Replaces transforms of instances.
    pub fn place(&mut self, placed: Option<Arc<Placements>>) {
        self.placed = placed;
    }

    /// The transform of an instance in its group: `own`, unless it is replaced or a row of a table places it.
    pub(super) fn local(&self, index: u32, own: &Affine3) -> LocalPlace {
        if let Some(&transform) = self.placed.as_ref().and_then(|placed| placed.get(index)) {
            return LocalPlace { transform, origin: transform.translation };
        }
        let transform = self.rows.instance(index, self.time_of_rows()).unwrap_or(*own);
        LocalPlace { transform, origin: own.translation }
    }

    /// The transform of a node in its parent: `own`, unless a row of a table places it.
    pub(super) fn local_of_node(&self, index: u32, own: &Affine3) -> Affine3 {
        self.rows.node(index, self.time_of_rows()).unwrap_or(*own)
    }

    /// Adds the instances whose rows are not there in the frame.
    pub(super) fn add_hidden(&self, to: &mut Vec<u32>) {
        self.rows.hidden(self.time_of_rows(), to);
    }

    fn time_of_rows(&self) -> TimeOfRows {
        TimeOfRows { time: self.time, frame: self.frame_time }
    }

    /// World-space origin of positions.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// The time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// This moment as part of the frame at `time`, in seconds.
    pub fn in_frame(mut self, time: f64) -> Self {
        self.frame_time = time;
        self.rows.clear();
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

    /// Whether a rig's node is visible; true if no rig has the node.
    pub fn is_shown(&self, node: RigNodeRef) -> bool {
        self.actor(node.actor).is_none_or(|pose| pose.is_shown(node.node))
    }

    /// `root_from_node` of a rig's node; the identity if no rig has the node.
    pub fn world(&self, node: RigNodeRef) -> Affine3A {
        let pose = self.actor(node.actor);
        pose.map_or(Affine3A::IDENTITY, |pose| pose.world(node.node))
    }
}
