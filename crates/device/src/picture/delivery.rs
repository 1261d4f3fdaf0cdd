//! What the caller of a device receives besides pixels.

use crate::DenoiseWanted;
use throng_picture::aov::channels::FileRows;

/// What a device returns in addition to a picture's pixels, or in place of them. It changes no pixel of the picture. The default is plain pixels, and
/// the AOVs of a finished picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivery {
    /// Gathers AOVs of unfinished pictures as well.
    pub unfinished_aovs: bool,
    /// Keeps the exact sums for the AOVs of a finished picture ([`Accumulation::layers`](crate::Accumulation::layers)), so that they can be joined
    /// with the sums of other samples. Requires [`FrameSettings::open_ended`](crate::FrameSettings::open_ended).
    pub layer_sums: bool,
    /// Compressed rows of files instead of pixels and AOVs, for submitted frames. Devices that lack this feature or have too little memory return
    /// pixels and AOVs.
    pub file_rows: Option<FileRows>,
    /// The picture stays in the device's memory ([`Rendered::kept`](crate::Rendered::kept)), for submitted frames of devices with this feature
    /// ([`Device::keeps_pictures`](crate::Device::keeps_pictures)). It replaces the pixels and all AOVs. Requires float pixels.
    pub keeps_picture: bool,
    /// The frame in the form that the denoiser reads, for submitted frames. It replaces the pixels and all AOVs that are not requested
    /// explicitly. Requires float pixels, more than one sample and the AOVs that the denoiser needs. Devices that lack this feature or have too
    /// little memory return pixels and all AOVs.
    pub denoise_wanted: Option<DenoiseWanted>,
}
