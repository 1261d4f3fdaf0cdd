//! An unfinished picture in host memory that can be set aside and continued later: sums of samples, and the progress so far.

use super::adaptive::Passes;
use crate::{FrameSettings, TileGrid};
use rayon::prelude::*;
use std::ops::Range;
use throng_abi::EXACT_SUM_WORDS;
use throng_picture::aov::{Aov, AovSet};

/// Words in one sum of a pixel: RGB and weight, as bits of floats.
const FLOAT_SUM_WORDS: usize = 4;
/// Sums per pixel if samples are shared: the pixel's own, and nine contributions to the pixel and its eight neighbours.
const SHARED_SUMS: usize = 10;
/// Additional sums per pixel if coverage is shared: nine contributions to the pixel and its eight neighbours.
const COVER_SUMS: usize = 9;

/// The samples of a picture so far. If settings have an [open end](FrameSettings::open_ended), continuing on a device of the same kind gives
/// bit-identical results to an uninterrupted run. Sums are exact then (`kernels/film/exact.h`), so films of other samples can be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accumulation {
    /// Sums of radiance and the number of samples: [`Self::sum_words`] per pixel, row-major, the top row first. If samples are
    /// [shared](FrameSettings::shares_samples), all pixels' own sums are followed by the contributions to the neighbouring pixels, and then by the
    /// contributions to their [coverage](FrameSettings::shares_cover).
    pub sums: Vec<u32>,
    /// Sums in the layout of the pixels' own sums, over odd-numbered samples only; empty unless noise is measured or variance is an AOV.
    pub odd: Vec<u32>,
    /// Sums for AOVs, [`layer_words`] per pixel; empty unless the picture is finished and [`Delivery::layer_sums`](crate::Delivery::layer_sums)
    /// is set.
    pub layers: Vec<u32>,
    pub state: AccumulationState,
}

/// The progress of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccumulationState {
    /// Number of the picture's first sample; lower numbers are not part of it.
    pub first: u32,
    /// End of the range of sample numbers that are done: in every pixel or, after the first adaptive pass, in the pixels of the tiles that continue.
    pub samples: u32,
    /// Number of samples at the start of the current pass.
    pub pass: u32,
    /// The tiles of this pass, in ascending order; `None` for all tiles.
    pub tiles: Option<Vec<u32>>,
}

/// Words per pixel of the exact sums for AOVs, in the layout of `AovSums` in the kernels. Variance takes none, because it is computed from the film.
pub fn layer_words(aovs: AovSet) -> usize {
    layer_columns(aovs).iter().map(|&words| usize::from(words)).sum()
}

/// Number of words of each of these sums, in order.
pub fn layer_columns(aovs: AovSet) -> Vec<u8> {
    const MATTE: [u8; 33] = [1; 33];
    let has = |aov| aovs.contains(aov);
    let parts: [(bool, &[u8]); 8] = [
        (has(Aov::Albedo), &[2; 3]),
        (has(Aov::Normal), &[2; 3]),
        (has(Aov::Depth) || has(Aov::Position), &[1; 4]),
        (has(Aov::Motion), &[2; 5]),
        (has(Aov::Instance), &MATTE),
        (has(Aov::Material), &MATTE),
        (has(Aov::Alpha) || has(Aov::Shadow), &[1, 1, 3, 3, 3, 3, 3]),
        (has(Aov::Wireframe), &[1]),
    ];
    parts.into_iter().filter(|(has, _)| *has).flat_map(|(_, words)| words).copied().collect()
}

/// The words of a pixel's layers without samples: zero sums, and infinite depth.
fn empty_layer(aovs: AovSet) -> Vec<u32> {
    let mut words = vec![0; layer_words(aovs)];
    let before = aovs.iter().filter(|aov| matches!(aov, Aov::Albedo | Aov::Normal)).collect();
    if let (true, Some(depth)) =
        (aovs.contains(Aov::Depth) || aovs.contains(Aov::Position), words.get_mut(layer_words(before)))
    {
        *depth = f32::INFINITY.to_bits();
    }
    words
}

