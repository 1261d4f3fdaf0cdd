//! The structures that are compared: the list and the octree of spheres.cpp, and throng's BVH.

use crate::octree::{Octree, Sphere};
use glam::{Affine3, Quat, Vec3};
use libloading::Library;
use std::sync::Arc;
use throng::scene::{Instance, Material, Mesh, NONE, Scene, Shape};
use throng_abi::{Hit, Ray};
use throng_device::{Device, Frame, RayKind};
use throng_render::Poser;

/// A hit of spheres.cpp: `t` is negative for a miss.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Found {
    pub t: f32,
    pub sphere: u32,
}

/// What spheres.cpp traces; see [`Octree`].
#[repr(C)]
struct Input {
    spheres: *const Sphere,
    references: *const u32,
    nodes: *const [u32; 8],
    sphere_count: u32,
    reference_count: u32,
    node_count: u32,
    large: u32,
    large_count: u32,
    low: Vec3,
    size: f32,
}

/// A structure and a precision of spheres.cpp.
#[derive(Clone, Copy)]
pub struct Kind {
    octree: bool,
    half: bool,
}

pub const LIST: Kind = Kind { octree: false, half: false };
pub const OCTREE: Kind = Kind { octree: true, half: false };
pub const HALF_LIST: Kind = Kind { octree: false, half: true };
pub const HALF_OCTREE: Kind = Kind { octree: true, half: true };

type Trace = unsafe extern "C" fn(&Input, bool, bool, *const Ray, *mut Found, u32) -> f64;

/// The list and the octree of spheres.cpp.
pub struct Own<'a> {
    library: &'a Library,
    input: Input,
    /// The input has pointers into both.
    _arrays: (&'a [Sphere], &'a Octree),
}

impl<'a> Own<'a> {
    pub fn new(library: &'a Library, spheres: &'a [Sphere], tree: &'a Octree) -> Self {
        let input = Input {
            spheres: spheres.as_ptr(),
            references: tree.references.as_ptr(),
            nodes: tree.nodes.as_ptr(),
            sphere_count: spheres.len() as u32,
            reference_count: tree.references.len() as u32,
            node_count: tree.nodes.len() as u32,
            large: tree.large as u32,
            large_count: tree.large_count as u32,
            low: tree.low,
            size: tree.size,
        };
        Self { library, input, _arrays: (spheres, tree) }
    }

    /// Returns the seconds that the device took, and the nearest hits.
    pub fn trace(&self, kind: Kind, rays: &[Ray]) -> (f64, Vec<Found>) {
        let mut found = vec![Found::default(); rays.len()];
        // SAFETY: the types are those of spheres.cpp, the arrays live as long as `self`, and `found` has an element for each ray.
        let seconds = unsafe {
            let trace = self.library.get::<Trace>(b"spheres_trace").expect("spheres.cpp has this function");
            trace(&self.input, kind.octree, kind.half, rays.as_ptr(), found.as_mut_ptr(), rays.len() as u32)
        };
        (seconds, found)
    }
}

/// The spheres as instances of throng.
pub struct Bvh<'a> {
    device: &'a mut dyn Device,
    frame: Frame,
}

impl<'a> Bvh<'a> {
    pub fn new(device: &'a mut dyn Device, spheres: &[Sphere]) -> Self {
        let instance = |sphere: &Sphere| {
            let scale = Vec3::splat(sphere.radius);
            let local = Affine3::from_scale_rotation_translation(scale, Quat::IDENTITY, sphere.center);
            Instance { local, node: NONE, mesh: 0, slot_base: 0, motion: NONE }
        };
        let scene = Arc::new(Scene {
            instances: spheres.iter().map(instance).collect(),
            meshes: vec![Mesh { name: "ball".into(), shape: Shape::Sphere, slot_count: 1 }],
            materials: vec![Material::default()],
            material_slots: vec![0],
            ..Scene::default()
        });
        device.load(scene.clone()).expect("the scene loads");
        let frame = Poser::new(scene, device.node_layout()).pose(1).frame;
        Self { device, frame }
    }

    /// As [`Own::trace`].
    pub fn trace(&mut self, rays: &[Ray]) -> (f64, Vec<Found>) {
        let mut hits = vec![Hit::default(); rays.len()];
        // The first pass warms up.
        let times = self.device.trace(&self.frame, RayKind::Closest, rays, &mut hits, 2).expect("rays are traced");
        let found = |hit: &Hit| Found { t: hit.t, sphere: if hit.t < 0.0 { u32::MAX } else { hit.instance } };
        (times[1].as_secs_f64(), hits.iter().map(found).collect())
    }
}
