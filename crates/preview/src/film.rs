//! A picture that is rendered incrementally, and can be interrupted at any time without loss.

use std::sync::Arc;
use throng_device::{
    Accumulation, Delivery, Device, DeviceError, Frame, FrameSettings, OtherPose, Rendered, Samples, Stop,
};
use throng_picture::film::FilmSettings;
use throng_render::{RenderError, RenderJob};

pub struct Film {
    pub frame: Frame,
    pub settings: FrameSettings,
    delivery: Delivery,
    sums: Samples,
    /// Copy of the sums before the current slice. An interrupted device leaves its sums in an undefined state.
    kept: Samples,
}

impl Film {
    pub fn new(frame: Frame, settings: FrameSettings, delivery: Delivery) -> Self {
        Self { sums: Samples::new(&settings), kept: Samples::default(), frame, settings, delivery }
    }

    /// Memory of a film with these settings, in bytes.
    pub fn bytes(settings: &FrameSettings) -> u64 {
        let words = Accumulation::words(settings) + Accumulation::odd_words(settings);
        2 * 4 * words as u64
    }

    pub fn samples(&self) -> u32 {
        self.sums.state().samples
    }

    pub fn is_done(&self) -> bool {
        self.sums.is_done(&self.settings)
    }

    /// Adds up to `more` samples, and returns the resulting picture. None if interrupted; the film is then unchanged.
    ///
    /// # Errors
    /// If the device fails.
    pub fn advance(
        &mut self,
        device: &mut dyn Device,
        more: u32,
        stop: &Stop,
    ) -> Result<Option<Rendered>, DeviceError> {
        add(device, (&self.frame, &self.settings), self.delivery, (&mut self.sums, &mut self.kept), more, stop)
    }

    /// The finished picture, denoised by `job`, whose settings may differ from the film's only in pixel type and AOVs. The film must
    /// measure the variance. None if interrupted; the film is then unchanged.
    ///
    /// # Errors
    /// If the device fails, or if the picture cannot be denoised.
    pub fn denoised(
        &mut self,
        device: &mut dyn Device,
        job: &RenderJob,
        stop: &Stop,
    ) -> Result<Option<Rendered>, RenderError> {
        let settings = FrameSettings {
            exposure: self.settings.exposure,
            film: FilmSettings { white_balance: self.settings.film.white_balance, ..job.settings.film.clone() },
            ..job.settings.clone()
        };
        // A frame that is denoised alone needs no motion vectors, but the denoiser reads them.
        let now = OtherPose::of_camera(self.frame.camera);
        let frame = Frame { others: Some(Arc::new([now.clone(), now.clone(), now])), ..self.frame.clone() };
        let number = frame.number;
        let rendered = add(device, (&frame, &settings), job.delivery, (&mut self.sums, &mut self.kept), 1, stop);
        let Some(mut rendered) = rendered.map_err(|source| RenderError::Device { frame: number, source })? else {
            return Ok(None);
        };
        job.denoise_alone((number, &settings), &mut rendered)?;
        Ok(Some(rendered))
    }
}

/// Adds up to `more` samples to the sums. None if interrupted; the sums are then unchanged.
fn add(
    device: &mut dyn Device,
    (frame, settings): (&Frame, &FrameSettings),
    delivery: Delivery,
    (sums, kept): (&mut Samples, &mut Samples),
    more: u32,
    stop: &Stop,
) -> Result<Option<Rendered>, DeviceError> {
    let done = sums.state().samples;
    let until = done.saturating_add(more).min(settings.samples).max(done);
    kept.clone_from(sums);
    match device.add_samples(frame, settings, delivery, sums, until, stop) {
        // The device may do other work before the next slice.
        Ok(rendered) => device.download(sums).map(|()| Some(rendered)),
        Err(DeviceError::Stopped) => {
            std::mem::swap(sums, kept);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
