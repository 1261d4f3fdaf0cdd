//! Rows of pixels as files have them: channel after channel, for compression with the bytes of values apart and predicted.

use super::channels::{Channel, FAR, Kind};
use half::{f16, slice::HalfFloatSliceExt};
use std::ops::Range;

/// The greatest half float.
const HALF_MAX: f32 = 65_504.0;

/// Memory for a block of rows, used again for the next.
#[derive(Default)]
pub struct RowPacker {
    values: Vec<f32>,
    halves: Vec<f16>,
    apart: Vec<u8>,
    predicted: Vec<u8>,
}

impl RowPacker {
    /// Rows as OpenEXR hands them to RLE and deflate: all bytes at even places before those at odd ones, and of each the
    /// difference from the last one, plus 128.
    pub fn predict(&mut self, channels: &[Channel], width: usize, rows: Range<usize>) -> &[u8] {
        let total = rows.len() * width * super::channels::pixel_bytes(channels);
        self.apart.resize(total, 0);
        let (mut even, mut odd) = self.apart.split_at_mut(total / 2);
        for row in rows {
            for channel in channels {
                let half = width * channel.kind.bytes() / 2;
                let (even_row, even_rest) = even.split_at_mut(half);
                let (odd_row, odd_rest) = odd.split_at_mut(half);
                gather(channel, width, row, &mut self.values);
                match channel.kind {
                    Kind::Half => split_halves(&self.values, &mut self.halves, even_row, odd_row),
                    _ => split_floats(&self.values, even_row, odd_row),
                }
                (even, odd) = (even_rest, odd_rest);
            }
        }
        self.predicted.resize(total, 0);
        differences(&self.apart, &mut self.predicted);
        &self.predicted
    }
}

/// Rows without compression.
pub fn append_plain(channels: &[Channel], width: usize, rows: Range<usize>, out: &mut Vec<u8>) {
    let mut values = Vec::new();
    for row in rows {
        for channel in channels {
            gather(channel, width, row, &mut values);
            match channel.kind {
                Kind::Half => {
                    out.extend(values.iter().flat_map(|&v| f16::from_f32(v).to_le_bytes()))
                }
                _ => out.extend(values.iter().flat_map(|v| v.to_le_bytes())),
            }
        }
    }
}

/// One channel of a row, with numbers that its type has.
fn gather(channel: &Channel, width: usize, row: usize, values: &mut Vec<f32>) {
    let stride = channel.stride;
    let pixels = &channel.values[row * width * stride..(row + 1) * width * stride];
    values.clear();
    // Strides that the compiler knows let it use wide loads.
    match stride {
        1 => values.extend_from_slice(pixels),
        3 => values.extend(pixels.as_chunks::<3>().0.iter().map(|p| p[channel.offset])),
        4 => values.extend(pixels.as_chunks::<4>().0.iter().map(|p| p[channel.offset])),
        12 => values.extend(pixels.as_chunks::<12>().0.iter().map(|p| p[channel.offset])),
        _ => values.extend(pixels.iter().skip(channel.offset).step_by(stride)),
    }
    match channel.kind {
        Kind::Half => values
            .iter_mut()
            .for_each(|v| *v = v.clamp(-HALF_MAX, HALF_MAX)),
        Kind::Depth => values.iter_mut().for_each(|v| *v = v.min(FAR)),
        Kind::Float => {}
    }
}

fn split_halves(values: &[f32], halves: &mut Vec<f16>, even: &mut [u8], odd: &mut [u8]) {
    halves.resize(values.len(), f16::ZERO);
    halves.convert_from_f32_slice(values);
    for ((half, even), odd) in halves.iter().zip(even).zip(odd) {
        [*even, *odd] = half.to_le_bytes();
    }
}

fn split_floats(values: &[f32], even: &mut [u8], odd: &mut [u8]) {
    let even = even.as_chunks_mut::<2>().0.iter_mut();
    let odd = odd.as_chunks_mut::<2>().0.iter_mut();
    for ((value, even), odd) in values.iter().zip(even).zip(odd) {
        let bits = value.to_bits();
        *even = ((bits & 0xff | bits >> 8 & 0xff00) as u16).to_le_bytes();
        *odd = ((bits >> 8 & 0xff | bits >> 16 & 0xff00) as u16).to_le_bytes();
    }
}

fn differences(bytes: &[u8], out: &mut [u8]) {
    if let (Some(first), Some(out)) = (bytes.first(), out.first_mut()) {
        *out = *first;
    }
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    for ((last, byte), out) in pairs.zip(out.iter_mut().skip(1)) {
        *out = byte.wrapping_sub(*last).wrapping_add(128);
    }
}
