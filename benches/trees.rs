//! Benchmarks of tree builds, refits and traversal: `cargo bench`, or `cargo bench -- tlas` for a part.
//!
//! The inputs are fixed and reproducible. To measure your own scene, use `throng bench SCENE`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::{Affine3, Affine3A, Quat, Vec3};
use std::{hint::black_box, path::Path, sync::Arc};
use throng::{
    loader,
    scene::{Instance, Material, Mesh, NONE, Projection, Scene, Shape, TriangleMesh},
};
use throng_abi::{Hit, Ray};
use throng_accel::{
    Blas, Geometry, NodeLayout, Quality, Surface, Tlas, TlasBuilder, TlasInput, TreeKey, rebuild_quality,
};
use throng_base::math::hash_unit;
use throng_device::{CpuDevice, Device, Frame, RayKind};
use throng_render::Poser;
use throng_scene::anim::{self, BindPose, CameraPose, Deformed};
use throng_scene::rig::{Deformers, MorphTarget};

const REFIT_SIZES: [u32; 3] = [20_000, 200_000, 1_000_000];
const STORED_SIZES: [u32; 3] = [20_000, 1_000_000, 4_000_000];
const TLAS_SIZES: [u32; 2] = [11_042, 1_000_000];
/// Picture size of the primary rays; both sides are multiples of the tile size 8.
const PICTURE: (u32, u32) = (512, 288);

fn device() -> CpuDevice {
    CpuDevice::new().expect("a CPU device")
}

/// The dragon, without the ground that a standalone model gets.
fn dragon() -> Mesh {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/dragon.obj");
    let scene = loader::load(&path).expect("the dragon loads");
    let meshes = scene.meshes.into_iter();
    meshes.max_by_key(Mesh::prim_count).expect("a mesh")
}

fn triangles(mesh: &Mesh) -> &TriangleMesh {
    match &mesh.shape {
        Shape::Triangles(triangles) => triangles,
        _ => panic!("the dragon is made of triangles"),
    }
}

/// Builds at every quality, and a refit to a slightly bent dragon.
fn blas(c: &mut Criterion) {
    let (mesh, layout) = (dragon(), device().node_layout());
    let mut group = c.benchmark_group("blas");
    group.throughput(Throughput::Elements(mesh.prim_count() as u64));
    for quality in Quality::ALL {
        group.bench_function(quality.to_string(), |b| b.iter(|| Blas::build(black_box(&mesh), layout, quality)));
    }
    let mut bent = triangles(&mesh).clone();
    bent.positions.iter_mut().for_each(|[x, y, _]| *y += 0.1 * x.sin());
    let mut tree = Blas::build(&mesh, layout, Quality::High);
    group.bench_function("refit", |b| b.iter(|| tree.refit(black_box(&bent).into())));
    for (name, quality) in [("compressed_fast", Quality::Fast), ("compressed_high", Quality::High)] {
        group.bench_function(name, |b| b.iter(|| Blas::build(black_box(&mesh), NodeLayout::Compressed8, quality)));
    }
    group.finish();
}

/// Triangles that are difficult for builders, next to an ordinary ball. None may take three times as long as the ball.
fn adversarial(c: &mut Criterion) {
    const COUNT: u32 = 20_000;
    let layout = device().node_layout();
    let soup = |corners: &dyn Fn(u32) -> [Vec3; 3]| TriangleMesh {
        positions: (0..COUNT).flat_map(corners).map(Vec3::into).collect(),
        triangles: (0..COUNT).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..TriangleMesh::default()
    };
    let at = |place: Vec3, size: f32| [place, place + size * Vec3::X, place + size * Vec3::Y];
    let random = |i: u32| Vec3::new(hash_unit(1, i), hash_unit(2, i), hash_unit(3, i));
    let inputs = [
        ("ball", ball(COUNT, 0.0)),
        ("coincident", soup(&|_| at(Vec3::ZERO, 1.0))),
        ("on_a_line", soup(&|i| at(Vec3::X * i as f32, 0.5))),
        ("huge_and_tiny", soup(&|i| at(random(i), if i == 0 { 1e6 } else { 1e-5 }))),
        ("growing", soup(&|i| at(Vec3::ZERO, 1.001f32.powi(i as i32)))),
        ("fan", soup(&|i| [Vec3::ZERO, random(i) - 0.5, random(i + 1) - 0.5])),
        ("overlapping", soup(&|i| at(random(i), 1.0))),
        (
            "needles",
            soup(&|i| {
                let from = random(3 * i);
                let (along, aside) = (random(3 * i + 1) - 0.5, random(3 * i + 2) - 0.5);
                [from, from + 0.5 * along, from + 1e-3 * aside]
            }),
        ),
    ];
    let mut group = c.benchmark_group("adversarial");
    group.sample_size(10);
    for (name, mesh) in &inputs {
        for quality in Quality::ALL {
            group.bench_function(BenchmarkId::new(quality.to_string(), name), |b| {
                b.iter(|| Blas::of_surface(black_box(mesh).into(), layout, quality))
            });
        }
    }
    group.finish();
}

