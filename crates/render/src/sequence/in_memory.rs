//! Frames that are rendered to memory instead of files.

use super::{
    batches::Batches,
    overlapped,
    paced::Paced,
    prepare::{load, measure},
    window::{Complete, Step, Steps, Traced},
};
use crate::{
    Measured, PoseSettings, Poser, RenderError, RenderJob, TreeSource, error::check_inputs,
    posing::pose_stage::pose_steps, results::write,
};
use glam::Vec3;
use std::sync::Arc;
use throng_accel::NodeLayout;
use throng_denoise::DenoiseError;
use throng_device::{Device, Frame, FrameSettings, Rendered, Stop};
use throng_scene::Scene;

/// A scene that a device has loaded, and the trees of its meshes, which all frames share.
pub struct LoadedScene {
    poser: Poser,
}

impl LoadedScene {
    /// Loads the scene of `job` on the device and builds the trees of its meshes.
    ///
    /// # Errors
    /// If the device cannot load the scene.
    pub fn new(job: &RenderJob, device: &mut dyn Device) -> Result<Self, RenderError> {
        Ok(Self { poser: load(job, device)? })
    }

    /// Builds the trees of a scene for devices with the given node layout. The device must load the scene before frames are rendered.
    pub fn of_trees(scene: Arc<Scene>, layout: NodeLayout, trees: &TreeSource) -> Self {
        Self { poser: Poser::with_trees_from(scene, layout, trees) }
    }

    /// Poses a frame for a picture of `job`. Returns it with its settings, in which the exposure is the measured one if exposure is
    /// automatic.
    ///
    /// # Errors
    /// If the device fails or is stopped while exposures are measured.
    pub fn pose(
        &mut self,
        job: &RenderJob,
        device: &mut dyn Device,
        (number, known): (u32, &mut Measured),
        stop: &Stop,
    ) -> Result<(Frame, FrameSettings), RenderError> {
        let exposures = measure(job, device, (&mut self.poser, known), stop)?;
        let settings = exposures.settings_of(&job.settings, number);
        let frame = self.poser.pose(number).frame;
        check_inputs(&frame)?;
        Ok((frame, settings))
    }

    /// The frame, posed again for a camera at `eye` if positions have to be relative to another place (see [`Poser::close_to`]).
    pub fn close_to(&mut self, frame: Frame, eye: Option<Vec3>) -> Frame {
        self.poser.close_to(&frame, eye).unwrap_or(frame)
    }

    /// Poses a frame for separate ray queries: in world space and at a single moment, with the shutter ignored.
    pub fn still(&mut self, job: &RenderJob, number: u32) -> Frame {
        self.poser.configure(PoseSettings {
            refit: job.refit,
            views: job.views.clone(),
            placed: job.placed.clone(),
            ..PoseSettings::default()
        });
        self.poser.pose(number).frame
    }

    /// Renders all frames of `job` in order, and passes each to `each`, with its own settings, until it returns false. A device with a queue is
    /// given the next frames meanwhile. Otherwise as [`Self::frames`].
    ///
    /// # Errors
    /// As [`Frames::frame`].
    pub fn visit(
        &mut self,
        job: &RenderJob,
        device: &mut dyn Device,
        stop: &Stop,
        each: &mut dyn FnMut(u32, Rendered, FrameSettings) -> bool,
    ) -> Result<(), RenderError> {
        // Frames that are refined after denoising are made one at a time.
        if device.queue_depth() < 2 || job.denoised_noise.is_some() {
            let mut frames = self.frames(job, device, stop)?;
            for &number in &job.frames {
                let (rendered, settings) = frames.frame(number)?;
                if !each(number, rendered, settings) {
                    break;
                }
            }
            return Ok(());
        }
        let exposures = measure(job, device, (&mut self.poser, &mut Measured::default()), stop)?;
        let mut queue = Steps::new(job.reach());
        let steps: Vec<Step> = job.frames.iter().flat_map(|&number| queue.to(number)).collect();
        let batches = Batches::of(job, device);
        let mut steps = steps.into_iter().peekable();
        let mut posed = || {
            let mut batch = vec![steps.next()?];
            while let Some(step) = steps.next_if(|step| batches.has_room((batch[0].frame, batch.len()), step.frame)) {
                batch.push(step);
            }
            Some(pose_steps(&mut self.poser, batch))
        };
        let mut failed = None;
        let mut finish = |mut complete: Complete| match write::finish_pixels(job, &mut complete) {
            Ok(_) => {
                let Traced { number, settings, rendered, .. } = complete.traced;
                each(number, rendered, settings)
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        };
        overlapped::trace_frames((job, &exposures), device, &mut posed, &mut finish, stop)?;
        failed.map_or(Ok(()), Err)
    }

    /// Begins to render frames of `job`. Its scene must be this one; other settings may differ from call to call. `device` must be the
    /// device that loaded the scene last.
    ///
    /// # Errors
    /// If the device fails or is stopped while exposures are measured.
    pub fn frames<'a>(
        &'a mut self,
        job: &'a RenderJob,
        device: &'a mut dyn Device,
        stop: &'a Stop<'a>,
    ) -> Result<Frames<'a>, RenderError> {
        let exposures = measure(job, device, (&mut self.poser, &mut Measured::default()), stop)?;
        let paced = Paced::new(job, device, &mut self.poser, exposures);
        Ok(Frames { paced, steps: Steps::new(job.reach()), stop })
    }
}

/// Renders frames of a job to memory, one after another.
pub struct Frames<'a> {
    paced: Paced<'a>,
    steps: Steps,
    stop: &'a Stop<'a>,
}

impl Frames<'_> {
    /// Renders a frame of the job as [`crate::run`] does, and returns the pixels and AOVs of its file, and the frame's own settings.
    ///
    /// # Errors
    /// If the device fails or is stopped, or if the frame cannot be denoised.
    pub fn frame(&mut self, number: u32) -> Result<(Rendered, FrameSettings), RenderError> {
        let job = self.paced.job;
        let mut complete = None;
        for step in self.steps.to(number) {
            complete = self.paced.step(step, None, self.stop)?;
        }
        let untraced = RenderError::Denoise { frame: number, source: DenoiseError::Untraced };
        let mut complete = complete.ok_or(untraced)?;
        write::finish_pixels(job, &mut complete)?;
        let Traced { settings, rendered, .. } = complete.traced;
        Ok((rendered, settings))
    }
}
