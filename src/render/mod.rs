//! The frame loop. Posing, tracing and writing run as three overlapping stages, so the slowest stage sets the frame rate.

pub mod compare;
pub mod frames;
pub mod measure;
pub mod report;
pub mod sanity;

mod assemblies;
mod background;
mod busy;
mod deforming;
mod existing;
mod exposure;
mod frame_queue;
mod in_memory;
mod kept_trees;
mod material_counts;
mod ongoing;
mod other_poses;
mod outputs;
mod pose;
mod pose_stage;
mod ray_files;
mod refine;
#[cfg(test)]
mod tests;
mod tree_cache;
mod tree_source;
mod window;
mod write;

use crate::{
    aov::AovSet,
    denoise::{DenoiseError, Denoising},
    device::{Device, DeviceError, FilmWanted, Filtered, FrameProgress, FrameSettings, RayCounts, Rendered, Stop},
    memory,
    output::{CheckpointError, OutputError},
    pixels::PixelType,
    scene::{Scene, rig::RefitPolicy},
};
pub use background::{Background, BackgroundChoice};
pub use busy::{Busy, BusyShares};
pub use existing::{Mismatched, SkipExisting};
pub use exposure::AutoExposure;
use exposure::Exposures;
pub use exposure::Measured;
use frame_queue::FrameQueue;
pub use frame_queue::Skipped;
use glam::Vec3;
pub use in_memory::LoadedScene;
pub use material_counts::MaterialCounts;
pub use ongoing::{Ongoing, run_ongoing, sampling};
pub use other_poses::other_pose;
pub use outputs::Outputs;
pub use pose::Poser;
use pose_stage::{PosedFrames, PosedStep};
pub use ray_files::{RayError, check_rays};
use std::{
    collections::{BTreeSet, VecDeque},
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};
pub use tree_cache::{CacheError, TreeCache, TreeCounts};
pub use tree_source::TreeSource;
pub use window::film_frame;
use window::{Reach, Step, Traced, Window};
use write::{Finished, Ledger};

/// The input of [`run`]: a scene, its settings, the frames to render and their files.
pub struct RenderJob {
    pub scene: Arc<Scene>,
    pub settings: FrameSettings,
    /// Method by which the exposure is measured; none to use the exposure in `settings`.
    pub auto_exposure: Option<AutoExposure>,
    /// Pixel type of the frames' files. Devices return pixels of this type, unless frames are denoised before they are written.
    pub pixels: PixelType,
    /// AOVs that are written. Devices may have to produce more than these.
    pub aovs: AovSet,
    /// Denoises frames before they are written. Denoising needs the radiance and AOVs of neighbouring frames, so `settings` must request
    /// them.
    pub denoising: Option<Arc<Denoising>>,
    /// Target noise of a tile after denoising. If this is set, `settings.noise`, the target before denoising, is none.
    pub denoised_noise: Option<f32>,
    /// Background that replaces the environment. Frames in files are then opaque, and `settings` must request transparent frames with
    /// alpha. If there is none, `settings` decides alone.
    pub background: Option<Background>,
    /// Linear colour of wireframe edges, if `settings` draws edges; none for black.
    pub wireframe_color: Option<Vec3>,
    /// Refit policy for all deforming meshes; none to use the policy of each mesh.
    pub refit: Option<RefitPolicy>,
    pub trees: TreeSource,
    /// Numbers of the frames to render, in this order. Frames that already exist are not listed.
    pub frames: Vec<u32>,
    pub output: Outputs,
}

impl RenderJob {
    /// Whether the pictures in files have an alpha channel.
    pub fn is_transparent(&self) -> bool {
        self.settings.transparent && self.background.is_none()
    }

    /// Target noise of a tile, before or after denoising; none without adaptive sampling.
    pub fn noise(&self) -> Option<f32> {
        self.settings.noise.or(self.denoised_noise)
    }

    /// The settings that are stored in the files' metadata: `settings` with [`Self::noise`] as the target noise.
    pub fn told_settings(&self) -> FrameSettings {
        FrameSettings { noise: self.noise(), ..self.settings.clone() }
    }

