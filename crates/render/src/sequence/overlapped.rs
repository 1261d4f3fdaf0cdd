//! The fast driver: posing, tracing and writing run as three overlapping stages, so the slowest stage sets the frame rate.

use super::{
    prepare::prepare,
    window::{self, Complete, Step, Traced, Window},
};
use crate::{
    Busy, FrameObserver, FrameQueue, Poser, RenderError, RenderJob, Summary,
    error::check_inputs,
    exposure::Exposures,
    posing::pose::TreeWork,
    posing::pose_stage::{self, PosedStep},
    results::write::{self, Finished, Ledger},
};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread,
    time::{Duration, Instant},
};
use throng_base::{
    memory,
    sync::{lock, unpoisoned},
};
use throng_device::{Delivery, Device, DeviceError, FrameSettings, Stop};

/// Renders and writes all frames of `job`.
///
/// # Errors
/// As [`crate::run`].
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
    let awaited = |count| lock(&ledger).awaited(count);
    let frames = FrameQueue::of(job).with_takers(posers.len()).telling(awaited);
    let posing = (&frames, posers);
    let traced = run_stages((job, &exposures), device, posing, (&ledger, writers), stop);
    let skipped = frames.finish();
    let ledger = ledger.into_inner();
    let mut summary = unpoisoned(ledger).close()?;
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
        let traced = started.and_then(|mut posed_in| {
            let mut indices = 0..;
            let mut finish = |complete| {
                let index = indices.next().unwrap_or_default();
                finished_out.send(Finished { index, complete }).is_ok()
            };
            trace_frames((job, exposures), device, &mut || posed_in.recv(), &mut finish, ended)
        });
        // With both channels closed, the other stages end, even while they wait for other runs.
        abort.fetch_or(traced.is_err(), Ordering::Relaxed);
        drop(finished_out);
        traced
    })
}

/// A step of the frame loop, and the frame that the device is tracing for it, if any.
struct UnderWay {
    step: Step,
    traced: Option<(FrameSettings, Duration, TreeWork)>,
}

/// Second stage: keeps the device's queue full with the frames of `posed`, and passes complete ones to `finish` until it returns false. If a frame
/// cannot be submitted, the frames before it are still passed on.
pub(super) fn trace_frames(
    (job, exposures): (&RenderJob, &Exposures),
    device: &mut dyn Device,
    posed: &mut dyn FnMut() -> Option<PosedStep>,
    finish: &mut dyn FnMut(Complete) -> bool,
    stop: &Stop,
) -> Result<(), RenderError> {
    let mut under_way: VecDeque<UnderWay> = VecDeque::new();
    let mut submitted = Ok(());
    let mut window = Window::new(job);
    let progress = device.progress();
    let delivery = Delivery { denoise_wanted: window::denoise_wanted(job), ..job.delivery };
    loop {
        while submitted.is_ok() && under_way.len() < device.queue_depth() {
            let Some(posed) = posed() else { break };
            submitted = submit((job, exposures), delivery, device, posed, &mut under_way);
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
        if let Some(complete) = window.take(step, traced)?
            && !finish(complete)
        {
            // Frames under way are discarded. A device may return those that are complete, and an error discards the others.
            let traced = under_way.iter().filter(|frame| frame.traced.is_some());
            let _ = traced.map(|_| device.collect(&|| true)).find(Result::is_err);
            break;
        }
    }
    submitted
}

fn submit(
    (job, exposures): (&RenderJob, &Exposures),
    delivery: Delivery,
    device: &mut dyn Device,
    (step, posed): PosedStep,
    under_way: &mut VecDeque<UnderWay>,
) -> Result<(), RenderError> {
    let traced = match posed {
        Some(posed) => {
            check_inputs(&posed.frame)?;
            let frame = posed.frame.number;
            let settings = exposures.settings_of(&job.settings, frame);
            device.submit(posed.frame, &settings, delivery).map_err(|source| RenderError::Device { frame, source })?;
            Some((settings, posed.time, posed.trees))
        }
        None => None,
    };
    under_way.push_back(UnderWay { step, traced });
    Ok(())
}
