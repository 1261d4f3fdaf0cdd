//! A canvas for pictures and numbers.

/// Shape of each digit: five rows of three bits, the leftmost bit highest.
const DIGITS: [[u8; 5]; 10] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 2, 2, 2],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
];
/// Size of a digit's dots, in pixels.
const DOT: u32 = 3;
const INK: u8 = 255;
const PAPER: u8 = 0;

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

    /// Writes a number, light on dark, with its top left corner at `place`. Pixels outside the canvas are ignored.
    pub fn write_number(&mut self, number: u32, place: (u32, u32)) {
        let digits: Vec<usize> = number.to_string().bytes().map(|b| usize::from(b - b'0')).collect();
        let (columns, rows) = (digits.len() as u32 * 4 + 1, 7);
        for y in 0..rows * DOT {
            for x in 0..columns * DOT {
                let (column, row) = (x / DOT, y / DOT);
                let inked = column % 4 > 0
                    && (1..=5).contains(&row)
                    && digits
                        .get(column as usize / 4)
                        .is_some_and(|&digit| DIGITS[digit][row as usize - 1] >> (3 - column % 4) & 1 == 1);
                self.set(place.0 + x, place.1 + y, if inked { INK } else { PAPER });
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
