//! Frames that stay in the memory of a GPU.

use super::Renderer;
use crate::Error;
use std::sync::Arc;
use throng_device::{Delivery, DeviceError, KeptPicture, Stop};
use throng_picture::{aov::AovSet, pixels::PixelType};
use throng_render::{RenderError, RenderJob};
use throng_settings::SettingsError;

/// A frame in the memory of a GPU.
#[derive(Clone)]
pub struct GpuImage {
    number: u32,
    size: (u32, u32),
    layers: AovSet,
    picture: Arc<dyn KeptPicture>,
}

impl GpuImage {
    /// Number of the frame.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// The layers that the frame has.
    pub fn layers(&self) -> AovSet {
        self.layers
    }

    /// Addresses of its images.
    pub fn picture(&self) -> &Arc<dyn KeptPicture> {
        &self.picture
    }
}

impl Renderer {
    /// Renders the frames `numbers` in this order, as [`Self::layered`] does, and leaves them on the GPU.
    ///
    /// # Errors
    /// As [`Self::frames`]. Also if the device is no GPU, or if frames are changed after they are traced: denoised, put in front of a background, or
    /// drawn with wireframes.
    pub fn kept<E: From<Error>>(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        stop: &Stop,
        mut each: impl FnMut(GpuImage) -> Result<(), E>,
    ) -> Result<(), E> {
        let delivery = Delivery { keeps_picture: true, ..Delivery::default() };
        self.on_device(numbers.into_iter().collect(), (PixelType::F32, delivery), |job, ready, device| {
            check(job)?;
            if !device.keeps_pictures() {
                let message = format!("{} keeps no pictures in its memory: render on a GPU", device.describe());
                return Err(Error::Device(DeviceError::Failed(message)));
            }
            let mut told = Ok(());
            let mut lost = None;
            ready.visit(job, device, stop, &mut |number, rendered, settings| {
                let Some(picture) = rendered.kept else {
                    lost = Some(number);
                    return false;
                };
                let size = (job.settings.width, job.settings.height);
                told = each(GpuImage { number, size, layers: settings.aovs, picture });
                told.is_ok()
            })?;
            match lost {
                None => Ok(told),
                Some(frame) => {
                    let source = DeviceError::Failed("the device kept no picture".into());
                    Err(RenderError::Device { frame, source }.into())
                }
            }
        })?
    }
}

/// Checks that frames are complete once they are traced.
fn check(job: &RenderJob) -> Result<(), SettingsError> {
    let is_changed = job.denoising.is_some() || job.background.is_some() || job.wireframe_color.is_some();
    if is_changed { Err(SettingsError::Kept) } else { Ok(()) }
}
