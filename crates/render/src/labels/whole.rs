//! Boxes of whole objects in a picture, with what other objects hide and what lies outside of the picture.

use super::{objects::Objects, projection::Projector};
use crate::RenderJob;
use glam::{Affine3, DVec2, Vec3};
use rayon::prelude::*;
use std::{
    collections::{BTreeSet, HashMap},
    f32::consts::{PI, TAU},
    slice,
};
use throng_scene::{
    Scene, Shape,
    anim::{self, Deformed, Moment},
};

/// Number of circles of latitude, and of points on each, by which a sphere is represented. Boxes are too small by at most 0.03 % of its radius.
const RINGS: u32 = 64;
const RING_POINTS: u32 = 128;

/// A frame in which boxes are measured.
struct Measured<'a> {
    scene: &'a Scene,
    objects: &'a Objects,
    moment: Moment,
    projector: Projector,
    /// Shapes of deforming meshes, by mesh.
    shapes: HashMap<u32, Deformed>,
}

/// A sphere around a point of a mesh, in object space.
type Ball = (Vec3, f32);

/// The boxes of `instances` in frame `number`, as `[x, y, width, height]` in pixels of the rendered region. An instance has none if a part of it is behind
/// the camera; none has one in a panorama.
pub fn boxes(job: &RenderJob, number: u32, objects: &Objects, instances: &BTreeSet<u32>) -> HashMap<u32, [f64; 4]> {
    let Some(projector) = Projector::new(&job.camera_of(number), &job.settings) else { return HashMap::new() };
    let (scene, moment) = (&*job.scene, job.moment_of(number));
    let meshes: BTreeSet<u32> =
        instances.iter().filter_map(|&id| mesh_of(scene, &moment, objects.index_of(id)?)).collect();
    let deforming = scene.deforming.iter().filter(|deforming| meshes.contains(&deforming.mesh));
    let shape = |deforming| {
        let mut shape = Deformed::default();
        anim::shape_at(scene, deforming, &moment, &mut shape);
        shape
    };
    let shapes = deforming.map(|deforming| (deforming.mesh, shape(deforming))).collect();
    let measured = Measured { scene, objects, moment, projector, shapes };
    instances.par_iter().filter_map(|&id| Some((id, measured.bounds(id)?))).collect()
}

/// The mesh that an instance shows.
fn mesh_of(scene: &Scene, moment: &Moment, index: u32) -> Option<u32> {
    let instance = scene.instances.get(index as usize)?;
    if scene.palettes.is_empty() {
        return Some(instance.mesh);
    }
    let mut shown = Vec::new();
    anim::shown_meshes(scene, slice::from_ref(instance), &[index], moment, &mut shown);
    shown.first().copied()
}

impl Measured<'_> {
    fn bounds(&self, id: u32) -> Option<[f64; 4]> {
        let index = self.objects.index_of(id)?;
        let way = self.scene.way_to(id, index, self.objects.numbers());
        let world = anim::way_world(self.scene, &self.moment, &way);
        let rows = [0, 1, 2].map(|axis| world.matrix3.row(axis).length());
        let (stretch, world) = (rows.into_iter().fold(0.0, f32::max), Affine3::from(world).as_daffine3());
        let (mut min, mut max) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        let all = self.visit(mesh_of(self.scene, &self.moment, index)?, &mut |(center, radius)| {
            let point = world.transform_point3(center.as_dvec3());
            for place in self.projector.around(point, f64::from(radius * stretch)) {
                let Some(place) = place else { return false };
                (min, max) = (min.min(place), max.max(place));
            }
            true
        });
        let rounded = |value: f64| (100.0 * value).round() / 100.0;
        (all && min.x <= max.x).then(|| [min.x, min.y, max.x - min.x, max.y - min.y].map(rounded))
    }

    /// Calls `visit` with the points of a mesh in its shape of the frame, until it returns false. Returns whether all were visited.
    fn visit(&self, mesh: u32, visit: &mut dyn FnMut(Ball) -> bool) -> bool {
        let Some(shape) = self.scene.meshes.get(mesh as usize).map(|mesh| &mesh.shape) else { return false };
        let posed = self.shapes.get(&mesh).map(|shape| &shape.positions[..]);
        match shape {
            Shape::Triangles(mesh) => {
                posed.unwrap_or(&mesh.positions).iter().all(|&position| visit((position.into(), 0.0)))
            }
            Shape::Curves(curves) => curves.points.iter().enumerate().all(|(i, point)| {
                let position = posed.map_or(point.position, |positions| positions[i]);
                visit((position.into(), point.radius))
            }),
            Shape::Sphere => (0..=RINGS).all(|ring| {
                let (across, y) = (PI * ring as f32 / RINGS as f32).sin_cos();
                (0..RING_POINTS).all(|i| {
                    let (sine, cosine) = (TAU * i as f32 / RING_POINTS as f32).sin_cos();
                    visit((Vec3::new(across * cosine, y, across * sine), 0.0))
                })
            }),
        }
    }
}
