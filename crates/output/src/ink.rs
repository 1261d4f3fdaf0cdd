//! Line drawings: coloured edges over finished frames, and the colour of the paper.

use super::Pixels;
use throng_base::math::{linear_from_srgb, srgb_from_linear};

/// Draws edges of a linear `color` over `pixels`, in linear light. The device has already reduced the light of `pixels` by the coverage in
/// `edges`. Display colours of transparent frames must not be multiplied by `alpha`; floats must be.
pub fn draw_edges(pixels: &mut Pixels, edges: &[f32], alpha: Option<&[f32]>, color: [f32; 3]) {
    let is_straight = !matches!(pixels, Pixels::F32(_));
    let cover = |pixel: usize| match alpha.and_then(|alpha| alpha.get(pixel)).filter(|_| is_straight) {
        Some(&alpha) if alpha > 0.0 => edges[pixel] / alpha,
        Some(_) => 0.0,
        None => edges[pixel],
    };
    let drawn = edges.iter().enumerate().filter(|(_, edge)| **edge > 0.0).map(|(pixel, _)| pixel);
    change(pixels, drawn, |pixel, channel, own| own + cover(pixel) * color[channel]);
}

/// Multiplies all colours by the linear colour `paper`.
pub fn tint(pixels: &mut Pixels, paper: [f32; 3]) {
    let count = pixels.len() / 3;
    change(pixels, 0..count, |_, channel, own| own * paper[channel]);
}

/// Changes the channels of the chosen pixels. `to` receives the pixel, the channel and its linear value.
fn change(pixels: &mut Pixels, chosen: impl Iterator<Item = usize>, to: impl Fn(usize, usize, f32) -> f32) {
    match pixels {
        Pixels::U8(values) => change_display(values.to_mut(), chosen, 255.0, to, f32::from, |value| value as u8),
        Pixels::U16(values) => change_display(values.to_mut(), chosen, 65_535.0, to, f32::from, |value| value as u16),
        Pixels::F32(values) => {
            let values = values.to_mut();
            for pixel in chosen {
                for (channel, value) in values[3 * pixel..3 * pixel + 3].iter_mut().enumerate() {
                    *value = to(pixel, channel, *value);
                }
            }
        }
    }
}

fn change_display<T: Copy>(
    values: &mut [T],
    chosen: impl Iterator<Item = usize>,
    most: f32,
    to: impl Fn(usize, usize, f32) -> f32,
    read: impl Fn(T) -> f32,
    write: impl Fn(f32) -> T,
) {
    for pixel in chosen {
        for (channel, value) in values[3 * pixel..3 * pixel + 3].iter_mut().enumerate() {
            let changed = to(pixel, channel, linear_from_srgb(read(*value) / most));
            *value = write(srgb_from_linear(changed.clamp(0.0, 1.0)) * most + 0.5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_have_their_colour_where_they_cover_all_and_change_nothing_elsewhere() {
        let mut pixels = Pixels::U8([[0; 3], [9; 3], [0; 3]].concat().into());
        draw_edges(&mut pixels, &[1.0, 0.0, 0.5], None, [1.0, 0.0, 1.0]);
        assert_eq!(pixels, Pixels::U8([[255, 0, 255], [9; 3], [188, 0, 188]].concat().into()));
        // A half-covered pixel, of which one half is an edge.
        let mut half = Pixels::U8(vec![0; 3].into());
        draw_edges(&mut half, &[0.5], Some(&[0.5]), [1.0; 3]);
        assert_eq!(half, Pixels::U8(vec![255; 3].into()));
        let mut floats = Pixels::F32(vec![0.25; 3].into());
        draw_edges(&mut floats, &[0.5], Some(&[0.5]), [1.0, 2.0, 0.0]);
        assert_eq!(floats, Pixels::F32(vec![0.75, 1.25, 0.25].into()));
    }

    #[test]
    fn white_becomes_the_paper() {
        let paper = [0.0, linear_from_srgb(77.0 / 255.0), 1.0];
        let mut pixels = Pixels::U8(vec![255, 255, 255, 0, 0, 0].into());
        tint(&mut pixels, paper);
        assert_eq!(pixels, Pixels::U8(vec![0, 77, 255, 0, 0, 0].into()));
    }
}
