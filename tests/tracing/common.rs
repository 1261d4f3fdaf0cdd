//! Small scenes made in code, and rays shot at them.

use glam::{Affine3, Vec3};
use std::sync::{Arc, atomic::AtomicBool};
use throng::{
    abi::{Hit, Ray},
    device::{Device, DeviceChoice, FrameSettings, RayKind, Rendered, open},
    math::hash_unit,
    render::Poser,
    scene::{Instance, Integrator, Material, Mesh, NONE, Scene, Shape, ToneMap, TriangleMesh},
};

/// Reproducible numbers.
pub struct Random {
    seed: u32,
    next: u32,
}

impl Random {
    pub fn new(seed: u32) -> Self {
        Self { seed, next: 0 }
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f32 {
        self.next += 1;
        hash_unit(self.seed, self.next)
    }

    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the cube [-1, 1]³.
    pub fn cube(&mut self) -> Vec3 {
        Vec3::new(
            self.range(-1.0, 1.0),
            self.range(-1.0, 1.0),
            self.range(-1.0, 1.0),
        )
    }
}

pub fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    let positions = positions.into_iter().map(Into::into).collect();
    let shape = Shape::Triangles(TriangleMesh {
        positions,
        triangles,
        ..Default::default()
    });
    Mesh {
        name: "mesh".into(),
        shape,
        slot_count: 1,
    }
}

pub fn sphere() -> Mesh {
    Mesh {
        name: "sphere".into(),
        shape: Shape::Sphere,
        slot_count: 1,
    }
}

/// An octahedron whose faces are split `levels` times and pushed out to the unit sphere: closed, no poles.
pub fn ball(levels: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = vec![
        Vec3::X,
        Vec3::Y,
        Vec3::Z,
        Vec3::NEG_X,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
    ];
    let mut triangles = vec![
        [0, 1, 2],
        [1, 3, 2],
        [3, 4, 2],
        [4, 0, 2],
        [1, 0, 5],
        [3, 1, 5],
        [4, 3, 5],
        [0, 4, 5],
    ];
    for _ in 0..levels {
        let mut middles = std::collections::HashMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: u32, j: u32| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    positions.push((positions[i as usize] + positions[j as usize]).normalize());
                    positions.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (positions, triangles)
}

/// One white material; instance `i` shows `meshes[placements[i].0]`.
pub fn scene(meshes: Vec<Mesh>, placements: &[(u32, Affine3)]) -> Scene {
    let instances = placements
        .iter()
        .map(|&(mesh, local)| Instance {
            local,
            node: NONE,
            mesh,
            slot_base: 0,
            motion: NONE,
        })
        .collect();
    let materials = vec![Material {
        color: Vec3::ONE,
        ..Default::default()
    }];
    Scene {
        meshes,
        instances,
        materials,
        material_slots: vec![0],
        ..Default::default()
    }
}

pub fn device() -> Box<dyn Device> {
    open(DeviceChoice::Cpu, 0).unwrap()
}

pub fn trace(scene: Scene, kind: RayKind, rays: &[Ray]) -> Vec<Hit> {
    let scene = Arc::new(scene);
    let mut device = device();
    device.load(scene.clone()).unwrap();
    let frame = Poser::new(scene, device.node_layout()).pose(1).frame;
    let mut hits = vec![Hit::default(); rays.len()];
    device.trace(&frame, kind, rays, &mut hits).unwrap();
    hits
}

pub fn settings(width: u32, height: u32, integrator: Integrator) -> FrameSettings {
    FrameSettings {
        width,
        height,
        samples: 1,
        bounces: 8,
        seed: 0,
        integrator,
        exposure: 0.0,
        tone_map: ToneMap::None,
    }
}

/// Renders the first frame.
pub fn render(scene: Scene, settings: &FrameSettings) -> Rendered {
    let scene = Arc::new(scene);
    let mut device = device();
    device.load(scene.clone()).unwrap();
    let frame = Poser::new(scene, device.node_layout()).pose(1).frame;
    device.submit(frame, settings).unwrap();
    device.collect(&AtomicBool::new(false)).unwrap()
}

pub fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray {
        origin: origin.into(),
        t_min: 0.0,
        direction: direction.into(),
        t_max: f32::INFINITY,
    }
}
