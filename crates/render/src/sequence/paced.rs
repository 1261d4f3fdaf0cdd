//! The patient driver: renders one frame at a time on one device. An unfinished frame can be written or stored in a checkpoint at any moment,
//! and another run can continue it.

use super::{
    keeper::{Keeper, Keepers, Ongoing},
    prepare::prepare,
    refine, slices,
    window::{Complete, Step, Traced, Window},
};
use crate::{
    Busy, FrameObserver, FrameQueue, FrameReport, Poser, RenderError, RenderJob, Summary,
    error::check_inputs,
    exposure::Exposures,
    labels::pass,
    milliseconds,
    posing::pose::Posed,
    results::write::{self, Finished},
};
use std::{
    iter,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use throng_base::sync::lock;
use throng_device::{Delivery, Device, Filtered, FrameSettings, Stop};

/// Renders all frames as [`crate::run`] does. With checkpoints, or if only a range of samples is rendered, a stopped run keeps the samples
/// of its unfinished frame. The settings must then have an [open end](FrameSettings::open_ended).
///
/// # Errors
/// As [`crate::run`]. Also if a checkpoint cannot be read or written, is damaged, or belongs to another picture.
pub fn run(
    job: &RenderJob,
    ongoing: &Ongoing,
    device: &mut dyn Device,
    observer: &mut dyn FrameObserver,
    stop: &AtomicBool,
) -> Result<Summary, RenderError> {
    let start = Instant::now();
    let Some((mut poser, exposures)) = prepare(job, device, stop)? else {
        return Ok(Summary::of_stopped());
    };
    observer.frames_begin(device.progress());
    let loop_start = Instant::now();
    let mut summary = Summary { busy: Busy::of(1, device.device_count(), 1), ..Summary::default() };
    let observer = Mutex::new(observer);
    let frames = FrameQueue::of(job).telling(|count| lock(&observer).frames_awaited(count));
    let keepers = Keepers::new(job, ongoing);
    let ended = || stop.load(Ordering::Relaxed);
    let mut paced = Paced::new(job, device, &mut poser, exposures);
    for step in iter::from_fn(|| frames.next(0, ended)).flatten() {
        let complete = match paced.step(step, Some(&keepers), &ended) {
            Err(error) if error.is_stop() => break,
            complete => complete?,
        };
        if let Some(complete) = complete {
            let keeper = paced.keeper(&keepers, step.frame, step);
            let report = finish_frame(job, &keeper, (summary.frames as usize, complete))?;
            summary.add(&report);
            lock(&observer).frame_done(&report);
        }
    }
    summary.skipped = frames.finish()?;
    summary.stopped = summary.is_short_of(job);
    if !summary.stopped {
        job.finish()?;
    }
    summary.elapsed = start.elapsed();
    summary.busy.elapsed = loop_start.elapsed();
    Ok(summary)
}

/// Writes one frame, unless only a range of its samples was rendered; that range is already in its own file.
fn finish_frame(
    job: &RenderJob,
    keeper: &Keeper,
    (index, complete): (usize, Complete),
) -> Result<FrameReport, RenderError> {
    if let Some((path, _)) = &keeper.ongoing.part {
        let Traced { rendered, pose_time, trees, .. } = &complete.traced;
        let work = (milliseconds(*pose_time), trees);
        return Ok(write::report_of_part((keeper.frame, path), rendered, work));
    }
    let report = write::write_frame(job, Finished { index, complete })?;
    keeper.clean_up();
    Ok(report)
}

/// Renders the frames of a job one after another on one device. Data for denoising are kept from one frame to the next.
pub struct Paced<'a> {
    pub job: &'a RenderJob,
    device: &'a mut dyn Device,
    poser: &'a mut Poser,
    exposures: Exposures,
    window: Window<'a>,
}

impl<'a> Paced<'a> {
    /// `poser` and `exposures` must be prepared for the job.
    pub fn new(job: &'a RenderJob, device: &'a mut dyn Device, poser: &'a mut Poser, exposures: Exposures) -> Self {
        Self { job, device, poser, exposures, window: Window::new(job) }
    }

