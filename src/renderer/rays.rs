//! Ray queries by users of the library. Hits are described in terms of the scene.

use glam::{DMat3, DVec3, Vec3};
use throng_abi::{self as abi, Ray};
use throng_device::Frame;
use throng_scene::{Mesh, Scene, Shape};

/// The nearest hit of a ray.
///
/// Indices refer to the [`Scene`], which has the names: [`Scene::instance_name`], [`Mesh::name`], [`Scene::material_name`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance in multiples of the direction's length; in scene units if the direction is a unit vector. The ray meets the surface at
    /// `origin + distance * direction`.
    pub distance: f32,
    /// Unit geometric normal in world space. For triangles, it points to the side from which the corners are counter-clockwise; for
    /// spheres, it points outwards. It does not depend on the ray's direction.
    pub normal: [f32; 3],
    /// Barycentric weights of the triangle's second and third corner. The weight of the first corner is 1 minus their sum. Both are 0 on
    /// spheres.
    pub barycentrics: [f32; 2],
    /// Index of the triangle in its mesh; 0 for spheres.
    pub primitive: u32,
    /// Index into [`Scene::meshes`] of the mesh that the instance shows in this frame.
    pub mesh: u32,
    /// Index into [`Scene::instances`].
    pub instance: u32,
    /// Number of the copy, for an instance in an assembly; see [`Scene::way_to`].
    pub number: u32,
    /// Index into [`Scene::materials`].
    pub material: u32,
}

/// A posed scene that resolves hits.
pub(super) struct Surfaces<'a> {
    scene: &'a Scene,
    frame: &'a Frame,
    /// Posed vertex positions of each mesh of triangles; empty for others.
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

    /// Resolves a hit of `ray`; None for a miss.
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
            Shape::Curves(curves) => {
                let point =
                    object_from_world.transform_point3(Vec3::from(ray.origin) + hit.t * Vec3::from(ray.direction));
                ((point - curves.axis_point(hit.prim, hit.u)).as_dvec3(), 0)
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

/// Unit normal in world space. Double precision is needed for the normals of tiny triangles.
fn world_normal(object_from_world: DMat3, normal: DVec3) -> Vec3 {
    (object_from_world.transpose() * normal.normalize_or_zero()).normalize_or_zero().as_vec3()
}
