//! Frames that are rendered to memory instead of files.

use super::{
    Measured, Poser, RenderError, RenderJob, TreeSource,
    exposure::Exposures,
    load, measure,
    pose::Posed,
    refine,
    window::{Complete, Steps, Traced, Window},
    write,
};
use glam::Vec3;
use std::sync::Arc;
use throng_accel::NodeLayout;
use throng_denoise::DenoiseError;
use throng_device::{Device, Frame, FrameSettings, Rendered, Stop};
use throng_output::Metadata;
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
        Ok((self.poser.pose(number).frame, settings))
    }

    /// The frame, posed again for a camera at `eye` if positions have to be relative to another place (see [`Poser::close_to`]).
    pub fn close_to(&mut self, frame: Frame, eye: Option<Vec3>) -> Frame {
        self.poser.close_to(&frame, eye).unwrap_or(frame)
    }

    /// Poses a frame for separate ray queries: in world space and at a single moment, with the shutter ignored.
    pub fn still(&mut self, job: &RenderJob, number: u32) -> Frame {
        self.poser.set_policy(job.refit);
        self.poser.set_shutter(None);
        self.poser.set_close_to_camera(false);
        self.poser.pose(number).frame
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
        let (window, steps) = (Window::new(job), Steps::new(job.reach()));
        Ok(Frames { poser: &mut self.poser, job, device, stop, exposures, window, steps })
    }
}

/// Renders frames of a job one after another. Data for denoising are kept from one frame to the next.
pub struct Frames<'a> {
    poser: &'a mut Poser,
    job: &'a RenderJob,
    device: &'a mut dyn Device,
    stop: &'a Stop<'a>,
    exposures: Exposures,
    window: Window<'a>,
    steps: Steps,
}

impl Frames<'_> {
    /// Renders a frame of the job as [`super::run`] does, and returns the pixels, AOVs and metadata of its file.
    ///
    /// # Errors
    /// If the device fails or is stopped, or if the frame cannot be denoised.
    pub fn frame(&mut self, number: u32) -> Result<(Rendered, Metadata), RenderError> {
        let mut complete = None;
        for step in self.steps.to(number) {
            let traced = match step.trace {
                Some(number) => Some(self.trace(number)?),
                None => None,
            };
            complete = self.window.take(step, traced)?;
        }
        let untraced = RenderError::Denoise { frame: number, source: DenoiseError::Untraced };
        let mut complete: Complete = complete.ok_or(untraced)?;
        let pose = &mut || self.poser.pose(number);
        refine::refine(self.job, &mut complete, self.device, pose, (self.stop, &mut |_, _| Ok(())))?;
        write::finish_pixels(self.job, &mut complete)?;
        let Traced { settings, rendered, .. } = complete.traced;
        let metadata = self.job.output.metadata_of(self.job, number, &settings);
        Ok((rendered, metadata))
    }

    fn trace(&mut self, number: u32) -> Result<Traced, RenderError> {
        let settings = self.exposures.settings_of(&self.job.settings, number);
        let posed = self.poser.pose(number);
        if self.job.denoised_noise.is_some() {
            return refine::begin(self.job, (number, settings), self.device, posed, self.stop);
        }
        let Posed { frame, time: pose_time, trees } = posed;
        let rendered = self.device.submit(frame, &settings).and_then(|()| self.device.collect(self.stop));
        let rendered = rendered.map_err(|source| RenderError::Device { frame: number, source })?;
        Ok(Traced { number, settings, rendered, pose_time, trees, begun: None })
    }
}
