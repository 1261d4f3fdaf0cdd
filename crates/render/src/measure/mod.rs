//! Timed ray queries outside of a renderer: rays from files shared with other ray tracers, rays of a scene's own camera, and the rays that
//! a rendered frame casts.

use super::{
    Poser, TreeSource, milliseconds,
    ray_files::{RayFileError, read_rays, write_hits, write_rays, write_scene},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use throng_abi::{Hit, Ray};
use throng_accel::{Blas, Quality};
use throng_base::files::as_file_name;
use throng_device::{Device, DeviceError, Frame, FrameSettings, RayKind};
use throng_output::OutputError;
use throng_scene::anim::{self, Moment};
use throng_scene::{Scene, Shape};

mod compare;
mod document;
mod processor;
mod render;
mod report;
mod secondary;
mod spread;
mod trees;

pub use compare::{RayDifference, compare_traces};
pub use document::{Measured, ReportPath};
pub use render::RenderReport;
pub use report::{BenchReport, Builds, TraceReport, WorkPerRay};
pub use spread::Spread;
pub use trees::TreeStatistics;

/// Picture size for the bench's primary rays, in pixels.
pub const BENCH_SIZE: (u32, u32) = (1280, 720);
/// Size of the frame that the bench renders, in pixels.
pub const BENCH_FRAME: (u32, u32) = (1920, 1080);
/// Samples per pixel of the frame that the bench renders.
pub const BENCH_SAMPLES: u32 = 4;
/// Number of camera positions along the animation from which the bench traces rays.
const BENCH_VIEWS: u32 = 4;

/// Options of [`trace_file`].
pub struct TraceOptions {
    /// Path of a `.ray` file.
    pub rays: PathBuf,
    /// Kind of query: closest hit or any hit.
    pub kind: RayKind,
    /// Path of the `.hit` file to write; none to discard the hits.
    pub hits: Option<PathBuf>,
    /// Number of timed passes, which follow one warm-up pass. 0 counts as 1.
    pub repeat: u32,
    /// Whether to measure what determines the speed: the work per ray, and the quality of the trees.
    pub explain: bool,
    pub trees: TreeSource,
}

/// Options of [`bench`].
pub struct BenchOptions {
    /// Existing folder for the scene, rays and hits (see [`dump_paths`]); none to write nothing.
    pub dump: Option<PathBuf>,
    /// Number of timed passes, which follow one warm-up pass. 0 counts as 1.
    pub repeat: u32,
    /// Settings of the frame that is rendered.
    pub render: FrameSettings,
    /// See [`TraceOptions::explain`].
    pub explain: bool,
    /// Source of the trees against which rays are traced. Build times of all qualities are measured in any case.
    pub trees: TreeSource,
}

/// Reason why a measurement or its output failed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Rays(#[from] RayFileError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Traces a file of rays against the scene's first frame.
///
/// # Errors
///
/// If the file of rays cannot be read, if the device fails, or if hits cannot be written.
pub fn trace_file(
    scene: &Arc<Scene>,
    device: &mut dyn Device,
    options: &TraceOptions,
) -> Result<Measured<TraceReport>, MeasureError> {
    let rays = read_rays(&options.rays)?;
    let posed = pose(scene, device, 1, &options.trees)?;
    let (mut report, hits) = time_rays(device, &posed, options.kind, &rays, options.repeat)?;
    if let Some(path) = &options.hits {
        write_hits(path, &hits)?;
    }
    if options.explain {
        report.work = work_per_ray(device, &posed, options.kind, &rays)?;
    }
    let trees = options.explain.then(|| trees::tree_statistics(&posed));
    Ok(Measured { report, trees })
}

/// Counts the work of tracing rays. None if the device does not support counting, or without rays.
fn work_per_ray(
    device: &mut dyn Device,
    posed: &Posed,
    kind: RayKind,
    rays: &[Ray],
) -> Result<Option<WorkPerRay>, DeviceError> {
    let counts = device.count_work(&posed.frame, kind, rays)?;
    Ok(counts.as_ref().and_then(WorkPerRay::of))
}

/// A posed frame, and the build times of its trees.
struct Posed {
    frame: Frame,
    scene: Arc<Scene>,
    /// The scene in the frame's pose, see [`shown`].
    shown: Arc<Scene>,
    blas_build_ms: f64,
    tlas_build_ms: f64,
}

fn pose(scene: &Arc<Scene>, device: &mut dyn Device, number: u32, trees: &TreeSource) -> Result<Posed, DeviceError> {
    device.load(scene.clone())?;
    let mut poser = Poser::with_trees_from(scene.clone(), device.node_layout(), trees);
    let blas_build_ms = poser.blas().iter().map(|b| milliseconds(b.build_time)).sum();
    let frame = poser.pose(number).frame;
    let tlas_build_ms = milliseconds(frame.tlas.build_time);
    Ok(Posed { shown: shown(scene, &frame), frame, scene: scene.clone(), blas_build_ms, tlas_build_ms })
}

/// A copy of `scene` with the deformed shapes, the tables and the mesh of each instance in `frame`.
fn shown(scene: &Arc<Scene>, frame: &Frame) -> Arc<Scene> {
    if frame.shapes.is_empty() && scene.palettes.is_empty() && frame.tables.is_none() {
        return scene.clone();
    }
    let mut shown = Scene::clone(scene);
    if let Some(tables) = &frame.tables {
        shown.materials.clone_from(&tables.materials);
        shown.maps.clone_from(&tables.maps);
        shown.lights.clone_from(&tables.lights);
    }
    for posed in &frame.shapes {
        if let Shape::Triangles(mesh) = &mut shown.meshes[posed.mesh as usize].shape {
            mesh.positions.clone_from(&posed.shape.positions);
        }
    }
    // With assemblies, the numbers of instances are not indices. Instances then keep the mesh of their first pose.
    let records = if scene.assemblies.is_empty() { &frame.tlas.records[..] } else { &[] };
    for record in records {
        if let Some(instance) = shown.instances.get_mut(record.instance as usize) {
            instance.mesh = record.mesh;
        }
    }
    Arc::new(shown)
}

fn time_rays(
    device: &mut dyn Device,
    posed: &Posed,
    kind: RayKind,
    rays: &[Ray],
    repeat: u32,
) -> Result<(TraceReport, Vec<Hit>), DeviceError> {
    let mut hits = vec![Hit::default(); rays.len()];
    let passes = repeat.max(1) + 1;
    let times = device.trace(&posed.frame, kind, rays, &mut hits, passes)?;
    let rate = |time: &std::time::Duration| rays.len() as f64 / time.as_secs_f64().max(1e-9) * 1e-6;
    let rates = Spread::of(times[1..].iter().map(rate).collect());
    let trees: usize = posed.frame.blas.iter().map(|b| b.bytes()).sum();
    let report = TraceReport {
        device: device.describe(),
        threads: device.threads(),
        kind,
        rays: rays.len() as u64,
        hits: hits.iter().filter(|h| h.t >= 0.0).count() as u64,
        mrays_per_s: rates.median,
        mrays_per_s_min: rates.min,
        mrays_per_s_max: rates.max,
        mrays_per_s_mad: rates.mad,
        blas_build_ms: posed.blas_build_ms,
        tlas_build_ms: posed.tlas_build_ms,
        bytes: (trees + posed.frame.tlas.bytes()) as u64,
        work: None,
    };
    Ok((report, hits))
}

/// The ray queries of one bench.
struct Queries<'a> {
    posed: &'a Posed,
    repeat: u32,
    explain: bool,
    dumped: bool,
    /// Names, rays and hits to dump.
    traced: Vec<(&'static str, Vec<Ray>, Vec<Hit>)>,
}

impl Queries<'_> {
    /// Times a query. None without rays.
    fn time(
        &mut self,
        device: &mut dyn Device,
        name: &'static str,
        kind: RayKind,
        rays: Vec<Ray>,
    ) -> Result<Option<TraceReport>, DeviceError> {
        if rays.is_empty() {
            return Ok(None);
        }
        let (mut report, hits) = time_rays(device, self.posed, kind, &rays, self.repeat)?;
        if self.explain {
            report.work = work_per_ray(device, self.posed, kind, &rays)?;
        }
        self.keep(name, rays, hits);
        Ok(Some(report))
    }

    fn keep(&mut self, name: &'static str, rays: Vec<Ray>, hits: Vec<Hit>) {
        if self.dumped {
            self.traced.push((name, rays, hits));
        }
    }
}

