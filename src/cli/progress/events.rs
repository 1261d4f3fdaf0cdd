//! The lines of `--progress json`; `throng render --help` documents them for users.

use crate::cli::render::Tally;
use serde::Serialize;
use throng_render::{
    BusyShares, FrameReport, RenderJob, Skipped, Summary, TreeCounts, TreeSource, compare::PictureDifference,
};
use throng_settings::FramePlan;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    Started {
        scene: &'a str,
        device: &'a str,
        /// Number of requested frames, including existing ones.
        frames: usize,
        skipped: usize,
        width: u32,
        height: u32,
        samples: u32,
        warnings: &'a [String],
        /// Other contents of the file.
        notes: &'a [String],
    },
    Frame {
        #[serde(flatten)]
        report: &'a FrameReport,
        /// Number of the `frames` that exist now.
        done: usize,
        frames: usize,
    },
    /// With `--compare`: difference of a frame between one device and the first.
    Difference {
        frame: u32,
        #[serde(flatten)]
        difference: Difference<'a>,
    },
    /// With `--compare`: difference of all frames between one device and the first.
    Compared {
        frames: usize,
        #[serde(flatten)]
        difference: Difference<'a>,
        agrees: bool,
    },
    Done(Stats),
    /// With several models: the results of all models.
    Models(&'a Tally),
    Stopped {
        #[serde(flatten)]
        stats: Stats,
        resume: String,
    },
    /// A run that was stopped in the middle of its work. It has no statistics.
    #[serde(rename = "stopped")]
    CutShort {
        resume: String,
    },
}

/// Difference between pictures. All numbers are from 0 to 1.
#[derive(Serialize)]
pub struct Difference<'a> {
    device: &'a str,
    /// Share of pixels that differ.
    differing: f64,
    max: f64,
    mean: f64,
}

impl<'a> Difference<'a> {
    fn new(device: &'a str, found: &PictureDifference) -> Self {
        Self { device, differing: found.share(), max: found.max(), mean: found.mean() }
    }
}

impl<'a> Event<'a> {
    pub fn difference(frame: u32, device: &'a str, found: &PictureDifference) -> Self {
        let difference = Difference::new(device, found);
        Self::Difference { frame, difference }
    }

    pub fn compared(frames: usize, device: &'a str, found: &PictureDifference) -> Self {
        Self::Compared { frames, difference: Difference::new(device, found), agrees: found.agrees() }
    }
}

/// Statistics at the end of a run.
#[derive(Clone, Serialize)]
pub struct Stats {
    /// Number of frames rendered in this run.
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
    /// Greatest ratio of a deforming mesh's tree cost to its cost when built.
    pub sah_ratio: f32,
    pub busy: BusyShares,
    /// Cached trees of all models so far. None without a cache.
    pub cached_trees: Option<TreeCounts>,
    /// Description of the output files.
    pub output: String,
}

impl Stats {
    pub fn new(summary: &Summary, plan: &FramePlan, job: &RenderJob) -> Self {
        Self::of(summary, plan.skipped, &job.trees, plan.describe_output(&job.scene.name))
    }

    /// The statistics of one or several runs with this summary. `skipped`: number of frames that already existed; `output`: description of
    /// the output files.
    pub fn of(summary: &Summary, skipped: usize, trees: &TreeSource, output: String) -> Self {
        let seconds = summary.elapsed.as_secs_f64();
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        Self {
            frames: summary.frames,
            skipped,
            left: summary.skipped,
            seconds,
            frames_per_s: rate(summary.frames.into()),
            rays: summary.rays.total(),
            mrays_per_s: rate(summary.rays.total() as f64 / 1e6),
            refits: summary.refits,
            rebuilds: summary.rebuilds,
            sah_ratio: summary.sah_ratio,
            busy: summary.busy.shares(),
            cached_trees: trees.counts(),
            output,
        }
    }
}
