//! A picture in the making that may be interrupted at any moment and loses nothing by it.

use crate::device::{Accumulation, Device, DeviceError, Frame, FrameSettings, Rendered, Stop};

pub struct Film {
    pub frame: Frame,
    pub settings: FrameSettings,
    sums: Accumulation,
    /// The sums before the slice under way, since an interrupted device leaves them in an undefined state.
    kept: Accumulation,
}

impl Film {
    pub fn new(frame: Frame, settings: FrameSettings) -> Self {
        Self { sums: Accumulation::new(&settings), kept: Accumulation::default(), frame, settings }
    }

    /// Memory that a film with these settings takes, in bytes.
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

    /// Takes up to so many more samples, and returns the picture as it then stands. None if it was interrupted.
    ///
    /// # Errors
    /// Those of the device.
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
