//! The fast driver: posing, tracing and writing run as three overlapping stages, so the slowest stage sets the frame rate.

use super::{
    batches::Batches,
    prepare::prepare,
    window::{self, Complete, Step, Traced, Window},
};
use crate::{
    Busy, FrameObserver, FrameQueue, Poser, RenderError, RenderJob, Summary,
    error::check_inputs,
    exposure::Exposures,
    labels::{maps::Labelled, pass},
    posing::{
        pose::{Posed, TreeWork},
        pose_stage::{self, PosedBatch, PosedStep},
    },
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
use throng_device::{Delivery, Device, Frame, FrameProgress, FrameSettings, Stop, batch::can_join};

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
    let batches = Batches::of(job, device);
    let posers = pose_stage::posers(poser, batches.moments(), device.queue_depth());
    let loop_start = Instant::now();
    let writers = write::writer_count(job);
    let ledger = Mutex::new(Ledger::new(observer, Busy::of(posers.len(), device.device_count(), writers)));
    let awaited = |count| lock(&ledger).awaited(count);
    let frames = FrameQueue::of(job).in_batches(&batches).with_takers(posers.len()).telling(awaited);
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
        job.finish()?;
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
    /// Whether the step takes a place in the device's queue until its frame is collected. In a batch, only the first step does.
    begins: bool,
    /// Whether the labels of the frame come next in the queue. Such frames are in no batch.
    labels_follow: bool,
}

/// Work for the device's queue, or a step that needs none.
enum Task {
    /// The labels of a frame.
    Labels(Box<Frame>),
    Pictures(TracedBatch),
}

/// What is under way, in the order of the queue.
enum Pending {
    /// The labels of the frame with this number.
    Labels(u32),
    Picture(UnderWay),
}

/// Second stage: keeps the device's queue full with the batches of `posed`, and passes complete ones to `finish` until it returns false. If a frame
/// cannot be submitted, the frames before it are still passed on.
pub(super) fn trace_frames(
    (job, exposures): (&RenderJob, &Exposures),
    device: &mut dyn Device,
    posed: &mut dyn FnMut() -> Option<PosedBatch>,
    finish: &mut dyn FnMut(Complete) -> bool,
    stop: &Stop,
) -> Result<(), RenderError> {
    let mut under_way: VecDeque<Pending> = VecDeque::new();
    // Places taken in the device's queue.
    let mut taken = 0;
    let mut submitted = Ok(());
    let mut window = Window::new(job);
    let delivery = Delivery { denoise_wanted: window::denoise_wanted(job), ..job.delivery };
    let alternates = device.device_count() > 1;
    let mut tasks = Tasks { job, exposures, posed, waiting: VecDeque::new(), next: None, alternates, labelled: 0 };
    let mut collector = Collector { progress: device.progress(), labels: None, picture: None };
    loop {
        while submitted.is_ok() && taken < device.queue_depth() {
            let Some(task) = tasks.next() else { break };
            submitted = submit((job, exposures), delivery, device, task, &mut under_way);
            taken += 1;
        }
        let Some(pending) = under_way.pop_front() else { break };
        taken -= usize::from(pending.begins());
        let (step, traced) = match collector.collect(pending, device, stop) {
            Ok(Some(traced)) => traced,
            Ok(None) => continue,
            Err(error) if error.is_stop() && submitted.is_err() => break,
            Err(error) => return Err(error),
        };
        if let Some(complete) = window.take(step, traced)?
            && !finish(complete)
        {
            discard(&under_way, device);
            break;
        }
    }
    submitted
}

impl Pending {
    /// Whether it takes a place in the device's queue until it is collected.
    fn begins(&self) -> bool {
        match self {
            Self::Labels(_) => true,
            Self::Picture(picture) => picture.begins,
        }
    }
}

/// Steps whose frames the device traces together.
struct TracedBatch {
    /// The frames, with the settings of all of them; none for a step without a frame.
    traced: Option<(Vec<Frame>, FrameSettings)>,
    steps: Vec<UnderWay>,
}

impl TracedBatch {
    /// Takes the first of the waiting steps, and the next ones as long as their frames can be traced together with its frame. `waiting` has the steps
    /// of one planned batch, so there are not too many.
    fn take((job, exposures): (&RenderJob, &Exposures), waiting: &mut VecDeque<PosedStep>) -> Option<Self> {
        let (step, posed) = waiting.pop_front()?;
        let under_way = |step, traced, begins| UnderWay { step, traced, begins, labels_follow: false };
        let Some(Posed { frame, time, trees, .. }) = posed else {
            return Some(Self { traced: None, steps: vec![under_way(step, None, true)] });
        };
        let settings = exposures.settings_of(&job.settings, frame.number);
        let mut steps = vec![under_way(step, Some((settings.clone(), time, trees)), true)];
        let mut frames = vec![frame];
        let joins = |first: &Frame, (_, posed): &PosedStep| {
            posed.as_ref().is_some_and(|Posed { frame, .. }| {
                let own = exposures.settings_of(&job.settings, frame.number);
                own == settings && can_join(first, frame, &settings)
            })
        };
        while let Some((step, Some(Posed { frame, time, trees, .. }))) =
            waiting.pop_front_if(|next| joins(&frames[0], next))
        {
            steps.push(under_way(step, Some((settings.clone(), time, trees)), false));
            frames.push(frame);
        }
        Some(Self { traced: Some((frames, settings)), steps })
    }

