//! The frame loop: pose, trace and write overlap as three stages, so the slowest one sets the frame rate.

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
    device::{Device, DeviceError, FilmWanted, FrameProgress, FrameSettings, RayCounts, Rendered, Stop},
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

/// Everything `run` needs to know.
pub struct RenderJob {
    pub scene: Arc<Scene>,
    pub settings: FrameSettings,
    /// How the exposure is measured. None: it is that of the settings.
    pub auto_exposure: Option<AutoExposure>,
    /// Type of the pixels in the frames' files. Devices make the same, unless frames are denoised before they are written.
    pub pixels: PixelType,
    /// AOVs that are written; devices may have to gather more.
    pub aovs: AovSet,
    /// Denoises frames before they are written. That takes their radiance and layers of those around, so `settings` ask for them.
    pub denoising: Option<Arc<Denoising>>,
    /// The noise at which tiles of denoised frames are done. The noise of `settings` is that before denoising, and none then.
    pub denoised_noise: Option<f32>,
    /// What is behind the scene in frames, which are opaque then; `settings` ask for transparent ones with alpha. None: they are as they
    /// ask.
    pub background: Option<Background>,
    /// Linear colour of the edges that `settings` draw; none for black.
    pub wireframe_color: Option<Vec3>,
    /// Refit policy of all deforming meshes. None: each mesh has its own.
    pub refit: Option<RefitPolicy>,
    pub trees: TreeSource,
    /// Frame numbers (from 1) in the order in which they are rendered, without those that existed before.
    pub frames: Vec<u32>,
    pub output: Outputs,
}

impl RenderJob {
    /// Whether pictures in files are transparent.
    pub fn is_transparent(&self) -> bool {
        self.settings.transparent && self.background.is_none()
    }

    /// The noise at which tiles of frames are done, whether before or after they are denoised.
    pub fn noise(&self) -> Option<f32> {
        self.settings.noise.or(self.denoised_noise)
    }

    /// The settings of frames as they are written, with the noise that these have at most.
    pub fn told_settings(&self) -> FrameSettings {
        FrameSettings { noise: self.noise(), ..self.settings.clone() }
    }

    /// How far around a frame those are that it is made of.
    fn reach(&self) -> Reach {
        let denoising = self.denoising.as_ref();
        let within = denoising.and_then(|denoising| denoising.within);
        let all = within.unwrap_or_else(|| self.scene.settings.first_and_last());
        Reach { frames: denoising.map_or(0, |denoising| denoising.reach), all }
    }

    /// The frames that are traced: those that are written, and those that these are denoised with.
    pub fn traced_frames(&self) -> BTreeSet<u32> {
        self.reach().all(&self.frames)
    }

    /// Makes the pixels of a picture's file from those of a device: lays the background under them, and leaves out AOVs that were only needed
    /// for that.
    pub fn complete(&self, rendered: &mut Rendered) {
        write::complete(self, rendered);
    }
}

/// One finished frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameReport {
    /// Number of the frame, from 1.
    pub frame: u32,
    /// The file that it is in.
    #[serde(serialize_with = "crate::files::serialize_lossy")]
    pub path: PathBuf,
    /// Milliseconds of posing: transforms, shapes and trees.
    pub pose_ms: f64,
    /// Milliseconds on the device.
    pub trace_ms: f64,
    /// Milliseconds of encoding and writing.
    pub write_ms: f64,
    /// Rays that were traced for it.
    pub rays: RayCounts,
    /// Number of BLASes that were refitted to their deforming mesh.
    pub refits: u32,
    /// Number of trees built afresh: the TLAS if anything moved, and BLASes that no longer fit their mesh.
    pub rebuilds: u32,
    /// Greatest ratio of the cost of a BLAS that follows a mesh to its cost when it was built. 0 if there are none.
    pub sah_ratio: f32,
    /// Time spent on refits and rebuilds of BLASes, summed over meshes; part of `pose_ms`.
    pub follow_ms: f64,
    /// The only colour of a picture of light, if it shows nothing else.
    pub blank: Option<sanity::Blank>,
    /// The noise, if the frame was denoised by the frames around it.
    pub noise: Option<FilmError>,
}

/// Noise of a frame: the mean over its pixels of the standard deviation of radiance, as far as it was counted while tracing.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FilmError {
    /// Expected in the denoised frame.
    pub left: f64,
    /// In the frame that was traced.
    pub before: f64,
    /// If samples went where the denoised frame was noisy: how many.
    #[serde(flatten)]
    pub sampled: Option<Sampled>,
}