/// A bumpy ball of about `count` triangles, in rows as in modelled meshes.
fn ball(count: u32, phase: f32) -> TriangleMesh {
    let side = ((count / 2) as f32).sqrt() as u32;
    let vertex = |i: u32| {
        let (x, y) = (i % (side + 1), i / (side + 1));
        let (a, b) = (x as f32 / side as f32 * std::f32::consts::TAU, (y as f32 / side as f32 - 0.5) * 3.1);
        let radius = 1.0 + 0.2 * (9.0 * a + phase).sin() * (7.0 * b).cos();
        (radius * Vec3::new(b.cos() * a.cos(), b.sin(), b.cos() * a.sin())).into()
    };
    let quad = |i: u32| {
        let corner = i / side * (side + 1) + i % side;
        let above = corner + side + 1;
        [[corner, corner + 1, above], [corner + 1, above + 1, above]]
    };
    TriangleMesh {
        positions: (0..(side + 1) * (side + 1)).map(vertex).collect(),
        triangles: (0..side * side).flat_map(quad).collect(),
        ..TriangleMesh::default()
    }
}

/// Time saved by a refit: each size and layout is rebuilt and refitted.
fn refit(c: &mut Criterion) {
    let mut group = c.benchmark_group("refit");
    group.sample_size(20);
    for count in REFIT_SIZES {
        let (still, moved) = (ball(count, 0.0), ball(count, 0.5));
        group.throughput(Throughput::Elements(still.triangles.len() as u64));
        for layout in [NodeLayout::Wide8, NodeLayout::Wide16, NodeLayout::Compressed8] {
            let quality = rebuild_quality(layout);
            let build = || Blas::of_surface((&moved).into(), layout, quality);
            let id = |what| BenchmarkId::new(format!("{layout:?}_{what}"), count);
            group.bench_function(id("build"), |b| b.iter(build));
            let mut blas = Blas::of_surface((&still).into(), layout, quality);
            group.bench_function(id("refit"), |b| b.iter(|| blas.refit(black_box(&moved).into())));
        }
    }
    group.finish();
}

/// Skinning with four joints per vertex and one morph target, followed by the refit.
fn deform(c: &mut Criterion) {
    let mesh = ball(1_000_000, 0.0);
    let count = mesh.positions.len() as u32;
    let deformers = Deformers {
        joints_per_vertex: 4,
        joints: (0..4 * count).map(|i| (i / 4 * 60 / count + i % 4) as u16).collect(),
        weights: (0..count).flat_map(|_| [0.4, 0.3, 0.2, 0.1]).collect(),
        targets: vec![MorphTarget { positions: mesh.positions.clone(), ..MorphTarget::default() }],
    };
    let palette: Vec<Affine3A> = (0..64).map(|i| Affine3A::from_rotation_x(0.01 * i as f32)).collect();
    let mesh = TriangleMesh { normals: mesh.positions.clone(), ..mesh };
    let mut group = c.benchmark_group("deform");
    group.throughput(Throughput::Elements(mesh.triangles.len() as u64));
    let mut out = Deformed::default();
    for (name, weight) in [("skin", 0.0), ("morph_and_skin", 0.1)] {
        group.bench_function(name, |b| {
            let bind = BindPose::new(&mesh, &[]);
            b.iter(|| anim::deform(bind, &deformers, &palette, &[weight], &mut out))
        });
    }
    for layout in [NodeLayout::Wide16, NodeLayout::Compressed8] {
        let mut blas = Blas::of_surface((&mesh).into(), layout, Quality::Fast);
        group.bench_function(format!("skin_and_refit_{layout:?}"), |b| {
            b.iter(|| {
                let bind = BindPose::new(&mesh, &[]);
                anim::deform(bind, &deformers, &palette, &[0.0], &mut out);
                let surface = Surface { positions: &out.positions, triangles: &mesh.triangles };
                blas.refit(Geometry::Triangles(surface));
            })
        });
    }
    group.finish();
}

