//! A compact film for frames that wait for more samples. Contributions from one tile to a neighbouring tile are stored as one sum.

use super::{Accumulation, DeviceCopy, FrameSettings, TILE};
use rayon::prelude::*;

/// Light and weights.
type Sum = [f32; 4];

/// The film of a picture all of whose pixels have as many samples, until some [tiles](super::TileGrid) get more. What pixels of a tile bring to
/// another one is a single sum then, so of ten sums per pixel two are left, and one for each other tile that it is beside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedFilm {
    /// Without what pixels bring to each other.
    film: Accumulation,
    /// What pixels bring to each other of their samples, and then of what covers them; empty where that is not shared.
    shares: Vec<FoldedShares>,
}

/// What pixels bring to each other.
#[derive(Clone, Debug, Default, PartialEq)]
struct FoldedShares {
    /// What the pixels of its tile bring to each pixel.
    own: Vec<Sum>,
    /// What those of other tiles bring to it, row by row, in the order of [`beside`].
    others: Vec<Vec<Sum>>,
}

impl FoldedFilm {
    /// About as many bytes as a pixel takes, with sums of odd samples.
    pub const PIXEL_BYTES: u64 = 57;
    /// The same for what covers pixels, where that is shared.
    pub const COVER_BYTES: u64 = 25;

    /// Folds the film of a picture with these settings.
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
        film.copy = DeviceCopy::default();
        Self { film, shares }
    }

    /// The film, to which samples can be added. What pixels of a tile bring to another pixel comes from one of them.
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

/// Number of sums of a pixel that are for it and those around it.
const SHARES: usize = 9;

/// Such sums as `share_at` in `kernels/film/share.h` lays them out.
struct Shares<'a> {
    size: (u32, u32),
    sums: &'a [Sum],
}

impl Shares<'_> {
    /// What the pixels of its tile bring to each pixel of a row, and those of other tiles.
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

/// A pixel and those around it, as how far they are to the right and below.
const AROUND: [(i32, i32); 9] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// The tile of a pixel beside (`x`, `y`), as how far it is from that pixel's own.
fn tile_at((x, y): (u32, u32), (right, down): (i32, i32)) -> (i32, i32) {
    let along = |at: u32, step: i32| (at % TILE) as i32 + step;
    let tile = |at: i32| at.div_euclid(TILE as i32);
    (tile(along(x, right)), tile(along(y, down)))
}

/// The tiles beside a pixel, where it is in a corner or at an edge of its own: in that direction, the next pixel is in them.
fn beside(size: (u32, u32), at: (u32, u32)) -> impl Iterator<Item = (i32, i32)> {
    AROUND.into_iter().filter(move |&to| to != (0, 0) && tile_at(at, to) == to && is_in(size, at, to))
}

fn is_in((width, height): (u32, u32), (x, y): (u32, u32), (right, down): (i32, i32)) -> bool {
    x.checked_add_signed(right).is_some_and(|x| x < width) && y.checked_add_signed(down).is_some_and(|y| y < height)
}

fn pixel((width, _): (u32, u32), (x, y): (u32, u32)) -> usize {
    y as usize * width as usize + x as usize
}

/// The place of the sum that the pixel beside (`x`, `y`) brings to it.
fn share(size: (u32, u32), (x, y): (u32, u32), (right, down): (i32, i32)) -> usize {
    let kind = (4 - 3 * down - right) as usize;
    let from = (x.wrapping_add_signed(right), y.wrapping_add_signed(down));
    kind * size.0 as usize * size.1 as usize + pixel(size, from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aov::Aov, device::fake, scene::PixelFilter};

    fn settings(filter: PixelFilter) -> FrameSettings {
        let mut settings = FrameSettings { width: 19, height: 17, ..fake::settings() };
        settings.film.filter = filter;
        settings.aovs = [Aov::Variance].into_iter().collect();
        settings
    }

    /// A film of whole numbers, whose sums are the same in any order.
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
        // All but what falls over the picture's edges.
        assert!(total(&unfolded) < total(&film) && total(&unfolded) > 0.8 * total(&film));
    }

    #[test]
    fn films_of_pixels_own_samples_stay_as_they_are() {
        let settings = settings(PixelFilter::Gaussian);
        let film = film(&settings);
        assert!(FoldedFilm::of(film.clone(), &settings).unfold(&settings) == film);
    }
}
