//! An unfinished picture that can be put aside and continued later: sums of samples, and how far it is.

use super::{FrameSettings, TileGrid, adaptive::Passes};
use crate::{
    abi::EXACT_SUM_WORDS,
    aov::{Aov, AovSet},
};
use rayon::prelude::*;
use std::ops::Range;

/// Words of the sums of a pixel: the bits of floats.
const FLOAT_SUM_WORDS: usize = 4;
/// Such sums of each pixel where samples are shared: its own, and what it brings to the nine around it.
const SHARED_SUMS: usize = 10;
/// Such sums of what covers these nine.
const COVER_SUMS: usize = 9;

/// The samples of a picture so far. Continuing from them gives the same bits as not having stopped, as long as settings ask for an
/// [open end](FrameSettings::open_ended) and the device is of the same kind. Sums are exact then (`kernels/film/exact.h`), so that those of
/// other samples may be added, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accumulation {
    /// Sums of radiance and the number of samples: [`Self::sum_words`] per pixel, row-major, the top row first. Where samples are
    /// [shared](FrameSettings::shares_samples), those of all pixels come first, then what they bring to each of the pixels around them, and
    /// then what [covers](FrameSettings::shares_cover) these.
    pub sums: Vec<u32>,
    /// The same sums over the samples with odd numbers alone; empty unless noise is measured or its variance is an AOV.
    pub odd: Vec<u32>,
    /// The sums that AOVs are made of, [`layer_words`] per pixel; empty unless the picture is finished and
    /// [settings](FrameSettings::layer_sums) ask for them.
    pub layers: Vec<u32>,
    pub state: AccumulationState,
    /// The copy of these sums that a device may still have.
    pub copy: DeviceCopy,
}

/// A name that a device gives to sums when it hands them out, and none if they were changed elsewhere since. It does not count when films are
/// compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceCopy {
    #[cfg(throng_cuda)]
    name: u64,
    /// Whether the sums stayed on the device ([`FrameSettings::film_stays`]), and those here are of before.
    pub is_only: bool,
}

#[cfg(throng_cuda)]
impl DeviceCopy {
    /// A name that nothing has had.
    pub fn fresh(is_only: bool) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { name: NEXT.fetch_add(1, Ordering::Relaxed), is_only }
    }

    /// Whether it is the name of the same sums.
    pub fn is(self, other: Self) -> bool {
        self.name != 0 && self.name == other.name
    }
}

impl PartialEq for DeviceCopy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The progress of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccumulationState {
    /// Number of samples before the first one, which are not part of this picture.
    pub first: u32,
    /// Number at which samples end that every pixel has or, where only noisy tiles go on, every pixel of these.
    pub samples: u32,
    /// Number of samples at which the current pass began.
    pub pass: u32,
    /// The tiles of this pass, ascending; `None` for all.
    pub tiles: Option<Vec<u32>>,
}

/// Words of the exact sums that the AOVs of a pixel are made of, as `AovSums` in the kernels has them. Variance is made of the film.
pub fn layer_words(aovs: AovSet) -> usize {
    layer_columns(aovs).iter().map(|&words| usize::from(words)).sum()
}

/// Words of each of these sums.
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

