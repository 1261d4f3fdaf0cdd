//! What kinds of files frames are written to.

use super::{
    OutputError,
    exr::{is_complete_exr, write_exr},
    png::{is_complete_png, write_png},
};
use crate::pixels::PixelType;
use std::path::Path;

/// The kind of file that an extension stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// 8-bit sRGB, ready to be looked at.
    Png,
    /// Linear radiance in 32-bit floats, without exposure and tone curve.
    Exr,
}

impl FileFormat {
    pub const ALL: [Self; 2] = [Self::Png, Self::Exr];

    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Exr => "exr",
        }
    }

    /// What is written: floats of linear radiance, else values for display.
    pub fn pixel_type(self) -> PixelType {
        match self {
            Self::Png => PixelType::U8,
            Self::Exr => PixelType::F32,
        }
    }

    /// Writes RGB pixels of the format's type, row-major from the top, so that `path` only ever shows a whole picture.
    pub fn write(
        self,
        path: &Path,
        width: u32,
        height: u32,
        pixels: &[u8],
    ) -> Result<(), OutputError> {
        match self {
            Self::Png => write_png(path, width, height, pixels),
            Self::Exr => write_exr(path, width, height, pixels),
        }
    }

    /// Whether `path` is a file that was written to its end.
    pub fn is_complete(self, path: &Path) -> bool {
        match self {
            Self::Png => is_complete_png(path),
            Self::Exr => is_complete_exr(path),
        }
    }
}
