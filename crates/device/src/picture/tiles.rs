//! Tiles: the blocks of pixels in which noise is measured and samples are added.

use std::ops::Range;

/// Width and height of a tile in pixels.
pub const TILE: u32 = 8;

/// The tiles of a film, row by row from the top. Tiles at the right and bottom edges may have fewer pixels.
#[derive(Clone, Copy, Debug)]
pub struct TileGrid {
    width: u32,
    height: u32,
}

impl TileGrid {
    /// The tiles of a film of this width and height in pixels.
    pub fn of((width, height): (u32, u32)) -> Self {
        Self { width, height }
    }

    fn columns(self) -> u32 {
        self.width.div_ceil(TILE)
    }

    /// Number of tiles.
    pub fn count(self) -> u32 {
        self.columns() * self.height.div_ceil(TILE)
    }

    /// The pixels of a tile, as one range of pixel indices per row.
    pub fn rows(self, tile: u32) -> impl Iterator<Item = Range<usize>> {
        let (x, y) = (tile % self.columns() * TILE, tile / self.columns() * TILE);
        let right = self.width.min(x + TILE);
        let first = move |row: u32| row as usize * self.width as usize;
        (y..self.height.min(y + TILE)).map(move |row| first(row) + x as usize..first(row) + right as usize)
    }

    /// Number of pixels in a tile.
    pub fn pixels(self, tile: u32) -> usize {
        self.rows(tile).map(|row| row.len()).sum()
    }

    /// The tiles that touch a tile, including the tile itself.
    pub fn around(self, tile: u32) -> impl Iterator<Item = u32> {
        let (columns, rows) = (self.columns(), self.height.div_ceil(TILE));
        let (x, y) = (tile % columns, tile / columns);
        let next = |at: u32, count: u32| at.saturating_sub(1)..count.min(at + 2);
        next(y, rows).flat_map(move |y| next(x, columns).map(move |x| y * columns + x))
    }

    /// Copies the pixels of `tiles`, with `channels` values each, from one image of the film to another.
    pub fn copy<T: Copy>(self, tiles: &[u32], channels: usize, from: &[T], to: &mut [T]) {
        for row in tiles.iter().flat_map(|&tile| self.rows(tile)) {
            let values = channels * row.start..channels * row.end;
            to[values.clone()].copy_from_slice(&from[values]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_pixels_once() {
        for size in [(1, 1), (8, 8), (17, 9), (30, 24)] {
            let grid = TileGrid::of(size);
            let mut pixels: Vec<usize> = (0..grid.count()).flat_map(|tile| grid.rows(tile)).flatten().collect();
            pixels.sort_unstable();
            assert_eq!(pixels, (0..(size.0 * size.1) as usize).collect::<Vec<_>>());
            assert_eq!((0..grid.count()).map(|tile| grid.pixels(tile)).sum::<usize>(), pixels.len());
        }
    }

    #[test]
    fn tiles_that_touch_are_found_up_to_the_edges() {
        let around = |tile| TileGrid::of((24, 17)).around(tile).collect::<Vec<_>>();
        assert_eq!(around(0), [0, 1, 3, 4]);
        assert_eq!(around(4), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(around(8), [4, 5, 7, 8]);
        assert_eq!(TileGrid::of((3, 3)).around(0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn what_is_copied_is_in_the_tiles() {
        let grid = TileGrid::of((10, 9));
        let mut to = vec![0; 180];
        grid.copy(&[1, 2], 2, &(1..=180).collect::<Vec<_>>(), &mut to);
        assert_eq!(to.iter().filter(|&&value| value > 0).count(), 2 * (2 * 8 + 8));
        assert_eq!((to[15], to[16], to[19], to[155], to[160], to[175], to[176]), (0, 17, 20, 0, 161, 176, 0));
    }
}
