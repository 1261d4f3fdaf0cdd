//! Optical flow in the formats of benchmarks.

use super::maps::encode_png;
use crate::EncodeError;
use png::ColorType;

/// Greatest offset in pixels that KITTI's format holds.
const MOST_KITTI: f32 = 511.984_37;

/// Encodes flow in the format of the Middlebury benchmark (Baker et al. 2011): a tag, the size, then pairs of floats, all little-endian.
pub fn encode_flo((width, height): (u32, u32), flow: &[f32]) -> Vec<u8> {
    let mut file = b"PIEH".to_vec();
    file.extend(width.to_le_bytes());
    file.extend(height.to_le_bytes());
    file.extend(flow.iter().flat_map(|offset| offset.to_le_bytes()));
    file
}

/// Encodes flow as KITTI's 16-bit PNG (Geiger et al. 2012): offset to the right times 64 plus 2^15, offset downwards likewise, and 1 where the
/// flow is valid. Pixels without flow, and with offsets beyond [`MOST_KITTI`], are invalid, which is 0 in all channels.
///
/// # Errors
/// If the encoder fails.
pub fn encode_kitti(size: (u32, u32), flow: &[f32], is_valid: impl Fn(usize) -> bool) -> Result<Vec<u8>, EncodeError> {
    let coded = |offset: f32| (offset * 64.0 + 32_768.0).round() as u16;
    let fits = |offset: f32| offset.abs() <= MOST_KITTI;
    let pixels = flow.as_chunks::<2>().0.iter().enumerate().flat_map(|(pixel, &[right, down])| {
        if is_valid(pixel) && fits(right) && fits(down) { [coded(right), coded(down), 1] } else { [0; 3] }
    });
    encode_png(size, ColorType::Rgb, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middleburys_files_begin_with_the_tag_as_a_float() {
        let file = encode_flo((2, 1), &[1.5, -2.0, 0.0, 3.0]);
        assert_eq!(f32::from_le_bytes(file[..4].try_into().unwrap()), 202_021.25);
        assert_eq!((file.len(), &file[4..12]), (28, &[2, 0, 0, 0, 1, 0, 0, 0][..]));
        assert_eq!(file[12..16], 1.5f32.to_le_bytes());
    }

    #[test]
    fn kittis_files_hold_64ths_of_pixels_and_where_they_are_valid() {
        let flow = [1.5, -2.0, 600.0, 0.0, f32::NAN, 0.0, 4.0, 4.0, 511.98, -511.98];
        let file = encode_kitti((5, 1), &flow, |pixel| pixel != 3).unwrap();
        let pixels = image::load_from_memory(&file).unwrap().into_rgb16().into_raw();
        assert_eq!(pixels[..3], [32_768 + 96, 32_768 - 128, 1]);
        assert_eq!(pixels[3..12], [0; 9]);
        assert_eq!(pixels[12..], [65_535, 1, 1]);
    }
}
