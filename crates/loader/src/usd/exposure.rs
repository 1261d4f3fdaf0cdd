//! The exposure of a stage's camera over time.

use super::clock::Clock;
use throng_scene::{Camera, Changes, Material, Shutter, Timeline};
use throng_usd::{CameraLens, Sampled};

/// A timeline that changes nothing but the exposure.
#[derive(Clone, Debug, PartialEq)]
pub struct ExposureKeys {
    /// Seconds, ascending, with the exposure in stops. Not empty.
    keys: Vec<(f64, f32)>,
}

impl ExposureKeys {
    /// The exposures of a camera, each with `more` stops added. None if the exposure stays.
    pub fn of(lens: &Sampled<CameraLens>, clock: &Clock, more: f32) -> Option<Self> {
        let first = lens.first().exposure;
        if lens.all(|lens| lens.exposure == first) {
            return None;
        }
        Some(Self { keys: clock.keys(lens, |lens| more + lens.exposure) })
    }
}

impl Timeline for ExposureKeys {
    fn at(&self, _: f64) -> Changes {
        Changes::default()
    }

    fn camera(&self, _: usize, _: f64) -> Option<Camera> {
        None
    }

    fn shutter(&self, _: f64) -> Option<Shutter> {
        None
    }

    fn exposure(&self, time: f64) -> Option<f32> {
        let after = self.keys.partition_point(|(own, _)| *own <= time);
        let before = self.keys.get(after.wrapping_sub(1)).or(self.keys.first())?;
        let next = self.keys.get(after).unwrap_or(before);
        let share = if next.0 > before.0 { ((time - before.0) / (next.0 - before.0)).clamp(0.0, 1.0) } else { 0.0 };
        Some(before.1 + (next.1 - before.1) * share as f32)
    }

    fn white_balance(&self, _: f64) -> Option<f32> {
        None
    }

    fn changes_lights(&self) -> bool {
        false
    }

    fn changes_fog(&self) -> bool {
        false
    }

    fn materials_at_keys(&self) -> Vec<(u32, Material)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::Times;

    #[test]
    fn exposures_are_linear_between_samples_and_hold_outside() {
        let lens = |exposure: f32| CameraLens {
            aperture: [36.0, 24.0],
            offset: [0.0; 2],
            focal_length: 50.0,
            f_stop: 0.0,
            focus_distance: 1.0,
            exposure,
        };
        let clock = Clock::new(&Times { range: Some((10.0, 30.0)), per_second: 10.0 });
        let lenses = Sampled::Moving(vec![(10.0, lens(1.0)), (20.0, lens(3.0)), (30.0, lens(2.0))]);
        let keys = ExposureKeys::of(&lenses, &clock, 0.5).unwrap_or_else(|| panic!("it changes"));
        let stops = [-1.0, 0.0, 0.5, 1.0, 1.75, 2.0, 9.0].map(|time| keys.exposure(time));
        assert_eq!(stops, [1.5, 1.5, 2.5, 3.5, 2.75, 2.5, 2.5].map(Some));
        assert_eq!(ExposureKeys::of(&Sampled::Still(lens(1.0)), &clock, 0.0), None);
        let zoom = Sampled::Moving(vec![(0.0, lens(1.0)), (1.0, CameraLens { focal_length: 90.0, ..lens(1.0) })]);
        assert_eq!(ExposureKeys::of(&zoom, &clock, 0.0), None);
    }
}
