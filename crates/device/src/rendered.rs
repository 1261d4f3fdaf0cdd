//! The output of a device.

use super::{DeviceRecords, KeptPicture, RayCounts};
use bytes::Bytes;
use std::{sync::Arc, time::Duration};
use throng_picture::aov::{Aov, AovImage, channels::FileBlocks};

/// The result of rendering a frame.
pub struct Rendered {
    /// RGB, row-major, the top row first, of type [`FrameSettings::pixels`](super::FrameSettings::pixels), in native byte order.
    pub pixels: Bytes,
    /// The AOVs of [`FrameSettings::aovs`](super::FrameSettings::aovs), in the order of [`AovSet::iter`](throng_picture::aov::AovSet::iter).
    pub aovs: Vec<AovImage>,
    /// Rows of files, if [`Delivery::file_rows`](super::Delivery::file_rows) is set and the device made them. `pixels` and `aovs` are empty then.
    pub blocks: Option<FileBlocks>,
    /// Records of the frame for the denoiser, if [`Delivery::denoise_wanted`](super::Delivery::denoise_wanted) is set and the device keeps them.
    /// `pixels` is empty then.
    pub records: Option<Arc<dyn DeviceRecords>>,
    /// The picture in the device's memory, if [`Delivery::keeps_picture`](super::Delivery::keeps_picture) is set. `pixels` and `aovs` are empty then.
    pub kept: Option<KeptPicture>,
    /// Rays traced for the frame; for a frame of a batch, an equal part of the batch's.
    pub rays: RayCounts,
    /// Time that the device worked on the frame, without waiting behind other frames; for a frame of a batch, an equal part of the batch's.
    pub time: Duration,
    /// Times of the stages, if the device measures them; none for frames of batches.
    pub stages: Option<StageTimes>,
}

impl Rendered {
    /// Alpha of all pixels, or `None` if it is not among the AOVs.
    pub fn alpha(&self) -> Option<&[f32]> {
        self.aovs.iter().find(|image| image.aov == Aov::Alpha).map(|image| &image.values[..])
    }
}

/// Times that a GPU spent on the stages of a frame. They overlap if frames overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    pub primary: Duration,
    pub bounce: Duration,
    pub shadow: Duration,
    pub shade: Duration,
    /// Starting paths, accumulating their radiance, resolving and downloading the picture.
    pub other: Duration,
}
