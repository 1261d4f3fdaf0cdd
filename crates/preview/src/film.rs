//! A picture that is rendered incrementally, and can be interrupted at any time without loss.

use throng_device::{Accumulation, Device, DeviceError, Frame, FrameSettings, Rendered, Stop};

pub struct Film {
    pub frame: Frame,
    pub settings: FrameSettings,
    sums: Accumulation,
    /// Copy of the sums before the current slice. An interrupted device leaves its sums in an undefined state.
    kept: Accumulation,
}

impl Film {
    pub fn new(frame: Frame, settings: FrameSettings) -> Self {
        Self { sums: Accumulation::new(&settings), kept: Accumulation::default(), frame, settings }
    }

    /// Memory of a film with these settings, in bytes.
    pub fn bytes(settings: &FrameSettings) -> u64 {
        let words = Accumulation::words(settings) + Accumulation::odd_words(settings);
        2 * 4 * words as u64
    }

    pub fn samples(&self) -> u32 {
        self.sums.state.samples
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
        let done = self.samples();
        let until = done.saturating_add(more).min(self.settings.samples).max(done);
        self.kept.clone_from(&self.sums);
        match device.add_samples(&self.frame, &self.settings, &mut self.sums, until, stop) {
            Ok(rendered) => Ok(Some(rendered)),
            Err(DeviceError::Stopped) => {
                std::mem::swap(&mut self.sums, &mut self.kept);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
