//! Reads frames that an earlier run has written, for outputs that need all frames.

use super::{Manifests, Metadata, OutputError, Picture, Pixels};
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageReader,
    error::{DecodingError, ImageFormatHint},
};
use std::{io::BufReader, path::Path};
use throng_base::{files::open_regular, guard::guarded};
use throng_picture::aov::{Aov, AovImage};

/// Reads the picture in `file` and calls `use_it` with it.
///
/// # Errors
/// If the file cannot be read or decoded, or if the picture does not have the given size.
pub fn read_back<T>(
    file: &Path,
    (width, height): (u32, u32),
    metadata: &Metadata,
    use_it: impl FnOnce(&Picture) -> T,
) -> Result<T, OutputError> {
    let panicked = |words: &str| {
        let format = ImageFormatHint::Unknown;
        ImageError::Decoding(DecodingError::new(format, words.to_owned()))
    };
    let decoded = guarded(|| decode(file, (width, height)), panicked);
    let decoded = decoded.map_err(|error| OutputError::ReadBack { path: file.to_owned(), error })?;
    let read =
        decoded.map_err(|found| OutputError::OtherSize { path: file.to_owned(), found, wanted: (width, height) })?;
    let transparent = read.color().has_alpha();
    let aovs = transparent.then(|| AovImage { aov: Aov::Alpha, values: alpha_of(&read).into() });
    let pixels = match read {
        DynamicImage::ImageRgb16(_) | DynamicImage::ImageRgba16(_) => Pixels::U16(read.into_rgb16().into_raw().into()),
        other => Pixels::U8(other.into_rgb8().into_raw().into()),
    };
    let aovs = aovs.as_slice();
    let manifests = &Manifests::default();
    Ok(use_it(&Picture { width, height, pixels, aovs, transparent, blocks: None, display: None, manifests, metadata }))
}

fn alpha_of(image: &DynamicImage) -> Vec<f32> {
    match image {
        DynamicImage::ImageRgba16(pixels) => pixels.pixels().map(|pixel| f32::from(pixel[3]) / 65_535.0).collect(),
        other => other.to_rgba8().pixels().map(|pixel| f32::from(pixel[3]) / 255.0).collect(),
    }
}

/// Decodes the picture. The inner error is the size of the picture, if it differs from `size`.
fn decode(file: &Path, size: (u32, u32)) -> Result<Result<DynamicImage, (u32, u32)>, ImageError> {
    let (file, _) = open_regular(file)?;
    let decoder = ImageReader::new(BufReader::new(file)).with_guessed_format()?.into_decoder()?;
    match decoder.dimensions() {
        found if found == size => DynamicImage::from_decoder(decoder).map(Ok),
        found => Ok(Err(found)),
    }
}
