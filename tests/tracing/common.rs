//! Small scenes built in code, and functions to trace and render them.

use glam::{Affine3, Vec3};
use proptest::test_runner::{Config, RngSeed};
use std::sync::{Arc, Mutex, OnceLock};
use throng::scene::{Instance, Integrator, Material, Mesh, NONE, RenderDefaults, Scene, Shape, ToneMap, TriangleMesh};
use throng_abi::{Hit, NO_INDEX, Ray};
use throng_base::{math::hash_unit, sync::lock};
use throng_device::{
    self as device, CpuDevice, Delivery, Device, DeviceChoice, FrameSettings, PixelType, RayKind, Rendered, cuda::gpus,
};
use throng_picture::{aov::AovImage, film::FilmSettings};
use throng_render::{PoseSettings, Poser, compare::PictureDifference};

/// Reproducible random numbers.
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
        Vec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0))
    }
}

pub fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    let positions = positions.into_iter().map(Into::into).collect();
    let shape = Shape::Triangles(TriangleMesh { positions, triangles, ..Default::default() });
    Mesh { name: "mesh".into(), shape, slot_count: 1 }
}

pub fn sphere() -> Mesh {
    Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 }
}

/// An octahedron, subdivided `levels` times and projected to the unit sphere; closed and without poles.
pub fn ball(levels: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    let mut triangles = vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
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

/// A scene with one white material. Instance `i` shows `meshes[placements[i].0]`.
pub fn scene(meshes: Vec<Mesh>, placements: &[(u32, Affine3)]) -> Scene {
    let instances = placements
        .iter()
        .map(|&(mesh, local)| Instance { local, node: NONE, mesh, slot_base: 0, motion: NONE })
        .collect();
    let materials = vec![Material { color: Vec3::ONE, ..Default::default() }];
    Scene { meshes, instances, materials, material_slots: vec![0], ..Default::default() }
}

/// Calls `visit` with every CPU kernel variant, once more with interleaved rays as for a TLAS that exceeds the cache, and with a GPU if one
/// is usable.
pub fn on_each_device(mut visit: impl FnMut(&mut dyn Device)) {
    for name in CpuDevice::variants() {
        visit(&mut CpuDevice::with_variant(name).unwrap());
        // Compressed trees do not support interleaved rays.
        if name != "compressed" {
            visit(&mut CpuDevice::with_variant(name).unwrap().with_cached_tlas(0));
        }
    }
    if let Some(gpu) = gpu() {
        // A failed test at worst leaves frames in flight, which `load` discards.
        visit(lock(gpu).as_mut());
    }
}

/// The first GPU, opened once per process because opening it is slow. Prints a line with the reason and returns None if no GPU is usable.
fn gpu() -> Option<&'static Mutex<Box<dyn Device>>> {
    static GPU: OnceLock<Option<Mutex<Box<dyn Device>>>> = OnceLock::new();
    let open = || match gpus() {
        Ok(gpus) => {
            let choice = DeviceChoice::Cuda(vec![gpus[0].ordinal]);
            Some(Mutex::new(device::open(&choice, 0).unwrap().device))
        }
        Err(reason) => {
            println!("skipped on GPUs: {reason}");
            None
        }
    };
    GPU.get_or_init(open).as_ref()
}

/// Traces on every device. The hits must agree bitwise.
pub fn trace(scene: Scene, kind: RayKind, rays: &[Ray]) -> Vec<Hit> {
    let scene = Arc::new(scene);
    let mut agreed: Option<Vec<Hit>> = None;
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let mut hits = vec![Hit::default(); rays.len()];
        device.trace(&frame, kind, rays, &mut hits, 1).unwrap();
        hits.iter_mut().for_each(|hit| *hit = comparable(kind, *hit));
        if let Some(agreed) = &agreed {
            for ((ray, a), b) in rays.iter().zip(agreed).zip(&hits) {
                assert_eq!(bytemuck::bytes_of(a), bytemuck::bytes_of(b), "{}: {ray:?} {a:?} {b:?}", device.describe());
            }
        }
        agreed = Some(hits);
    });
    agreed.unwrap()
}

/// The parts of a hit that do not depend on the device.
fn comparable(kind: RayKind, hit: Hit) -> Hit {
    match kind {
        RayKind::Any => Hit { t: hit.t, ..MISS },
        RayKind::Closest if hit.t < 0.0 => Hit { t: hit.t, ..MISS },
        // The order of records depends on the tree layout.
        RayKind::Closest => Hit { record: 0, ..hit },
    }
}

const MISS: Hit = Hit { t: -1.0, u: 0.0, v: 0.0, prim: NO_INDEX, instance: NO_INDEX, record: 0 };

