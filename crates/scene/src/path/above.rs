//! Flights above a ground: heights of keys count from the ground, and the eye rises and sinks with it.

use crate::Flight;
use glam::{DVec2, Vec2, Vec3, Vec3Swizzles};
use rayon::prelude::*;
use std::{fmt, sync::Arc};

/// Number of equal time steps for measuring the length of a path.
const FINE: usize = 1 << 14;
/// Maximum number of path segments at whose ends heights are looked up.
const MOST_PARTS: f64 = 32768.0;
/// Number of segments per smoothing length.
const PARTS_OF_SMOOTH: f64 = 64.0;

/// Height of a ground as a function of the position in the XZ plane. None outside of the ground.
#[derive(Clone)]
pub struct Relief(Arc<dyn Fn(Vec2) -> Option<f32> + Send + Sync>);

impl Relief {
    /// Makes a ground from a height function.
    pub fn new(height: impl Fn(Vec2) -> Option<f32> + Send + Sync + 'static) -> Self {
        Self(Arc::new(height))
    }

    /// Height of the ground above or below a point.
    pub fn height(&self, point: Vec2) -> Option<f32> {
        (self.0)(point)
    }
}

impl fmt::Debug for Relief {
    /// The height function has no text form. It is also represented by the offsets in `Lift`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Relief")
    }
}

/// Height constraint of a flight above a ground.
#[derive(Clone, Debug)]
pub struct Above {
    /// The ground.
    pub ground: Relief,
    /// Minimum height above the ground of an eye whose key has the height 0.
    pub height: f32,
    /// Length of the path over which the ground is smoothed.
    pub smooth: f32,
    /// Whether heights of targets also count from the ground.
    pub targets: bool,
}

/// Height offsets of a flight's eye and target along its path.
#[derive(Clone, Debug)]
pub(super) struct Lift {
    above: Above,
    /// Times of the keyed flight at equal steps of the path, measured in the XZ plane.
    times: Vec<f64>,
    eyes: Vec<f32>,
    /// Offsets of targets. Empty if targets are points in world space.
    targets: Vec<f32>,
}

impl Lift {
    /// The lift of a flight that does not have one yet.
    ///
    /// # Errors
    /// A position of the eye that is outside of the ground.
    pub fn new(flight: &Flight, above: Above) -> Result<Self, Vec3> {
        let (times, step) = even_steps(flight, f64::from(above.smooth));
        let places: Vec<(Vec3, Vec3)> = times.par_iter().map(|time| flight.keyed(*time, Vec3::ZERO, Vec3::Y)).collect();
        let ground = |point: &Vec3| above.ground.height(point.xz());
        let below: Vec<Option<f32>> = places.par_iter().map(|(eye, _)| ground(eye)).collect();
        let known = below.iter().zip(&places).map(|(height, (eye, _))| height.ok_or(*eye));
        let heights = known.collect::<Result<Vec<f32>, _>>()?;
        // Half of the smoothing length on either side. The maximum over this reach is nowhere below the ground, and neither is its mean.
        let reach = if step > 0.0 { (0.5 * f64::from(above.smooth) / step).round() as usize } else { 0 };
        let smooth = |values: &[f32]| mean_of_means(values, reach);
        let eyes = smooth(&highest(&heights, reach)).iter().map(|height| height + above.height).collect();
        let targets = if above.targets {
            smooth(&filled(places.par_iter().map(|(_, target)| ground(target)).collect()))
        } else {
            Vec::new()
        };
        Ok(Self { above, times, eyes, targets })
    }

    /// The height constraint of the flight.
    pub fn above(&self) -> &Above {
        &self.above
    }

    /// Height offsets of eye and target at a time of the keyed flight.
    pub fn at(&self, time: f64) -> [f32; 2] {
        let next = self.times.partition_point(|t| *t <= time).clamp(1, self.times.len() - 1);
        let (from, to) = (self.times[next - 1], self.times[next]);
        let share = if to > from { ((time - from) / (to - from)).clamp(0.0, 1.0) as f32 } else { 0.0 };
        let between = |values: &[f32]| values[next - 1] + (values[next] - values[next - 1]) * share;
        [between(&self.eyes), if self.targets.is_empty() { 0.0 } else { between(&self.targets) }]
    }
}

/// Times at equal steps of the path, measured in the XZ plane, and the length of a step. Returns at least two times.
fn even_steps(flight: &Flight, smooth: f64) -> (Vec<f64>, f64) {
    let (first, last) = flight.span();
    let time = |i: usize| first + (last - first) * i as f64 / FINE as f64;
    let at = |i: usize| flight.keyed(time(i), Vec3::ZERO, Vec3::Y).0.xz().as_dvec2();
    let eyes: Vec<DVec2> = (0..=FINE).into_par_iter().map(at).collect();
    let mut passed = vec![0.0];
    for pair in eyes.windows(2) {
        passed.push(passed[passed.len() - 1] + pair[0].distance(pair[1]));
    }
    let length = passed[FINE];
    let parts = (length * PARTS_OF_SMOOTH / smooth).ceil();
    let parts = if parts.is_finite() { parts.clamp(1.0, MOST_PARTS) } else { MOST_PARTS } as usize;
    let when = |part: usize| {
        let wanted = length * part as f64 / parts as f64;
        let next = passed.partition_point(|p| *p < wanted).clamp(1, FINE);
        let (from, to) = (passed[next - 1], passed[next]);
        let share = if to > from { (wanted - from) / (to - from) } else { 0.0 };
        time(next - 1) + (time(next) - time(next - 1)) * share
    };
    // A flight that is at rest at its start or end is above the ends of the path.
    let mut times: Vec<f64> = (0..=parts).map(when).collect();
    (times[0], times[parts]) = (first, last);
    (times, length / parts as f64)
}

