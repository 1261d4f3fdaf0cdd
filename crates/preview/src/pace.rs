//! Size and sample counts of pictures, chosen so that each picture or slice takes a given time.

use std::time::Duration;

/// Target duration of a moving picture, and the maximum for more than one sample per pixel, in seconds.
const MOVING: f64 = 0.045;
const SMOOTH: f64 = 0.012;
/// Durations of the first and the longest slices of an unchanged view, in seconds.
const FIRST_SLICE: f64 = 0.02;
const LONGEST_SLICE: f64 = 0.2;
/// Duration of the first samples at full size above which smaller pictures are shown before, in seconds.
const PATIENCE: f64 = 0.25;
/// Minimum scale of moving pictures, and minimum side in pixels.
const LEAST_SHARE: f64 = 0.125;
const LEAST_SIDE: f64 = 32.0;
/// Initial estimate of the duration of one sample, in seconds.
const GUESS: f64 = 4e-7;

/// Measured speed of a device with one viewer's pictures.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Seconds per sample of a pixel.
    cost: f64,
    slice: f64,
    /// Scale of the last moving picture, kept while it is nearly right so that sizes do not change constantly.
    share: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { cost: GUESS, slice: FIRST_SLICE, share: 1.0 }
    }
}

impl Pace {
    /// Size and samples per pixel of a moving picture. The size is at most `whole`; `limit` is the maximum number of pixels, none for no
    /// limit.
    pub fn moving(&mut self, whole: (u32, u32), limit: Option<u32>) -> ((u32, u32), u32) {
        let pixels = pixels(whole);
        let affordable = MOVING / self.cost;
        let most = limit.map_or(pixels, |limit| pixels.min(f64::from(limit)));
        let wanted = (affordable.min(most) / pixels).sqrt().clamp(LEAST_SHARE, 1.0);
        let is_near = (0.85..1.15).contains(&(wanted / self.share)) && (wanted < 1.0 || self.share == 1.0);
        if !is_near {
            self.share = wanted;
        }
        let size = scaled(whole, self.share);
        let samples = SMOOTH / (self.cost * self::pixels(size));
        (size, samples.clamp(1.0, 64.0) as u32)
    }

    /// Size of the next coarse picture of an unchanged view, after one of size `last`. None if the full size is next.
    pub fn coarse(&self, whole: (u32, u32), last: (u32, u32)) -> Option<(u32, u32)> {
        let is_quick = self.cost * pixels(whole) < PATIENCE;
        let share = 2.0 * (pixels(last) / pixels(whole)).sqrt();
        (!is_quick && share < 0.75).then(|| scaled(whole, share))
    }

    /// Number of samples per pixel in the next slice of a full-size picture.
    pub fn slice(&self, whole: (u32, u32)) -> u32 {
        (self.slice / (self.cost * pixels(whole))).clamp(1.0, 4096.0) as u32
    }

    /// Seconds per sample of a pixel.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Resets the slice duration for a new picture.
    pub fn begin(&mut self) {
        self.slice = FIRST_SLICE;
    }

    /// Lengthens the next slice.
    pub fn lengthen(&mut self) {
        self.slice = (1.3 * self.slice).min(LONGEST_SLICE);
    }

    /// Updates the measured speed with the duration of a picture.
    pub fn took(&mut self, size: (u32, u32), samples: u32, time: Duration) {
        if samples == 0 {
            return;
        }
        let cost = time.as_secs_f64() / (pixels(size) * f64::from(samples));
        let weight = if cost > 2.0 * self.cost || cost < 0.3 * self.cost { 0.9 } else { 0.3 };
        self.cost = (self.cost * (1.0 - weight) + cost * weight).clamp(1e-12, 1.0);
    }
}

fn pixels((width, height): (u32, u32)) -> f64 {
    f64::from(width) * f64::from(height)
}

/// Scales both sides by about `share`.
pub fn scaled((width, height): (u32, u32), share: f64) -> (u32, u32) {
    if share >= 1.0 {
        return (width, height);
    }
    let (w, h) = (f64::from(width), f64::from(height));
    let share = share.max(LEAST_SIDE / w.min(h)).min(1.0);
    // The width is rounded to whole tiles of the device.
    let wide = ((w * share / 8.0).round() * 8.0).clamp(1.0, w);
    (wide as u32, (h * wide / w).round().clamp(1.0, h) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: (u32, u32) = (960, 540);

    fn paced(cost: f64) -> Pace {
        let mut pace = Pace::default();
        for _ in 0..40 {
            pace.took(WHOLE, 1, Duration::from_secs_f64(cost * pixels(WHOLE)));
        }
        pace
    }

    proptest! {
        #[test]
        fn moving_pictures_take_their_time_or_are_as_small_as_can_be(cost in 1e-11f64..1e-5, limit in prop::option::of(20_000u32..600_000)) {
            let (size, samples) = paced(cost).moving(WHOLE, limit);
            let time = cost * pixels(size) * f64::from(samples);
            let smallest = pixels(size) <= 1.1 * (LEAST_SHARE * LEAST_SHARE * pixels(WHOLE)).max(pixels(scaled(WHOLE, LEAST_SHARE)));
            prop_assert!(time < 1.4 * MOVING || smallest, "{size:?}: {time}");
            prop_assert!(samples == 1 || time <= 1.05 * SMOOTH);
            prop_assert!(size.0 <= WHOLE.0 && size.1 <= WHOLE.1);
            if let Some(limit) = limit {
                prop_assert!(pixels(size) < 1.4 * f64::from(limit) || smallest);
            }
        }
    }

    #[test]
    fn slow_pictures_get_finer_step_by_step() {
        let slow = paced(4e-6);
        let mut sizes = vec![(120, 68)];
        while let Some(next) = slow.coarse(WHOLE, sizes[sizes.len() - 1]) {
            sizes.push(next);
        }
        assert_eq!(sizes, [(120, 68), (240, 135), (480, 270)]);
        assert_eq!(paced(1e-7).coarse(WHOLE, (120, 68)), None);
        assert_eq!(slow.slice(WHOLE), 1);
    }

    #[test]
    fn slices_grow() {
        let mut pace = paced(1e-9);
        let first = pace.slice(WHOLE);
        (0..20).for_each(|_| pace.lengthen());
        assert!((30..50).contains(&first) && pace.slice(WHOLE) > 9 * first);
        pace.begin();
        assert_eq!(pace.slice(WHOLE), first);
    }
}