    /// The frames that contribute to a denoised frame; only the frame itself without denoising.
    fn reach(&self) -> Reach {
        let denoising = self.denoising.as_ref();
        let within = denoising.and_then(|denoising| denoising.within);
        let all = within.unwrap_or_else(|| self.scene.settings.first_and_last());
        Reach { frames: denoising.map_or(0, |denoising| denoising.reach), all }
    }

    /// Numbers of all frames to trace: the frames that are written, and the neighbours that they are denoised with.
    pub fn traced_frames(&self) -> BTreeSet<u32> {
        self.reach().all(&self.frames)
    }

    /// Denoises the output of a device without the help of neighbouring frames, and computes its display pixels. Does nothing unless the
    /// job denoises. `settings` are the frame's own; they must request float pixels and the AOVs of [`Denoising::aovs_for`].
    ///
    /// # Errors
    /// If an AOV is missing, or if the denoiser fails.
    pub fn denoise_alone(
        &self,
        (frame, settings): (u32, &FrameSettings),
        rendered: &mut Rendered,
    ) -> Result<(), RenderError> {
        let Some(denoising) = &self.denoising else { return Ok(()) };
        let failed = |source| RenderError::Denoise { frame, source };
        let film = Arc::new(film_frame(settings, denoising, rendered).map_err(failed)?);
        let denoised = denoising.denoise(settings.film_size(), &[Some(film)], &rendered.aovs);
        let Filtered { radiance, alpha, .. } = denoised.map_err(failed)?;
        write::replace_alpha(&mut rendered.aovs, &alpha);
        write::develop(self, denoising, (frame, settings), &radiance, rendered)
    }

    /// Turns the output of a device into the content of a file: composites the background and removes AOVs that only this step needed.
    pub fn complete(&self, rendered: &mut Rendered) {
        write::complete(self, rendered);
    }
}

/// One finished frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameReport {
    /// Number of the frame, from 1.
    pub frame: u32,
    /// Path of the frame's file.
    #[serde(serialize_with = "crate::files::serialize_lossy")]
    pub path: PathBuf,
    /// Milliseconds of posing: transforms, shapes and trees.
    pub pose_ms: f64,
    /// Milliseconds on the device.
    pub trace_ms: f64,
    /// Milliseconds of encoding and writing.
    pub write_ms: f64,
    /// Rays traced for the frame.
    pub rays: RayCounts,
    /// Number of BLASes that were refitted to their deforming mesh.
    pub refits: u32,
    /// Number of trees built from scratch: the TLAS if anything moved, and BLASes that no longer fit their deforming mesh.
    pub rebuilds: u32,
    /// Greatest ratio of the SAH cost of a deforming mesh's BLAS to its cost when it was built; 0 without deforming meshes.
    pub sah_ratio: f32,
    /// Milliseconds spent on refits and rebuilds of BLASes, summed over meshes. This time is part of `pose_ms`.
    pub follow_ms: f64,
    /// The colour of the picture, if all of its pixels have one colour and the integrator shows radiance.
    pub blank: Option<sanity::Blank>,
    /// Noise before and after denoising; none if the frame was not denoised with its neighbours.
    pub noise: Option<FilmError>,
}

/// Noise of a frame: the standard deviation of radiance, averaged over the pixels, as estimated while tracing.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FilmError {
    /// Expected noise of the denoised frame.
    pub left: f64,
    /// Noise of the traced frame.
    pub before: f64,
    /// Samples of the frame, if they were distributed by the noise of the denoised frame.
    #[serde(flatten)]
    pub sampled: Option<Sampled>,
}

/// Sample counts of a frame whose noisy tiles got more samples.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Sampled {
    /// Mean number of samples per pixel.
    pub samples: f64,
    /// Share of pixels, from 0 to 1, that are noisier than the target although they have the maximum number of samples.
    pub noisy: f64,
}

impl FilmError {
    /// Averages `errors`, the noise of each pixel after and before denoising. None if the lists are empty.
    fn of(errors: &[Vec<f32>; 2], sampled: Option<Sampled>) -> Option<Self> {
        let mean = |plane: &Vec<f32>| plane.iter().map(|&error| f64::from(error)).sum::<f64>() / plane.len() as f64;
        let [left, before] = errors.each_ref().map(mean);
        (!errors[0].is_empty()).then_some(Self { left, before, sampled })
    }
}

