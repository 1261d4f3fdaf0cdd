//! The order in which frames are traced and written if they are denoised with their neighbours.
//!
//! For each traced frame, the window keeps the data that neighbouring frames need, and drops them once the run has moved out of reach. A
//! device with its own memory keeps these data there (`Rendered::records`) and denoises its own frames.

use super::refine::{Begun, Refined};
use crate::{RenderError, RenderJob, labels::maps::Labelled, posing::pose::TreeWork, results::write::writer_count};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::RangeInclusive,
    sync::Arc,
    time::Duration,
};
use throng_denoise::{
    DenoiseError, Denoising,
    frames::{FrameLayers, RecordedFrame},
};
use throng_device::{DenoiseWanted, FrameSettings, RayCounts, Rendered};
use throng_picture::aov::{Aov, AovSet};

/// The range of frames that contribute to a denoised frame.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Number of contributing frames on each side.
    pub frames: u32,
    /// First and last frame that may contribute.
    pub all: (u32, u32),
}

impl Reach {
    /// The frames that contribute to `frame`, itself included.
    fn around(self, frame: u32) -> RangeInclusive<u32> {
        let (first, last) = self.all;
        frame.saturating_sub(self.frames).max(first)..=frame.saturating_add(self.frames).min(last).max(frame)
    }

    /// The frames that contribute to any of `frames`, in ascending order.
    pub fn all(self, frames: &[u32]) -> BTreeSet<u32> {
        frames.iter().flat_map(|&frame| self.around(frame)).collect()
    }
}

/// A step of the frame loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The frame that is written after its last step.
    pub frame: u32,
    /// The frame that is traced in this step; none if all contributing frames are traced already.
    pub trace: Option<u32>,
    /// Index of this step among the steps to `frame`, from 0, and their number.
    pub part: (u32, u32),
}

impl Step {
    /// Whether this is the last step to `frame`.
    pub fn is_last(self) -> bool {
        self.part.0 + 1 == self.part.1
    }
}

/// Computes the steps to each frame from the frames traced before.
pub struct Steps {
    reach: Reach,
    traced: BTreeSet<u32>,
    /// Frames that were completed. [`Window`] keeps only the data of these that their neighbours need.
    complete: BTreeSet<u32>,
}

impl Steps {
    pub fn new(reach: Reach) -> Self {
        Self { reach, traced: BTreeSet::new(), complete: BTreeSet::new() }
    }

    /// The steps to `frame`. Frames that [`Window`] still keeps are not traced again.
    pub fn to(&mut self, frame: u32) -> VecDeque<Step> {
        let around = self.reach.around(frame);
        self.traced.retain(|other| around.contains(other));
        self.complete.retain(|other| around.contains(other));
        if !self.complete.insert(frame) {
            self.traced.remove(&frame);
        }
        let mut missing: Vec<Option<u32>> = around.filter(|&other| self.traced.insert(other)).map(Some).collect();
        if missing.is_empty() {
            missing.push(None);
        }
        let count = missing.len() as u32;
        (0..count).zip(missing).map(|(index, trace)| Step { frame, trace, part: (index, count) }).collect()
    }
}

/// A frame as the device returned it.
pub struct Traced {
    pub number: u32,
    /// The frame's own settings.
    pub settings: FrameSettings,
    pub rendered: Rendered,
    pub pose_time: Duration,
    pub trees: TreeWork,
    /// The film of the initial samples; none unless the frame may get more samples after denoising.
    pub begun: Option<Begun>,
    /// The traced labels; none if there are none, and for frames that are not written.
    pub labels: Option<Labelled>,
}

/// A frame whose contributing frames are all traced.
pub struct Complete {
    /// The frame. Its times and counts include all frames that were traced for it.
    pub traced: Traced,
    /// The frames that it is denoised with, itself in the middle; empty without denoising.
    pub around: Vec<Option<Arc<RecordedFrame>>>,
    /// The denoised frame, if it got additional samples.
    pub refined: Option<Refined>,
}

/// The traced frames whose data are still needed.
pub struct Window<'a> {
    job: &'a RenderJob,
    reach: Reach,
    kept: BTreeMap<u32, Kept>,
    work: WorkTotals,
}

struct Kept {
    recorded: Arc<RecordedFrame>,
    /// Data that only the frame itself needs; none once the frame is complete.
    own: Option<Traced>,
}

/// Work on the frames that were traced since the last complete frame.
#[derive(Default)]
struct WorkTotals {
    rays: RayCounts,
    time: Duration,
    pose_time: Duration,
    trees: TreeWork,
}

impl<'a> Window<'a> {
    pub fn new(job: &'a RenderJob) -> Self {
        Self { job, reach: job.reach(), kept: BTreeMap::new(), work: WorkTotals::default() }
    }