/// Measures builds, and the speed of primary, bounce and shadow rays from [`BENCH_VIEWS`] views along the animation. All rays are traced
/// against the scene's middle frame. If the device times its stages, the rays of that frame are also measured, as it renders them and as
/// queries. Each kind of rays stays in memory until it is traced; if rays are dumped, it stays with its hits until it is written.
///
/// # Errors
///
/// If the device fails, or if the folder of the dump or a file in it cannot be written.
pub fn bench(
    scene: &Arc<Scene>,
    device: &mut dyn Device,
    options: &BenchOptions,
) -> Result<Measured<BenchReport>, MeasureError> {
    let middle = scene.settings.frame_at(scene.settings.frames.div_ceil(2).saturating_sub(1));
    let posed = pose(scene, device, middle, &options.trees)?;
    let primary_rays = camera_rays(scene);
    let (mut primary, hits) = time_rays(device, &posed, RayKind::Closest, &primary_rays, options.repeat)?;
    if options.explain {
        primary.work = work_per_ray(device, &posed, RayKind::Closest, &primary_rays)?;
    }
    let (bounce_rays, shadow_rays) = secondary::make(&posed.shown, &posed.frame, &primary_rays, &hits);
    let mut queries = Queries {
        posed: &posed,
        repeat: options.repeat,
        explain: options.explain,
        dumped: options.dump.is_some(),
        traced: Vec::new(),
    };
    queries.keep("primary", primary_rays, hits);
    let bounce = queries.time(device, "bounce", RayKind::Closest, bounce_rays)?;
    let shadow = queries.time(device, "shadow", RayKind::Any, shadow_rays)?;
    let render = render::measure(device, &options.render, &mut queries)?;
    let not_dumped = match &options.dump {
        Some(folder) => dump(folder, &posed, middle, &queries.traced)?,
        None => 0,
    };
    let builds = measure_builds(&posed, device, options.repeat, middle);
    let trees = options.explain.then(|| trees::tree_statistics(&posed));
    let report = BenchReport {
        scene: scene.name.clone(),
        device: device.describe(),
        threads: device.threads(),
        instances: scene.leaf_count(),
        instanced_primitives: scene.instanced_prim_count(),
        blas_fast_ms: builds.blas_fast_ms.median,
        blas_balanced_ms: builds.blas_balanced_ms.median,
        blas_high_ms: builds.blas_high_ms.median,
        tlas_ms: builds.tlas_ms.median,
        builds,
        bytes: primary.bytes,
        primary,
        bounce,
        shadow,
        render,
        not_dumped,
    };
    Ok(Measured { report, trees })
}