/// Cost of a stored tree: computing its name, and reading its file from the page cache.
fn stored(c: &mut Criterion) {
    let mut group = c.benchmark_group("stored");
    group.sample_size(20);
    for count in STORED_SIZES {
        let mesh = ball(count, 0.0);
        let surface = Surface::from(&mesh);
        group.throughput(Throughput::Elements(mesh.triangles.len() as u64));
        for layout in [NodeLayout::Wide16, NodeLayout::Compressed8] {
            let key = || TreeKey::new(&surface, layout, Quality::High);
            let mut file = tempfile::tempfile().expect("a file");
            Blas::of_surface(surface, layout, Quality::High).write_to(key(), &mut file).expect("room for a file");
            group.bench_function(BenchmarkId::new(format!("{layout:?}"), count), |b| {
                b.iter(|| Blas::read_from(&file, key(), layout, mesh.triangles.len()).expect("a tree"))
            });
        }
    }
    group.finish();
}

fn instance(mesh: u32) -> Instance {
    Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion: NONE }
}

/// Random position in a cube in which dragons overlap slightly, random rotation, size from 0.5 to 1.5.
fn random_transform(index: u32, count: u32) -> Affine3 {
    let u = |seed| hash_unit(seed, index);
    let side = 8.0 * (count as f32).cbrt();
    let axis = Vec3::new(u(0) - 0.5, u(1) - 0.5, u(2) - 0.5).normalize_or(Vec3::Y);
    Affine3::from_scale_rotation_translation(
        Vec3::splat(0.5 + u(3)),
        Quat::from_axis_angle(axis, 6.0 * u(4)),
        Vec3::new(u(5), u(6), u(7)) * side,
    )
}

/// TLAS builds as for a frame, including the instances' boxes.
fn tlas(c: &mut Criterion) {
    tlas_in(c, "tlas", device().node_layout());
    tlas_in(c, "tlas_compressed", NodeLayout::Compressed8);
}

fn tlas_in(c: &mut Criterion, name: &str, layout: NodeLayout) {
    let blas = [Arc::new(Blas::build(&dragon(), layout, Quality::Fast))];
    let mut group = c.benchmark_group(name);
    group.sample_size(20);
    for count in TLAS_SIZES {
        group.throughput(Throughput::Elements(count.into()));
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            let instances = vec![instance(0); count as usize];
            let transforms: Vec<_> = (0..count).map(|i| random_transform(i, count)).collect();
            let input = TlasInput {
                instances: &instances,
                ids: &[],
                meshes: &[],
                groups: None,
                world_from_object: &transforms,
                blas: &blas,
                careful: true,
            };
            let (mut builder, mut tlas) = (TlasBuilder::default(), Tlas::new(layout));
            b.iter(|| builder.build(black_box(input), Quality::Fast, &mut tlas));
        });
    }
    group.finish();
}

/// Small dragons at the vertices of a dragon that is ten times as large.
fn scatter() -> (Scene, Vec<Affine3>) {
    let mesh = dragon();
    let small = |(index, &position): (usize, &[f32; 3])| {
        let turn = Quat::from_rotation_y(6.3 * hash_unit(8, index as u32));
        Affine3::from_scale_rotation_translation(Vec3::splat(0.18), turn, Vec3::from(position) * 10.0)
    };
    let transforms: Vec<_> = triangles(&mesh).positions.iter().enumerate().map(small).collect();
    let instances = transforms.iter().map(|&local| Instance { local, ..instance(0) }).collect();
    let slots = vec![0; mesh.slot_count as usize];
    let scene = Scene {
        instances,
        meshes: vec![mesh],
        materials: vec![Material::default()],
        material_slots: slots,
        ..Scene::default()
    };
    (scene, transforms)
}

