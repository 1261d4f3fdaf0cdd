//! The lines of `--progress json`; `throng render --help` documents them for users.

use crate::{
    render::{
        BusyShares, FrameReport, RenderJob, Skipped, Summary, TreeCounts,
        compare::PictureDifference,
    },
    settings::FramePlan,
};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    Started {
        scene: &'a str,
        device: &'a str,
        /// How many frames were asked for, existing ones included.
        frames: usize,
        skipped: usize,
        width: u32,
        height: u32,
        samples: u32,
        warnings: &'a [String],
        /// What else the file has to offer.
        notes: &'a [String],
    },
    Frame {
        #[serde(flatten)]
        report: &'a FrameReport,
        /// How many of the `frames` exist now.
        done: usize,
        frames: usize,
    },
    /// `--compare`: a frame on one device against the first device.
    Difference {
        frame: u32,
        #[serde(flatten)]
        difference: Difference<'a>,
    },
    /// `--compare`: all frames of one device.
    Compared {
        frames: usize,
        #[serde(flatten)]
        difference: Difference<'a>,
        agrees: bool,
    },
    Done(Stats),
    Stopped {
        #[serde(flatten)]
        stats: Stats,
        resume: String,
    },
}

/// All numbers from 0 to 1.
#[derive(Serialize)]
pub struct Difference<'a> {
    device: &'a str,
    /// Share of pixels.
    differing: f64,
    max: f64,
    mean: f64,
}

impl<'a> Difference<'a> {
    fn new(device: &'a str, found: &PictureDifference) -> Self {
        Self {
            device,
            differing: found.share(),
            max: found.max(),
            mean: found.mean(),
        }
    }
}

impl<'a> Event<'a> {
    pub fn difference(frame: u32, device: &'a str, found: &PictureDifference) -> Self {
        let difference = Difference::new(device, found);
        Self::Difference { frame, difference }
    }

    pub fn compared(frames: usize, device: &'a str, found: &PictureDifference) -> Self {
        Self::Compared {
            frames,
            difference: Difference::new(device, found),
            agrees: found.agrees(),
        }
    }
}

/// What a run did, in the numbers that its end reports.
#[derive(Clone, Serialize)]
pub struct Stats {
    /// Rendered in this run.
    pub frames: u32,
    pub skipped: usize,
    #[serde(flatten)]
    pub left: Skipped,
    pub seconds: f64,
    pub frames_per_s: f64,
    pub rays: u64,
    pub mrays_per_s: f64,
    pub refits: u64,
    pub rebuilds: u64,
    /// What trees of deforming meshes cost rays at worst, over what they did when they were built.
    pub sah_ratio: f32,
    pub busy: BusyShares,
    /// None without a cache.
    pub cached_trees: Option<TreeCounts>,
    /// Where the files are.
    pub output: String,
}

impl Stats {
    pub fn new(summary: &Summary, plan: &FramePlan, job: &RenderJob) -> Self {
        let seconds = summary.elapsed.as_secs_f64();
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        Self {
            frames: summary.frames,
            skipped: plan.skipped,
            left: summary.skipped,
            seconds,
            frames_per_s: rate(summary.frames.into()),
            rays: summary.rays.total(),
            mrays_per_s: rate(summary.rays.total() as f64 / 1e6),
            refits: summary.refits,
            rebuilds: summary.rebuilds,
            sah_ratio: summary.sah_ratio,
            busy: summary.busy.shares(),
            cached_trees: job.trees.counts(),
            output: plan.describe_output(&job.scene.name),
        }
    }
}
