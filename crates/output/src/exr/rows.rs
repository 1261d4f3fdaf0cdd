//! Rows of pixels in the layout of files: one channel after the other. For compression, bytes are separated and predicted.

use super::channels::Channel;
use half::{f16, slice::HalfFloatSliceExt};
use std::ops::Range;
use throng_picture::aov::channels::{ChannelKind, FAR, HALF_MAX, pixel_bytes};

/// Buffers for a block of rows, reused for the next block. The data of one channel's row fit into the first-level cache.
#[derive(Default)]
pub struct RowPacker {
    planes: Planes,
    halves: Vec<f16>,
    even: Vec<u8>,
    odd: Vec<u8>,
    predicted: Vec<u8>,
}

impl RowPacker {
    /// Returns rows in the form that OpenEXR compresses with RLE and deflate. All bytes at even positions come before all bytes at odd
    /// positions. Each byte is stored as its difference from the previous byte, plus 128.
    pub fn predict(&mut self, channels: &[Channel], width: usize, rows: Range<usize>) -> &[u8] {
        let half = rows.len() * width * bytes_of(channels) / 2;
        self.predicted.resize(2 * half, 0);
        let (even, odd) = self.predicted.split_at_mut(half);
        let mut even = Differences::new(even);
        let mut odd = Differences::new(odd);
        for row in rows {
            for channel in channels {
                let Some(values) = self.planes.row(channel, width, row) else {
                    let zeros = width * channel.place.kind.bytes() / 2;
                    even.append_zeros(zeros);
                    odd.append_zeros(zeros);
                    continue;
                };
                split(values, channel.place.kind, &mut self.halves, (&mut self.even, &mut self.odd));
                even.append(&self.even);
                odd.append(&self.odd);
            }
        }
        let (first, even_last, odd_first) = (even.first, even.last, odd.first);
        // The first byte of the first half has no predecessor. The first byte of the second half follows the last byte of the first half.
        if let [start, ..] = &mut self.predicted[..] {
            *start = first;
        }
        if let Some(start) = self.predicted.get_mut(half) {
            *start = odd_first.wrapping_sub(even_last).wrapping_add(128);
        }
        &self.predicted
    }

    /// Appends rows without compression.
    pub fn append_plain(&mut self, channels: &[Channel], width: usize, rows: Range<usize>, out: &mut Vec<u8>) {
        for row in rows {
            for channel in channels {
                let start = out.len();
                out.resize(start + width * channel.place.kind.bytes(), 0);
                let Some(values) = self.planes.row(channel, width, row) else {
                    continue;
                };
                let out = &mut out[start..];
                if channel.place.kind == ChannelKind::Half {
                    let halves = to_halves(values, &mut self.halves);
                    let pairs = out.as_chunks_mut::<2>().0.iter_mut().zip(halves);
                    pairs.for_each(|(out, half)| *out = half.to_le_bytes());
                } else {
                    let pairs = out.as_chunks_mut::<4>().0.iter_mut().zip(values);
                    pairs.for_each(|(out, value)| *out = value.to_le_bytes());
                }
            }
        }
    }
}

/// Number of bytes of a pixel, summed over channels.
pub fn bytes_of(channels: &[Channel]) -> usize {
    pixel_bytes(channels.iter().map(|channel| &channel.place))
}

fn to_halves<'a>(values: &[f32], halves: &'a mut Vec<f16>) -> &'a [f16] {
    halves.resize(values.len(), f16::ZERO);
    halves.convert_from_f32_slice(values);
    halves
}

/// A row of an AOV, one channel after the other.
#[derive(Default)]
struct Planes {
    /// Address of the values of the AOV, and the number of the row plus 1.
    of: (usize, usize),
    values: Vec<f32>,
    /// For each channel, whether it has non-zero values.
    used: Vec<bool>,
    row: Vec<f32>,
}

