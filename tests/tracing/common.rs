//! Small scenes made in code, and rays shot at them.

use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng::{
    abi::{Hit, Ray},
    device::{CpuDevice, Device, FrameSettings, RayKind, Rendered},
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

fn variants() -> Vec<CpuDevice> {
    let names = CpuDevice::variants();
    names
        .into_iter()
        .map(|name| CpuDevice::with_variant(name).unwrap())
        .collect()
}

/// Traces on every kernel variant, which must agree to the bit.
pub fn trace(scene: Scene, kind: RayKind, rays: &[Ray]) -> Vec<Hit> {
    let scene = Arc::new(scene);
    let mut agreed: Option<Vec<Hit>> = None;
    for mut device in variants() {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout())
            .pose(1)
            .frame;
        let mut hits = vec![Hit::default(); rays.len()];
        device.trace(&frame, kind, rays, &mut hits, 1).unwrap();
        // Each width has a tree of its own, and so its own order of records.
        hits.iter_mut().for_each(|hit| hit.record = 0);
        if let Some(agreed) = &agreed {
            for ((ray, a), b) in rays.iter().zip(agreed).zip(&hits) {
                assert_eq!(
                    bytemuck::bytes_of(a),
                    bytemuck::bytes_of(b),
                    "{}: {ray:?} {a:?} {b:?}",
                    device.describe()
                );
            }
        }
        agreed = Some(hits);
    }
    agreed.unwrap()
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

/// Renders the first frame on every kernel variant, which must agree to the bit.
pub fn render(scene: Scene, settings: &FrameSettings) -> Rendered {
    let scene = Arc::new(scene);
    let mut agreed: Option<Rendered> = None;
    for mut device in variants() {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout())
            .pose(1)
            .frame;
        device.submit(frame, settings).unwrap();
        let rendered = device.collect(&|| false).unwrap();
        if let Some(agreed) = agreed.filter(|_| settings.integrator != Integrator::Steps) {
            assert!(
                agreed.pixels == rendered.pixels,
                "{} makes another picture",
                device.describe()
            );
            assert_eq!(agreed.rays, rendered.rays);
        }
        agreed = Some(rendered);
    }
    agreed.unwrap()
}

pub fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray {
        origin: origin.into(),
        t_min: 0.0,
        direction: direction.into(),
        t_max: f32::INFINITY,
    }
}