fn frame(scene: &Arc<Scene>, transforms: &[Affine3], layout: NodeLayout) -> Frame {
    let blas = vec![Arc::new(Blas::build(&scene.meshes[0], layout, Quality::High))];
    let mut tlas = Tlas::new(layout);
    let input = TlasInput {
        instances: &scene.instances,
        ids: &[],
        meshes: &[],
        groups: None,
        world_from_object: transforms,
        blas: &blas,
        careful: true,
    };
    TlasBuilder::default().build(input, Quality::Fast, &mut tlas);
    let (center, diagonal) = (tlas.bounds().center(), tlas.bounds().diagonal());
    let camera = CameraPose {
        eye: center + diagonal * Vec3::new(0.5, 0.2, 0.5),
        target: center,
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 40f32.to_radians() },
        skewed: None,
        shift: glam::Vec2::ZERO,
        intrinsics: None,
        lens: None,
    };
    // SAFETY: the trees were just built from the scene.
    unsafe { Frame::of_trees(scene.clone(), camera, blas, tlas) }
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray { origin: origin.into(), t_min: 0.0, direction: direction.normalize().into(), t_max: f32::INFINITY }
}

/// Rays through the pixels' centres, in tiles of 8×8.
fn primary_rays(camera: &CameraPose) -> Vec<Ray> {
    let (width, height) = PICTURE;
    let aspect = width as f32 / height as f32;
    let through = |item: u32| {
        let (tile, inner) = (item / 64, item % 64);
        let x = tile % (width / 8) * 8 + inner % 8;
        let y = tile / (width / 8) * 8 + inner / 8;
        let sx = (2.0 * x as f32 + 1.0) / width as f32 - 1.0;
        let sy = 1.0 - (2.0 * y as f32 + 1.0) / height as f32;
        let (origin, direction) = camera.ray(sx, sy, aspect);
        ray(origin, direction)
    };
    (0..width * height).map(through).collect()
}

/// Rays from just before each hit, in a random direction of the hemisphere that the ray came from.
fn bounce_rays(rays: &[Ray], hits: &[Hit]) -> Vec<Ray> {
    let hit_rays = rays.iter().zip(hits).zip(0..).filter(|((_, hit), _)| hit.t >= 0.0);
    hit_rays
        .map(|((primary, hit), index)| {
            let direction = Vec3::from(primary.direction);
            let u = |seed| 2.0 * hash_unit(seed, index) - 1.0;
            let random = Vec3::new(u(0), u(1), u(2)).normalize_or(-direction);
            let back = if random.dot(direction) > 0.0 { -random } else { random };
            ray(Vec3::from(primary.origin) + direction * (hit.t * 0.9999), back)
        })
        .collect()
}

/// Coherent and incoherent rays through the scattered dragons, and through chain links whose boxes overlap.
fn traversal(c: &mut Criterion) {
    let layout = device().node_layout();
    let (scene, transforms) = scatter();
    let scene = Arc::new(scene);
    let frame = frame(&scene, &transforms, layout);
    traverse(c, "traversal", scene, &frame);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/chain_mail.ron");
    let mail = Arc::new(loader::load(&path).expect("the chain mail loads"));
    let frame = Poser::new(mail.clone(), layout).pose(1).frame;
    traverse(c, "traversal_chain_mail", mail, &frame);
}

fn traverse(c: &mut Criterion, name: &str, scene: Arc<Scene>, frame: &Frame) {
    let mut device = device();
    device.load(scene).expect("the scene loads");
    let mut trace = |kind, rays: &[Ray]| {
        let mut hits = vec![Hit::default(); rays.len()];
        device.trace(frame, kind, rays, &mut hits, 1).expect("rays are traced");
        hits
    };
    let primary = primary_rays(&frame.camera());
    let bounce = bounce_rays(&primary, &trace(RayKind::Closest, &primary));
    let mut group = c.benchmark_group(name);
    group.sample_size(20);
    for (name, kind, rays) in [
        ("primary", RayKind::Closest, &primary),
        ("bounce", RayKind::Closest, &bounce),
        ("bounce_any", RayKind::Any, &bounce),
    ] {
        group.throughput(Throughput::Elements(rays.len() as u64));
        group.bench_function(name, |b| b.iter(|| trace(kind, black_box(rays))));
    }
    group.finish();
}

criterion_group!(trees, blas, adversarial, refit, deform, stored, tlas, traversal);
criterion_main!(trees);
