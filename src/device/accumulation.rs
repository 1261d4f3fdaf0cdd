//! An unfinished picture that can be put aside and continued later: sums of samples, and how far it is.

use super::{FrameSettings, adaptive::Passes};
use crate::aov::Aov;

/// The samples of a picture so far. Continuing from them gives the same bits as not having stopped, as long as settings ask for an
/// [open end](FrameSettings::open_ended) and the device is of the same kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accumulation {
    /// Sums of radiance and the number of samples, four floats per pixel; row-major, the top row first.
    pub sums: Vec<f32>,
    /// The same sums over the samples with odd numbers alone; empty unless noise is measured or its variance is an AOV.
    pub odd: Vec<f32>,
    pub state: AccumulationState,
}

/// The progress of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccumulationState {
    /// Number of samples that every pixel has or, where only noisy tiles go on, every pixel of these.
    pub samples: u32,
    /// Number of samples at which the current pass began.
    pub pass: u32,
    /// The tiles of this pass, ascending; `None` for all.
    pub tiles: Option<Vec<u32>>,
}

impl Accumulation {
    /// An accumulation without samples.
    pub fn new(settings: &FrameSettings) -> Self {
        let floats = Self::floats(settings);
        Self {
            sums: vec![0.0; floats],
            odd: vec![0.0; Self::odd_floats(settings)],
            state: AccumulationState::default(),
        }
    }

    /// Number of floats in each of the sums.
    pub fn floats(settings: &FrameSettings) -> usize {
        settings.width as usize * settings.height as usize * 4
    }

    fn odd_floats(settings: &FrameSettings) -> usize {
        match settings.noise.is_some() || settings.aovs.contains(Aov::Variance) {
            true => Self::floats(settings),
            false => 0,
        }
    }

    /// Whether it belongs to pictures with these settings; one that has been read from a file may not.
    pub fn fits(&self, settings: &FrameSettings) -> bool {
        let floats = Self::floats(settings);
        let tiles = settings.width.div_ceil(8) * settings.height.div_ceil(8);
        let mut listed = self.state.tiles.iter().flatten();
        self.sums.len() == floats
            && self.odd.len() == Self::odd_floats(settings)
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
}
