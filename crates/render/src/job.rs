//! What is rendered: a scene, its settings, the frames and their files.

use super::{
    AutoExposure, Background, Outputs, RenderError, TreeSource,
    results::write,
    sequence::window::{Reach, recorded_frame},
};
use glam::Vec3;
use std::{collections::BTreeSet, sync::Arc};
use throng_denoise::Denoising;
use throng_device::{Delivery, Filtered, FrameSettings, Rendered};
use throng_output::OutputError;
use throng_picture::{aov::AovSet, pixels::PixelType};
use throng_scene::{
    Placements, Scene, Views,
    anim::{self, CameraPose, Moment},
    rig::RefitPolicy,
};

/// The input of [`run`]: a scene, its settings, the frames to render and their files.
pub struct RenderJob {
    pub scene: Arc<Scene>,
    /// Views that replace the scene's cameras, and the times of its frames: the scene's own, or others.
    pub views: Option<Arc<Views>>,
    /// Transforms of instances that replace the scene's.
    pub placed: Option<Arc<Placements>>,
    pub settings: FrameSettings,
    /// What devices return of each frame.
    pub delivery: Delivery,
    /// Method by which the exposure is measured; none to use the exposure in `settings`.
    pub auto_exposure: Option<AutoExposure>,
    /// Pixel type of the frames' files. Devices return pixels of this type, unless frames are denoised before they are written.
    pub pixels: PixelType,
    /// AOVs that are written. Devices may have to produce more than these.
    pub aovs: AovSet,
    /// Denoises frames before they are written. Denoising needs the radiance and AOVs of neighbouring frames, so `settings` must request
    /// them.
    pub denoising: Option<Arc<Denoising>>,
    /// Target noise of a tile after denoising. If this is set, `settings.noise`, the target before denoising, is none.
    pub denoised_noise: Option<f32>,
    /// Background that replaces the environment. Frames in files are then opaque, and `settings` must request transparent frames with
    /// alpha. If there is none, `settings` decides alone.
    pub background: Option<Background>,
    /// Linear colour of wireframe edges, if `settings` draws edges; none for black.
    pub wireframe_color: Option<Vec3>,
    /// Refit policy for all deforming meshes; none to use the policy of each mesh.
    pub refit: Option<RefitPolicy>,
    pub trees: TreeSource,
    /// Numbers of the frames to render, in this order. Frames that already exist are not listed.
    pub frames: Vec<u32>,
    pub output: Outputs,
}

impl RenderJob {
    /// The time that frame `number` shows, in seconds.
    pub fn time_of(&self, number: u32) -> f64 {
        let view = self.views.as_ref().map(|views| views.of_frame(&self.scene.settings, number));
        view.map_or_else(|| self.scene.time_of(number), |view| view.time)
    }

    /// The scene at the time of frame `number`.
    pub fn moment_of(&self, number: u32) -> Moment {
        let mut moment = Moment::of(&self.scene, self.time_of(number));
        moment.place(self.placed.clone());
        moment
    }

    /// The camera of frame `number` in world space, at the frame's time.
    pub fn camera_of(&self, number: u32) -> CameraPose {
        self.camera_at(number, &self.moment_of(number))
    }

    /// The camera of frame `number` in world space at a moment.
    pub fn camera_at(&self, number: u32, moment: &Moment) -> CameraPose {
        match self.views.as_ref().or(self.scene.views.as_ref()) {
            Some(views) => anim::view_pose(&self.scene, views.of_frame(&self.scene.settings, number), moment),
            None => anim::camera_at(&self.scene, moment),
        }
    }

    /// Completes the joined outputs and the labels of all frames, after the last frame.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(&self) -> Result<(), OutputError> {
        self.output.finish()?;
        self.output.labels.finish(self)
    }

    /// Whether the pictures in files have an alpha channel.
    pub fn is_transparent(&self) -> bool {
        self.settings.transparent && self.background.is_none()
    }

    /// Target noise of a tile, before or after denoising; none without adaptive sampling.
    pub fn noise(&self) -> Option<f32> {
        self.settings.noise.or(self.denoised_noise)
    }

    /// The settings that are stored in the files' metadata: `settings` with [`Self::noise`] as the target noise.
    pub fn told_settings(&self) -> FrameSettings {
        FrameSettings { noise: self.noise(), ..self.settings.clone() }
    }

    /// The frames that contribute to a denoised frame; only the frame itself without denoising.
    pub(super) fn reach(&self) -> Reach {
        let denoising = self.denoising.as_ref();
        let within = denoising.and_then(|denoising| denoising.within);
        let all = within.unwrap_or_else(|| self.scene.settings.first_and_last());
        Reach { frames: denoising.map_or(0, |denoising| denoising.reach), all }
    }

    /// Numbers of all frames to trace: the frames that are written, and the neighbours that they are denoised with.
    pub fn traced_frames(&self) -> BTreeSet<u32> {
        self.reach().all(&self.frames)
    }

    /// Denoises the output of a device without the help of neighbouring frames, and computes its display pixels. Does nothing unless the
    /// job denoises. `settings` are the frame's own; they must request float pixels and the AOVs of [`Denoising::aovs_for`].
    ///
    /// # Errors
    /// If an AOV is missing, or if the denoiser fails.
    pub fn denoise_alone(
        &self,
        (frame, settings): (u32, &FrameSettings),
        rendered: &mut Rendered,
    ) -> Result<(), RenderError> {
        let Some(denoising) = &self.denoising else { return Ok(()) };
        let failed = |source| RenderError::Denoise { frame, source };
        let recorded = Arc::new(recorded_frame(settings, denoising, rendered).map_err(failed)?);
        let denoised = denoising.denoise(settings.film_size(), &[Some(recorded)], &rendered.aovs);
        let Filtered { radiance, alpha, .. } = denoised.map_err(failed)?;
        write::replace_alpha(&mut rendered.aovs, &alpha);
        write::develop(self, (frame, settings), &radiance, rendered)
    }

    /// Turns the output of a device into the content of a file: composites the background and removes AOVs that only this step needed.
    pub fn complete(&self, rendered: &mut Rendered) {
        write::complete(self, rendered);
    }
}
