//! Measures when rebuilding the tree of a deforming mesh pays off, for `docs/refit.md`.
//!
//! `cargo run --release -p refit_threshold -- MODEL [PLOT.svg]` twists the model about its vertical axis by increasing amounts, and
//! compares the refitted tree with a rebuilt one: SAH cost, rays per second on the CPU, and the number of rays per frame for which a
//! rebuild pays off. `RAYON_NUM_THREADS=1` reduces disturbance by other work on the machine.

use anyhow::{Context, Result};
use glam::{Affine3, Quat, Vec3};
use std::{fmt::Write, path::Path, sync::Arc, time::Instant};
use throng::{
    loader,
    scene::{Instance, Material, Mesh, NONE, Projection, Scene, Shape, TriangleMesh},
};
use throng_abi::{Hit, Ray};
use throng_accel::{Blas, Geometry, NodeLayout, Quality, Surface, Tlas, TlasBuilder, TlasInput, rebuild_quality};
use throng_base::math::{Aabb, hash_unit};
use throng_device::{CpuDevice, Device, Frame, RayKind};
use throng_scene::anim::CameraPose;

/// Turns between the lowest and the highest point.
const TWISTS: [f32; 12] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0];
/// Rays on each side of the picture.
const SIDE: u32 = 512;
/// Rays timed at once. The number is small, so that most batches run undisturbed.
const BATCH: usize = 4096;
const REPEATS: usize = 40;

struct Row {
    twist: f32,
    /// Cost after the refit, relative to the rest pose; the policy uses this ratio.
    policy_ratio: f64,
    /// Cost after the refit, relative to a rebuilt tree.
    fresh_ratio: f64,
    /// Seconds per ray with the refitted tree and with the rebuilt one.
    refitted: f64,
    fresh: f64,
    /// Seconds of a refit and of a rebuild.
    refit: f64,
    rebuild: f64,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().context("usage: refit_threshold MODEL [PLOT.svg]")?;
    let mesh = largest_mesh(Path::new(&model))?;
    let mut device = CpuDevice::new()?;
    let mut rows = Vec::new();
    for twist in TWISTS {
        rows.push(measure(&mut device, &mesh, twist)?);
    }
    print!("{}", table(&mesh, &rows));
    if let Some(path) = arguments.next() {
        std::fs::write(&path, plot(&rows)).with_context(|| path.clone())?;
    }
    Ok(())
}

fn largest_mesh(path: &Path) -> Result<TriangleMesh> {
    let meshes = loader::load(path)?.meshes.into_iter();
    let triangles = meshes.filter_map(|mesh| match mesh.shape {
        Shape::Triangles(triangles) => Some(triangles),
        _ => None,
    });
    triangles.max_by_key(|mesh| mesh.triangles.len()).context("the model has no triangles")
}

fn twisted(mesh: &TriangleMesh, turns: f32) -> TriangleMesh {
    let bounds = Aabb::of_points(mesh.positions.iter().map(|&p| Vec3::from(p)));
    let center = bounds.center();
    let twist = |&p: &[f32; 3]| {
        let height = (p[1] - bounds.min.y) / bounds.extent().y;
        let turn = Quat::from_rotation_y(std::f32::consts::TAU * turns * height);
        (center + turn * (Vec3::from(p) - center)).into()
    };
    TriangleMesh {
        positions: mesh.positions.iter().map(twist).collect(),
        triangles: mesh.triangles.clone(),
        ..TriangleMesh::default()
    }
}

fn measure(device: &mut CpuDevice, mesh: &TriangleMesh, twist: f32) -> Result<Row> {
    let layout = device.node_layout();
    let moved = twisted(mesh, twist);
    let surface = Surface::from(&moved);
    let quality = rebuild_quality(layout);
    let mut refitted = Blas::of_surface(mesh.into(), layout, quality);
    let refit = least_seconds(|| refitted.refit(Geometry::Triangles(surface)));
    let mut fresh = None;
    let rebuild = least_seconds(|| fresh = Some(Blas::of_surface(surface, layout, quality)));
    let fresh = fresh.context("a tree was built")?;
    let (policy_ratio, fresh_cost) = (refitted.cost_ratio().into(), f64::from(fresh.sah_cost()));
    let fresh_ratio = f64::from(refitted.sah_cost()) / fresh_cost;
    let scene = Arc::new(scene(moved.clone()));
    device.load(scene.clone())?;
    let (refitted, fresh) = (frame(&scene, refitted, layout), frame(&scene, fresh, layout));
    let rays = rays(device, &fresh)?;
    let mut seconds = [0.0; 2];
    for batch in rays.chunks(BATCH) {
        let [a, b] = batch_seconds(device, [&refitted, &fresh], batch)?;
        seconds = [seconds[0] + a, seconds[1] + b];
    }
    let seconds = seconds.map(|sum| sum / rays.len() as f64);
    Ok(Row { twist, policy_ratio, fresh_ratio, refitted: seconds[0], fresh: seconds[1], refit, rebuild })
}

