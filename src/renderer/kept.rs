//! Frames that stay in the memory of a GPU.

use super::Renderer;
use crate::Error;
use std::sync::Arc;
use throng_device::{Delivery, DeviceError, KeptImage, KeptPicture, MatteNumbers, Plane, Stop};
use throng_picture::{
    aov::{Aov, AovSet},
    pixels::PixelType,
};
use throng_render::{RenderError, RenderJob};
use throng_settings::SettingsError;

/// A frame in the memory of a GPU, or several frames of one size, one below the other.
#[derive(Clone)]
pub struct GpuImage {
    /// Numbers of the frames, in order.
    numbers: Vec<u32>,
    size: (u32, u32),
    layers: AovSet,
    transparent: bool,
    picture: KeptPicture,
}

impl GpuImage {
    /// Number of the frame; of several frames, of the first one.
    pub fn number(&self) -> u32 {
        self.numbers.first().copied().unwrap_or_default()
    }

    /// Number of frames.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Width and height of each frame in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// The layers that the frame has.
    pub fn layers(&self) -> AovSet {
        self.layers
    }

    /// Display colours, with an alpha if frames are transparent: bytes, as in [`Image`](crate::Image).
    ///
    /// # Errors
    /// If the GPU's memory is full, or the device fails.
    pub fn display(&self) -> Result<Option<KeptImage>, Error> {
        self.colors(Plane::Display)
    }

    /// Linear radiance, with an alpha if frames are transparent: floats.
    ///
    /// # Errors
    /// As [`Self::display`].
    pub fn radiance(&self) -> Result<Option<KeptImage>, Error> {
        self.colors(Plane::Radiance)
    }

    fn colors(&self, plane: Plane) -> Result<Option<KeptImage>, Error> {
        if !self.transparent {
            return Ok(self.picture.image(plane));
        }
        self.picture.with_alpha(plane).map_err(failed(self.number()))
    }

    /// A layer, as [`LayeredImage::layers`](crate::LayeredImage::layers) has it. None if the frame lacks it.
    pub fn layer(&self, aov: Aov) -> Option<KeptImage> {
        self.picture.image(Plane::Aov(aov))
    }

    /// Numbers of what covers most of each pixel by the layer `matte`, or -1. None if the frame lacks the layer.
    ///
    /// # Errors
    /// As [`Self::display`].
    pub fn numbers(&self, matte: Aov, numbers: &Arc<MatteNumbers>) -> Result<Option<KeptImage>, Error> {
        self.picture.numbers(matte, numbers).map_err(failed(self.number()))
    }

    /// Optical flow in pixels to the right and down, to the frame before (`back`) or to the next one. None if the frame lacks the layer `motion`.
    ///
    /// # Errors
    /// As [`Self::display`].
    pub fn flow(&self, back: bool) -> Result<Option<KeptImage>, Error> {
        self.picture.flow(back).map_err(failed(self.number()))
    }

    /// Frames of one call as one image. It shares their memory if they were rendered together; otherwise they are copied on the GPU.
    ///
    /// # Errors
    /// If there are none, or if they differ in size or layers. Otherwise as [`Self::display`].
    pub fn joined(frames: Vec<Self>) -> Result<Self, Error> {
        let pictures: Vec<KeptPicture> = frames.iter().map(|frame| frame.picture.clone()).collect();
        let numbers: Vec<u32> = frames.iter().flat_map(|frame| frame.numbers.iter().copied()).collect();
        let picture = KeptPicture::joined(&pictures).map_err(failed(numbers.first().copied().unwrap_or_default()))?;
        let (size, layers, transparent) =
            frames.first().map_or_else(Default::default, |first| (first.size, first.layers, first.transparent));
        Ok(Self { numbers, size, layers, transparent, picture })
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
                let (layers, transparent) = (settings.aovs, job.is_transparent());
                told = each(GpuImage { numbers: vec![number], size, layers, transparent, picture });
                told.is_ok()
            })?;
            match lost {
                None => Ok(told),
                Some(frame) => Err(failed(frame)(DeviceError::Failed("the device kept no picture".into()))),
            }
        })?
    }
}

/// The error of a device at a frame.
fn failed(frame: u32) -> impl FnOnce(DeviceError) -> Error {
    move |source| RenderError::Device { frame, source }.into()
}

/// Checks that frames are complete once they are traced.
fn check(job: &RenderJob) -> Result<(), SettingsError> {
    let is_changed = job.denoising.is_some() || job.background.is_some() || job.wireframe_color.is_some();
    if is_changed { Err(SettingsError::Kept) } else { Ok(()) }
}