impl Planes {
    /// Returns one channel of a row, clamped to the range of its type. None if all values are 0, as for most ranks of Cryptomatte AOVs.
    fn row(&mut self, channel: &Channel, width: usize, row: usize) -> Option<&[f32]> {
        // Channels of an AOV are adjacent in the file, so most rows are transposed only once.
        let of = (channel.values.as_ptr() as usize, row + 1);
        if self.of != of {
            let stride = channel.place.stride;
            let pixels = &channel.values[row * width * stride..(row + 1) * width * stride];
            self.values.resize(pixels.len(), 0.0);
            self.used = match stride {
                3 => transpose::<3>(pixels, width, &mut self.values),
                4 => transpose::<4>(pixels, width, &mut self.values),
                12 => transpose::<12>(pixels, width, &mut self.values),
                _ => transpose::<1>(pixels, width, &mut self.values),
            };
            self.of = of;
        }
        if !self.used[channel.place.offset] {
            return None;
        }
        let values = &self.values[channel.place.offset * width..(channel.place.offset + 1) * width];
        self.row.clear();
        match channel.place.kind {
            ChannelKind::Float => return Some(values),
            ChannelKind::Half => self.row.extend(values.iter().map(|v| v.clamp(-HALF_MAX, HALF_MAX))),
            ChannelKind::Depth => self.row.extend(values.iter().map(|v| v.min(FAR))),
        }
        Some(&self.row)
    }
}

/// Transposes `N` values per pixel to `N` rows. Returns, for each row, whether it has non-zero values; rows without any are not written.
fn transpose<const N: usize>(pixels: &[f32], width: usize, rows: &mut [f32]) -> Vec<bool> {
    // This many pixels stay in the first-level cache while their channels are extracted.
    const PIXELS: usize = 64;
    let pixels = pixels.as_chunks::<N>().0;
    let mut bits = [0u32; N];
    for pixel in pixels {
        bits.iter_mut().zip(pixel).for_each(|(bits, value)| *bits |= value.to_bits());
    }
    for (block, pixels) in pixels.chunks(PIXELS).enumerate() {
        let rows = rows.chunks_exact_mut(width).enumerate().take(N);
        for (offset, row) in rows.filter(|&(offset, _)| bits[offset] != 0) {
            for (value, pixel) in row[block * PIXELS..].iter_mut().zip(pixels) {
                *value = pixel[offset];
            }
        }
    }
    bits.map(|bits| bits != 0).into()
}

/// Converts values to their type in the file, and splits them into bytes at even and at odd positions.
fn split(values: &[f32], kind: ChannelKind, halves: &mut Vec<f16>, (even, odd): (&mut Vec<u8>, &mut Vec<u8>)) {
    let bytes = values.len() * kind.bytes() / 2;
    even.resize(bytes, 0);
    odd.resize(bytes, 0);
    if kind == ChannelKind::Half {
        for ((half, even), odd) in to_halves(values, halves).iter().zip(even).zip(odd) {
            [*even, *odd] = half.to_le_bytes();
        }
        return;
    }
    let pairs = even.as_chunks_mut::<2>().0.iter_mut().zip(odd.as_chunks_mut::<2>().0);
    for (value, (even, odd)) in values.iter().zip(pairs) {
        let [a, b, c, d] = value.to_le_bytes();
        *even = [a, c];
        *odd = [b, d];
    }
}

/// Fills a half with the difference of each byte from its predecessor, plus 128; the first byte is 128.
struct Differences<'a> {
    left: &'a mut [u8],
    /// First and last byte of the half so far.
    first: u8,
    last: u8,
    begun: bool,
}

impl<'a> Differences<'a> {
    fn new(left: &'a mut [u8]) -> Self {
        Self { left, first: 0, last: 0, begun: false }
    }

    /// Appends bytes, at most as many as fit.
    fn append(&mut self, bytes: &[u8]) {
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
            return;
        };
        let before = self.before(first);
        let out = self.take(bytes.len());
        out[0] = first.wrapping_sub(before).wrapping_add(128);
        for (out, pair) in out[1..].iter_mut().zip(bytes.windows(2)) {
            *out = pair[1].wrapping_sub(pair[0]).wrapping_add(128);
        }
        self.last = last;
    }

    /// Appends zeros, at least one and at most as many as fit.
    fn append_zeros(&mut self, count: usize) {
        let before = self.before(0);
        let out = self.take(count);
        out.fill(128);
        if let Some(first) = out.first_mut() {
            *first = 128u8.wrapping_sub(before);
        }
        self.last = 0;
    }

    /// Returns the predecessor of `next`; `next` itself if it is the first byte.
    fn before(&mut self, next: u8) -> u8 {
        if !self.begun {
            (self.first, self.last, self.begun) = (next, next, true);
        }
        self.last
    }

    fn take(&mut self, count: usize) -> &'a mut [u8] {
        let (out, left) = std::mem::take(&mut self.left).split_at_mut(count);
        self.left = left;
        out
    }
}