/// Watches a run: receives a report of each finished frame, in order, from one writing thread at a time.
///
/// ```
/// use throng::{
///     Renderer,
///     report::{FrameObserver, FrameReport},
///     settings::{Destination, FrameOptions},
/// };
/// use std::sync::atomic::AtomicBool;
///
/// struct Lines;
///
/// impl FrameObserver for Lines {
///     fn frame_done(&mut self, report: &FrameReport) {
///         println!("{} took {:.0} ms", report.path.display(), report.trace_ms);
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let frames = FrameOptions {
///     output: Some(Destination::parse(folder.path().join("{model}_##.png"))?),
///     frames: Some("1-72:36".parse()?),
///     ..FrameOptions::default()
/// };
/// let mut renderer = Renderer::open("assets/link.obj")?.size(64, 64).samples(1);
/// let summary = renderer.write_with(&frames, &mut Lines, &AtomicBool::new(false))?;
/// assert_eq!(summary.frames, 2);
/// assert!(folder.path().join("link_37.png").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FrameObserver: Send {
    /// Called before the first frame. `progress` reports how much of the current frame is done, if the device supports it.
    fn frames_begin(&mut self, _progress: Option<Arc<FrameProgress>>) {}

    /// Called when the only frames left are `_count` frames that other runs are rendering, and this run starts to wait for them.
    fn frames_awaited(&mut self, _count: usize) {}

    /// Called after a frame was written to its file or added to the video.
    fn frame_done(&mut self, report: &FrameReport);
}

/// Ignores all reports.
impl FrameObserver for () {
    fn frame_done(&mut self, _: &FrameReport) {}
}

/// The totals of a run, complete or not.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Number of frames written.
    pub frames: u32,
    /// Numbers of frames that this run left to other runs.
    pub skipped: Skipped,
    /// Wall-clock time from the upload of the scene to the last rename.
    pub elapsed: Duration,
    /// Rays of all frames.
    pub rays: RayCounts,
    /// Refits of all frames.
    pub refits: u64,
    /// Rebuilds of all frames.
    pub rebuilds: u64,
    /// Greatest [`FrameReport::sah_ratio`] of all frames.
    pub sah_ratio: f32,
    /// Time that each stage spent working.
    pub busy: Busy,
    /// True when `stop` ended the run before its last frame.
    pub stopped: bool,
}

impl Summary {
    /// The summary of a run that was stopped before its first frame.
    fn of_stopped() -> Self {
        Self { stopped: true, ..Self::default() }
    }

    /// Whether some frames of `job` were neither written by this run nor by another one.
    fn is_short_of(&self, job: &RenderJob) -> bool {
        ((self.frames + self.skipped.appeared) as usize) < job.frames.len()
    }

    fn add(&mut self, report: &FrameReport) {
        self.frames += 1;
        self.rays += report.rays;
        self.refits += u64::from(report.refits);
        self.rebuilds += u64::from(report.rebuilds);
        self.sah_ratio = self.sah_ratio.max(report.sah_ratio);
        self.busy.add(report);
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("frame {frame}: {source}")]
    Device { frame: u32, source: DeviceError },
    #[error(transparent)]
    Load(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("frame {frame}: {source}")]
    Denoise { frame: u32, source: DenoiseError },
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
}

