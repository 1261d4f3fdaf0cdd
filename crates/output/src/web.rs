//! JPEG and WebP frames: 8-bit lossy RGB in JPEG, lossless RGB or RGBA in WebP, and the check that a file is complete.

use super::{EncodeError, Picture, Texts, exif};
use image::{
    ExtendedColorType::{Rgb8, Rgba8},
    ImageDecoder, ImageEncoder,
    codecs::{jpeg::JpegEncoder, webp::WebPEncoder},
};
use std::{
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};
use throng_base::files::open_regular;

/// The marker that ends every JPEG file.
const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];

/// Encodes a JPEG file with `quality` from 1 to 100.
///
/// # Errors
/// If the pixels are floats, or if the encoder fails.
pub fn encode_jpeg(picture: &Picture, quality: u8) -> Result<Vec<u8>, EncodeError> {
    let mut file = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut file, quality);
    describe(&mut encoder, picture)?;
    write(encoder, picture)?;
    Ok(file)
}

pub fn encode_webp(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let mut file = Vec::new();
    let mut encoder = WebPEncoder::new_lossless(&mut file);
    describe(&mut encoder, picture)?;
    write(encoder, picture)?;
    Ok(file)
}

/// Encodes a WebP file without metadata, for an animation.
pub fn encode_webp_frame(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let mut file = Vec::new();
    write(WebPEncoder::new_lossless(&mut file), picture)?;
    Ok(file)
}

fn describe(encoder: &mut impl ImageEncoder, picture: &Picture) -> Result<(), EncodeError> {
    let block = exif::block(picture.metadata);
    encoder.set_exif_metadata(block).map_err(EncodeError::encoder)
}

fn write(encoder: impl ImageEncoder, picture: &Picture) -> Result<(), EncodeError> {
    let color = if picture.alpha().is_some() { Rgba8 } else { Rgb8 };
    encoder.write_image(&picture.bytes()?, picture.width, picture.height, color).map_err(EncodeError::encoder)
}

/// Reads the size of the picture, and its metadata texts.
pub fn read_origin(mut decoder: impl ImageDecoder) -> ((u32, u32), Texts) {
    let block = decoder.exif_metadata().ok().flatten();
    (decoder.dimensions(), exif::texts(&block.unwrap_or_default()))
}

pub fn is_complete_jpeg(path: &Path) -> bool {
    let read_end = || -> io::Result<[u8; 2]> {
        let (mut file, _) = open_regular(path)?;
        let mut end = [0; 2];
        file.seek(SeekFrom::End(-2))?;
        file.read_exact(&mut end)?;
        Ok(end)
    };
    read_end().is_ok_and(|end| end == END_OF_IMAGE)
}

/// Whether the length of the file matches the size in its first chunk, which contains all others.
pub fn is_complete_webp(path: &Path) -> bool {
    let check = || -> io::Result<bool> {
        let (mut file, length) = open_regular(path)?;
        let mut start = [0; 12];
        file.read_exact(&mut start)?;
        let size = u32::from_le_bytes([start[4], start[5], start[6], start[7]]);
        let names = start.starts_with(b"RIFF") && start.ends_with(b"WEBP");
        Ok(names && u64::from(size) + 8 == length)
    };
    check().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pixels,
        picture::testing::{metadata, picture},
    };
    use std::fs;

    fn gradient() -> Vec<u8> {
        (0..64 * 48 * 3).map(|i| (i / 48 % 256) as u8).collect()
    }

    #[test]
    fn webp_keeps_every_pixel_and_jpeg_nearly() {
        let (metadata, rgb) = (metadata(), gradient());
        let picture = picture((64, 48), Pixels::U8(rgb[..].into()), &metadata);
        let webp = encode_webp(&picture).unwrap();
        assert_eq!(image::load_from_memory(&webp).unwrap().into_rgb8().into_raw(), rgb);
        let jpeg = encode_jpeg(&picture, 95).unwrap();
        let read = image::load_from_memory(&jpeg).unwrap().into_rgb8().into_raw();
        let worst = rgb.iter().zip(&read).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst.unwrap() < 24, "{worst:?}");
        assert!(encode_jpeg(&picture, 20).unwrap().len() < jpeg.len());
    }

    #[test]
    fn only_whole_files_count_as_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let (metadata, rgb) = (metadata(), gradient());
        let picture = picture((64, 48), Pixels::U8(rgb.into()), &metadata);
        type Check = fn(&Path) -> bool;
        let webp = (encode_webp(&picture).unwrap(), is_complete_webp as Check);
        let jpeg = (encode_jpeg(&picture, 90).unwrap(), is_complete_jpeg as Check);
        for (whole, is_complete) in [webp, jpeg] {
            for length in [0, 1, 11, whole.len() / 2, whole.len() - 1] {
                fs::write(&path, &whole[..length]).unwrap();
                assert!(!is_complete(&path), "{length} bytes");
            }
            fs::write(&path, &whole).unwrap();
            assert!(is_complete(&path));
        }
    }
}
