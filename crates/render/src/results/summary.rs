//! Progress and totals of a run.

use crate::{Busy, FrameReport, RenderJob, Skipped};
use std::{sync::Arc, time::Duration};
use throng_device::{FrameProgress, RayCounts};

/// Watches a run: receives a report of each finished frame, in order, from one writing thread at a time.
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
    pub(crate) fn of_stopped() -> Self {
        Self { stopped: true, ..Self::default() }
    }

    /// Whether some frames of `job` were neither written by this run nor by another one.
    pub(crate) fn is_short_of(&self, job: &RenderJob) -> bool {
        ((self.frames + self.skipped.appeared) as usize) < job.frames.len()
    }

    pub(crate) fn add(&mut self, report: &FrameReport) {
        self.frames += 1;
        self.rays += report.rays;
        self.refits += u64::from(report.refits);
        self.rebuilds += u64::from(report.rebuilds);
        self.sah_ratio = self.sah_ratio.max(report.sah_ratio);
        self.busy.add(report);
    }
}
