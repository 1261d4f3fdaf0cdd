//! Courses of stones: rows of rectangles with joints, whose sizes vary.

use crate::noise::unit_hash;
use glam::Vec2;

/// How a square is divided into courses, from the top, and courses into stones.
#[derive(Clone, Copy, Debug)]
pub struct Courses {
    /// Side of the square in metres.
    pub side: f32,
    pub rows: u32,
    /// Stones per row; every other row is moved by half of a stone.
    pub per_row: u32,
    /// Greatest shift of a joint between stones, as a share of a stone, below 0.5.
    pub shift: f32,
    /// Greatest shift of a joint between rows, as a share of a row, below 0.5.
    pub row_shift: f32,
    pub seed: u32,
}

/// The stone at a point.
#[derive(Clone, Copy, Debug)]
pub struct Stone {
    /// Position relative to the middle of the stone, in metres, y downwards.
    pub at: Vec2,
    /// Half of the width and height, up to the middle of the joints.
    pub half: Vec2,
    pub row: u32,
    pub column: u32,
}

impl Courses {
    pub fn stone(&self, at: Vec2) -> Stone {
        let (row, top, bottom) = self.cell(at.y, self.rows, |i| self.row_shift * self.signed(i, 0, 1));
        let half_stone = if row % 2 == 1 { 0.5 } else { 0.0 };
        let shifted = (at.x + half_stone / self.per_row as f32).rem_euclid(1.0);
        let (column, left, right) = self.cell(shifted, self.per_row, |i| self.shift * self.signed(i, row, 2));
        let (low, high) = (Vec2::new(left, top), Vec2::new(right, bottom));
        let middle = (low + high) / 2.0;
        let at = (Vec2::new(shifted, at.y.rem_euclid(1.0)) - middle) * self.side;
        // A cell that crosses the border is met from both sides.
        let at = at - (at / self.side).round() * self.side;
        Stone { at, half: (high - low) / 2.0 * self.side, row, column }
    }

    /// The cell of a position on a circle of length 1 that is divided at shifted steps: its number, start and end.
    fn cell(&self, x: f32, cells: u32, shift: impl Fn(u32) -> f32) -> (u32, f32, f32) {
        let border = |i: i32| (i as f32 + shift(i.rem_euclid(cells as i32) as u32)) / cells as f32;
        let x = x.rem_euclid(1.0);
        let near = (x * cells as f32) as i32;
        let low = if x < border(near) {
            near - 1
        } else if x >= border(near + 1) {
            near + 1
        } else {
            near
        };
        (low.rem_euclid(cells as i32) as u32, border(low), border(low + 1))
    }

    fn signed(&self, x: u32, y: u32, salt: u32) -> f32 {
        2.0 * unit_hash(x, y, self.seed + salt) - 1.0
    }
}

impl Stone {
    /// A random number of the stone, 0 to 1.
    pub fn random(&self, seed: u32) -> f32 {
        unit_hash(self.column, self.row, seed)
    }

    /// Distance in metres to the edge of a rectangle with round corners, inset by half of a joint; negative inside.
    pub fn distance(&self, joint: f32, corner: f32) -> f32 {
        let corner = corner.min((self.half - joint / 2.0).min_element());
        let outside = self.at.abs() - (self.half - joint / 2.0 - corner);
        outside.max(Vec2::ZERO).length() + outside.max_element().min(0.0) - corner
    }
}

/// One of several values, by weights, for a number from 0 to 1.
pub fn choose<T: Copy>(choices: &[(f32, T)], number: f32) -> T {
    let mut left = number * choices.iter().map(|choice| choice.0).sum::<f32>();
    for &(weight, value) in choices {
        left -= weight;
        if left < 0.0 {
            return value;
        }
    }
    choices[choices.len() - 1].1
}
