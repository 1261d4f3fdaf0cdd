//! Frames in memory with all that was asked of them: radiance, display colours and layers.

use super::{Image, Renderer, plain};
use crate::Error;
use std::sync::Arc;
use throng_device::{Developer, FrameProgress, FrameSettings, Stop};
use throng_output::Metadata;
use throng_picture::{aov::AovImage, pixels::PixelType};
use throng_render::RenderError;
use throng_scene::{Placements, Views};
use throng_settings::Size;

/// A frame with its linear radiance and its layers.
#[derive(Clone, Debug)]
pub struct LayeredImage {
    number: u32,
    radiance: Image<f32>,
    layers: Vec<AovImage>,
    settings: FrameSettings,
    metadata: Metadata,
}

impl LayeredImage {
    /// Number of the frame.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Linear radiance, as [`Renderer::radiance`] returns it.
    pub fn radiance(&self) -> &Image<f32> {
        &self.radiance
    }

    /// The layers that were asked for, in a fixed order.
    pub fn layers(&self) -> &[AovImage] {
        &self.layers
    }

    /// Display colours, as [`Renderer::frame`] returns them for the path integrator. The Whitted integrator also limits the samples of such
    /// pictures.
    ///
    /// # Errors
    /// If `THRONG_CPU` names an unknown kind of processor.
    pub fn display(&self) -> Result<Image, Error> {
        let (colors, alpha) = self.radiance.planes();
        let alpha = alpha.as_ref().map(|image| &image.values[..]);
        let pixels = Developer::new().and_then(|it| it.develop(&colors, alpha, &self.settings, PixelType::U8));
        let pixels = pixels.map_err(|source| RenderError::Device { frame: self.number, source })?;
        let size = (self.radiance.width, self.radiance.height);
        Ok(Image::of_planes(size, &pixels, alpha, self.metadata.clone()))
    }

    /// Returns the radiance and the layers without copying them.
    pub fn into_parts(self) -> (Image<f32>, Vec<AovImage>) {
        (self.radiance, self.layers)
    }
}

impl Renderer {
    /// Sets views that replace the scene's cameras from now on: frame `n` is view `n` of the list, counted from the scene's first frame. None
    /// for the scene's own cameras. The scene stays on the device.
    pub fn set_views(&mut self, views: Option<Arc<Views>>) {
        self.options.views = views;
    }

    /// Sets the width and height of pictures from now on; None for the scene's own. The scene stays on the device, and a model keeps the framing for
    /// the size before.
    pub fn set_size(&mut self, size: Option<(u32, u32)>) {
        self.options.picture.size = size.map(|(width, height)| Size { width, height });
    }

    /// Sets transforms of instances that replace the scene's from now on. The scene stays on the device, and only the top of its trees is built
    /// again.
    pub fn set_placements(&mut self, placed: Option<Arc<Placements>>) {
        self.options.placed = placed;
    }

    /// Progress of the frame under way, which other threads may read meanwhile. `None` if the device does not report it. Opens the device.
    ///
    /// # Errors
    /// If the device cannot be opened.
    pub fn progress(&mut self) -> Result<Option<Arc<FrameProgress>>, Error> {
        let device = self.take_device()?;
        let progress = device.progress();
        self.opened = Some(device);
        Ok(progress)
    }

    /// Renders the frames `numbers` in this order, as [`Self::frames`] does, to radiance and layers. After `stop` returns true, the call ends
    /// with an error for which [`Error::is_stop`] is true.
    ///
    /// # Errors
    /// As [`Self::frames`].
    pub fn layered<E: From<Error>>(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        stop: &Stop,
        mut each: impl FnMut(LayeredImage) -> Result<(), E>,
    ) -> Result<(), E> {
        self.on_device(numbers.into_iter().collect(), plain(PixelType::F32), |job, ready, device| {
            let mut told = Ok(());
            ready.visit(job, device, stop, &mut |number, rendered, settings| {
                let metadata = job.output.metadata_of(job, number, &settings);
                let size = (job.settings.width, job.settings.height);
                let radiance = Image::new(size, &rendered, job.is_transparent(), metadata.clone());
                told = each(LayeredImage { number, radiance, layers: rendered.aovs, settings, metadata });
                told.is_ok()
            })?;
            Ok(told)
        })?
    }
}
