//! Settings of the encoding of pictures, apart from the file format.

use throng_base::choice::choice;
use throng_picture::{
    aov::{
        AovSet,
        channels::{ChannelKind, FileRows},
    },
    pixels::PixelType,
};

/// Encoding settings that the user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    pub depth: ColorDepth,
    pub compression: ExrCompression,
    /// Quality of JPEG, from 1 to 100.
    pub quality: u8,
    /// Number of threads that work on one OpenEXR file.
    pub threads: usize,
}

impl Default for Encoding {
    fn default() -> Self {
        Self { depth: ColorDepth::Usual, compression: ExrCompression::Zip, quality: 90, threads: 1 }
    }
}

impl Encoding {
    /// The row layout of OpenEXR files with `aovs`. If `transparent` is set, the alpha in `aovs` becomes channel `A` of the picture.
    pub fn exr_rows(&self, aovs: AovSet, transparent: bool) -> FileRows {
        FileRows {
            aovs,
            transparent,
            colors: match self.depth {
                ColorDepth::Bits32 => ChannelKind::Float,
                _ => ChannelKind::Half,
            },
            per_block: self.compression.rows(),
        }
    }
}

/// Bits per channel of the picture itself. AOVs do not depend on it, except for colours, normals and motion vectors in OpenEXR files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorDepth {
    /// 8-bit integers, or half floats in OpenEXR files.
    #[default]
    Usual,
    /// 8-bit integers.
    Bits8,
    /// 16-bit integers in PNG files, half floats in OpenEXR files.
    Bits16,
    /// 32-bit floats.
    Bits32,
}

choice! {
    /// Compression of OpenEXR files, all without loss.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ExrCompression = Zip {
        None = "none",
        /// Run-length encoding, row by row.
        Rle = "rle",
        /// Deflate, row by row.
        Zips = "zips",
        /// Deflate, 16 rows at a time.
        Zip = "zip",
    }
}

/// Reason why a picture cannot be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("{width}x{height} pixels do not take {values} values")]
    Size { width: u32, height: u32, values: usize },
    #[error("the file takes no pixels of the type {0:?}")]
    Kind(PixelType),
    #[error("{format} pictures have at most {limit} pixels on each side; choose a smaller --size or another format")]
    TooLarge { format: &'static str, limit: u32 },
    #[error("{0}")]
    Encoder(String),
}

impl EncodeError {
    pub(super) fn encoder(error: impl ToString) -> Self {
        Self::Encoder(error.to_string())
    }
}