    /// Carries out a step. Returns the step's frame after its last step, with the samples that it needs after denoising. With `keepers`,
    /// frames are traced in slices, between which they can be kept and shown.
    ///
    /// # Errors
    /// If the device fails or is stopped, if a frame cannot be denoised, or if a file of an unfinished frame cannot be read or written.
    pub fn step(
        &mut self,
        step: Step,
        keepers: Option<&Keepers<'_>>,
        stop: &Stop,
    ) -> Result<Option<Complete>, RenderError> {
        if let Some(progress) = self.device.progress() {
            progress.set_part(step.part.0, step.part.1);
        }
        let traced = match step.trace {
            Some(frame) => {
                let keeper = keepers.map(|keepers| self.keeper(keepers, frame, step));
                Some(self.trace(frame, keeper.as_ref(), stop)?)
            }
            None => None,
        };
        let mut complete = self.window.take(step, traced)?;
        if let Some(complete) = complete.as_mut().filter(|_| self.job.denoised_noise.is_some()) {
            let keeper = keepers.map(|keepers| self.keeper(keepers, step.frame, step));
            self.refine(complete, keeper.as_ref(), stop)?;
        }
        Ok(complete)
    }

    /// The keeper of `frame`, which is traced in `step`.
    fn keeper<'k>(&self, keepers: &Keepers<'k>, frame: u32, step: Step) -> Keeper<'k> {
        keepers.of((frame, step.frame), &self.settings_of(frame))
    }

    fn settings_of(&self, frame: u32) -> FrameSettings {
        self.exposures.settings_of(&self.job.settings, frame)
    }

    /// Traces a frame, after its labels.
    fn trace(&mut self, number: u32, keeper: Option<&Keeper>, stop: &Stop) -> Result<Traced, RenderError> {
        let mut posed = self.poser.pose(number);
        check_inputs(&posed.frame)?;
        let labels = match posed.labels.take() {
            Some(frame) if self.job.output.labels.are_traced_for(self.job, number) => {
                let settings = pass::settings(self.job, &self.settings_of(number));
                let traced = self.device.submit(frame, &settings, Delivery::default());
                let traced = traced.and_then(|()| self.device.collect(stop));
                Some(traced.map(pass::labelled).map_err(|source| RenderError::Device { frame: number, source })?)
            }
            _ => None,
        };
        let traced = self.trace_picture(posed, keeper, stop)?;
        Ok(Traced { labels, ..traced })
    }

    fn trace_picture(&mut self, posed: Posed, keeper: Option<&Keeper>, stop: &Stop) -> Result<Traced, RenderError> {
        let number = posed.frame.number;
        if self.job.denoised_noise.is_some() {
            let settings = keeper.map_or_else(|| self.settings_of(number), Keeper::settings);
            return refine::begin(self.job, (number, settings), self.device, posed, stop);
        }
        if let Some(keeper) = keeper {
            return slices::trace(self.job, keeper, self.device, posed, stop);
        }
        let settings = self.settings_of(number);
        let Posed { frame, time: pose_time, trees, .. } = posed;
        let rendered = self.device.submit(frame, &settings, self.job.delivery).and_then(|()| self.device.collect(stop));
        let rendered = rendered.map_err(|source| RenderError::Device { frame: number, source })?;
        Ok(Traced { number, settings, rendered, pose_time, trees, begun: None, labels: None })
    }

    /// Adds samples to the tiles of a frame that are noisy after denoising. Between rounds, the frame is written if a partial picture is due.
    fn refine(&mut self, complete: &mut Complete, keeper: Option<&Keeper>, stop: &Stop) -> Result<(), RenderError> {
        let (job, number) = (self.job, complete.traced.number);
        let mut shown = Instant::now();
        let mut show = |traced: &Traced, filtered: &Filtered| match keeper {
            Some(keeper) if keeper.is_asked(shown) => {
                shown = Instant::now();
                keeper.show_denoised(job, traced, filtered)
            }
            _ => Ok(()),
        };
        refine::refine(job, complete, self.device, &mut || self.poser.pose(number), (stop, &mut show))
    }
}