    fn submit(
        self,
        delivery: Delivery,
        device: &mut dyn Device,
        under_way: &mut VecDeque<Pending>,
    ) -> Result<(), RenderError> {
        if let Some((mut frames, settings)) = self.traced {
            frames.iter().try_for_each(check_inputs)?;
            let frame = frames[0].number;
            let submitted = if frames.len() == 1 {
                device.submit(frames.remove(0), &settings, delivery)
            } else {
                device.submit_batch(frames, &settings, delivery)
            };
            submitted.map_err(|source| RenderError::Device { frame, source })?;
        }
        under_way.extend(self.steps.into_iter().map(Pending::Picture));
        Ok(())
    }
}

/// Joins pictures with their labels.
struct Collector {
    progress: Option<Arc<FrameProgress>>,
    /// Labels whose picture comes next.
    labels: Option<Labelled>,
    /// A picture whose labels come next.
    picture: Option<(Step, Traced)>,
}

impl Collector {
    /// Waits for the oldest work under way. Returns a step and its frame, once that has all parts.
    fn collect(
        &mut self,
        pending: Pending,
        device: &mut dyn Device,
        stop: &Stop,
    ) -> Result<Option<(Step, Option<Traced>)>, RenderError> {
        let mut wait = |number| device.collect(stop).map_err(|source| RenderError::Device { frame: number, source });
        let UnderWay { step, traced, labels_follow, .. } = match pending {
            Pending::Picture(picture) => picture,
            Pending::Labels(number) => {
                let labels = Some(pass::labelled(wait(number)?));
                return Ok(match self.picture.take() {
                    Some((step, traced)) => Some((step, Some(Traced { labels, ..traced }))),
                    None => {
                        self.labels = labels;
                        None
                    }
                });
            }
        };
        if let Some(progress) = &self.progress {
            progress.set_part(step.part.0, step.part.1);
        }
        let (Some(number), Some((settings, pose_time, trees))) = (step.trace, traced) else {
            return Ok(Some((step, None)));
        };
        let rendered = wait(number)?;
        let labels = self.labels.take();
        let traced = Traced { number, settings, rendered, pose_time, trees, begun: None, labels };
        if labels_follow {
            self.picture = Some((step, traced));
            return Ok(None);
        }
        Ok(Some((step, Some(traced))))
    }
}

/// Discards frames under way. A device may return those that are complete, and an error discards the others.
fn discard(under_way: &VecDeque<Pending>, device: &mut dyn Device) {
    let is_traced = |pending: &&Pending| match pending {
        Pending::Labels(_) => true,
        Pending::Picture(picture) => picture.traced.is_some(),
    };
    let _ = under_way.iter().filter(is_traced).map(|_| device.collect(&|| true)).find(Result::is_err);
}

/// The tasks of all frames, in order. A frame with labels is two tasks.
struct Tasks<'a> {
    job: &'a RenderJob,
    exposures: &'a Exposures,
    posed: &'a mut dyn FnMut() -> Option<PosedBatch>,
    /// Posed steps that are no tasks yet.
    waiting: VecDeque<PosedStep>,
    /// The second task of a frame whose first one was the last task.
    next: Option<Task>,
    /// Whether every second frame has its picture before its labels. Two devices that take tasks in turn would otherwise get only labels and only
    /// pictures.
    alternates: bool,
    /// Number of frames with labels so far.
    labelled: u64,
}

impl Tasks<'_> {
    fn next(&mut self) -> Option<Task> {
        if let Some(task) = self.next.take() {
            return Some(task);
        }
        if self.waiting.is_empty() {
            self.waiting.extend((self.posed)().unwrap_or_default());
        }
        let labels = self.waiting.front_mut().and_then(|(_, posed)| posed.as_mut()?.labels.take());
        let labels = labels.filter(|frame| self.job.output.labels.are_traced_for(self.job, frame.number));
        let mut pictures = TracedBatch::take((self.job, self.exposures), &mut self.waiting)?;
        let Some(labels) = labels.map(|frame| Task::Labels(Box::new(frame))) else {
            return Some(Task::Pictures(pictures));
        };
        self.labelled += 1;
        let picture_first = self.alternates && self.labelled.is_multiple_of(2);
        pictures.steps.iter_mut().for_each(|step| step.labels_follow = picture_first);
        let pictures = Task::Pictures(pictures);
        let (first, second) = if picture_first { (pictures, labels) } else { (labels, pictures) };
        self.next = Some(second);
        Some(first)
    }
}

fn submit(
    (job, exposures): (&RenderJob, &Exposures),
    delivery: Delivery,
    device: &mut dyn Device,
    task: Task,
    under_way: &mut VecDeque<Pending>,
) -> Result<(), RenderError> {
    match task {
        Task::Labels(frame) => {
            let number = frame.number;
            let settings = pass::settings(job, &exposures.settings_of(&job.settings, number));
            let submitted = device.submit(*frame, &settings, Delivery::default());
            submitted.map_err(|source| RenderError::Device { frame: number, source })?;
            under_way.push_back(Pending::Labels(number));
            Ok(())
        }
        Task::Pictures(batch) => batch.submit(delivery, device, under_way),
    }
}
