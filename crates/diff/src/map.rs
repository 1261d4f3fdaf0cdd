//! Difference maps in matplotlib's magma colours: black for no difference, then purple, orange and nearly white.

use super::Difference;

/// Colours of the map at nine equally spaced values from 0 to 1.
const MAGMA: [[u8; 3]; 9] = [
    [0, 0, 4],
    [28, 16, 68],
    [79, 18, 123],
    [129, 37, 129],
    [181, 54, 122],
    [229, 80, 100],
    [251, 135, 97],
    [254, 194, 135],
    [252, 253, 191],
];

/// Draws a difference as RGB bytes, row by row from the top.
pub fn draw_map(difference: &Difference) -> Vec<u8> {
    difference.values.iter().flat_map(|&value| magma(value)).collect()
}

fn magma(value: f32) -> [u8; 3] {
    let at = value.clamp(0.0, 1.0) * (MAGMA.len() - 1) as f32;
    let lower = (at as usize).min(MAGMA.len() - 2);
    let share = at - lower as f32;
    let (a, b) = (MAGMA[lower], MAGMA[lower + 1]);
    [0, 1, 2].map(|c| (f32::from(a[c]) * (1.0 - share) + f32::from(b[c]) * share).round() as u8)
}
