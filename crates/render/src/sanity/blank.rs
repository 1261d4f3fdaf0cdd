//! Detection of finished pictures that show a single colour.

use std::{array, fmt};
use throng_picture::pixels::PixelType;

/// Colour of a picture that shows nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Blank {
    /// All pixels are black.
    Black,
    /// All pixels are white.
    White,
    /// All pixels have one other colour.
    OneColor,
}

impl fmt::Display for Blank {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Black => "all black",
            Self::White => "all white",
            Self::OneColor => "all one colour",
        })
    }
}

/// Number of pixels below which a picture may well have a single colour.
const FEW: usize = 256;
/// Greatest difference of display values that count as one colour. Dithering can add this much.
const STEP: f32 = 1.5 / 255.0;
/// Greatest difference of radiance that counts as one colour, relative to the radiance.
const SHARE: f32 = 1e-3;

/// Classifies a picture if all of its RGB pixels have one colour. None for pictures with few pixels (`FEW`). The scan stops at the first
/// different pixel, so it is fast for most pictures.
pub fn blank(pixels: &[u8], kind: PixelType) -> Option<Blank> {
    let bytes = kind.bytes();
    let channel = |b: &[u8]| match (kind, b) {
        (PixelType::U8, &[a]) => f32::from(a) / 255.0,
        (PixelType::U16, &[a, b]) => f32::from(u16::from_ne_bytes([a, b])) / 65535.0,
        (PixelType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]),
        _ => f32::NAN,
    };
    let color = |pixel: &[u8]| -> [f32; 3] { array::from_fn(|c| channel(&pixel[c * bytes..][..bytes])) };
    let mut colors = pixels.chunks_exact(3 * bytes).map(color);
    let first = colors.next().filter(|_| colors.len() >= FEW)?;
    let most = first.into_iter().fold(0.0, f32::max);
    let least = first.into_iter().fold(f32::INFINITY, f32::min);
    let step = match kind {
        PixelType::U8 | PixelType::U16 => STEP,
        PixelType::F32 => SHARE * most,
    };
    let is_first = |color: [f32; 3]| (0..3).all(|c| (color[c] - first[c]).abs() <= step);
    colors.all(is_first).then_some(match kind {
        _ if most <= step => Blank::Black,
        PixelType::U8 | PixelType::U16 if least >= 1.0 - step => Blank::White,
        _ => Blank::OneColor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_one_colour_are_named_by_it() {
        let of = |color: [u8; 3]| blank(&color.repeat(1000), PixelType::U8);
        assert_eq!(of([0; 3]), Some(Blank::Black));
        assert_eq!(of([255; 3]), Some(Blank::White));
        assert_eq!(of([255, 255, 0]), Some(Blank::OneColor));
        let mut dithered = [100u8, 110, 120].repeat(1000);
        dithered[30] = 101;
        assert_eq!(blank(&dithered, PixelType::U8), Some(Blank::OneColor));
        dithered[2999] = 130;
        assert_eq!(blank(&dithered, PixelType::U8), None);
        assert_eq!(blank(&[0; 30], PixelType::U8), None, "a tiny picture");
        assert_eq!(blank(&[], PixelType::F32), None);
    }

    #[test]
    fn radiance_may_be_small_and_is_never_white() {
        let of = |values: [f32; 2]| {
            let pixels: Vec<f32> = (0..3000).map(|i| values[usize::from(i > 2900)]).collect();
            blank(bytemuck::cast_slice(&pixels), PixelType::F32)
        };
        assert_eq!(of([0.0, 0.0]), Some(Blank::Black));
        assert_eq!(of([1.0, 1.0]), Some(Blank::OneColor));
        assert_eq!(of([1e-4, 2e-4]), None);
        assert_eq!(of([0.0, 1e-9]), None);
    }
}
