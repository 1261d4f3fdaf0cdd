//! Settings of how pictures are encoded, apart from the kind of file.

use crate::{
    aov::{
        AovSet,
        channels::{ChannelKind, FileRows},
    },
    choice::choice,
    pixels::PixelType,
};

/// Settings of files that the user may choose.
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
    /// The layout of rows in OpenEXR files of a picture with `aovs`, which is transparent as the alpha among these says or opaque.
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

/// Bits per channel of the picture itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorDepth {
    /// 8, and half floats in OpenEXR files.
    #[default]
    Usual,
    /// Integers of 8 bits.
    Bits8,
    /// Integers in PNG files, half floats in OpenEXR files.
    Bits16,
    /// Floats.
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
