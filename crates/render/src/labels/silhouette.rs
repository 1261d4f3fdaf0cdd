//! The pixels whose middles lie in shapes that are projected to the picture.

use glam::{DVec2, UVec2};
use std::ops::Range;
use throng_output::{Runs, mask_in};

/// A set of pixels in a part of a picture.
pub struct Silhouette {
    columns: Range<u32>,
    rows: Range<u32>,
    /// Whether pixels belong to it, column by column.
    covered: Vec<bool>,
}

impl Silhouette {
    /// An empty set in the part of a picture of `size` pixels that lies between two corners, in pixels.
    pub fn new(min: DVec2, max: DVec2, size: UVec2) -> Self {
        let columns = middles(min.x, max.x, &(0..size.x));
        let rows = middles(min.y, max.y, &(0..size.y));
        Self { covered: vec![false; columns.len() * rows.len()], columns, rows }
    }

    /// Adds a triangle with these corners, in pixels.
    pub fn add_triangle(&mut self, corners: [DVec2; 3]) {
        let [a, b, c] = corners;
        let (left, right) = (a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x));
        for column in middles(left, right, &self.columns) {
            let x = f64::from(column) + 0.5;
            let (mut top, mut bottom) = (f64::INFINITY, f64::NEG_INFINITY);
            for (from, to) in [(a, b), (b, c), (c, a)] {
                if from.x != to.x && (from.x.min(to.x)..=from.x.max(to.x)).contains(&x) {
                    let y = from.y + (x - from.x) / (to.x - from.x) * (to.y - from.y);
                    (top, bottom) = (top.min(y), bottom.max(y));
                }
            }
            self.add_column(column, top, bottom);
        }
    }

    fn add_column(&mut self, column: u32, top: f64, bottom: f64) {
        let start = (column - self.columns.start) as usize * self.rows.len();
        let rows = middles(top, bottom, &self.rows);
        let [first, last] = [rows.start, rows.end].map(|row| start + (row - self.rows.start) as usize);
        self.covered[first..last].fill(true);
    }

    /// The set as the mask of a picture with this number of rows.
    pub fn mask(&self, height: u32) -> Runs {
        let at = |column: u32, row: u32| {
            (column - self.columns.start) as usize * self.rows.len() + (row - self.rows.start) as usize
        };
        mask_in([self.columns.clone(), self.rows.clone()], height, |column, row| self.covered[at(column, row)])
    }
}

/// The pixels of a row or column, inside `within`, whose middles lie between two places.
fn middles(from: f64, to: f64, within: &Range<u32>) -> Range<u32> {
    // Casts saturate, and empty ranges end before they begin.
    let start = ((from - 0.5).ceil() as u32).clamp(within.start, within.end);
    let end = ((to + 0.5).floor().max(0.0) as u32).clamp(start, within.end.max(start));
    start..end
}
