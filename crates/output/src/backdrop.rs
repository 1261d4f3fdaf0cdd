//! Backdrops, which are visible where a frame is transparent.

use super::Pixels;
use throng_base::math::{linear_from_srgb, srgb_from_linear};

/// Linear display colours behind a frame.
pub struct Backdrop(Colors);

enum Colors {
    Same([f32; 3]),
    /// One colour per pixel, row-major from the top.
    Image(Vec<[f32; 3]>),
}

impl Backdrop {
    pub fn of_color(linear: [f32; 3]) -> Self {
        Self(Colors::Same(linear))
    }

    /// The colour, if all pixels have one colour.
    pub fn color(&self) -> Option<[f32; 3]> {
        match self.0 {
            Colors::Same(color) => Some(color),
            Colors::Image(_) => None,
        }
    }

    /// A backdrop with one linear colour per pixel of the frames, row-major from the top.
    pub fn of_pixels(linear: Vec<[f32; 3]>) -> Self {
        Self(Colors::Image(linear))
    }

    /// Composites `pixels` over the backdrop in linear light. Display colours must not be multiplied by `alpha`; floats must be. Where
    /// alpha is 0 or 1, display colours are rounded only once.
    pub fn lay_under(&self, pixels: &mut Pixels, alpha: &[f32]) {
        match pixels {
            Pixels::U8(values) => {
                self.mix_display(values.to_mut(), alpha, 255.0, f32::from, |value| value as u8);
            }
            Pixels::U16(values) => {
                self.mix_display(values.to_mut(), alpha, 65_535.0, f32::from, |value| value as u16);
            }
            Pixels::F32(values) => {
                for ((pixel, alpha), behind) in
                    values.to_mut().as_chunks_mut::<3>().0.iter_mut().zip(alpha).zip(self.colors())
                {
                    for (value, behind) in pixel.iter_mut().zip(behind) {
                        *value += (1.0 - alpha) * behind;
                    }
                }
            }
        }
    }

    fn mix_display<T: Copy>(
        &self,
        values: &mut [T],
        alpha: &[f32],
        most: f32,
        read: impl Fn(T) -> f32,
        write: impl Fn(f32) -> T,
    ) {
        let pixels = values.as_chunks_mut::<3>().0.iter_mut();
        for ((pixel, &alpha), behind) in pixels.zip(alpha).zip(self.colors()).filter(|((_, alpha), _)| **alpha < 1.0) {
            for (value, behind) in pixel.iter_mut().zip(behind) {
                let own = linear_from_srgb(read(*value) / most);
                let mixed = alpha * own + (1.0 - alpha) * behind;
                *value = write(srgb_from_linear(mixed.clamp(0.0, 1.0)) * most + 0.5);
            }
        }
    }

    /// The colours of all pixels in order; an infinite sequence if the backdrop has a single colour.
    fn colors(&self) -> impl Iterator<Item = [f32; 3]> {
        let (same, image) = match &self.0 {
            Colors::Same(color) => (Some(*color), &[][..]),
            Colors::Image(colors) => (None, &colors[..]),
        };
        image.iter().copied().chain(same.into_iter().cycle())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_exact_where_nothing_covers_them_and_mixed_in_linear_light() {
        let grey = Backdrop::of_color([linear_from_srgb(18.0 / 255.0); 3]);
        let mut pixels = Pixels::U8(vec![255; 9].into());
        grey.lay_under(&mut pixels, &[0.0, 0.5, 1.0]);
        assert_eq!(pixels, Pixels::U8([[18; 3], [188; 3], [255; 3]].concat().into()));
        let mut deep = Pixels::U16(vec![65_535; 6].into());
        grey.lay_under(&mut deep, &[0.0, 1.0]);
        assert_eq!(deep, Pixels::U16([[18 * 257; 3], [65_535; 3]].concat().into()));
    }

    #[test]
    fn floats_are_premultiplied_and_images_have_a_colour_per_pixel() {
        let image = Backdrop::of_pixels(vec![[1.0, 2.0, 4.0], [8.0; 3]]);
        let mut pixels = Pixels::F32(vec![0.25; 6].into());
        image.lay_under(&mut pixels, &[0.5, 1.0]);
        assert_eq!(pixels, Pixels::F32(vec![0.75, 1.25, 2.25, 0.25, 0.25, 0.25].into()));
    }
}
