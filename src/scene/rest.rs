//! Where things are at rest: without motions, and without the poses of rigs.

use super::{Instance, Node, Placed, Scene};
use crate::math::Aabb;
use glam::Affine3;
use rayon::prelude::*;

/// The transform of every node at rest.
pub fn node_worlds(nodes: &[Node]) -> Vec<Affine3> {
    let mut worlds: Vec<Affine3> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = worlds.get(node.parent as usize).copied().unwrap_or(Affine3::IDENTITY);
        worlds.push(parent * node.local);
    }
    worlds
}

/// The transform of an instance at rest, to the world or to the space of its assembly.
pub fn instance_world(instance: &Instance, node_worlds: &[Affine3]) -> Affine3 {
    match node_worlds.get(instance.node as usize) {
        Some(node) => *node * instance.local,
        None => instance.local,
    }
}

impl Scene {
    /// The bounds of each mesh, then of each assembly, in their own spaces.
    pub(crate) fn boxes_at_rest(&self) -> Vec<Aabb> {
        let mut boxes: Vec<Aabb> = self.meshes.par_iter().map(|mesh| mesh.bounds()).collect();
        if self.assemblies.is_empty() {
            return boxes;
        }
        let worlds = node_worlds(&self.nodes);
        let meshes = boxes.len();
        boxes.resize(meshes + self.assemblies.len(), Aabb::EMPTY);
        for (index, assembly) in self.assemblies.iter().enumerate().rev() {
            boxes[meshes + index] = bounds(&self.instances[assembly.range()], &boxes, &worlds);
        }
        boxes
    }

    /// World bounds of all instances.
    pub(crate) fn bounds_at_rest(&self) -> Aabb {
        bounds(&self.instances[self.world()], &self.boxes_at_rest(), &node_worlds(&self.nodes))
    }

    /// The box around all assemblies that are placed in the world, at rest.
    pub(crate) fn bounds_of_assemblies(&self) -> Aabb {
        let world = self.instances[self.world()].iter();
        let placed: Vec<Instance> =
            world.filter(|i| matches!(self.placed_by(i), Placed::Assembly(_))).copied().collect();
        bounds(&placed, &self.boxes_at_rest(), &node_worlds(&self.nodes))
    }
}

fn bounds(instances: &[Instance], boxes: &[Aabb], worlds: &[Affine3]) -> Aabb {
    let placed = |i: &Instance| boxes[i.mesh as usize].transformed(&instance_world(i, worlds));
    instances.par_iter().map(placed).reduce(|| Aabb::EMPTY, Aabb::union)
}