/// Samples of a frame that got them where it was noisy.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Sampled {
    /// Mean number of a pixel.
    pub samples: f64,
    /// Share of the frame that is noisier than its target, as its pixels have all samples that they may have.
    pub noisy: f64,
}

impl FilmError {
    /// The means of the errors of all pixels, denoised and not; none if there are none.
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
    /// Called before the first frame. `progress` is how far the device is with the frame under way, if it can tell.
    fn frames_begin(&mut self, _progress: Option<Arc<FrameProgress>>) {}

    /// Called when nothing is left but so many frames that other runs are making, which this one waits for.
    fn frames_awaited(&mut self, _count: usize) {}

    /// Called when a frame is in its file, or in the video.
    fn frame_done(&mut self, report: &FrameReport);
}

/// Nobody watches.
impl FrameObserver for () {
    fn frame_done(&mut self, _: &FrameReport) {}
}

/// The totals of a run, complete or not.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Number of frames written.
    pub frames: u32,
    /// Numbers of frames that were other runs'.
    pub skipped: Skipped,
    /// Wall-clock time from the upload of the scene to the last rename.
    pub elapsed: Duration,
    /// Rays of all frames.
    pub rays: RayCounts,
    /// Refits of all frames.
    pub refits: u64,
    /// Rebuilds of all frames.
    pub rebuilds: u64,
    /// Greatest of all frames, see [`FrameReport::sah_ratio`].
    pub sah_ratio: f32,
    /// What the stages of the loop spent their time on.
    pub busy: Busy,
    /// True when `stop` ended the run before its last frame.
    pub stopped: bool,
}

impl Summary {
    /// The summary of a run that was stopped before its first frame.
    fn of_stopped() -> Self {
        Self { stopped: true, ..Self::default() }
    }

    /// Whether frames of `job` are missing.
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
    /// The file that could not be written, if that is why.
    pub fn output(&self) -> Option<&OutputError> {
        match self {
            Self::Output(error) | Self::Checkpoint(CheckpointError::Write(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether the run was only told to stop.
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

/// Renders and writes all frames. Whatever was finished before an error or before `stop` was set stays on disk; films and
/// contact sheets appear only when they are complete.
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

/// Loads the scene while the trees of its meshes are built, then measures exposures. None if it was stopped.
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

/// Loads the scene of `job` while the trees of its meshes are built.
fn load(job: &RenderJob, device: &mut dyn Device) -> Result<Poser, RenderError> {
    let layout = device.node_layout();
    let (loaded, poser) = rayon::join(
        || device.load(job.scene.clone()),
        || Poser::with_trees_from(job.scene.clone(), layout, &job.trees),
    );
    loaded?;
    Ok(poser)
}

/// Makes a poser fit the settings of `job`.
fn fit_poser(job: &RenderJob, poser: &mut Poser) {
    poser.set_policy(job.refit);
    poser.set_shutter(job.settings.shutter);
    poser.set_aovs(job.settings.aovs);
    poser.set_integrator(job.settings.integrator);
    poser.set_close_to_camera(true);
}

/// Makes the poser fit the settings of `job`, and measures exposures with it.
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

/// Runs the three stages. Returns the result of the second; the ledger has that of the third.
fn run_stages(
    (job, exposures): (&RenderJob, &Exposures),
    device: &mut dyn Device,
    (frames, posers): (&FrameQueue<'_>, Vec<Poser>),
    (ledger, writers): (&Mutex<Ledger<'_>>, usize),
    stop: &AtomicBool,
) -> Result<(), RenderError> {
    // Set when a later stage has failed, so that earlier ones end.
    let abort = &AtomicBool::new(false);
    let ended = &|| stop.load(Ordering::Relaxed) || abort.load(Ordering::Relaxed);
    // For a device that takes one frame at a time there is no buffer: one frame is traced while the next one is posed,
    // and no third one takes up memory. A device with a queue is fast and shall not wait for a pose that takes longer.
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
        // Now only the writers hold it, so sending to them fails once the last of them has failed.
        drop(finished_in);
        let traced = started
            .and_then(|mut posed_in| trace_frames((job, exposures), device, &mut posed_in, &finished_out, ended));
        // With both ends closed, the neighbours finish, also those that wait for other runs.
        abort.fetch_or(traced.is_err(), Ordering::Relaxed);
        drop(finished_out);
        traced
    })
}

/// A step whose frame, if there is one, the device is working on.
struct UnderWay {
    step: Step,
    traced: Option<(FrameSettings, Duration, pose::TreeWork)>,
}

/// Second stage: keeps the device's queue full, as results can wait. When a frame cannot be submitted, those before it are
/// still passed on.
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