pub fn settings(width: u32, height: u32, integrator: Integrator) -> FrameSettings {
    FrameSettings {
        width,
        height,
        samples: 1,
        bounces: 8,
        integrator,
        tone_map: ToneMap::None,
        film: FilmSettings::default(),
        ..FrameSettings::from(&RenderDefaults::default())
    }
}

/// Renders the first frame on every device, and returns the first device's result.
pub fn render(scene: Scene, settings: &FrameSettings) -> Rendered {
    render_on_each(scene, settings).swap_remove(0)
}

/// Renders the first frame on every device. CPU variants must agree bitwise. A GPU has its own math library, and may differ in as many
/// pixels as `--compare` allows.
pub fn render_on_each(scene: Scene, settings: &FrameSettings) -> Vec<Rendered> {
    let mut all: Vec<Rendered> = Vec::new();
    visit_renders(scene, settings, |device, rendered| {
        // Step counts depend on the tree.
        if let Some(first) = all.first().filter(|_| settings.integrator != Integrator::Steps) {
            assert_agrees(device, settings.pixels, &rendered, first);
        }
        all.push(rendered);
    });
    all
}

/// Calls `visit` with each device's name and its render of the first frame.
pub fn visit_renders(scene: Scene, settings: &FrameSettings, mut visit: impl FnMut(&str, Rendered)) {
    let scene = Arc::new(scene);
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let mut poser = Poser::new(scene.clone(), device.node_layout());
        poser.configure(PoseSettings::of(settings));
        let frame = poser.pose(1).frame;
        device.submit(frame, settings, Delivery::default()).unwrap();
        let rendered = device.collect(&|| false).unwrap();
        visit(&device.describe(), rendered);
    });
}

/// Converts pixels to 8 bits.
fn displayed(pixels: PixelType, rendered: &Rendered) -> Vec<u8> {
    match pixels {
        PixelType::F32 => {
            let values: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
            values.into_iter().map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8).collect()
        }
        _ => rendered.pixels.to_vec(),
    }
}

fn assert_agrees(device: &str, pixels: PixelType, found: &Rendered, expected: &Rendered) {
    if device.starts_with("cpu") {
        assert!(found.pixels == expected.pixels, "{device} makes another picture");
        for (found, expected) in found.aovs.iter().zip(&expected.aovs) {
            let pairs = || found.values.iter().zip(&expected.values[..]);
            let first = pairs().find(|(a, b)| a.to_bits() != b.to_bits());
            let differing = pairs().filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            assert!(differing == 0, "{device}: {differing} values of {} differ, first {first:?}", found.aov);
        }
        assert_eq!(found.rays, expected.rays, "{device}");
        return;
    }
    let [shown, wanted] = [found, expected].map(|rendered| displayed(pixels, rendered));
    let difference = PictureDifference::between(&wanted, &shown);
    assert!(difference.agrees(), "{device}: {difference:?}");
    for (found, expected) in found.aovs.iter().zip(&expected.aovs) {
        assert_aov_agrees(device, found, expected);
    }
    assert_eq!(found.rays.primary, expected.rays.primary, "{device}");
    // A ray that differs in the last bit at an edge may take another path.
    let (a, b) = (found.rays.total(), expected.rays.total());
    assert!(a.abs_diff(b) * 50 <= a.max(b), "{device}: {a} rays, not {b}");
}

/// Asserts that at most 1 % of the values differ visibly.
fn assert_aov_agrees(device: &str, found: &AovImage, expected: &AovImage) {
    assert_eq!(found.aov, expected.aov, "{device}");
    let pairs = found.values.iter().zip(&expected.values[..]);
    let agrees = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= 0.016 * b.abs().max(1.0);
    let differing = pairs.filter(|&pair| !agrees(pair)).count();
    assert!(differing * 100 <= expected.values.len(), "{device}: {differing} values of {} differ", found.aov);
}

/// Configuration of property tests with reproducible cases; `cases` is their number.
pub fn same_cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

/// Rays from a cube of the size `from` to points of a cube of the size `to`, both around the origin.
pub fn rays(random: &mut Random, count: usize, from: f32, to: f32) -> Vec<Ray> {
    let mut one = || {
        let origin = random.cube() * from;
        ray(origin, random.cube() * to - origin)
    };
    (0..count).map(|_| one()).collect()
}

/// Whether two hits are the same to the bit, wherever the records of their instances are.
pub fn is_same(a: &Hit, b: &Hit) -> bool {
    let [a, b] = [a, b].map(|hit| Hit { record: 0, ..*hit });
    bytemuck::bytes_of(&a) == bytemuck::bytes_of(&b)
}

pub fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: f32::INFINITY }
}
