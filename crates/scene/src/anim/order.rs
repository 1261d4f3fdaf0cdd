//! A scene's instances in another order.

use crate::{Instance, Scene};
use rayon::prelude::*;

/// Reordered instances and their numbers: `instances()[i]` is instance `ids()[i]` of the scene.
pub struct OrderedInstances {
    instances: Vec<Instance>,
    ids: Vec<u32>,
}

impl OrderedInstances {
    /// Reorders the scene's instances. `ids` lists their numbers in the new order.
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