    /// Stores the frame that was traced in a step, and returns the step's frame after its last step.
    ///
    /// # Errors
    /// If a frame lacks a layer that the denoiser needs, or was not traced.
    pub fn take(&mut self, step: Step, traced: Option<Traced>) -> Result<Option<Complete>, RenderError> {
        let around = self.reach.around(step.frame);
        self.kept.retain(|number, _| around.contains(number));
        if let Some(mut traced) = traced {
            let Some(denoising) = &self.job.denoising else {
                return Ok(Some(Complete { traced, around: Vec::new(), refined: None }));
            };
            let number = traced.number;
            let failed = |source| RenderError::Denoise { frame: number, source };
            let recorded = recorded_frame(&self.job.settings, denoising, &mut traced.rendered).map_err(failed)?;
            self.work.add(&traced);
            traced.rendered.pixels = Vec::new().into();
            traced.rendered.aovs.retain(|image| denoising.aovs_after(needed(self.job)).contains(image.aov));
            self.kept.insert(number, Kept { recorded: Arc::new(recorded), own: Some(traced) });
        }
        if !step.is_last() {
            return Ok(None);
        }
        let frame = step.frame;
        let own = self.kept.get_mut(&frame).and_then(|kept| kept.own.take());
        let mut traced = own.ok_or(RenderError::Denoise { frame, source: DenoiseError::Untraced })?;
        let work = std::mem::take(&mut self.work);
        (traced.rendered.rays, traced.rendered.time) = (work.rays, work.time);
        (traced.pose_time, traced.trees) = (work.pose_time, work.trees);
        let recorded = |number: i64| self.kept.get(&u32::try_from(number).ok()?).map(|kept| kept.recorded.clone());
        let (middle, reach) = (i64::from(frame), i64::from(self.reach.frames));
        let around = (middle - reach..=middle + reach).map(recorded).collect();
        Ok(Some(Complete { traced, around, refined: None }))
    }
}

/// AOVs of a frame that are needed after denoising.
fn needed(job: &RenderJob) -> AovSet {
    let edges = job.wireframe_color.map(|_| Aov::Wireframe);
    job.aovs.with(job.background.as_ref().map(|_| Aov::Alpha)).with(edges)
}

/// The data that a device should keep for its own denoiser. None if frames are not denoised, or are denoised on the CPU: frames with a
/// single sample, whose variance has to be estimated from the whole picture, and transparent frames, which are denoised with their alpha.
pub fn denoise_wanted(job: &RenderJob) -> Option<DenoiseWanted> {
    let denoising = job.denoising.as_ref().filter(|_| job.settings.samples > 1 && !job.settings.transparent)?;
    let frames = 2 * denoising.reach as usize + 1 + writer_count(job);
    Some(DenoiseWanted { frames, aovs: denoising.aovs_after(needed(job).gathered()) })
}

impl WorkTotals {
    fn add(&mut self, traced: &Traced) {
        self.rays += traced.rendered.rays;
        self.time += traced.rendered.time;
        self.pose_time += traced.pose_time;
        self.trees.add(&traced.trees);
    }
}

/// The data of a frame that its neighbours need for denoising.
///
/// # Errors
/// If a layer that the denoiser needs is missing.
pub fn recorded_frame(
    settings: &FrameSettings,
    denoising: &Denoising,
    rendered: &mut Rendered,
) -> Result<RecordedFrame, DenoiseError> {
    if let Some(records) = rendered.records.take() {
        return Ok(RecordedFrame::on_device(settings.film_size(), records));
    }
    let radiance: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
    let layer = |aov: Aov| {
        let found = rendered.aovs.iter().find(|image| image.aov == aov);
        found.map_or(&[][..], |image| &image.values[..])
    };
    let layers = FrameLayers {
        radiance: &radiance,
        // A single sample gives no variance.
        variance: if settings.samples > 1 { layer(Aov::Variance) } else { &[] },
        albedo: layer(Aov::Albedo),
        normal: layer(Aov::Normal),
        motion: layer(Aov::Motion),
        alpha: if settings.transparent { layer(Aov::Alpha) } else { &[] },
        alpha_variance: layer(Aov::AlphaVariance),
        shared: settings.shares_samples(),
    };
    let lacks = |aov: &Aov| layer(*aov).is_empty();
    let missing = || DenoiseError::Layer(Denoising::LAYERS.into_iter().find(lacks).unwrap_or(Aov::Motion));
    denoising.frame(settings.film_size(), &layers).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames that are traced in the steps to each frame.
    fn traced(reach: u32, last: u32, frames: &[u32]) -> Vec<Vec<u32>> {
        let mut steps = Steps::new(Reach { frames: reach, all: (1, last) });
        let to = |&frame: &u32| {
            let steps = steps.to(frame);
            assert!(steps.iter().all(|step| step.frame == frame));
            assert_eq!(steps.iter().filter(|step| step.is_last()).count(), 1);
            assert!(steps.back().is_some_and(|step| step.is_last()));
            steps.iter().filter_map(|step| step.trace).collect()
        };
        frames.iter().map(to).collect()
    }

    #[test]
    fn frames_alone_are_traced_and_written_in_turn() {
        assert_eq!(traced(0, 9, &[3, 1, 2]), [[3], [1], [2]]);
    }

    #[test]
    fn neighbours_are_traced_once_while_they_are_near() {
        assert_eq!(traced(2, 6, &[1, 2, 3, 4, 5, 6]), [vec![1, 2, 3], vec![4], vec![5], vec![6], vec![], vec![]]);
        assert_eq!(
            traced(1, 99, &[10, 12, 50, 11]),
            [vec![9, 10, 11], vec![12, 13], vec![49, 50, 51], vec![10, 11, 12]]
        );
        assert_eq!(traced(1, 9, &[2, 3, 2, 2]), [vec![1, 2, 3], vec![4], vec![1, 2], vec![2]]);
        assert_eq!(traced(0, 9, &[1, 1]), [[1], [1]]);
        assert_eq!(Reach { frames: 1, all: (1, 8) }.all(&[8, 1, 4]), BTreeSet::from([1, 2, 3, 4, 5, 7, 8]));
        assert_eq!(Reach { frames: 2, all: (0, 8) }.all(&[1]), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(Reach { frames: 2, all: (1001, 1008) }.all(&[1002]), BTreeSet::from([1001, 1002, 1003, 1004]));
    }
}
