//! Encodes pictures for the page: as JPEG stripes, encoded in parallel, or as one lossless PNG.

use super::protocol::{FINISHED, PNG, PictureHeader, Stripe, write_picture};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use rayon::prelude::*;
use throng_output::{EncodeError, Encoding, FileFormat, Manifests, Metadata, Pixels};
use throng_preview::{PictureKind, ViewerPicture};

/// Height of a JPEG's largest block; stripes have a multiple of it in rows.
const BLOCK: usize = 16;
/// Minimum number of pixels of a stripe; smaller stripes are not worth a thread.
const SMALL: usize = 1 << 16;

/// Encodes the message of a picture: JPEG of this quality, or PNG if `quality` is None.
///
/// # Errors
/// If the encoder fails, for example because the format cannot store a picture of this size.
pub fn message(picture: &ViewerPicture, number: u32, quality: Option<u8>) -> Result<Vec<u8>, EncodeError> {
    let stripes = match quality {
        Some(quality) => jpeg(picture, quality)?,
        None => vec![Stripe { top: 0, rows: picture.height as u16, data: png(picture)? }],
    };
    let finished = if picture.kind == PictureKind::Finished { FINISHED } else { 0 };
    let header = PictureHeader {
        picture: number,
        width: picture.width as u16,
        height: picture.height as u16,
        samples: picture.samples,
        key: picture.key,
        stripes: stripes.len() as u16,
        flags: finished | if quality.is_none() { PNG } else { 0 },
        frame: picture.frame,
    };
    Ok(write_picture(&header, &stripes))
}

fn jpeg(picture: &ViewerPicture, quality: u8) -> Result<Vec<Stripe<Vec<u8>>>, EncodeError> {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let threads = rayon::current_num_threads().min(width * height / SMALL).max(1);
    let rows = height.div_ceil(threads).next_multiple_of(BLOCK);
    let stripes = picture.pixels.par_chunks(rows * width * 3).enumerate().map(|(index, pixels)| {
        let mut data = Vec::with_capacity(pixels.len() / 8);
        let rows_here = pixels.len() / (3 * width);
        let mut encoder = Encoder::new(&mut data, quality);
        // High qualities keep colours at full resolution.
        encoder.set_sampling_factor(if quality >= 90 { SamplingFactor::F_1_1 } else { SamplingFactor::F_2_2 });
        let encoded = encoder.encode(pixels, width as u16, rows_here as u16, ColorType::Rgb);
        encoded.map_err(|error| EncodeError::Encoder(error.to_string()))?;
        Ok(Stripe { top: (index * rows) as u16, rows: rows_here as u16, data })
    });
    stripes.collect()
}

fn png(picture: &ViewerPicture) -> Result<Vec<u8>, EncodeError> {
    let picture = throng_output::Picture {
        width: picture.width,
        height: picture.height,
        pixels: Pixels::U8((&picture.pixels[..]).into()),
        aovs: &[],
        transparent: false,
        blocks: None,
        display: None,
        manifests: &Manifests::default(),
        metadata: &Metadata::default(),
    };
    FileFormat::Png.encode(&picture, &Encoding::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_picture;

    fn picture(width: u32, height: u32) -> ViewerPicture {
        let pixels: Vec<u8> = (0..width * height).flat_map(|i| [(i % 251) as u8, (i / width) as u8, 90]).collect();
        ViewerPicture {
            width,
            height,
            pixels: pixels.into(),
            samples: 3,
            key: 4,
            frame: 5,
            kind: PictureKind::Finished,
        }
    }

    #[test]
    fn stripes_cover_the_picture() {
        let picture = picture(300, 701);
        let message = message(&picture, 1, Some(80)).unwrap();
        let (header, stripes) = read_picture(&message).unwrap();
        assert!(header.is_finished() && !header.is_png());
        let mut next = 0;
        for stripe in &stripes {
            assert_eq!(u32::from(stripe.top), next);
            let image = image::load_from_memory(stripe.data).unwrap();
            assert_eq!((image.width(), image.height()), (300, u32::from(stripe.rows)));
            next += image.height();
        }
        assert_eq!(next, 701);
    }

    #[test]
    fn a_png_has_the_very_pixels() {
        let picture = picture(33, 17);
        let message = message(&picture, 1, None).unwrap();
        let (header, stripes) = read_picture(&message).unwrap();
        assert!(header.is_png());
        assert_eq!(image::load_from_memory(stripes[0].data).unwrap().to_rgb8().as_raw()[..], picture.pixels[..]);
    }
}
