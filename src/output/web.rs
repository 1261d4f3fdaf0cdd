//! JPEG and WebP frames: 8-bit RGB, JPEG with loss and WebP without, and the check that a file is a whole one.

use super::{EncodeError, Picture, Pixels};
use image::{
    ExtendedColorType::Rgb8,
    ImageEncoder,
    codecs::{jpeg::JpegEncoder, webp::WebPEncoder},
};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The marker with which JPEG files end.
const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];
/// What WebP can say about a picture's width and height.
const WEBP_LIMIT: u32 = 16_384;

/// `quality` from 1 to 100.
pub fn encode_jpeg(picture: &Picture, quality: u8) -> Result<Vec<u8>, EncodeError> {
    let mut file = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut file, quality);
    write(encoder, picture)?;
    Ok(file)
}

pub fn encode_webp(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    if picture.width.max(picture.height) > WEBP_LIMIT {
        return Err(EncodeError::TooLarge {
            format: "WebP",
            limit: WEBP_LIMIT,
        });
    }
    let mut file = Vec::new();
    write(WebPEncoder::new_lossless(&mut file), picture)?;
    Ok(file)
}

fn write(encoder: impl ImageEncoder, picture: &Picture) -> Result<(), EncodeError> {
    let Pixels::U8(rgb) = &picture.pixels else {
        return Err(EncodeError::Kind(picture.pixels.kind()));
    };
    encoder
        .write_image(rgb, picture.width, picture.height, Rgb8)
        .map_err(EncodeError::encoder)
}

pub fn is_complete_jpeg(path: &Path) -> bool {
    let read_end = || -> io::Result<[u8; 2]> {
        let mut file = File::open(path)?;
        let mut end = [0; 2];
        file.seek(SeekFrom::End(-2))?;
        file.read_exact(&mut end)?;
        Ok(end)
    };
    read_end().is_ok_and(|end| end == END_OF_IMAGE)
}

/// Whether the file is as long as its first chunk, which holds all others, says.
pub fn is_complete_webp(path: &Path) -> bool {
    let check = || -> io::Result<bool> {
        let mut file = File::open(path)?;
        let mut start = [0; 12];
        file.read_exact(&mut start)?;
        let size = u32::from_le_bytes([start[4], start[5], start[6], start[7]]);
        let names = start.starts_with(b"RIFF") && start.ends_with(b"WEBP");
        Ok(names && u64::from(size) + 8 == file.metadata()?.len())
    };
    check().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::picture::testing::{metadata, picture};
    use std::fs;

    fn gradient() -> Vec<u8> {
        (0..64 * 48 * 3).map(|i| (i / 48 % 256) as u8).collect()
    }

    #[test]
    fn webp_keeps_every_pixel_and_jpeg_nearly() {
        let (metadata, rgb) = (metadata(), gradient());
        let picture = picture((64, 48), Pixels::U8(rgb[..].into()), &metadata);
        let webp = encode_webp(&picture).unwrap();
        assert_eq!(
            image::load_from_memory(&webp)
                .unwrap()
                .into_rgb8()
                .into_raw(),
            rgb
        );
        let jpeg = encode_jpeg(&picture, 95).unwrap();
        let read = image::load_from_memory(&jpeg)
            .unwrap()
            .into_rgb8()
            .into_raw();
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
        let jpeg = (
            encode_jpeg(&picture, 90).unwrap(),
            is_complete_jpeg as Check,
        );
        for (whole, is_complete) in [webp, jpeg] {
            for length in [0, 1, 11, whole.len() / 2, whole.len() - 1] {
                fs::write(&path, &whole[..length]).unwrap();
                assert!(!is_complete(&path), "{length} bytes");
            }
            fs::write(&path, &whole).unwrap();
            assert!(is_complete(&path));
        }
    }

    #[test]
    fn a_side_that_webp_has_no_number_for_is_refused() {
        let (metadata, rgb) = (metadata(), vec![0; 16_385 * 3]);
        let picture = picture((16_385, 1), Pixels::U8(rgb.into()), &metadata);
        let text = encode_webp(&picture).unwrap_err().to_string();
        assert!(text.contains("at most 16384 pixels"), "{text}");
    }
}
