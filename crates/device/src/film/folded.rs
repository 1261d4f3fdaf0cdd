//! A compact film for frames that wait for more samples. Contributions from one tile to a neighbouring tile are stored as one sum.

use crate::{Accumulation, FrameSettings, TILE};
use rayon::prelude::*;

/// RGB and weight.
type Sum = [f32; 4];

/// A compact film for pictures whose pixels all have the same sample count, until some [tiles](crate::TileGrid) get more. The contributions of one
/// tile to a pixel of another tile are stored as one sum. This leaves two of ten sums per pixel, plus one for each other tile next to the pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedFilm {
    /// The film without the contributions between pixels.
    film: Accumulation,
    /// Contributions between pixels: for samples and then for coverage. Empty if neither is shared.
    shares: Vec<FoldedShares>,
}

/// Contributions between pixels, summed by tile.
#[derive(Clone, Debug, Default, PartialEq)]
struct FoldedShares {
    /// For each pixel, the sum of contributions from pixels of its own tile.
    own: Vec<Sum>,
    /// For each row, the sums of contributions from other tiles, in the order of [`beside`].
    others: Vec<Vec<Sum>>,
}

impl FoldedFilm {
    /// Approximate bytes per pixel, including the sums of odd samples.
    pub const PIXEL_BYTES: u64 = 57;
    /// Approximate additional bytes per pixel if coverage is shared.
    pub const COVER_BYTES: u64 = 25;

    /// Folds the film of a picture with these settings. A film without shared samples is kept as it is.
    pub fn of(mut film: Accumulation, settings: &FrameSettings) -> Self {
        if !settings.shares_samples() {
            return Self { film, ..Self::default() };
        }
        let size = settings.film_size();
        let sums: &[Sum] = bytemuck::cast_slice(&film.sums);
        let (_, shared) = sums.split_at(settings.film_pixels());
        let folded = |sums| FoldedShares::of(&Shares { size, sums });
        let shares = shared.chunks(SHARES * settings.film_pixels()).map(folded).collect();
        film.sums.truncate(settings.film_pixels() * Accumulation::sum_words(settings));
        film.sums.shrink_to_fit();
        Self { film, shares }
    }

    /// Restores a film to which samples can be added. The whole contribution of a tile to a pixel is assigned to one of the tile's pixels.
    pub fn unfold(self, settings: &FrameSettings) -> Accumulation {
        let Self { mut film, shares } = self;
        if shares.is_empty() {
            return film;
        }
        film.sums.resize(Accumulation::words(settings), 0);
        let sums: &mut [Sum] = bytemuck::cast_slice_mut(&mut film.sums);
        let (_, shared) = sums.split_at_mut(settings.film_pixels());
        for (shares, sums) in shares.iter().zip(shared.chunks_mut(SHARES * settings.film_pixels())) {
            shares.unfold(settings.film_size(), sums);
        }
        film
    }
}

impl FoldedShares {
    fn of(shares: &Shares) -> Self {
        let rows: Vec<(Vec<Sum>, Vec<Sum>)> =
            (0..shares.size.1).into_par_iter().map(|y| shares.folded_row(y)).collect();
        let (own, others): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Self { own: own.concat(), others }
    }

    fn unfold(&self, size: (u32, u32), sums: &mut [Sum]) {
        for (y, row) in (0..).zip(&self.others) {
            let mut others = row.iter();
            for x in 0..size.0 {
                sums[share(size, (x, y), (0, 0))] = self.own[pixel(size, (x, y))];
                for (to, &other) in beside(size, (x, y)).zip(&mut others) {
                    sums[share(size, (x, y), to)] = other;
                }
            }
        }
    }
}

/// Number of contributions per pixel: to itself and to its eight neighbours.
const SHARES: usize = 9;

/// The contributions of all pixels, in the layout of `share_at` in `kernels/film/share.h`.
struct Shares<'a> {
    size: (u32, u32),
    sums: &'a [Sum],
}

impl Shares<'_> {
    /// For each pixel of a row, the contributions from its own tile, and those from other tiles.
    fn folded_row(&self, y: u32) -> (Vec<Sum>, Vec<Sum>) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for x in 0..self.size.0 {
            let of_tile = |tile: (i32, i32)| {
                let mut sum = Sum::default();
                for (right, down) in AROUND.into_iter().filter(|&to| tile_at((x, y), to) == tile) {
                    if is_in(self.size, (x, y), (right, down)) {
                        let share = self.sums[share(self.size, (x, y), (right, down))];
                        sum.iter_mut().zip(share).for_each(|(sum, share)| *sum += share);
                    }
                }
                sum
            };
            own.push(of_tile((0, 0)));
            others.extend(beside(self.size, (x, y)).map(of_tile));
        }
        others.shrink_to_fit();
        (own, others)
    }
}

/// Offsets of a pixel and its eight neighbours: (right, down).
const AROUND: [(i32, i32); 9] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// The tile of the neighbour at offset (`right`, `down`) of pixel (`x`, `y`), relative to that pixel's own tile.
fn tile_at((x, y): (u32, u32), (right, down): (i32, i32)) -> (i32, i32) {
    let along = |at: u32, step: i32| (at % TILE) as i32 + step;
    let tile = |at: i32| at.div_euclid(TILE as i32);
    (tile(along(x, right)), tile(along(y, down)))
}