/// The maximum within `reach` of each value.
fn highest(values: &[f32], reach: usize) -> Vec<f32> {
    let around = |i: usize| &values[i.saturating_sub(reach)..(i + reach + 1).min(values.len())];
    (0..values.len()).into_par_iter().map(|i| around(i).iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect()
}

/// A box filter applied twice, with a total radius of `reach`. The second pass removes kinks.
fn mean_of_means(values: &[f32], reach: usize) -> Vec<f32> {
    let means = |values: &[f32], reach: usize| -> Vec<f32> {
        let mean = |i: usize| {
            let around = &values[i.saturating_sub(reach)..(i + reach + 1).min(values.len())];
            (around.iter().copied().map(f64::from).sum::<f64>() / around.len() as f64) as f32
        };
        (0..values.len()).into_par_iter().map(mean).collect()
    };
    means(&means(values, reach / 2), reach - reach / 2)
}

/// Heights with gaps filled: a missing height is replaced by the previous one, at the start by the next one. All 0 if there are none.
fn filled(heights: Vec<Option<f32>>) -> Vec<f32> {
    let first = heights.iter().flatten().next().copied().unwrap_or(0.0);
    let keep = |last: &mut f32, height: Option<f32>| {
        *last = height.unwrap_or(*last);
        Some(*last)
    };
    heights.into_iter().scan(first, keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CameraKey, Parametrisation};

    fn key(time: f64, x: f32, y: f32) -> CameraKey {
        CameraKey { time, eye: Vec3::new(x, y, 0.0), target: Vec3::new(x + 9.0, 0.0, 1.0) }
    }

    fn above(height: impl Fn(Vec2) -> Option<f32> + Send + Sync + 'static, smooth: f32) -> Above {
        Above { ground: Relief::new(height), height: 6.0, smooth, targets: true }
    }

    fn flight(above: Above, last: f32) -> Result<Flight, Vec3> {
        let mut flight = Flight::new(
            vec![key(0.0, 0.0, 0.0), key(4.0, 40.0, 0.0), key(8.0, 80.0, last)],
            Parametrisation::default(),
        );
        flight.keep_above(above).map(|()| flight)
    }

    #[test]
    fn eyes_and_targets_count_from_the_ground() {
        let slope = flight(above(|p| Some(100.0 + 0.25 * p.x), 0.0), 5.0).unwrap();
        for (time, height) in [(0.0, 6.0), (2.0, 6.0), (4.0, 6.0), (8.0, 11.0)] {
            let (eye, target) = slope.at(time, Vec3::ZERO, Vec3::Y);
            let ground = |p: Vec3| 100.0 + 0.25 * p.x;
            // Between keys the height above the ground goes up to 5.
            assert!((eye.y - ground(eye) - height).abs() < 0.4, "{time}: {eye}");
            assert!((target.y - ground(target)).abs() < 0.4, "{time}: {target}");
        }
        let relative = slope.at(4.0, Vec3::new(40.0, 100.0, 0.0), Vec3::Y).0;
        assert!(relative.distance(Vec3::new(0.0, 16.0, 0.0)) < 0.01, "{relative}");
    }

    #[test]
    fn the_eye_is_never_lower_than_it_should_be_and_bumps_are_made_smooth() {
        let bumps = |p: Vec2| Some(3.0 * (p.x * 0.1).sin() + 0.5 * (p.x * 5.0).sin());
        let smooth = flight(above(bumps, 8.0), 0.0).unwrap();
        let eye = |i: i32| smooth.at(f64::from(i) * 0.004, Vec3::ZERO, Vec3::Y).0;
        for i in 0..1000 {
            let above = eye(i).y - bumps(eye(i).xz()).unwrap();
            assert!((5.99..9.5).contains(&above), "{i}: {above}");
            let bend = eye(i + 1).y + eye(i - 1).y - 2.0 * eye(i).y;
            assert!(i == 0 || bend.abs() < 5e-3, "{i}: {bend}");
        }
    }

    #[test]
    fn a_flight_that_leaves_the_ground_says_where() {
        let left = flight(above(|p| (p.x < 50.0).then_some(0.0), 1.0), 0.0).unwrap_err();
        assert!((50.0..52.0).contains(&left.x), "{left}");
        // Targets may be beyond it.
        let seen = flight(above(|p| (p.x < 81.0).then_some(3.0), 1.0), 0.0).unwrap();
        assert!((seen.at(8.0, Vec3::ZERO, Vec3::Y).1.y - 3.0).abs() < 1e-5);
    }

    #[test]
    fn a_flight_through_points_of_the_world_passes_them() {
        let hills = above(|p| Some(9.0 * (p.x * 0.05).sin()), 8.0);
        let keys = [key(0.0, 0.0, 20.0), key(4.0, 40.0, 12.0), key(8.0, 80.0, 31.0)];
        let flight = Flight::above_ground(&keys, Parametrisation::default(), &hills).unwrap();
        for key in keys {
            let (eye, target) = flight.at(key.time, Vec3::ZERO, Vec3::Y);
            assert!(eye.distance(key.eye) < 0.02 && target.distance(key.target) < 0.02, "{eye} {target}");
        }
    }

    #[test]
    fn an_eye_that_stands_still_is_above_the_ground() {
        let mut still = Flight::new(vec![key(0.0, 0.0, 0.0), key(4.0, 0.0, 2.0)], Parametrisation::default());
        still.keep_above(above(|_| Some(7.0), 3.0)).unwrap();
        assert!((still.at(4.0, Vec3::ZERO, Vec3::Y).0.y - 15.0).abs() < 1e-5);
    }
}
