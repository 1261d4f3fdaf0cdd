//! A grid of square cells over the XZ plane that lists, for each cell, the boxes that overlap it.

use glam::{UVec2, Vec2};

/// Maximum number of cells per box.
const CELLS_PER_BOX: f32 = 2.0;
/// Maximum average number of entries per box; above it, cells become larger.
const ENTRIES_PER_BOX: usize = 12;
/// Maximum number of cells along a side.
const MOST_CELLS: f32 = 4096.0;

/// Indices of boxes, grouped by cell. Lists are in ascending order.
#[derive(Debug, Default)]
pub struct Cells {
    min: Vec2,
    side: f32,
    size: UVec2,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Cells {
    /// Builds the grid for boxes, given by their corners (minimum, maximum).
    pub fn new(boxes: &[[Vec2; 2]]) -> Self {
        let start = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        let [min, max] = boxes.iter().fold(start, |all, b| [all[0].min(b[0]), all[1].max(b[1])]);
        if boxes.is_empty() || !(max - min).is_finite() {
            return Self::default();
        }
        let extent = (max - min).max(Vec2::splat((max - min).max_element() * 1e-3)).max(Vec2::splat(f32::MIN_POSITIVE));
        // The area itself may overflow.
        let even = extent.x.sqrt() * (extent.y / (boxes.len() as f32 * CELLS_PER_BOX)).sqrt();
        let mut side = even.max(extent.max_element() / MOST_CELLS);
        loop {
            let size = (extent / side).as_uvec2() + 1;
            let empty = Self { min, side, size, starts: Vec::new(), members: Vec::new() };
            let entries: usize = boxes.iter().map(|b| empty.range(b).count()).sum();
            if entries <= boxes.len() * ENTRIES_PER_BOX || size == UVec2::ONE {
                return empty.filled(boxes);
            }
            side *= 2.0;
        }
    }

    fn filled(mut self, boxes: &[[Vec2; 2]]) -> Self {
        self.starts = vec![0; (self.size.x * self.size.y) as usize + 1];
        for b in boxes {
            self.range(b).cells(self.size.x).for_each(|cell| self.starts[cell + 1] += 1);
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        let mut next = self.starts.clone();
        self.members = vec![0; self.starts.last().copied().unwrap_or(0) as usize];
        for (number, b) in (0..).zip(boxes) {
            for cell in self.range(b).cells(self.size.x) {
                self.members[next[cell] as usize] = number;
                next[cell] += 1;
            }
        }
        self
    }

    fn range(&self, b: &[Vec2; 2]) -> CellRange {
        let last = self.size - 1;
        let [from, to] = b.map(|corner| ((corner - self.min) / self.side).as_uvec2().min(last));
        CellRange { from, to }
    }

    /// Indices of the boxes that may contain a point.
    pub fn at(&self, point: Vec2) -> &[u32] {
        let position = (point - self.min) / self.side;
        if self.starts.is_empty() || position.min_element() < 0.0 || !position.cmplt(self.size.as_vec2()).all() {
            return &[];
        }
        let cell = position.as_uvec2();
        let cell = (cell.y * self.size.x + cell.x) as usize;
        &self.members[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}

/// A rectangle of cells, both corners included.
struct CellRange {
    from: UVec2,
    to: UVec2,
}

impl CellRange {
    fn count(&self) -> usize {
        let size = self.to - self.from + 1;
        size.x as usize * size.y as usize
    }

    fn cells(self, columns: u32) -> impl Iterator<Item = usize> {
        (self.from.y..=self.to.y).flat_map(move |y| (self.from.x..=self.to.x).map(move |x| (y * columns + x) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_part_boxes_however_far_apart_they_are() {
        for reach in [1e-3, 1.0, 1e6, 1e38] {
            let corner = |i: u32| Vec2::new(i as f32 / 1000.0, (i % 7) as f32 / 7.0) * reach;
            let boxes: Vec<[Vec2; 2]> = (0..1000).map(|i| [corner(i), corner(i) + reach * 1e-3]).collect();
            let cells = Cells::new(&boxes);
            for i in 0..1000 {
                let found = cells.at(corner(i) + reach * 5e-4);
                assert!(found.contains(&i) && found.len() < 50, "{reach} {i} {found:?}");
            }
        }
    }
}
