//! Rays of one's own: what they hit, told in terms of the scene.

use crate::{
    abi::{self, Ray},
    device::Frame,
    scene::{Mesh, Scene, Shape},
};
use glam::{DMat3, DVec3, Vec3};

/// The nearest thing that a ray meets.
///
/// Indices are those of the [`Scene`], which has the names: [`Scene::instance_name`], [`Mesh::name`], [`Scene::material_name`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance in lengths of the ray's direction, so in scene units if that is a unit vector. The ray meets the surface at
    /// `origin + distance * direction`.
    pub distance: f32,
    /// Unit normal of the triangle or the sphere in world space. It points to the side from which the triangle's corners are
    /// counter-clockwise, and out of spheres, whichever side the ray came from.
    pub normal: [f32; 3],
    /// Weights of the triangle's second and third corner; the first corner has the rest of 1. Both are 0 on spheres.
    pub barycentrics: [f32; 2],
    /// Index of the triangle in its mesh; 0 for spheres.
    pub primitive: u32,
    /// Index into [`Scene::meshes`]: the one that the instance shows in this frame.
    pub mesh: u32,
    /// Index into [`Scene::instances`].
    pub instance: u32,
    /// Which of its copies that is, if the instance is in an assembly: [`Scene::way_to`] leads to it.
    pub number: u32,
    /// Index into [`Scene::materials`].
    pub material: u32,
}

impl Ray {
    /// A ray without an end. Both vectors are in world space; the direction may have any length from 1e-15 to 1e15.
    pub fn new(origin: impl Into<[f32; 3]>, direction: impl Into<[f32; 3]>) -> Self {
        Self { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: f32::INFINITY }
    }
}

/// A posed scene in which hits are looked up.
pub(super) struct Surfaces<'a> {
    scene: &'a Scene,
    frame: &'a Frame,
    /// Corners of each mesh as posed; empty for spheres.
    positions: Vec<&'a [[f32; 3]]>,
}

impl<'a> Surfaces<'a> {
    pub fn new(scene: &'a Scene, frame: &'a Frame) -> Self {
        let at_rest = |mesh: &'a Mesh| mesh.triangles().map_or(&[][..], |triangles| &triangles.positions);
        let mut positions: Vec<_> = scene.meshes.iter().map(at_rest).collect();
        for posed in &frame.shapes {
            positions[posed.mesh as usize] = &posed.shape.positions;
        }
        Self { scene, frame, positions }
    }

    /// Looks up the hit of `ray`; None for a miss.
    pub fn hit(&self, ray: &Ray, hit: &abi::Hit) -> Option<Hit> {
        if hit.t < 0.0 {
            return None;
        }
        let record = self.frame.tlas.records.get(hit.record as usize)?;
        let (_, object_from_world) = self.frame.placement(hit);
        let (normal, slot) = match &self.scene.meshes.get(record.mesh as usize)?.shape {
            Shape::Sphere => {
                let point = Vec3::from(ray.origin) + hit.t * Vec3::from(ray.direction);
                (object_from_world.transform_point3(point).as_dvec3(), 0)
            }
            Shape::Triangles(mesh) => {
                let positions = self.positions[record.mesh as usize];
                let corners = mesh.triangles.get(hit.prim as usize)?;
                let [a, b, c] = corners.map(|corner| Vec3::from(positions[corner as usize]).as_dvec3());
                ((b - a).cross(c - a), mesh.slots.get(hit.prim as usize).copied().unwrap_or(0))
            }
        };
        Some(Hit {
            distance: hit.t,
            normal: world_normal(object_from_world.matrix3.as_dmat3(), normal).into(),
            barycentrics: [hit.u, hit.v],
            primitive: hit.prim,
            mesh: record.mesh,
            instance: self.frame.index_of(hit),
            number: hit.instance,
            material: *self.scene.material_slots.get((record.slot_base + slot) as usize)?,
        })
    }
}

/// A unit normal in world space. Doubles hold the normals of the smallest triangles, too.
fn world_normal(object_from_world: DMat3, normal: DVec3) -> Vec3 {
    (object_from_world.transpose() * normal.normalize_or_zero()).normalize_or_zero().as_vec3()
}
