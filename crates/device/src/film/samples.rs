//! Samples that devices add to, in host memory or in a device's.

use crate::{Accumulation, AccumulationState, DeviceError, FrameSettings};

/// The samples of a picture that devices add to. Their sums are in host memory, in the memory of the device that added the last samples, or in both.
/// Sums that only a device has are lost when the device starts other work; [`Device::download`](crate::Device::download) copies them to host memory.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The progress and the sums. If only a device has the sums, this is merely memory for them.
    film: Accumulation,
    location: SumsLocation,
}

/// Memory that has the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SumsLocation {
    #[default]
    Host,
    #[cfg(throng_cuda)]
    Both(DeviceCopy),
    #[cfg(throng_cuda)]
    Device(DeviceCopy),
}

/// Sums in the memory of a device, which are never identified by this number again after they have changed.
#[cfg(throng_cuda)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCopy(u64);

impl From<Accumulation> for Samples {
    fn from(film: Accumulation) -> Self {
        Self { film, location: SumsLocation::Host }
    }
}

impl Samples {
    /// A picture without samples.
    pub fn new(settings: &FrameSettings) -> Self {
        Accumulation::new(settings).into()
    }

    /// Progress of the picture.
    pub fn state(&self) -> &AccumulationState {
        &self.film.state
    }

    /// Whether the picture needs no more samples under `settings`.
    pub fn is_done(&self, settings: &FrameSettings) -> bool {
        self.film.is_done(settings)
    }

    /// Chooses the tiles that get the next samples, in ascending order, and the number of samples that they have.
    pub fn go_on_in(&mut self, tiles: Vec<u32>, samples: u32) {
        self.film.state = AccumulationState { samples, tiles: Some(tiles), ..AccumulationState::default() };
    }

    /// The sums in host memory.
    ///
    /// # Errors
    /// If only a device has them.
    pub fn host(&self) -> Result<&Accumulation, DeviceError> {
        self.check_host().map(|()| &self.film)
    }

    /// The sums in host memory.
    ///
    /// # Errors
    /// If only a device has them.
    pub fn into_host(self) -> Result<Accumulation, DeviceError> {
        self.check_host().map(|()| self.film)
    }

    /// The sums in host memory, where they may be changed.
    ///
    /// # Errors
    /// If only a device has them.
    pub(crate) fn host_mut(&mut self) -> Result<&mut Accumulation, DeviceError> {
        self.check_host()?;
        self.location = SumsLocation::Host;
        Ok(&mut self.film)
    }

    fn check_host(&self) -> Result<(), DeviceError> {
        match self.location {
            #[cfg(throng_cuda)]
            SumsLocation::Device(_) => Err(DeviceError::Failed("the sums of a film are not in host memory".into())),
            _ => Ok(()),
        }
    }
}

#[cfg(throng_cuda)]
impl Samples {
    /// Identifier of the sums on a device, if one has them.
    pub fn copy(&self) -> Option<DeviceCopy> {
        match self.location {
            SumsLocation::Host => None,
            SumsLocation::Both(copy) | SumsLocation::Device(copy) => Some(copy),
        }
    }

    /// Whether the sizes of the sums and the progress are valid for pictures with these settings.
    pub fn fits(&self, settings: &FrameSettings) -> bool {
        self.film.fits(settings)
    }

    /// Declares that a device has added samples. Only the device has the sums now, under the returned identifier. `has_layers` is whether it also
    /// has sums of layers.
    pub fn grow_on_device(
        &mut self,
        state: AccumulationState,
        settings: &FrameSettings,
        has_layers: bool,
    ) -> DeviceCopy {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let copy = DeviceCopy(NEXT.fetch_add(1, Ordering::Relaxed));
        self.film.state = state;
        self.film.layers.clear();
        if has_layers {
            self.film.layers.resize(Accumulation::layers_words(settings), 0);
        }
        self.location = SumsLocation::Device(copy);
        copy
    }

    /// Fills host memory with the sums that only a device has. `read` copies them.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn download<E>(&mut self, read: impl FnOnce(DeviceCopy, &mut Accumulation) -> Result<(), E>) -> Result<(), E> {
        if let SumsLocation::Device(copy) = self.location {
            read(copy, &mut self.film)?;
            self.location = SumsLocation::Both(copy);
        }
        Ok(())
    }
}