impl Accumulation {
    /// An empty accumulation with empty layers, to which films with layers can be added.
    pub fn for_joining(settings: &FrameSettings) -> Self {
        let layers = empty_layer(settings.aovs).repeat(settings.film_pixels());
        Self { layers, ..Self::new(settings) }
    }

    /// An accumulation without samples.
    pub fn new(settings: &FrameSettings) -> Self {
        Self::from_sample(settings, 0)
    }

    /// An accumulation without samples, whose first sample will be number `first`.
    pub fn from_sample(settings: &FrameSettings, first: u32) -> Self {
        let sums = vec![0; Self::words(settings)];
        Self {
            state: AccumulationState { first, samples: first, ..AccumulationState::default() },
            ..Self::of_sums(sums, settings)
        }
    }

    /// An accumulation without samples that reuses the memory of `sums`, which must have [`Self::words`] words.
    pub fn in_memory(mut sums: Vec<u32>, settings: &FrameSettings) -> Self {
        sums.par_chunks_mut(1 << 16).for_each(|part| part.fill(0));
        Self::of_sums(sums, settings)
    }

    fn of_sums(sums: Vec<u32>, settings: &FrameSettings) -> Self {
        Self { sums, odd: vec![0; Self::odd_words(settings)], layers: Vec::new(), state: AccumulationState::default() }
    }

    /// Words in one sum of a pixel.
    pub fn sum_words(settings: &FrameSettings) -> usize {
        if settings.open_ended { EXACT_SUM_WORDS as usize } else { FLOAT_SUM_WORDS }
    }

    /// Number of sums per pixel: its own sum and, if samples or coverage are shared, the contributions to its neighbours.
    pub fn sums(settings: &FrameSettings) -> usize {
        match (settings.shares_samples(), settings.shares_cover()) {
            (false, _) => 1,
            (true, false) => SHARED_SUMS,
            (true, true) => SHARED_SUMS + COVER_SUMS,
        }
    }

    /// Index of the first word of the shared coverage; `None` if coverage is not shared.
    pub fn cover_start(settings: &FrameSettings) -> Option<usize> {
        let before = settings.film_pixels() * Self::sum_words(settings) * SHARED_SUMS;
        settings.shares_cover().then_some(before)
    }

    /// Number of words of all sums.
    pub fn words(settings: &FrameSettings) -> usize {
        settings.film_pixels() * Self::sum_words(settings) * Self::sums(settings)
    }

    /// Whether sums of odd-numbered samples are kept.
    pub fn has_odd(settings: &FrameSettings) -> bool {
        settings.noise.is_some() || settings.aovs.contains(Aov::Variance)
    }

    /// Number of words in [`Self::odd`]; 0 if those sums are not kept.
    pub fn odd_words(settings: &FrameSettings) -> usize {
        if Self::has_odd(settings) { settings.film_pixels() * Self::sum_words(settings) } else { 0 }
    }

    /// Number of words in [`Self::layers`], if these are kept.
    pub fn layers_words(settings: &FrameSettings) -> usize {
        settings.film_pixels() * layer_words(settings.aovs)
    }

    /// Whether the sizes and the state are valid for pictures with these settings. Films read from files must be checked.
    pub fn fits(&self, settings: &FrameSettings) -> bool {
        let words = Self::words(settings);
        let tiles = TileGrid::of(settings.film_size()).count();
        let mut listed = self.state.tiles.iter().flatten();
        self.sums.len() == words
            && self.odd.len() == Self::odd_words(settings)
            && self.state.first <= self.state.samples
            && Passes::resume(u32::MAX, settings.noise, self.state.clone()).is_sound()
            && listed.all(|&tile| tile < tiles)
    }

    /// Whether the picture needs no more samples under `settings`.
    pub fn is_done(&self, settings: &FrameSettings) -> bool {
        self.state.has(settings.samples)
    }
}

impl AccumulationState {
    /// Whether a picture with a limit of `samples` is finished: it has them, or no noisy tile is left.
    pub fn has(&self, samples: u32) -> bool {
        let is_calm = self.tiles.as_ref().is_some_and(Vec::is_empty);
        is_calm || self.samples >= samples
    }

    /// The range of sample numbers that is done.
    pub fn range(&self) -> Range<u32> {
        self.first..self.samples
    }
}