/// Shortest time of a batch with each of two trees, measured alternately, in seconds.
fn batch_seconds(device: &mut CpuDevice, frames: [&Frame; 2], batch: &[Ray]) -> Result<[f64; 2]> {
    let mut hits = vec![Hit::default(); batch.len()];
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..REPEATS {
        for (frame, least) in frames.into_iter().zip(&mut seconds) {
            let start = Instant::now();
            device.trace(frame, RayKind::Closest, batch, &mut hits, 1)?;
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}

fn least_seconds(mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(once).fold(f64::INFINITY, f64::min)
}

fn instance() -> Instance {
    Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion: NONE }
}

fn scene(mesh: TriangleMesh) -> Scene {
    Scene {
        instances: vec![instance()],
        meshes: vec![Mesh { name: "twisted".into(), shape: Shape::Triangles(mesh), slot_count: 1 }],
        materials: vec![Material::default()],
        material_slots: vec![0],
        ..Scene::default()
    }
}

/// A frame with `blas` as the tree of the scene's only mesh.
fn frame(scene: &Arc<Scene>, blas: Blas, layout: NodeLayout) -> Frame {
    let blas = vec![Arc::new(blas)];
    let mut tlas = Tlas::new(layout);
    let input = TlasInput {
        instances: &[instance()],
        ids: &[],
        meshes: &[],
        groups: None,
        world_from_object: &[Affine3::IDENTITY],
        blas: &blas,
        careful: true,
    };
    TlasBuilder::default().build(input, Quality::Fast, &mut tlas);
    let bounds = tlas.bounds();
    let camera = CameraPose {
        eye: bounds.center() + bounds.diagonal() * Vec3::new(0.6, 0.3, 0.8),
        target: bounds.center(),
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 50f32.to_radians() },
        skewed: None,
        shift: glam::Vec2::ZERO,
        intrinsics: None,
        lens: None,
    };
    // SAFETY: the TLAS was just built over the tree of the scene's only mesh.
    unsafe { Frame::of_trees(scene.clone(), camera, blas, tlas) }
}

/// Camera rays in tiles, and one ray in a random direction from each hit; similar to the rays of ambient occlusion.
fn rays(device: &mut CpuDevice, frame: &Frame) -> Result<Vec<Ray>> {
    let camera = frame.camera();
    let through = |item: u32| {
        let (tile, inner) = (item / 64, item % 64);
        let place = |tile: u32, inner: u32| (2 * (8 * tile + inner) + 1) as f32 / SIDE as f32 - 1.0;
        let x = place(tile % (SIDE / 8), inner % 8);
        let y = place(tile / (SIDE / 8), inner / 8);
        let (origin, direction) = camera.ray(x, -y, 1.0);
        ray(origin, direction)
    };
    let mut rays: Vec<Ray> = (0..SIDE * SIDE).map(through).collect();
    let mut hits = vec![Hit::default(); rays.len()];
    device.trace(frame, RayKind::Closest, &rays, &mut hits, 1)?;
    let hit = (0..).zip(&hits).filter(|(_, hit)| hit.t >= 0.0);
    let scattered: Vec<Ray> = hit
        .map(|(index, hit)| {
            let from = &rays[index as usize];
            let direction = Vec3::from(from.direction);
            let u = |seed| 2.0 * hash_unit(seed, index) - 1.0;
            let random = Vec3::new(u(0), u(1), u(2)).normalize_or(Vec3::Y);
            let back = if random.dot(direction) > 0.0 { -random } else { random };
            ray(Vec3::from(from.origin) + direction * (0.9999 * hit.t), back)
        })
        .collect();
    rays.extend(scattered);
    Ok(rays)
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray { origin: origin.into(), t_min: 0.0, direction: direction.normalize().into(), t_max: f32::INFINITY }
}

