//! Pictures that stay in a device's memory.

use super::DeviceError;
use throng_picture::aov::Aov;

/// An image of a picture in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// Linear radiance: three floats per pixel, multiplied by alpha.
    Radiance,
    /// Display colours: three bytes per pixel, not multiplied by alpha.
    Display,
    /// An AOV, in the form of [`AovImage`](throng_picture::aov::AovImage).
    Aov(Aov),
}

impl Plane {
    /// Number of values per pixel.
    pub fn channels(self) -> usize {
        match self {
            Self::Radiance | Self::Display => 3,
            Self::Aov(aov) => aov.channels(),
        }
    }

    /// Bytes per pixel.
    pub fn pixel_bytes(self) -> usize {
        match self {
            Self::Display => 3,
            _ => self.channels() * size_of::<f32>(),
        }
    }
}

/// A finished picture in a GPU's memory. Its images are row-major from the top, without gaps, and do not change any more.
pub trait KeptPicture: Send + Sync {
    /// The driver's number of the GPU.
    fn ordinal(&self) -> u32;

    /// Address of an image on the GPU. `None` if the picture lacks it.
    fn address(&self, plane: Plane) -> Option<u64>;

    /// Records that a stream of another library reads the picture until it is dropped. `is_default`: whether it is CUDA's legacy default stream. After
    /// other streams, the memory is used again once the GPU was idle.
    fn read_by_stream(&self, is_default: bool);

    /// Copies an image to host memory. Empty if the picture lacks it.
    ///
    /// # Errors
    /// If the device fails.
    fn read(&self, plane: Plane) -> Result<Vec<u8>, DeviceError>;
}
