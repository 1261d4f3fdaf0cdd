//! A canvas for pictures and text.

use super::font::Font;

/// An 8-bit RGB picture.
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Canvas {
    pub fn new(width: u32, height: u32, grey: u8) -> Self {
        Self { width, height, pixels: vec![grey; width as usize * height as usize * 3] }
    }

    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Pastes a picture of the given size, with its top left corner at `place`.
    pub fn paste(&mut self, rgb: &[u8], size: (u32, u32), place: (u32, u32)) {
        for (y, row) in rgb.chunks_exact(3 * size.0 as usize).enumerate() {
            let start = 3 * ((place.1 as usize + y) * self.width as usize + place.0 as usize);
            if let Some(target) = self.pixels.get_mut(start..start + row.len()) {
                target.copy_from_slice(row);
            }
        }
    }

    /// Writes a line of text, grey `ink` on grey `paper`, with its top left corner at `place`. Pixels outside the canvas are ignored.
    pub fn write(&mut self, text: &str, font: Font, (ink, paper): (u8, u8), place: (u32, u32)) {
        for (index, glyph) in text.chars().filter_map(|c| font.glyph(c)).enumerate() {
            let left = place.0 + index as u32 * font.width();
            for (y, row) in glyph.rows().enumerate() {
                for (x, &coverage) in row.iter().enumerate() {
                    self.set(left + x as u32, place.1 + y as u32, blend(ink, paper, coverage));
                }
            }
        }
    }

    fn set(&mut self, x: u32, y: u32, grey: u8) {
        if x < self.width && y < self.height {
            let start = 3 * (y as usize * self.width as usize + x as usize);
            self.pixels[start..start + 3].fill(grey);
        }
    }
}

/// `ink` over `paper`, with a coverage from 0 to 255.
fn blend(ink: u8, paper: u8, coverage: u8) -> u8 {
    let [ink, paper, coverage] = [ink, paper, coverage].map(u32::from);
    ((ink * coverage + paper * (255 - coverage) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_brightness_of_its_ink_and_ends_at_the_edge() {
        let font = Font::at_most(16);
        let mut canvas = Canvas::new(2 * font.width(), font.height(), 24);
        canvas.write("H", font, (200, 24), (0, 0));
        let row = |y: u32| -> Vec<u8> {
            let start = 3 * (y * canvas.width) as usize;
            canvas.pixels[start..start + 3 * canvas.width as usize].iter().step_by(3).copied().collect()
        };
        // Nothing is above the letter, and its crossbar is drawn in ink.
        assert_eq!(row(0), [24; 14]);
        let brightest = (0..canvas.height).flat_map(row).max();
        assert!(brightest.is_some_and(|grey| (160..=200).contains(&grey)), "{brightest:?}");
        assert!((0..canvas.height).all(|y| row(y)[7..].iter().all(|&grey| grey == 24)));
        let mut canvas = Canvas::new(10, 10, 24);
        canvas.write("a long name", font, (200, 24), (3, 3));
        assert_eq!(canvas.pixels().len(), 300);
    }

    #[test]
    fn coverage_blends_from_paper_to_ink() {
        assert_eq!([0, 128, 255].map(|coverage| blend(200, 24, coverage)), [24, 112, 200]);
    }
}
