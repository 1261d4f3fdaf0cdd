//! Adaptive sampling: pictures are sampled in passes, each of which doubles the samples of the tiles that are still too noisy
//! (Dammertz et al. 2010, "A Hierarchical Automatic Stopping Condition for Monte Carlo Global Illumination").

/// Samples of the first pass: fewer say too little about the noise.
const FIRST_PASS: u32 = 16;

/// What is left to sample of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// The noise at which a tile is done; without one, all samples are one pass.
    target: Option<f32>,
    samples: u32,
    done: u32,
    /// The tiles of the next pass, ascending; none: all.
    tiles: Option<Vec<u32>>,
}

impl Passes {
    /// Of a picture with at most `samples` samples per pixel.
    pub fn new(samples: u32, target: Option<f32>) -> Self {
        Self {
            target,
            samples,
            done: 0,
            tiles: None,
        }
    }

    /// Whether passes need errors of tiles.
    pub fn is_adaptive(&self) -> bool {
        self.target.is_some()
    }

    /// The next pass's samples.
    pub fn samples(&self) -> std::ops::Range<u32> {
        let end = match self.target {
            Some(_) => FIRST_PASS.max(2 * self.done).min(self.samples),
            None => self.samples,
        };
        self.done..end
    }

    /// The next pass's tiles; none for all.
    pub fn tiles(&self) -> Option<&[u32]> {
        self.tiles.as_deref()
    }

    /// Takes note that the pass is done, and returns whether there is another one. `errors` has the noise of all tiles.
    pub fn go_on(&mut self, errors: &[f32]) -> bool {
        self.done = self.samples().end;
        let Some(target) = self.target else {
            return false;
        };
        // What is no number is noise, too.
        let is_noisy = |tile: &u32| {
            let error = errors.get(*tile as usize).copied().unwrap_or_default();
            error.is_nan() || error > target
        };
        let noisy: Vec<u32> = match self.tiles.take() {
            None => (0..errors.len() as u32).filter(is_noisy).collect(),
            Some(tiles) => tiles.into_iter().filter(is_noisy).collect(),
        };
        let more = self.done < self.samples && !noisy.is_empty();
        self.tiles = Some(noisy);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_target_there_is_one_pass_over_everything() {
        let mut passes = Passes::new(100, None);
        assert_eq!((passes.samples(), passes.tiles()), (0..100, None));
        assert!(!passes.go_on(&[1.0]));
    }

    #[test]
    fn noisy_tiles_get_twice_the_samples_until_the_cap() {
        let mut passes = Passes::new(100, Some(0.1));
        assert_eq!((passes.samples(), passes.tiles()), (0..16, None));
        assert!(passes.go_on(&[0.0, 0.5, 0.1, f32::NAN]));
        assert_eq!(
            (passes.samples(), passes.tiles()),
            (16..32, Some(&[1, 3][..]))
        );
        assert!(passes.go_on(&[9.0, 0.2, 9.0, 0.05]));
        assert_eq!((passes.samples(), passes.tiles()), (32..64, Some(&[1][..])));
        assert!(passes.go_on(&[0.2; 4]));
        assert_eq!(passes.samples(), 64..100);
        assert!(!passes.go_on(&[0.2; 4]));
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
