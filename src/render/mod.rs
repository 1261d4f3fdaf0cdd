//! The frame loop: pose, trace and write overlap as three stages, so the slowest one sets the frame rate.

pub mod frames;
pub mod measure;

mod pose;
mod ray_files;
pub mod report;

use crate::{
    device::{Device, DeviceError, FrameSettings, RayCounts, Rendered, Stop},
    output::{OutputError, Pattern, write_png},
    scene::Scene,
};
pub use pose::Poser;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// Everything `run` needs to know.
pub struct RenderJob {
    pub scene: Arc<Scene>,
    pub settings: FrameSettings,
    /// Frame numbers (from 1), in the order in which they are rendered; already without the ones to skip.
    pub frames: Vec<u32>,
    pub output: Pattern,
}

/// One finished frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameReport {
    pub frame: u32,
    pub path: PathBuf,
    pub pose_ms: f64,
    pub trace_ms: f64,
    pub write_ms: f64,
    pub rays: RayCounts,
    /// BLASes whose boxes followed a deforming mesh.
    pub refits: u32,
    /// Trees built afresh: the TLAS if anything moved, and BLASes that no longer fit their mesh.
    pub rebuilds: u32,
}

/// Told about each finished frame, in order, from the writing thread.
pub trait Observer: Send {
    fn frame_done(&mut self, report: &FrameReport);
}

/// What a run did, complete or not.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Frames written.
    pub frames: u32,
    /// Wall-clock time from the upload of the scene to the last rename.
    pub elapsed: Duration,
    pub rays: RayCounts,
    pub refits: u64,
    pub rebuilds: u64,
    /// True when `stop` ended the run before its last frame.
    pub stopped: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("frame {frame}: {source}")]
    Device { frame: u32, source: DeviceError },
    #[error(transparent)]
    Load(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// A rendered frame on its way to disk.
struct Finished {
    frame: u32,
    pixels: Vec<u8>,
    rays: RayCounts,
    trace_time: Duration,
    pose_time: Duration,
    trees: pose::TreeWork,
}

/// Renders and writes all frames. Whatever was finished before an error or before `stop` was set stays on disk.
pub fn run(
    job: &RenderJob,
    device: &mut dyn Device,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Summary, RenderError> {
    let start = Instant::now();
    device.load(job.scene.clone())?;
    let poser = Poser::new(job.scene.clone(), device.node_layout());
    // Set when a later stage has failed, so that earlier ones end.
    let abort = AtomicBool::new(false);
    // No buffer: one frame is traced while the next one is posed, and no third one takes up memory.
    let (posed_out, posed_in) = sync_channel(0);
    let (finished_out, finished_in) = sync_channel(1);
    let ended = || stop.load(Ordering::Relaxed) || abort.load(Ordering::Relaxed);
    let ended = &ended;
    let (mut summary, traced) = thread::scope(|scope| {
        scope.spawn(move || pose_frames(poser, &job.frames, &posed_out, ended));
        let abort = &abort;
        let writer = scope.spawn(move || {
            let result = write_frames(job, finished_in, observer);
            abort.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        });
        let traced = trace_frames(job, device, &posed_in, &finished_out, ended);
        // Closing both ends lets the neighbours finish.
        drop((posed_in, finished_out));
        let written = writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map(|summary| (summary, traced))
    })?;
    summary.elapsed = start.elapsed();
    summary.stopped = (summary.frames as usize) < job.frames.len();
    match traced {
        Err(RenderError::Device {
            source: DeviceError::Stopped,
            ..
        })
        | Ok(()) => Ok(summary),
        Err(error) => Err(error),
    }
}

/// First stage. Ends early when the next stage has gone away.
fn pose_frames(
    mut poser: Poser,
    frames: &[u32],
    posed: &SyncSender<pose::Posed>,
    ended: impl Fn() -> bool,
) {
    for &number in frames {
        if ended() || posed.send(poser.pose(number)).is_err() {
            return;
        }
    }
}

/// Second stage: keeps the device's queue full.
fn trace_frames(
    job: &RenderJob,
    device: &mut dyn Device,
    posed: &Receiver<pose::Posed>,
    finished: &SyncSender<Finished>,
    stop: &Stop,
) -> Result<(), RenderError> {
    let mut under_way = std::collections::VecDeque::new();
    loop {
        while under_way.len() < device.queue_depth() {
            let Ok(posed) = posed.recv() else { break };
            let frame = posed.frame.number;
            device
                .submit(posed.frame, &job.settings)
                .map_err(|source| RenderError::Device { frame, source })?;
            under_way.push_back((frame, posed.time, posed.trees));
        }
        let Some((frame, pose_time, trees)) = under_way.pop_front() else {
            return Ok(());
        };
        // Only the pixels travel on: a frame's TLAS goes back to the first stage as soon as it is traced.
        let Rendered {
            pixels,
            rays,
            time: trace_time,
            ..
        } = device
            .collect(stop)
            .map_err(|source| RenderError::Device { frame, source })?;
        if finished
            .send(Finished {
                frame,
                pixels,
                rays,
                trace_time,
                pose_time,
                trees,
            })
            .is_err()
        {
            return Ok(());
        }
    }
}

/// Third stage: encodes and writes.
fn write_frames(
    job: &RenderJob,
    finished: Receiver<Finished>,
    observer: &mut dyn Observer,
) -> Result<Summary, RenderError> {
    let mut summary = Summary::default();
    for Finished {
        frame,
        pixels,
        rays,
        trace_time,
        pose_time,
        trees,
    } in finished
    {
        let start = Instant::now();
        let path = job.output.path_for(frame, &job.scene.name);
        write_png(&path, job.settings.width, job.settings.height, &pixels)?;
        let report = FrameReport {
            frame,
            path,
            pose_ms: milliseconds(pose_time),
            trace_ms: milliseconds(trace_time),
            write_ms: milliseconds(start.elapsed()),
            rays,
            refits: trees.refits,
            rebuilds: trees.rebuilds,
        };
        summary.frames += 1;
        summary.rays += report.rays;
        summary.refits += u64::from(report.refits);
        summary.rebuilds += u64::from(report.rebuilds);
        observer.frame_done(&report);
    }
    Ok(summary)
}

pub(crate) fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}
