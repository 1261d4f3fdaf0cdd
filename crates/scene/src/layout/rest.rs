//! Positions at rest, without motions and rig poses, and detection of scenes whose positions single precision represents poorly.
//!
//! A float has 24 bits. In scenes with assemblies, and if instances are far from the origin relative to their size, frames use an origin
//! close to the camera (`Tlas::origin`, `PoseSettings::close_to_camera`). It lies on a grid of powers of two, so that static objects keep all
//! digits of their position. Nodes and motions are then composed in double precision.

use crate::{Instance, Node, Placed, Scene, Shape};
use glam::Affine3;
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Ratio of coordinates to instance size above which single precision causes visible errors: at 10,000 sizes from the origin, some pixels
/// of a contact shadow are wrong.
const FAR: f32 = 2048.0;
/// Ratio of half the world's extent to the size of its details above which rays leave a large ground visibly too far from its surface: at
/// 250,000, contact shadows are missing. Below this ratio, levels would cost more than the improvement is worth.
const LARGE: f32 = 32768.0;
/// Number of instances whose sizes are sampled.
const SIZES: usize = 4096;

/// Parts of a scene at rest whose positions single precision represents poorly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Far {
    /// Lower quartile of instance sizes, if half of the world's instances are far from its origin relative to their size.
    pub details: Option<f32>,
    /// Half of the world's greatest extent, if it is large relative to instance sizes, such as with a ground that extends to the horizon.
    pub reach: Option<f32>,
}

/// The transform of every node at rest.
pub fn node_worlds(nodes: &[Node]) -> Vec<Affine3> {
    let mut worlds: Vec<Affine3> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = worlds.get(node.parent as usize).copied().unwrap_or(Affine3::IDENTITY);
        worlds.push(parent * node.local);
    }
    worlds
}

/// The transform of an instance at rest, to world space or to the space of its assembly.
pub fn instance_world(instance: &Instance, node_worlds: &[Affine3]) -> Affine3 {
    match node_worlds.get(instance.node as usize) {
        Some(node) => *node * instance.local,
        None => instance.local,
    }
}

impl Scene {
    /// The bounds of each mesh, then of each assembly, in their own spaces.
    #[doc(hidden)]
    pub fn boxes_at_rest(&self) -> Vec<Aabb> {
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
    #[doc(hidden)]
    pub fn bounds_at_rest(&self) -> Aabb {
        bounds(&self.instances[self.world()], &self.boxes_at_rest(), &node_worlds(&self.nodes))
    }

    /// World bounds of all instances except the ground of a standalone model.
    #[doc(hidden)]
    pub fn bounds_without_stage(&self) -> Aabb {
        let mut contents = self.instances[self.world()].to_vec();
        if let Some(stage) = self.stage {
            contents.remove(stage as usize);
        }
        bounds(&contents, &self.boxes_at_rest(), &node_worlds(&self.nodes))
    }

    /// Passes each mesh of the instances of [`Self::bounds_without_stage`] to `each`, as an index into [`Scene::meshes`] with its transform to world space.
    /// Assemblies are unrolled.
    #[doc(hidden)]
    pub fn visit_meshes_at_rest(&self, each: &mut dyn FnMut(usize, &Affine3)) {
        let worlds = node_worlds(&self.nodes);
        let stage = self.stage.map(|stage| stage as usize);
        for index in self.world().filter(|&index| Some(index) != stage) {
            self.visit_at_rest(&self.instances[index], &Affine3::IDENTITY, &worlds, each);
        }
    }

    fn visit_at_rest(
        &self,
        instance: &Instance,
        outer: &Affine3,
        worlds: &[Affine3],
        each: &mut dyn FnMut(usize, &Affine3),
    ) {
        let world = *outer * instance_world(instance, worlds);
        match self.placed_by(instance) {
            Placed::Mesh(mesh) => each(mesh, &world),
            Placed::Assembly(assembly) => {
                for inner in &self.instances[self.assemblies[assembly].range()] {
                    self.visit_at_rest(inner, &world, worlds, each);
                }
            }
        }
    }

    /// Parts of the world that single precision represents poorly. Computed once, in about 15 ns per instance and core.
    #[doc(hidden)]
    pub fn far(&self) -> Far {
        *self.far.get_or_init(|| self.find_far())
    }

    /// Whether frames of the scene have levels (`accel::Nested`): for assemblies, for the additional precision of their rays, or for curves, because
    /// kernels of scenes without levels leave out what they need.
    #[doc(hidden)]
    pub fn has_levels(&self) -> bool {
        let has_curves = || self.meshes.iter().any(|mesh| matches!(mesh.shape, Shape::Curves(_)));
        !self.assemblies.is_empty() || has_curves() || self.far() != Far::default()
    }

    fn find_far(&self) -> Far {
        let (boxes, worlds) = (self.boxes_at_rest(), node_worlds(&self.nodes));
        let instances = &self.instances[self.world()];
        let sampled = instances.iter().step_by(instances.len().div_ceil(SIZES).max(1));
        let placed = sampled.map(|i| boxes[i.mesh as usize].transformed(&instance_world(i, &worlds)));
        let (mut sizes, mut distances): (Vec<f32>, Vec<f32>) = placed
            .map(|placed| (placed.extent().max_element(), placed.center().abs().max_element()))
            .filter(|&(size, distance)| size > 0.0 && size.is_finite() && distance.is_finite())
            .map(|(size, distance)| (size, distance / size))
            .unzip();
        if sizes.is_empty() {
            return Far::default();
        }
        let ranked = |values: &mut [f32], rank: usize| *values.select_nth_unstable_by(rank, f32::total_cmp).1;
        let (quarter, half) = (sizes.len() / 4, sizes.len() / 2);
        let (size, distance) = (ranked(&mut sizes, quarter), ranked(&mut distances, half));
        let reach = 0.5 * bounds(instances, &boxes, &worlds).extent().max_element();
        Far { details: (distance > FAR).then_some(size), reach: (reach > LARGE * size).then_some(reach) }
    }

    /// The bounds of all assemblies in the world, at rest.
    #[doc(hidden)]
    pub fn bounds_of_assemblies(&self) -> Aabb {
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
