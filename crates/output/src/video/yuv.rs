//! Conversion to the colours of videos: BT.709 in limited range, with one pair of chroma values per 2x2 pixels.
//!
//! Frames are converted here on many threads. ffmpeg would use one thread, and would have to receive twice the bytes.

use crate::{EncodeError, Picture};

/// Weights of red, green and blue in luma (ITU-R BT.709).
const LUMA: [f64; 3] = [0.2126, 0.7152, 0.0722];
/// Fractional bits of weights.
const SHIFT: u32 = 16;
/// Fractional bits of weighted sums of eight values, which give the chroma.
const CHROMA_SHIFT: u32 = SHIFT + 3;

/// Weights of red, green and blue in luma, whose range is 16 to 235.
const Y: [i32; 3] = weights([LUMA[0], LUMA[1], LUMA[2]], 219.0 / 255.0);
/// Weights of red, green and blue in the blue chroma. Chroma has the range 16 to 240, with its zero at 128.
const CB: [i32; 3] = weights([-LUMA[0], -LUMA[1], 1.0 - LUMA[2]], 224.0 / 255.0 / (2.0 - 2.0 * LUMA[2]));
const CR: [i32; 3] = weights([1.0 - LUMA[0], -LUMA[1], -LUMA[2]], 224.0 / 255.0 / (2.0 - 2.0 * LUMA[0]));

const fn weights(parts: [f64; 3], scale: f64) -> [i32; 3] {
    let one = scale * (1 << SHIFT) as f64;
    [rounded(parts[0] * one), rounded(parts[1] * one), rounded(parts[2] * one)]
}

const fn rounded(value: f64) -> i32 {
    if value < 0.0 { -((0.5 - value) as i32) } else { (value + 0.5) as i32 }
}

/// Rounds width and height up to even numbers, which videos require.
pub fn even_size(width: u32, height: u32) -> (u32, u32) {
    (width.next_multiple_of(2), height.next_multiple_of(2))
}

/// Converts `picture` to consecutive planes of luma, blue and red chroma. The last column or row is repeated if their number is odd. Chroma
/// samples are located between the rows and on the even columns, where decoders expect them.
///
/// # Errors
/// If the pixels are floats.
pub fn convert(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let rgb = picture.pixels.bytes()?;
    let (width, height) = even_size(picture.width, picture.height);
    let (width, height) = (width as usize, height as usize);
    let mut planes = vec![0; width * height * 3 / 2];
    let (luma, chroma) = planes.split_at_mut(width * height);
    let (blue, red) = chroma.split_at_mut(width * height / 4);
    let rows: Vec<&[u8]> = rgb.chunks_exact(3 * picture.width as usize).collect();
    let outputs = luma.chunks_exact_mut(2 * width);
    let chroma = blue.chunks_exact_mut(width / 2).zip(red.chunks_exact_mut(width / 2));
    let mut sums = vec![[0u16; 3]; width];
    for ((pair, luma), (blue, red)) in rows.chunks(2).zip(outputs).zip(chroma) {
        let (Some(upper), Some(lower)) = (pair.first(), pair.last()) else {
            break;
        };
        let (upper_luma, lower_luma) = luma.split_at_mut(width);
        write_luma(upper, upper_luma);
        write_luma(lower, lower_luma);
        add_rows(upper, lower, &mut sums);
        write_chroma(&sums, blue, red);
    }
    Ok(planes)
}

fn write_luma(row: &[u8], luma: &mut [u8]) {
    let pixels = row.as_chunks::<3>().0;
    for (pixel, luma) in pixels.iter().zip(luma.iter_mut()) {
        let [r, g, b] = pixel.map(i32::from);
        let sum = Y[0] * r + Y[1] * g + Y[2] * b;
        *luma = (16 + ((sum + (1 << (SHIFT - 1))) >> SHIFT)) as u8;
    }
    if let [.., before, last] = luma
        && pixels.len() % 2 == 1
    {
        *last = *before;
    }
}

fn add_rows(upper: &[u8], lower: &[u8], sums: &mut [[u16; 3]]) {
    let pairs = upper.as_chunks::<3>().0.iter().zip(lower.as_chunks::<3>().0);
    let odd = pairs.len() % 2 == 1;
    for ((a, b), sum) in pairs.zip(sums.iter_mut()) {
        *sum = [0, 1, 2].map(|c| u16::from(a[c]) + u16::from(b[c]));
    }
    if let [.., before, last] = sums
        && odd
    {
        *last = *before;
    }
}

/// Writes chroma values. Each column counts twice, its neighbours once.
fn write_chroma(sums: &[[u16; 3]], blue: &mut [u8], red: &mut [u8]) {
    let Some(&first) = sums.first() else { return };
    let mut left = first;
    let pairs = sums.as_chunks::<2>().0;
    for ((&[middle, right], blue), red) in pairs.iter().zip(blue).zip(red) {
        let [r, g, b] = [0, 1, 2].map(|c| i32::from(left[c]) + 2 * i32::from(middle[c]) + i32::from(right[c]));
        let half = 1 << (CHROMA_SHIFT - 1);
        *blue = (128 + ((CB[0] * r + CB[1] * g + CB[2] * b + half) >> CHROMA_SHIFT)) as u8;
        *red = (128 + ((CR[0] * r + CR[1] * g + CR[2] * b + half) >> CHROMA_SHIFT)) as u8;
        left = right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metadata, Pixels, picture::testing};

    fn planes(size: (u32, u32), rgb: Vec<u8>) -> Vec<u8> {
        let metadata = Metadata::default();
        convert(&testing::picture(size, Pixels::U8(rgb.into()), &metadata)).unwrap()
    }

    #[test]
    fn colours_are_those_of_the_standard() {
        let of = |rgb: [u8; 3]| {
            let planes = planes((2, 2), rgb.repeat(4));
            [planes[0], planes[4], planes[5]]
        };
        assert_eq!(of([0, 0, 0]), [16, 128, 128]);
        assert_eq!(of([255, 255, 255]), [235, 128, 128]);
        assert_eq!(of([255, 0, 0]), [63, 102, 240]);
        assert_eq!(of([0, 255, 0]), [173, 42, 26]);
        assert_eq!(of([0, 0, 255]), [32, 240, 118]);
    }

    #[test]
    fn odd_sizes_repeat_their_last_column_and_row() {
        let odd = planes((3, 1), vec![0, 0, 0, 0, 0, 0, 255, 255, 255]);
        assert_eq!(odd[..8], [16, 16, 235, 235, 16, 16, 235, 235]);
        assert_eq!(odd.len(), 12);
    }
}
