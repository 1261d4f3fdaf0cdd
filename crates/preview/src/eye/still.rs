//! Stills of a viewer.

use super::{Eye, state::Follow};
use crate::{
    StillFormat, StillRequest,
    film::Film,
    scenes::{Shown, ViewerScenes},
    still::Still,
};
use throng_base::memory::total_bytes;
use throng_picture::pixels::PixelType;
use throng_render::Measured;
use throng_settings::{Error, SettingsError};

impl Eye {
    /// The requested still. None before the first picture.
    ///
    /// # Errors
    /// If the settings are out of range or need too much memory, if the device cannot load the scene, or if it fails while measuring the
    /// exposure.
    pub fn still(&mut self, request: StillRequest, scenes: &mut ViewerScenes) -> Result<Option<Still>, Error> {
        let (Some(whole), Some((seen, _))) = (self.size, &self.current) else { return Ok(None) };
        let size = request.size.map_or(whole, |[width, height]| (width, height));
        let Shown { scene, options, .. } = &scenes.shown;
        let denoised = self.choices.denoised_options(options, size, &scene.settings);
        let mut options = denoised.unwrap_or_else(|| self.choices.options(options, size));
        options.picture.samples = request.samples.or(options.picture.samples);
        let pixels = match request.format {
            StillFormat::Png => PixelType::U8,
            StillFormat::Exr => PixelType::F32,
        };
        let mut job = scenes.job(&options, pixels)?;
        let is_own = self.follow == Follow::Scene || request.frame.is_some();
        let number = request.frame.map_or(seen.number, |number| number.clamp(1, scenes.shown.scene.settings.frames));
        job.frames = vec![number];
        let (bytes, memory) = (Film::bytes(&job.settings), total_bytes().unwrap_or(u64::MAX));
        if bytes > memory / 2 {
            let (width, height) = (job.settings.width, job.settings.height);
            return Err(SettingsError::Memory { width, height, needed: bytes, available: memory / 2 }.into());
        }
        scenes.make_ready()?;
        // The automatic exposure depends on the picture's aspect ratio.
        let known = (number, &mut Measured::default());
        let (frame, settings) = scenes.shown.loaded.pose(&job, scenes.device.as_mut(), known, &|| false)?;
        job.settings = settings;
        let frame = if is_own {
            frame
        } else {
            scenes.shown.loaded.close_to(frame, Some(seen.camera().eye)).seen_by(seen.camera())
        };
        Ok(Some(Still::new(self.link.clone(), request, job, frame)))
    }
}