/// The words of a pixel's layers without samples: sums of nothing, and infinite depth.
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
    /// An accumulation without samples, and with the layers of none if they are asked for, to which films can be added.
    pub fn for_joining(settings: &FrameSettings) -> Self {
        let layers = match settings.layer_sums {
            true => empty_layer(settings.aovs).repeat(settings.film_pixels()),
            false => Vec::new(),
        };
        Self { layers, ..Self::new(settings) }
    }

    /// An accumulation without samples.
    pub fn new(settings: &FrameSettings) -> Self {
        Self::from_sample(settings, 0)
    }

    /// An accumulation without samples, to which those from number `first` on are added.
    pub fn from_sample(settings: &FrameSettings, first: u32) -> Self {
        let sums = vec![0; Self::words(settings)];
        Self {
            state: AccumulationState { first, samples: first, ..AccumulationState::default() },
            ..Self::of_sums(sums, settings)
        }
    }

    /// An accumulation without samples in memory that was one of as many words.
    pub fn in_memory(mut sums: Vec<u32>, settings: &FrameSettings) -> Self {
        sums.par_chunks_mut(1 << 16).for_each(|part| part.fill(0));
        Self::of_sums(sums, settings)
    }

    fn of_sums(sums: Vec<u32>, settings: &FrameSettings) -> Self {
        Self {
            sums,
            odd: vec![0; Self::odd_words(settings)],
            layers: Vec::new(),
            state: AccumulationState::default(),
            copy: DeviceCopy::default(),
        }
    }

    /// Words of the sums of a pixel's own samples.
    pub fn sum_words(settings: &FrameSettings) -> usize {
        if settings.open_ended { EXACT_SUM_WORDS as usize } else { FLOAT_SUM_WORDS }
    }

    /// Number of sums of a pixel: that of its own samples, and where these are shared, those of what it brings to others.
    pub fn sums(settings: &FrameSettings) -> usize {
        match (settings.shares_samples(), settings.shares_cover()) {
            (false, _) => 1,
            (true, false) => SHARED_SUMS,
            (true, true) => SHARED_SUMS + COVER_SUMS,
        }
    }

    /// Index of the first word of what covers pixels, if that is shared.
    pub fn cover_start(settings: &FrameSettings) -> Option<usize> {
        let before = settings.film_pixels() * Self::sum_words(settings) * SHARED_SUMS;
        settings.shares_cover().then_some(before)
    }

    /// Number of words in all sums.
    pub fn words(settings: &FrameSettings) -> usize {
        settings.film_pixels() * Self::sum_words(settings) * Self::sums(settings)
    }

    /// Whether sums of samples with odd numbers are kept.
    pub fn has_odd(settings: &FrameSettings) -> bool {
        settings.noise.is_some() || settings.aovs.contains(Aov::Variance)
    }

    /// Number of words in the sums of samples with odd numbers.
    pub fn odd_words(settings: &FrameSettings) -> usize {
        if Self::has_odd(settings) { settings.film_pixels() * Self::sum_words(settings) } else { 0 }
    }

    /// Number of words of the sums that AOVs are made of; 0 if these are not asked for.
    pub fn layers_words(settings: &FrameSettings) -> usize {
        if settings.layer_sums { settings.film_pixels() * layer_words(settings.aovs) } else { 0 }
    }

    /// Whether it belongs to pictures with these settings, and is all here; one that has been read from a file may not.
    pub fn fits(&self, settings: &FrameSettings) -> bool {
        !self.copy.is_only && self.fits_if_held(settings)
    }

    /// The same on a device that has the sums if they stayed there.
    pub fn fits_if_held(&self, settings: &FrameSettings) -> bool {
        let words = Self::words(settings);
        let tiles = TileGrid::of(settings.film_size()).count();
        let mut listed = self.state.tiles.iter().flatten();
        self.sums.len() == words
            && self.odd.len() == Self::odd_words(settings)
            && self.state.first <= self.state.samples
            && Passes::resume(u32::MAX, settings.noise, self.state.clone()).is_sound()
            && listed.all(|&tile| tile < tiles)
    }

    /// Whether all pixels have the samples that `settings` ask for.
    pub fn is_done(&self, settings: &FrameSettings) -> bool {
        self.state.has(settings.samples)
    }
}

impl AccumulationState {
    /// Whether a picture that is to have `samples` needs no more: it has them, or no tile is noisy any more.
    pub fn has(&self, samples: u32) -> bool {
        let is_calm = self.tiles.as_ref().is_some_and(Vec::is_empty);
        is_calm || self.samples >= samples
    }

    /// The numbers of the samples that every pixel has.
    pub fn range(&self) -> Range<u32> {
        self.first..self.samples
    }
}
