//! The instances of a scene in another order.

use crate::scene::{Instance, Scene};
use rayon::prelude::*;

/// Instances of a scene and their numbers: `instances()[i]` is number `ids()[i]` of the scene.
pub struct OrderedInstances {
    instances: Vec<Instance>,
    ids: Vec<u32>,
}

impl OrderedInstances {
    /// Puts the scene's instances in the order of `ids`, their numbers in the scene.
    pub fn new(scene: &Scene, ids: Vec<u32>) -> Self {
        let instances = ids.par_iter().map(|&id| scene.instances[id as usize]);
        Self { instances: instances.collect(), ids }
    }

    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    pub fn ids(&self) -> &[u32] {
        &self.ids
    }
}