impl RenderError {
    /// The error in writing a file, if this is one.
    pub fn output(&self) -> Option<&OutputError> {
        match self {
            Self::Output(error) | Self::Checkpoint(CheckpointError::Write(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether this error is only the effect of a request to stop.
    fn is_stop(&self) -> bool {
        let source = match self {
            Self::Device { source, .. } => source,
            Self::Load(source) => source,
            Self::Output(_) | Self::Checkpoint(_) | Self::Denoise { .. } | Self::Thread(_) => {
                return false;
            }
        };
        matches!(source, DeviceError::Stopped)
    }
}

/// Renders and writes all frames of `job`. Files that were complete before an error, or before `stop` was set, stay on disk. Videos and
/// contact sheets appear only when they are complete.
///
/// # Errors
/// If the device fails or cannot load the scene, if a frame cannot be denoised or written, or if a thread cannot be started. A run that is
/// stopped is not an error: see [`Summary::stopped`].
pub fn run(
    job: &RenderJob,
    device: &mut dyn Device,
    observer: &mut dyn FrameObserver,
    stop: &AtomicBool,
) -> Result<Summary, RenderError> {
    let start = Instant::now();
    let Some((poser, exposures)) = prepare(job, device, stop)? else {
        return Ok(Summary::of_stopped());
    };
    observer.frames_begin(device.progress());
    let posers = pose_stage::posers(poser, job.traced_frames().len(), device.queue_depth());
    let loop_start = Instant::now();
    let writers = write::writer_count(job);
    let ledger = Mutex::new(Ledger::new(observer, Busy::of(posers.len(), device.device_count(), writers)));
    let awaited = |count| write::lock(&ledger).awaited(count);
    let frames = FrameQueue::of(job).with_takers(posers.len()).telling(awaited);
    let posing = (&frames, posers);
    let traced = run_stages((job, &exposures), device, posing, (&ledger, writers), stop);
    let skipped = frames.finish();
    let ledger = ledger.into_inner();
    let mut summary = ledger.unwrap_or_else(|e| e.into_inner()).close()?;
    summary.skipped = skipped?;
    summary.busy.elapsed = loop_start.elapsed();
    summary.stopped = summary.is_short_of(job);
    match traced {
        Err(error) if !error.is_stop() => return Err(error),
        _ => {}
    }
    if !summary.stopped {
        job.output.finish()?;
    }
    summary.elapsed = start.elapsed();
    Ok(summary)
}

/// Loads the scene and builds the trees of its meshes in parallel, then measures exposures. None if the run was stopped.
fn prepare(
    job: &RenderJob,
    device: &mut dyn Device,
    stop: &AtomicBool,
) -> Result<Option<(Poser, Exposures)>, RenderError> {
    let mut poser = load(job, device)?;
    let known = &mut Measured::default();
    match measure(job, device, (&mut poser, known), &|| stop.load(Ordering::Relaxed)) {
        Ok(exposures) => Ok(Some((poser, exposures))),
        Err(error) if error.is_stop() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Loads the scene of `job` on the device, and builds the trees of its meshes in parallel.
fn load(job: &RenderJob, device: &mut dyn Device) -> Result<Poser, RenderError> {
    let layout = device.node_layout();
    let (loaded, poser) = rayon::join(
        || device.load(job.scene.clone()),
        || Poser::with_trees_from(job.scene.clone(), layout, &job.trees),
    );
    loaded?;
    Ok(poser)
}

/// Applies the settings of `job` to a poser.
fn fit_poser(job: &RenderJob, poser: &mut Poser) {
    poser.set_policy(job.refit);
    poser.set_shutter(job.settings.shutter);
    poser.set_aovs(job.settings.aovs);
    poser.set_integrator(job.settings.integrator);
    poser.set_close_to_camera(true);
}

/// Applies the settings of `job` to the poser, and measures exposures with it.
fn measure(
    job: &RenderJob,
    device: &mut dyn Device,
    (poser, known): (&mut Poser, &mut Measured),
    stop: &Stop,
) -> Result<Exposures, RenderError> {
    fit_poser(job, poser);
    if device.queue_depth() > 1 {
        poser.choose_care(&job.settings);
    }
    Exposures::measure(job, device, (poser, known), stop)
}

/// Runs the three stages. Returns the result of the tracing stage; the ledger keeps errors of the writing stage.
fn run_stages(
    (job, exposures): (&RenderJob, &Exposures),
    device: &mut dyn Device,
    (frames, posers): (&FrameQueue<'_>, Vec<Poser>),
    (ledger, writers): (&Mutex<Ledger<'_>>, usize),
    stop: &AtomicBool,
) -> Result<(), RenderError> {
    // Set when a later stage has failed, to end the earlier ones.
    let abort = &AtomicBool::new(false);
    let ended = &|| stop.load(Ordering::Relaxed) || abort.load(Ordering::Relaxed);
    // A device that takes one frame at a time needs no buffer: one frame is traced while the next is posed, and no third frame takes
    // memory. A device with a queue is fast and must not wait for a slow pose.
    let buffer = usize::from(device.queue_depth() > 1 && posers.len() == 1);
    let (finished_out, finished_in) = sync_channel(1);
    let finished_in = Arc::new(Mutex::new(finished_in));
    thread::scope(|scope| {
        let start = || {
            let threads = posers.len() + writers;
            memory::check_room_for_threads(threads, memory::THREAD_STACK)?;
            let posed_in = pose_stage::start(scope, posers, frames, buffer, ended)?;
            for _ in 0..writers {
                let finished = finished_in.clone();
                let write = move || {
                    let failed = write::write_frames(job, finished, ledger);
                    abort.fetch_or(failed, Ordering::Relaxed);
                };
                thread::Builder::new().spawn_scoped(scope, write)?;
            }
            Ok(posed_in)
        };
        let started = start().map_err(RenderError::Thread);
        // Only the writers hold the receiver from here on, so sending fails once the last of them has failed.
        drop(finished_in);
        let traced = started
            .and_then(|mut posed_in| trace_frames((job, exposures), device, &mut posed_in, &finished_out, ended));
        // With both channels closed, the other stages end, even while they wait for other runs.
        abort.fetch_or(traced.is_err(), Ordering::Relaxed);
        drop(finished_out);
        traced
    })
}

/// A step of the frame loop, and the frame that the device is tracing for it, if any.
struct UnderWay {
    step: Step,
    traced: Option<(FrameSettings, Duration, pose::TreeWork)>,
}

/// Second stage: keeps the device's queue full. If a frame cannot be submitted, the frames before it are still passed on.
fn trace_frames(
    (job, exposures): (&RenderJob, &Exposures),
    device: &mut dyn Device,
    posed: &mut PosedFrames,
    finished: &SyncSender<Finished>,
    stop: &Stop,
) -> Result<(), RenderError> {
    let mut under_way: VecDeque<UnderWay> = VecDeque::new();
    let mut submitted = Ok(());
    let mut window = Window::new(job);
    let progress = device.progress();
    let film_wanted = window::film_wanted(job);
    let mut index = 0;
    loop {
        while submitted.is_ok() && under_way.len() < device.queue_depth() {
            let Some(posed) = posed.recv() else { break };
            submitted = submit((job, exposures, film_wanted), device, posed, &mut under_way);
        }
        let Some(UnderWay { step, traced }) = under_way.pop_front() else {
            break;
        };
        if let Some(progress) = &progress {
            progress.set_part(step.part.0, step.part.1);
        }
        let traced = match (step.trace, traced) {
            (Some(number), Some((settings, pose_time, trees))) => match device.collect(stop) {
                Ok(rendered) => Some(Traced { number, settings, rendered, pose_time, trees, begun: None }),
                Err(DeviceError::Stopped) if submitted.is_err() => break,
                Err(source) => return Err(RenderError::Device { frame: number, source }),
            },
            _ => None,
        };
        if let Some(complete) = window.take(step, traced)? {
            if finished.send(Finished { index, complete }).is_err() {
                break;
            }
            index += 1;
        }
    }
    submitted
}

fn submit(
    (job, exposures, film_wanted): (&RenderJob, &Exposures, Option<FilmWanted>),
    device: &mut dyn Device,
    (step, posed): PosedStep,
    under_way: &mut VecDeque<UnderWay>,
) -> Result<(), RenderError> {
    let traced = match posed {
        Some(posed) => {
            let frame = posed.frame.number;
            let settings = FrameSettings { film_wanted, ..exposures.settings_of(&job.settings, frame) };
            device.submit(posed.frame, &settings).map_err(|source| RenderError::Device { frame, source })?;
            Some((settings, posed.time, posed.trees))
        }
        None => None,
    };
    under_way.push_back(UnderWay { step, traced });
    Ok(())
}

pub(crate) fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}
