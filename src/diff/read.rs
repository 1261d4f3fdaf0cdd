//! Pictures to compare, whatever their format.

use glam::Vec3;
use image::{DynamicImage, ImageReader, Limits};
use std::path::{Path, PathBuf};

/// Linear RGB, row by row from the top. Nothing is infinite or NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearImage {
    pub width: usize,
    pub pixels: Vec<Vec3>,
    /// Whether values go beyond what screens show: of .exr and .hdr files.
    pub unbounded: bool,
}

impl LinearImage {
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

/// Reads a PNG, JPEG, WebP, OpenEXR or Radiance file, whatever its name. Transparent parts are black.
pub fn read(path: &Path) -> Result<LinearImage, ReadError> {
    let failed = |reason: String| ReadError {
        path: path.to_owned(),
        reason: reason
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect(),
    };
    let opened = ImageReader::open(path).and_then(ImageReader::with_guessed_format);
    let mut reader = opened.map_err(|error| failed(error.to_string()))?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(4 << 30);
    reader.limits(limits);
    let picture = reader
        .decode()
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    Ok(linear(picture))
}

fn linear(picture: DynamicImage) -> LinearImage {
    let width = picture.width() as usize;
    let unbounded = matches!(
        picture,
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_)
    );
    let decode = |v: f32| match v {
        v if unbounded => v,
        v if v <= 0.04045 => v / 12.92,
        v => ((v + 0.055) / 1.055).powf(2.4),
    };
    // Finite even where a picture is not.
    let finite = |v: f32| {
        if v.is_nan() {
            0.0
        } else {
            v.clamp(-1e30, 1e30)
        }
    };
    let color = |p: &[f32; 4]| Vec3::from_array([0, 1, 2].map(|c| finite(decode(p[c]) * p[3])));
    let rgba = picture.into_rgba32f();
    LinearImage {
        width,
        pixels: rgba.as_raw().as_chunks::<4>().0.iter().map(color).collect(),
        unbounded,
    }
}
