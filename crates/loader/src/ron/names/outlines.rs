//! Points at the first frame whose convex hull approximates an object's convex hull.

use crate::subjects::Found;
use glam::Vec3;
use rayon::prelude::*;
use std::{cell::OnceCell, collections::HashMap, f32::consts::PI};
use throng_base::math::Aabb;
use throng_scene::anim::{self, Moment};
use throng_scene::{Mesh, Placed, Scene, Shape};

/// Number of directions in which the farthest point of an object is part of its outline.
const DIRECTIONS: u32 = 1024;

/// Number of instances above which their bounding boxes are used.
const MANY: usize = 256;

/// The farthest points of an object in many directions; never empty.
pub fn of(scene: &Scene, found: &Found) -> Vec<Vec3> {
    let moment = Moment::of(scene, scene.settings.start);
    let outlines = Outlines { scene, moment: &moment, directions: directions(), boxes: OnceCell::new() };
    let world = anim::way_world(scene, &moment, &found.around);
    let points = outlines.of(&found.instances);
    let mut points: Vec<Vec3> = points.iter().map(|point| world.transform_point3(*point)).collect();
    points.retain(|point| point.is_finite());
    if points.is_empty() {
        points.push(Vec3::ZERO);
    }
    points
}

struct Outlines<'a> {
    scene: &'a Scene,
    moment: &'a Moment,
    directions: Vec<Vec3>,
    /// Bounds of all meshes and assemblies.
    boxes: OnceCell<Vec<Aabb>>,
}

impl Outlines<'_> {
    /// The farthest points of instances, in the space of their level.
    fn of(&self, instances: &[u32]) -> Vec<Vec3> {
        let mut known: HashMap<u32, Vec<Vec3>> = HashMap::new();
        let mut points = Vec::new();
        for &index in instances {
            let mesh = self.scene.instances[index as usize].mesh;
            let world = anim::instance_world(self.scene, self.moment, index);
            let own = known.entry(mesh).or_insert_with(|| self.of_placed(index, instances.len() > MANY));
            points.extend(own.iter().map(|p| world.transform_point3(*p)).filter(|p| p.is_finite()));
        }
        self.farthest(&points)
    }

    /// The farthest points of an instance's mesh or assembly, or the corners of its box.
    fn of_placed(&self, index: u32, boxed: bool) -> Vec<Vec3> {
        let mesh = self.scene.instances[index as usize].mesh as usize;
        match self.scene.placed_by(&self.scene.instances[index as usize]) {
            Placed::Assembly(_) if boxed => {
                let boxes = self.boxes.get_or_init(|| self.scene.boxes_at_rest());
                boxes[mesh].corners().to_vec()
            }
            Placed::Assembly(assembly) => {
                let own: Vec<u32> = self.scene.assemblies[assembly].instances.clone().collect();
                self.of(&own)
            }
            Placed::Mesh(mesh) => match &self.scene.meshes[mesh] {
                mesh if boxed || matches!(mesh.shape, Shape::Curves(_)) => mesh.bounds().corners().to_vec(),
                Mesh { shape: Shape::Sphere, .. } => self.directions.clone(),
                mesh => {
                    let positions = mesh.triangles().map_or(&[][..], |mesh| &mesh.positions);
                    let all: Vec<Vec3> = positions.iter().map(|p| Vec3::from(*p)).collect();
                    self.farthest(&all)
                }
            },
        }
    }

    /// The farthest of `points` in each direction, without repetitions.
    fn farthest(&self, points: &[Vec3]) -> Vec<Vec3> {
        let farthest = self.directions.par_iter().filter_map(|direction| {
            let reach = |point: &&Vec3| direction.dot(**point);
            points.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)))
        });
        let mut found: Vec<Vec3> = farthest.copied().collect();
        found.sort_unstable_by(|a, b| a.to_array().map(f32::to_bits).cmp(&b.to_array().map(f32::to_bits)));
        found.dedup();
        found
    }
}

/// A Fibonacci lattice, which covers the sphere almost uniformly.
fn directions() -> Vec<Vec3> {
    let turn = PI * (3.0 - 5f32.sqrt());
    let direction = |i: u32| {
        let y = 1.0 - 2.0 * (i as f32 + 0.5) / DIRECTIONS as f32;
        let (sin, cos) = (turn * i as f32).sin_cos();
        let around = (1.0 - y * y).sqrt();
        Vec3::new(cos * around, y, sin * around)
    };
    (0..DIRECTIONS).map(direction).collect()
}
