//! Frames that go to memory, one at a time, instead of to files.

use super::{Poser, RenderError, RenderJob, load, measure, write};
use crate::device::{Device, Rendered, Stop};

/// A scene that a device has loaded, with the trees of its meshes, which serve all of its frames.
pub struct LoadedScene {
    poser: Poser,
}

impl LoadedScene {
    /// Loads the scene of `job`.
    ///
    /// # Errors
    /// If the device cannot load it.
    pub fn new(job: &RenderJob, device: &mut dyn Device) -> Result<Self, RenderError> {
        Ok(Self { poser: load(job, device)? })
    }

    /// Renders a frame as [`super::run`] does, up to the pixels and AOVs of its file. `job` has that frame alone, of this scene; its other
    /// settings may differ from call to call. `device` is the one that loaded the scene last.
    ///
    /// # Errors
    /// Those of rendering and denoising a frame.
    pub fn frame(
        &mut self,
        job: &RenderJob,
        device: &mut dyn Device,
        number: u32,
        stop: &Stop,
    ) -> Result<Rendered, RenderError> {
        let exposures = measure(job, device, &mut self.poser, stop)?;
        let settings = exposures.settings_of(&job.settings, number);
        let frame = self.poser.pose(number).frame;
        let rendered = device.submit(frame, &settings).and_then(|()| device.collect(stop));
        let mut rendered = rendered.map_err(|source| RenderError::Device { frame: number, source })?;
        write::finish_pixels(job, (number, settings.exposure), &mut rendered)?;
        Ok(rendered)
    }
}
