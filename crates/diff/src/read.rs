//! Reads pictures for comparison, in several file formats.

use glam::Vec3;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};
use throng_base::{
    files::{open_regular, remember_input},
    guard::guarded,
    memory::allowance,
};
use throng_loader::image::open_exr;

/// A picture in linear RGB, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearImage {
    pub width: usize,
    /// Measurable colours: NaN is replaced by 0, and other values are clamped to ±[`LARGEST`].
    pub pixels: Vec<Vec3>,
    /// Original colours of the pixels that were changed in `pixels`, as (index, colour) in ascending order.
    pub odd: Vec<(usize, Vec3)>,
    /// Whether values may exceed 1, as in .exr and .hdr files.
    pub unbounded: bool,
}

/// Greatest absolute value that is measured.
const LARGEST: f32 = 1e30;

impl LinearImage {
    /// A picture of the linear colours `colors`, given row by row from the top.
    pub fn new(width: usize, colors: impl Iterator<Item = Vec3>, unbounded: bool) -> Self {
        let mut odd = Vec::new();
        let measured = |(index, color): (usize, Vec3)| {
            let finite = color.map(|v| if v.is_nan() { 0.0 } else { v.clamp(-LARGEST, LARGEST) });
            if finite != color {
                odd.push((index, color));
            }
            finite
        };
        let pixels = colors.enumerate().map(measured).collect();
        Self { width, pixels, odd, unbounded }
    }

    /// The original colour of each pixel.
    pub fn exact(&self) -> impl Iterator<Item = Vec3> {
        let mut odd = self.odd.iter().peekable();
        self.pixels.iter().enumerate().map(move |(index, color)| match odd.next_if(|(at, _)| *at == index) {
            Some((_, color)) => *color,
            None => *color,
        })
    }

    /// Number of pixels with an infinite or NaN value.
    pub fn not_finite(&self) -> usize {
        self.odd.iter().filter(|(_, color)| !color.is_finite()).count()
    }

    /// Width and height.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.pixels.len() / self.width.max(1))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", .path.display())]
pub struct ReadError {
    path: PathBuf,
    reason: String,
}

/// Reads a PNG, JPEG, WebP, OpenEXR or Radiance file; the format is detected from the content. Transparent areas become black. If an
/// OpenEXR file stores a region only, the picture is that region.
///
/// # Errors
/// If the file cannot be read, is damaged or declares an implausible size.
pub fn read(path: &Path) -> Result<LinearImage, ReadError> {
    let failed = |reason: String| ReadError {
        path: path.to_owned(),
        reason: reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    };
    let panicked = |words: &str| format!("the picture is damaged: {words}");
    let picture = guarded(|| decode(path), panicked).map_err(failed)?;
    Ok(linear(picture))
}

fn decode(path: &Path) -> Result<DynamicImage, String> {
    let damaged = |error: ImageError| format!("cannot be read: {error}");
    let (file, held) = open_regular(path).map_err(|error| error.to_string())?;
    remember_input(path);
    let mut file = BufReader::new(file);
    if file.fill_buf().is_ok_and(|start| start.starts_with(open_exr::MAGIC)) {
        let room = |width: u32, height: u32, more: u64| check(width, height, 16 + 12, more, held);
        let picture = open_exr::decode(file, open_exr::Extent::Stored, room)?;
        // OpenEXR colours are already multiplied by alpha.
        return Ok(DynamicImage::ImageRgb32F(picture.into_rgb32f()));
    }
    let reader = ImageReader::new(file).with_guessed_format();
    let mut reader = reader.map_err(|error| error.to_string())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(4 << 30);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    // Decoders of float formats hold their pixels twice. Conversion then needs four floats per pixel, and three more for the result.
    let per_pixel = 2 * u64::from(decoder.color_type().bytes_per_pixel()) + 16 + 12;
    check(width, height, per_pixel, 0, held)?;
    DynamicImage::from_decoder(decoder).map_err(damaged)
}

/// Refuses files that declare more pixels than their size can plausibly encode.
fn check(width: u32, height: u32, per_pixel: u64, more: u64, held: u64) -> Result<(), String> {
    let pixels = u64::from(width).saturating_mul(height.into());
    if pixels.saturating_mul(per_pixel).saturating_add(more) > 2 * allowance(held) {
        Err(format!("{width}x{height} pixels are more than a file of this size means: write it again"))
    } else {
        Ok(())
    }
}

fn linear(picture: DynamicImage) -> LinearImage {
    let width = picture.width() as usize;
    let unbounded = matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let decode = |v: f32| match v {
        v if unbounded => v,
        v if v <= 0.04045 => v / 12.92,
        v => ((v + 0.055) / 1.055).powf(2.4),
    };
    let color = |p: &[f32; 4]| Vec3::from_array([0, 1, 2].map(|c| decode(p[c]) * p[3]));
    let rgba = picture.into_rgba32f();
    LinearImage::new(width, rgba.as_raw().as_chunks::<4>().0.iter().map(color), unbounded)
}