/// Offsets of the other tiles inside the picture that touch a pixel at an edge or a corner of its tile. The neighbouring pixel in that direction is
/// in that tile.
fn beside(size: (u32, u32), at: (u32, u32)) -> impl Iterator<Item = (i32, i32)> {
    AROUND.into_iter().filter(move |&to| to != (0, 0) && tile_at(at, to) == to && is_in(size, at, to))
}

fn is_in((width, height): (u32, u32), (x, y): (u32, u32), (right, down): (i32, i32)) -> bool {
    x.checked_add_signed(right).is_some_and(|x| x < width) && y.checked_add_signed(down).is_some_and(|y| y < height)
}

fn pixel((width, _): (u32, u32), (x, y): (u32, u32)) -> usize {
    y as usize * width as usize + x as usize
}

/// Index of the contribution from the neighbour at offset (`right`, `down`) to pixel (`x`, `y`).
fn share(size: (u32, u32), (x, y): (u32, u32), (right, down): (i32, i32)) -> usize {
    let kind = (4 - 3 * down - right) as usize;
    let from = (x.wrapping_add_signed(right), y.wrapping_add_signed(down));
    kind * size.0 as usize * size.1 as usize + pixel(size, from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use throng_picture::aov::Aov;
    use throng_scene::PixelFilter;

    fn settings(filter: PixelFilter) -> FrameSettings {
        let mut settings = FrameSettings { width: 19, height: 17, ..fake::settings() };
        settings.film.filter = filter;
        settings.aovs = [Aov::Variance].into_iter().collect();
        settings
    }

    /// A film of integers, whose sums do not depend on the order of addition.
    fn film(settings: &FrameSettings) -> Accumulation {
        let mut film = Accumulation::new(settings);
        let whole = |index: u32| 1 + (index.wrapping_mul(2_654_435_761) >> 22);
        film.sums.iter_mut().zip(0u32..).for_each(|(word, index)| *word = (whole(index) as f32).to_bits());
        film.odd.iter_mut().zip(0u32..).for_each(|(word, index)| *word = index);
        film.state.samples = 8;
        film
    }

    #[test]
    fn pixels_get_the_same_from_each_tile() {
        let settings = settings(PixelFilter::Shared);
        let film = film(&settings);
        let unfolded = FoldedFilm::of(film.clone(), &settings).unfold(&settings);
        let plain = 4 * settings.film_pixels();
        assert!(unfolded.odd == film.odd && unfolded.state == film.state && unfolded.fits(&settings));
        assert!(unfolded.sums[..plain] == film.sums[..plain]);
        assert!(unfolded.sums.iter().filter(|&&word| word != 0).count() < film.sums.len() / 3);
        let size = settings.film_size();
        let brought = |film: &Accumulation, at: (u32, u32), tile: (i32, i32)| {
            let sums: &[Sum] = bytemuck::cast_slice(&film.sums[plain..]);
            let from = AROUND.into_iter().filter(|&to| tile_at(at, to) == tile && is_in(size, at, to));
            from.map(|to| sums[share(size, at, to)]).fold(Sum::default(), |a, b| [0, 1, 2, 3].map(|k| a[k] + b[k]))
        };
        for at in (0..size.0).flat_map(|x| (0..size.1).map(move |y| (x, y))) {
            for tile in AROUND {
                assert_eq!(brought(&unfolded, at, tile), brought(&film, at, tile), "{at:?} {tile:?}");
            }
        }
    }

    #[test]
    fn they_take_as_little_memory_as_is_told() {
        let settings = FrameSettings { width: 256, height: 256, ..settings(PixelFilter::Shared) };
        let bytes = |settings: &FrameSettings| {
            let FoldedFilm { film, shares } = FoldedFilm::of(Accumulation::new(settings), settings);
            let others = shares.iter().flat_map(|shares| &shares.others).map(Vec::capacity);
            let sums = shares.iter().map(|shares| shares.own.len()).sum::<usize>() + others.sum::<usize>();
            (size_of_val(&film.sums[..]) + size_of_val(&film.odd[..]) + sums * size_of::<Sum>()) as u64
        };
        assert!(bytes(&settings) <= 256 * 256 * FoldedFilm::PIXEL_BYTES);
        let covers = FrameSettings { aovs: [Aov::Variance, Aov::Alpha].into_iter().collect(), ..settings };
        assert!(bytes(&covers) <= 256 * 256 * (FoldedFilm::PIXEL_BYTES + FoldedFilm::COVER_BYTES));
    }

    #[test]
    fn what_covers_pixels_is_folded_as_well() {
        let settings =
            FrameSettings { aovs: [Aov::Variance, Aov::Alpha].into_iter().collect(), ..settings(PixelFilter::Shared) };
        let film = film(&settings);
        let unfolded = FoldedFilm::of(film.clone(), &settings).unfold(&settings);
        let total = |film: &Accumulation| {
            let words = film.sums[Accumulation::cover_start(&settings).unwrap()..].iter();
            words.map(|&word| f64::from(f32::from_bits(word))).sum::<f64>()
        };
        assert!(unfolded.fits(&settings) && total(&unfolded) > 0.0);
        // Contributions beyond the picture's edges are lost.
        assert!(total(&unfolded) < total(&film) && total(&unfolded) > 0.8 * total(&film));
    }

    #[test]
    fn films_of_pixels_own_samples_stay_as_they_are() {
        let settings = settings(PixelFilter::Gaussian);
        let film = film(&settings);
        assert!(FoldedFilm::of(film.clone(), &settings).unfold(&settings) == film);
    }
}