fn table(mesh: &TriangleMesh, rows: &[Row]) -> String {
    let mut out = format!(
        "{} triangles\n\n| turns | cost/rest | cost/fresh | Mrays/s refitted | Mrays/s fresh | slowdown | refit ms | rebuild ms | \
         rebuild pays from |\n|---|---|---|---|---|---|---|---|---|\n",
        mesh.triangles.len()
    );
    for row in rows {
        let lost = row.refitted - row.fresh;
        let pays = match (row.rebuild - row.refit) / lost {
            rays if lost > 0.01 * row.fresh => format!("{:.1} Mrays", rays / 1e6),
            _ => "never".into(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {pays} |",
            row.twist,
            row.policy_ratio,
            row.fresh_ratio,
            1e-6 / row.refitted,
            1e-6 / row.fresh,
            row.refitted / row.fresh,
            1e3 * row.refit,
            1e3 * row.rebuild,
        );
    }
    out
}

/// Size of the plot and of its margin.
const SIZE: (f64, f64) = (640.0, 400.0);
const MARGIN: f64 = 56.0;

/// Axes of the plot: the cost ratio that the policy uses, and the slowdown of rays. Both begin at 1.
struct Axes {
    most_x: f64,
    most_y: f64,
}

impl Axes {
    /// Width and height of the area between the axes.
    const AREA: (f64, f64) = (SIZE.0 - 2.0 * MARGIN, SIZE.1 - 2.0 * MARGIN);

    fn x(&self, ratio: f64) -> f64 {
        MARGIN + Self::AREA.0 * (ratio - 1.0) / (self.most_x - 1.0)
    }

    fn y(&self, slower: f64) -> f64 {
        SIZE.1 - MARGIN - Self::AREA.1 * (slower - 1.0) / (self.most_y - 1.0)
    }

    /// Lines of a grid with their numbers.
    fn grid(&self) -> String {
        let (left, right, bottom, top) = (MARGIN, SIZE.0 - MARGIN, SIZE.1 - MARGIN, MARGIN);
        let step = |step: u32| {
            let share = f64::from(step) / 4.0;
            let (ratio, slower) = (1.0 + share * (self.most_x - 1.0), 1.0 + share * (self.most_y - 1.0));
            let (x, y) = (self.x(ratio), self.y(slower));
            format!(
                "<path d=\"M{left} {y:.1}H{right}M{x:.1} {bottom}V{top}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{slower:.2}</text>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{ratio:.2}</text>\n",
                left - 8.0,
                y + 4.0,
                bottom + 18.0
            )
        };
        (0..=4).map(step).collect()
    }

    /// The ratio beyond which trees are rebuilt.
    fn limit(&self) -> String {
        let factor = f64::from(throng_accel::REFIT_FACTOR);
        let x = self.x(factor);
        format!(
            "<path d=\"M{x:.1} {}V{MARGIN}\" stroke=\"#c33\" stroke-dasharray=\"5 4\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#c33\">rebuild beyond {factor:.1}</text>\n",
            SIZE.1 - MARGIN,
            x + 6.0,
            MARGIN + 12.0
        )
    }
}

/// Plots the slowdown of rays over the cost ratio that the policy uses.
fn plot(rows: &[Row]) -> String {
    let slowdown = |row: &Row| row.refitted / row.fresh;
    let axes = Axes {
        most_x: rows.iter().map(|r| r.policy_ratio).fold(2.0, f64::max).ceil(),
        most_y: rows.iter().map(slowdown).fold(2.0, f64::max).ceil(),
    };
    let mut sorted: Vec<_> = rows.iter().map(|row| (row.policy_ratio, slowdown(row))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sorted: Vec<_> = sorted.iter().map(|&(ratio, slower)| (axes.x(ratio), axes.y(slower))).collect();
    let points: Vec<_> = sorted.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let circle = |(x, y): &(f64, f64)| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"#269\"/>\n");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         {}{}<polyline points=\"{}\" fill=\"none\" stroke=\"#269\" stroke-width=\"2\"/>\n{}\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">cost by the surface area heuristic, relative to the last build</text>\n\
         <text x=\"16\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle:.1})\">\
         time per ray, relative to a fresh tree</text>\n</svg>\n",
        SIZE.0,
        SIZE.1,
        axes.grid(),
        axes.limit(),
        points.join(" "),
        sorted.iter().map(circle).collect::<String>(),
        SIZE.0 / 2.0,
        SIZE.1 - 12.0,
        middle = SIZE.1 / 2.0
    )
}