/// Rays through pixel centres, in 8×8 tiles, which is the order in which renderers trace them.
fn camera_rays(scene: &Scene) -> Vec<Ray> {
    let views = BENCH_VIEWS.min(scene.settings.frames.max(1));
    let passed = |view: u32| scene.duration() * f64::from(view) / f64::from(BENCH_VIEWS);
    let times = (0..views).map(|v| {
        let after_start = if scene.settings.frames > 1 { passed(v) } else { 0.0 };
        Moment::of(scene, scene.settings.start + after_start)
    });
    times.flat_map(|t| secondary::view_rays(&anim::camera_at(scene, &t), BENCH_SIZE)).collect()
}

fn measure_builds(posed: &Posed, device: &dyn Device, repeat: u32, number: u32) -> Builds {
    let layout = device.node_layout();
    let blas = |quality| {
        spread_of(repeat, || {
            let build = |mesh| milliseconds(Blas::build(mesh, layout, quality).build_time);
            posed.scene.meshes.iter().map(build).sum()
        })
    };
    let mut poser = Poser::new(posed.scene.clone(), layout);
    // The poser fills two TLASes in turn. In a renderer, both soon have their full size.
    (0..2).for_each(|_| drop(poser.repose(number)));
    let tlas_ms = spread_of(repeat, || milliseconds(poser.repose(number).tlas.build_time));
    Builds {
        blas_fast_ms: blas(Quality::Fast),
        blas_balanced_ms: blas(Quality::Balanced),
        blas_high_ms: blas(Quality::High),
        tlas_ms,
    }
}

fn spread_of(repeat: u32, mut sample: impl FnMut() -> f64) -> Spread {
    Spread::of((0..repeat.max(1)).map(|_| sample()).collect())
}

/// Kinds of rays that may be dumped. Rays of a rendered frame (`own_…`) are only available on some devices.
const DUMPED_KINDS: [&str; 6] = ["primary", "bounce", "shadow", "own_primary", "own_bounce", "own_shadow"];

/// Paths of all files that a dump of the scene named `scene` may write.
pub fn dump_paths(folder: &Path, scene: &str) -> Vec<PathBuf> {
    let kinds = DUMPED_KINDS.iter();
    let files = kinds.flat_map(|kind| [format!("{kind}.ray"), format!("{kind}.hit")]);
    let files = files.chain(["scn".into()]);
    let scene = as_file_name(scene);
    files.map(|suffix| folder.join(format!("{scene}.{suffix}"))).collect()
}

/// Writes `NAME.scn`, and `NAME.KIND.ray` and `NAME.KIND.hit` for each kind of rays, to an existing folder. Returns the number of sphere
/// instances, which are left out.
fn dump(
    folder: &Path,
    posed: &Posed,
    number: u32,
    traced: &[(&str, Vec<Ray>, Vec<Hit>)],
) -> Result<usize, MeasureError> {
    let file = |suffix: &str| folder.join(format!("{}.{suffix}", as_file_name(&posed.scene.name)));
    let mut world_from_object = Vec::new();
    let moment = Moment::of(&posed.scene, posed.scene.time_of(number));
    anim::world_transforms(&posed.scene, &moment, &mut world_from_object);
    let left_out = write_scene(&file("scn"), &posed.shown, &world_from_object)?;
    for (kind, rays, hits) in traced {
        write_rays(&file(&format!("{kind}.ray")), rays)?;
        write_hits(&file(&format!("{kind}.hit")), hits)?;
    }
    Ok(left_out)
}
