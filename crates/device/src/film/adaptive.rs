//! Adaptive sampling: pictures are sampled in passes, each of which doubles the samples of the tiles that are still too noisy
//! (Dammertz et al. 2010, "A Hierarchical Automatic Stopping Condition for Monte Carlo Global Illumination").

use crate::{AccumulationState, FrameSettings};

/// Samples of the first pass. Fewer samples give an unreliable estimate of noise.
const FIRST_PASS: u32 = 8;

/// Minimum number of samples of every pixel of a finished picture.
pub fn samples_of_all(settings: &FrameSettings) -> u32 {
    let all = AccumulationState::default();
    Passes::resume(settings.samples, settings.noise, all).samples().end
}

/// The remaining passes of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// Noise at which a tile is done. `None`: all samples are one pass, over all tiles or over the given ones.
    target: Option<f32>,
    samples: u32,
    state: AccumulationState,
}

impl Passes {
    /// The passes of a picture with at most `samples` samples per pixel, of which those in `state` are done.
    pub fn resume(samples: u32, target: Option<f32>, state: AccumulationState) -> Self {
        Self { target, samples, state }
    }

    /// Whether passes need the noise of each tile.
    pub fn is_adaptive(&self) -> bool {
        self.target.is_some()
    }

    /// Whether a sequence of passes can reach this state. Must be checked for states read from files.
    pub fn is_sound(&self) -> bool {
        let AccumulationState { samples, pass, tiles, .. } = &self.state;
        let sorted = |tiles: &Vec<u32>| tiles.is_sorted_by(|a, b| a < b);
        match self.target {
            Some(_) => {
                let first = tiles.is_none() == (*pass == 0);
                first && pass <= samples && *samples <= self.pass_end() && tiles.as_ref().is_none_or(sorted)
            }
            None => *pass == 0 && tiles.as_ref().is_none_or(sorted),
        }
    }

    /// Whether no samples are left to add.
    pub fn is_over(&self) -> bool {
        self.finish(self.samples)
    }

    /// Whether a picture with a limit of `samples` would be finished now.
    pub fn finish(&self, samples: u32) -> bool {
        self.state.has(samples)
    }

    /// The remaining samples of the next pass, as a range of numbers; empty if none are left.
    pub fn samples(&self) -> std::ops::Range<u32> {
        let begin = self.state.samples;
        begin..self.pass_end().min(self.samples).max(begin)
    }

    /// The next pass's tiles; `None` for all.
    pub fn tiles(&self) -> Option<&[u32]> {
        self.state.tiles.as_deref()
    }

    /// Returns the progress of the picture.
    pub fn into_state(self) -> AccumulationState {
        self.state
    }

    /// Number of samples at which the pass ends, regardless of the limit, so that a picture can be continued under a greater limit.
    fn pass_end(&self) -> u32 {
        match self.target {
            Some(_) => FIRST_PASS.max(self.state.pass.saturating_mul(2)),
            None => u32::MAX,
        }
    }

    /// Records that the pass is done, and returns whether another one follows. `errors` holds the noise of every tile.
    pub fn go_on(&mut self, errors: &[f32]) -> bool {
        self.state.samples = self.samples().end;
        let Some(target) = self.target else {
            return false;
        };
        if self.state.samples < self.pass_end() {
            return false;
        }
        // An error that is not a number counts as noise.
        let is_noisy = |tile: &u32| {
            let error = errors.get(*tile as usize).copied().unwrap_or_default();
            error.is_nan() || error > target
        };
        let noisy: Vec<u32> = match self.state.tiles.take() {
            None => (0..errors.len() as u32).filter(is_noisy).collect(),
            Some(tiles) => tiles.into_iter().filter(is_noisy).collect(),
        };
        self.state.pass = self.state.samples;
        self.state.tiles = Some(noisy);
        !self.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Passes {
        /// The passes of a picture without samples.
        fn new(samples: u32, target: Option<f32>) -> Self {
            Self::resume(samples, target, AccumulationState::default())
        }
    }

    #[test]
    fn without_a_target_there_is_one_pass_over_everything() {
        let mut passes = Passes::new(100, None);
        assert_eq!((passes.samples(), passes.tiles()), (0..100, None));
        assert!(!passes.go_on(&[1.0]));
    }

    #[test]
    fn tiles_that_are_given_get_their_samples_in_one_pass() {
        let state = AccumulationState { samples: 8, tiles: Some(vec![2, 5]), ..AccumulationState::default() };
        let mut passes = Passes::resume(32, None, state);
        assert!(passes.is_sound() && !passes.is_over() && !passes.is_adaptive());
        assert_eq!((passes.samples(), passes.tiles()), (8..32, Some(&[2, 5][..])));
        assert!(!passes.go_on(&[]) && passes.is_over());
        assert_eq!(passes.into_state().samples, 32);
    }

    #[test]
    fn noisy_tiles_get_twice_the_samples_until_the_cap() {
        let mut passes = Passes::new(50, Some(0.1));
        assert_eq!((passes.samples(), passes.tiles()), (0..8, None));
        assert!(passes.go_on(&[0.0, 0.5, 0.1, f32::NAN]));
        assert_eq!((passes.samples(), passes.tiles()), (8..16, Some(&[1, 3][..])));
        assert!(passes.go_on(&[9.0, 0.2, 9.0, 0.05]));
        assert_eq!((passes.samples(), passes.tiles()), (16..32, Some(&[1][..])));
        assert!(passes.go_on(&[0.2; 4]));
        assert_eq!(passes.samples(), 32..50);
        assert!(!passes.go_on(&[0.2; 4]));
    }

    #[test]
    fn a_pass_that_a_limit_cuts_goes_on_as_if_there_had_been_none() {
        let noise = [0.2, 0.0, 0.2];
        let mut whole = Passes::new(200, Some(0.1));
        let mut ranges = Vec::new();
        loop {
            ranges.push((whole.samples(), whole.tiles().map(<[u32]>::to_vec)));
            if !whole.go_on(&noise) {
                break;
            }
        }
        let mut state = AccumulationState::default();
        let mut pieces = Vec::new();
        for limit in [5, 16, 20, 64, 100, 128, 200] {
            let mut passes = Passes::resume(limit, Some(0.1), state);
            while !passes.is_over() {
                pieces.push((passes.samples(), passes.tiles().map(<[u32]>::to_vec)));
                passes.go_on(&noise);
            }
            state = passes.into_state();
        }
        // Consecutive pieces over the same tiles are one pass.
        let mut joined: Vec<(std::ops::Range<u32>, Option<Vec<u32>>)> = Vec::new();
        for (range, tiles) in pieces {
            match joined.last_mut() {
                Some(last) if last.1 == tiles && !ranges.iter().any(|r| r.0.end == last.0.end) => {
                    last.0.end = range.end;
                }
                _ => joined.push((range, tiles)),
            }
        }
        assert_eq!(joined, ranges);
    }

    #[test]
    fn calm_pictures_end_after_the_first_pass() {
        let mut passes = Passes::new(1000, Some(0.1));
        assert!(!passes.go_on(&[0.0; 3]));
        let mut few = Passes::new(4, Some(0.1));
        assert_eq!(few.samples(), 0..4);
        assert!(!few.go_on(&[1.0; 3]));
    }
}
