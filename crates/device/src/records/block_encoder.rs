//! An encoder of BC7 blocks for smaller levels of compressed textures. Each block has mode 6, one line of 16 colours (Khronos Data Format Specification
//! 1.3, section 20.1), which is close enough to averages and is found at once. Encoders that search all modes need minutes for a large scene.

use glam::Vec4;
use rayon::prelude::*;

/// Steps of the power iteration for the main axis of a block's colours.
const AXIS_STEPS: u32 = 4;

/// The blocks of a picture, row by row. Blocks beyond its edges repeat the last texels.
pub fn encoded(texels: &[[u8; 4]], [width, height]: [u32; 2]) -> Vec<u8> {
    let (columns, rows) = (width.div_ceil(4), height.div_ceil(4));
    let mut blocks = vec![[0u8; 16]; columns as usize * rows as usize];
    blocks.par_chunks_mut(columns as usize).enumerate().for_each(|(row, blocks)| {
        for (column, block) in blocks.iter_mut().enumerate() {
            let texel = |i: usize| {
                let x = (4 * column as u32 + i as u32 % 4).min(width - 1);
                let y = (4 * row as u32 + i as u32 / 4).min(height - 1);
                Vec4::from(texels[y as usize * width as usize + x as usize].map(f32::from))
            };
            *block = encoded_block(&std::array::from_fn(texel)).to_le_bytes();
        }
    });
    blocks.into_flattened()
}

fn encoded_block(texels: &[Vec4; 16]) -> u128 {
    let mean = texels.iter().sum::<Vec4>() / 16.0;
    let mut axis = texels.iter().map(|&texel| (texel - mean).abs()).sum::<Vec4>();
    for _ in 0..AXIS_STEPS {
        let turned: Vec4 = texels.iter().map(|&texel| (texel - mean) * (texel - mean).dot(axis)).sum();
        axis = turned.normalize_or_zero();
    }
    let along = texels.map(|texel| (texel - mean).dot(axis));
    let [low, high] = [along.iter().fold(0.0, |a: f32, &b| a.min(b)), along.iter().fold(0.0, |a: f32, &b| a.max(b))];
    let is_opaque = texels.iter().all(|texel| texel.w == 255.0);
    let mut ends = [low, high].map(|along| End::nearest(mean + axis * along, is_opaque));
    let line = ends[1].value() - ends[0].value();
    let scale = 15.0 / line.length_squared().max(1.0);
    let mut indices =
        texels.map(|texel| ((texel - ends[0].value()).dot(line) * scale).round().clamp(0.0, 15.0) as u128);
    // The first index lacks its highest bit.
    if indices[0] >= 8 {
        ends.swap(0, 1);
        indices = indices.map(|index| 15 - index);
    }
    let mut bits = 1 << 6;
    let mut at = 7;
    let mut put = |value: u128, count: u32| {
        bits |= value << at;
        at += count;
    };
    for channel in 0..4 {
        ends.iter().for_each(|end| put(end.channels[channel].into(), 7));
    }
    ends.iter().for_each(|end| put(end.lowest.into(), 1));
    indices.iter().enumerate().for_each(|(i, &index)| put(index, if i == 0 { 3 } else { 4 }));
    bits
}

/// An end of a block's line of colours: seven bits per channel, and a lowest bit that all channels share.
#[derive(Clone, Copy)]
struct End {
    channels: [u8; 4],
    lowest: u8,
}

impl End {
    fn nearest(color: Vec4, is_opaque: bool) -> Self {
        let with = |lowest: u8| Self {
            channels: color.to_array().map(|x| ((x - f32::from(lowest)) / 2.0).round().clamp(0.0, 127.0) as u8),
            lowest,
        };
        let [even, odd] = [with(0), with(1)];
        let error = |end: Self| (end.value() - color).length_squared();
        if is_opaque || error(odd) < error(even) { odd } else { even }
    }

    fn value(self) -> Vec4 {
        Vec4::from(self.channels.map(|channel| f32::from(channel << 1 | self.lowest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::{CompactFormat, CompactTexels};

    #[test]
    fn blocks_are_decoded_as_the_colours_that_they_were_made_of() {
        let (width, height) = (30, 21);
        type Color = fn(u32, u32) -> [u8; 4];
        let gradient: Color = |x, y| [(x * 8) as u8, (255 - y * 9) as u8, (y * 5 + x) as u8, 255];
        let one: Color = |_, _| [17, 200, 90, 255];
        let two: Color = |x, y| if (x + y).is_multiple_of(3) { [250, 10, 60, 255] } else { [20, 200, 90, 255] };
        let clear: Color = |x, y| [100, 120, 90, (x * y % 256) as u8];
        for (number, (color, bound)) in [(gradient, 6.0), (one, 1.0), (two, 1.5), (clear, 5.0)].into_iter().enumerate()
        {
            let texels: Vec<[u8; 4]> = (0..width * height).map(|i| color(i % width, i / width)).collect();
            let bytes = encoded(&texels, [width, height]);
            let decoded = CompactTexels { format: CompactFormat::Bc7, is_srgb: true, bytes }.decoded(width, height);
            let channels = texels.as_flattened().iter().zip(decoded.as_flattened());
            let square: f32 = channels.map(|(&a, &b)| (f32::from(a) - f32::from(b)).powi(2)).sum();
            let error = (square / (4 * width * height) as f32).sqrt();
            assert!(error <= bound, "picture {number}: {error}");
            if number < 3 {
                assert!(decoded.iter().all(|texel| texel[3] == 255), "opaque texels stay opaque");
            }
        }
    }
}
