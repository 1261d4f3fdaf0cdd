//! Camera flights: the curves of eye and target through their keys, and the timing along them.

use super::{
    above::{Above, Lift},
    catmull_rom::catmull_rom,
};
use crate::Ease;
use glam::{DVec3, Vec3};
use std::{f64::consts::PI, sync::Arc};
use throng_base::choice::choice;

/// Number of chords per segment for the test whether the target passes the eye.
const CHORDS: u32 = 64;
/// A target passes the eye if their distance falls below this share of their distance at the neighbouring keys.
const PASSING: f64 = 0.1;

/// A key of a camera flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// Time in seconds.
    pub time: f64,
    /// Position of the camera.
    pub eye: Vec3,
    /// Point in the middle of the picture.
    pub target: Vec3,
}

/// Pace of a camera along a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Share of the path as a function of the share of the time.
    pub ease: Ease,
    /// Times of the keyed flight at equal steps of arc length.
    pub times: Arc<[f64]>,
}

choice! {
    /// Parametrisation of a flight's curves (Yuksel et al. 2011, "Parameterization and Applications of Catmull-Rom Curves").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Parametrisation = Centripetal {
        /// Stays close to the keys, even if they are unevenly spaced in distance or time.
        Centripetal = "centripetal",
        /// Bends less between distant keys, and more between close ones.
        Chordal = "chordal",
        /// Uses only the times of the keys, and overshoots if distances or times are uneven.
        Uniform = "uniform",
    }
}

/// A flight along Catmull-Rom splines through keys of increasing time.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// Keys of the flight, at least two.
    keys: Vec<CameraKey>,
    parametrisation: Parametrisation,
    /// For each pair of keys, whether the target would pass the eye in between. The camera then rotates from one direction to the other.
    turns: Vec<bool>,
    /// Pace along the path from the first key's time to the last key's, by arc length. None: the keys' times set the pace.
    pub pace: Option<Pace>,
    /// Rolls of the camera to the right, in radians, with the times of their keys. Empty: the camera's own roll.
    pub rolls: Vec<(f64, f32)>,
    /// Lean of the camera into bends: 1 balances a gravity of 9.81 units/s².
    pub bank: f32,
    /// Offsets added to the heights of keys; None if heights are in world space.
    lift: Option<Arc<Lift>>,
}

impl Flight {
    /// The flight through `keys`, whose times set the pace. Uniform flights do not turn where the target passes the eye.
    pub fn new(keys: Vec<CameraKey>, parametrisation: Parametrisation) -> Self {
        let mut flight = Self { keys, parametrisation, ..Self::default() };
        if parametrisation != Parametrisation::Uniform {
            flight.turns = (1..flight.keys.len()).map(|after| flight.passes_eye(after - 1)).collect();
        }
        flight
    }

    /// Makes the heights of keys relative to a ground.
    ///
    /// # Errors
    /// A position of the eye that is not above or below the ground.
    pub fn keep_above(&mut self, above: Above) -> Result<(), Vec3> {
        self.lift = None;
        self.lift = Some(Arc::new(Lift::new(self, above)?));
        Ok(())
    }

    /// A flight above a ground through `keys`, whose heights are in world space.
    ///
    /// # Errors
    /// As [`Self::keep_above`].
    pub fn above_ground(keys: &[CameraKey], parametrisation: Parametrisation, above: &Above) -> Result<Self, Vec3> {
        let mut flight = Self::new(keys.to_vec(), parametrisation);
        // The path between keys depends slightly on their heights, so the offsets are iterated.
        for _ in 0..3 {
            flight.keep_above(above.clone())?;
            let relative = keys.iter().map(|key| {
                let [of_eye, of_target] = flight.lift_at(key.time);
                CameraKey { eye: key.eye - Vec3::Y * of_eye, target: key.target - Vec3::Y * of_target, ..*key }
            });
            flight = Self::new(relative.collect(), parametrisation);
        }
        flight.keep_above(above.clone()).map(|()| flight)
    }

    /// The height constraint above a ground, if there is one.
    pub fn above(&self) -> Option<&Above> {
        self.lift.as_ref().map(|lift| lift.above())
    }

    /// Offsets added to the heights of eye and target at the time of a key.
    pub fn lift_at(&self, key_time: f64) -> [f32; 2] {
        self.lift.as_ref().map_or([0.0; 2], |lift| lift.at(key_time))
    }

    /// The keys, in order of time.
    pub fn keys(&self) -> &[CameraKey] {
        &self.keys
    }

    /// Times of the first and of the last key.
    pub fn span(&self) -> (f64, f64) {
        let time = |key: Option<&CameraKey>| key.map_or(0.0, |key| key.time);
        (time(self.keys.first()), time(self.keys.last()))
    }

    /// Parametrisation of the curves.
    pub fn parametrisation(&self) -> Parametrisation {
        self.parametrisation
    }

    /// Eye and target at `time`, in seconds, relative to `origin`. They are constant before the first key and after the last. Where the
    /// target would pass the eye, the camera rotates about `up` and tilts as needed.
    pub fn at(&self, time: f64, origin: Vec3, up: Vec3) -> (Vec3, Vec3) {
        let time = self.pace.as_ref().map_or(time, |pace| self.paced(pace, time));
        let (eye, target) = self.keyed(time, origin, up);
        match &self.lift {
            None => (eye, target),
            Some(lift) => {
                let [of_eye, of_target] = lift.at(time);
                (eye + Vec3::Y * of_eye, target + Vec3::Y * of_target)
            }
        }
    }

    /// Eye and target without height offsets, at a time of the keyed flight, that is without pace.
    pub(super) fn keyed(&self, time: f64, origin: Vec3, up: Vec3) -> (Vec3, Vec3) {
        let eye = self.point(time, origin, |key| key.eye);
        let next = self.keys.partition_point(|key| key.time <= time);
        match next.checked_sub(1).filter(|&key| self.turns.get(key) == Some(&true)) {
            Some(key) => (eye, eye + self.turned(key, time, up)),
            None => (eye, self.point(time, origin, |key| key.target)),
        }
    }

    /// The point of a curve at `time`, relative to `origin`.
    fn point(&self, time: f64, origin: Vec3, of: fn(&CameraKey) -> Vec3) -> Vec3 {
        let power = match self.parametrisation {
            Parametrisation::Uniform => {
                let points: Vec<_> = self.keys.iter().map(|key| (key.time, of(key) - origin)).collect();
                return catmull_rom(&points, time);
            }
            Parametrisation::Centripetal => 0.5,
            Parametrisation::Chordal => 1.0,
        };
        let keys = Knots { keys: &self.keys, of, origin: origin.as_dvec3(), power };
        keys.at(time).as_vec3()
    }

    /// The time of the keyed flight that corresponds to `time` according to `pace`.
    fn paced(&self, pace: &Pace, time: f64) -> f64 {
        let (Some(first), Some(last)) = (self.keys.first(), self.keys.last()) else {
            return time;
        };
        let share = ((time - first.time) / (last.time - first.time)).clamp(0.0, 1.0);
        let steps = (pace.times.len() - 1) as f64;
        let at = pace.ease.share(share).clamp(0.0, 1.0) * steps;
        let step = (at as usize).min(pace.times.len().saturating_sub(2));
        match (pace.times.get(step), pace.times.get(step + 1)) {
            (Some(from), Some(to)) => from + (to - from) * (at - step as f64),
            _ => time,
        }
    }

    /// Whether the target comes close to the eye between a key and the next, relative to the distances at these keys.
    fn passes_eye(&self, key: usize) -> bool {
        let (from, to) = (self.keys[key].time, self.keys[key + 1].time);
        let between = |step: u32| {
            let time = from + (to - from) * f64::from(step) / f64::from(CHORDS);
            let (eye, target) =
                (self.point(time, Vec3::ZERO, |key| key.eye), self.point(time, Vec3::ZERO, |key| key.target));
            target.as_dvec3() - eye.as_dvec3()
        };
        let ways: Vec<DVec3> = (0..=CHORDS).map(between).collect();
        let most = PASSING * ways[0].length().min(ways[ways.len() - 1].length());
        ways.windows(2).any(|pair| distance_to_chord(pair[0], pair[1]) < most)
    }

    /// Vector from the eye to the target at a time between `key` and the next, where the camera rotates.
    fn turned(&self, key: usize, time: f64, up: Vec3) -> Vec3 {
        let (a, b) = (&self.keys[key], &self.keys[key + 1]);
        let share = (time - a.time) / (b.time - a.time);
        let up = up.as_dvec3().normalize_or(DVec3::Y);
        let [from, to] = [a, b].map(|key| key.target.as_dvec3() - key.eye.as_dvec3());
        let level = |way: DVec3| way - up * way.dot(up);
        let ahead = level(from).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
        let aside = ahead.cross(up);
        let across = level(to);
        // A half turn is always made to the right, independent of rounding.
        let pan = across.dot(aside).atan2(across.dot(ahead));
        let pan = if pan < 1e-6 - PI { pan + 2.0 * PI } else { pan };
        let tilt = |way: DVec3| way.dot(up).atan2(level(way).length());
        let (pan, tilt) = (pan * share, tilt(from) + (tilt(to) - tilt(from)) * share);
        let distance = from.length() + (to.length() - from.length()) * share;
        let direction = (ahead * pan.cos() + aside * pan.sin()) * tilt.cos() + up * tilt.sin();
        (direction * distance).as_vec3()
    }
}

/// Distance of the origin from the line through two points.
fn distance_to_chord(a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let share = (-a.dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    (a + along * share).length()
}

/// A spline whose knot spacing is the distance between the points of successive keys, raised to a power.
///
/// Its shape depends only on the points (Barry and Goldman 1988). Each key is passed at its time. Between keys, the knot parameter is a
/// monotone cubic of time (Fritsch and Carlson 1980, with the harmonic means of Fritsch and Butland 1984), so that the speed is continuous
/// and the motion never reverses. If neighbouring keys have the same point, the motion pauses.
struct Knots<'a> {
    keys: &'a [CameraKey],
    of: fn(&CameraKey) -> Vec3,
    /// Origin to which points are relative.
    origin: DVec3,
    power: f64,
}

impl Knots<'_> {
    fn at(&self, time: f64) -> DVec3 {
        let next = self.keys.partition_point(|key| key.time <= time);
        match next {
            0 if self.keys.is_empty() => DVec3::ZERO,
            0 => self.point(0),
            _ if next == self.keys.len() => self.point(next - 1),
            _ => self.between(next - 1, time),
        }
    }

    fn point(&self, key: usize) -> DVec3 {
        (self.of)(&self.keys[key]).as_dvec3() - self.origin
    }

    /// Knot spacing between a key and the next.
    fn step(&self, key: usize) -> f64 {
        self.point(key).distance(self.point(key + 1)).powf(self.power)
    }

    /// Time from a key to the next, in seconds.
    fn seconds(&self, key: usize) -> f64 {
        self.keys[key + 1].time - self.keys[key].time
    }

    fn between(&self, key: usize, time: f64) -> DVec3 {
        let (a, b, own) = (self.point(key), self.point(key + 1), self.step(key));
        if own == 0.0 {
            return a;
        }
        let slope = (b - a) / own;
        let (mut from, mut to) = (slope, slope);
        let seconds = self.seconds(key);
        let (mut start, mut end) = (own / seconds, own / seconds);
        if let Some(before) = key.checked_sub(1) {
            let (p, step) = (self.point(before), self.step(before));
            if step > 0.0 {
                from += (a - p) / step - (b - p) / (step + own);
            }
            start = harmonic([self.seconds(before), seconds], [step, own]);
        }
        if key + 2 < self.keys.len() {
            let (p, step) = (self.point(key + 2), self.step(key + 1));
            if step > 0.0 {
                to += (p - b) / step - (p - a) / (own + step);
            }
            end = harmonic([seconds, self.seconds(key + 1)], [own, step]);
        }
        let share = (time - self.keys[key].time) / seconds;
        let knot = hermite(0.0, own, start * seconds, end * seconds, share) / own;
        let part = |i: usize| hermite(a[i], b[i], from[i] * own, to[i] * own, knot);
        DVec3::new(part(0), part(1), part(2))
    }
}

/// Weighted harmonic mean of the speeds in two intervals, given by durations and distances; 0 if either distance is 0.
fn harmonic(seconds: [f64; 2], ways: [f64; 2]) -> f64 {
    if ways.contains(&0.0) {
        return 0.0;
    }
    let weights = [2.0 * seconds[1] + seconds[0], seconds[1] + 2.0 * seconds[0]];
    (weights[0] + weights[1]) / (weights[0] * seconds[0] / ways[0] + weights[1] * seconds[1] / ways[1])
}

/// Cubic from `a` to `b` with the slopes `from` and `to`, at parameter `t` from 0 to 1.
fn hermite(a: f64, b: f64, from: f64, to: f64, t: f64) -> f64 {
    let rise = b - a;
    a + (from + (rise * 3.0 - from * 2.0 - to + (from + to - rise * 2.0) * t) * t) * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(eyes: &[[f32; 3]]) -> Vec<CameraKey> {
        (0..)
            .zip(eyes)
            .map(|(i, &eye)| CameraKey { time: f64::from(i), eye: eye.into(), target: Vec3::Z * -20.0 })
            .collect()
    }

    fn eyes(eyes: &[[f32; 3]], parametrisation: Parametrisation) -> Vec<Vec3> {
        let flight = Flight::new(through(eyes), parametrisation);
        let end = (eyes.len() - 1) as f64;
        (0..=3000).map(|i| flight.at(end * f64::from(i) / 3000.0, Vec3::ZERO, Vec3::Y).0).collect()
    }

    #[test]
    fn an_eye_that_swoops_down_stays_above_the_ground() {
        let keys = [[0.0, 10.0, 0.0], [0.0, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.5, 0.0]];
        let lowest =
            |parametrisation| eyes(&keys, parametrisation).iter().map(|eye| eye.y).fold(f32::INFINITY, f32::min);
        // The exact least height of the centripetal curve is 0.43975.
        assert!((lowest(Parametrisation::Centripetal) - 0.43975).abs() < 1e-4);
        assert!(lowest(Parametrisation::Chordal) > 0.4);
        assert!(lowest(Parametrisation::Uniform) < -0.19);
    }

    #[test]
    fn an_eye_does_not_go_backwards_where_keys_are_uneven() {
        let keys = [[0.0; 3], [1.0, 0.0, 0.0], [10.0, 5.0, 0.0], [10.5, 0.0, 0.0]];
        let forwards =
            |parametrisation| eyes(&keys, parametrisation)[..2000].windows(2).all(|pair| pair[1].x >= pair[0].x);
        assert!(forwards(Parametrisation::Centripetal));
        assert!(!forwards(Parametrisation::Uniform));
    }

    #[test]
    fn the_speed_does_not_jump_at_keys_whatever_their_times_are() {
        let mut keys = through(&[[0.0; 3], [1.0, 0.0, 0.0], [10.0, 5.0, 0.0], [10.5, 0.0, 0.0], [12.0, 0.0, 1.0]]);
        for (key, time) in keys.iter_mut().zip([0.0, 3.0, 3.5, 7.0, 7.1]) {
            key.time = time;
        }
        let flight = Flight::new(keys.clone(), Parametrisation::Centripetal);
        let eye = |time: f64| flight.point(time, Vec3::ZERO, |key| key.eye).as_dvec3();
        for key in &keys[1..4] {
            let (before, after) = (eye(key.time) - eye(key.time - 1e-4), eye(key.time + 1e-4) - eye(key.time));
            assert!(before.distance(after) < 0.05 * before.length().max(after.length()), "{before} {after}");
        }
    }

    #[test]
    fn even_keys_on_a_line_are_passed_at_one_speed() {
        for parametrisation in Parametrisation::ALL {
            let flight = Flight::new(through(&[[0.0; 3], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0]]), parametrisation);
            for i in 0..=20 {
                let eye = flight.at(0.1 * f64::from(i), Vec3::ZERO, Vec3::Y).0;
                assert!((eye.x - 0.2 * i as f32).abs() < 1e-5, "{eye}");
            }
        }
    }

    #[test]
    fn keys_at_one_place_stand_still() {
        let flight = Flight::new(
            through(&[[0.0; 3], [3.0, 1.0, 0.0], [3.0, 1.0, 0.0], [9.0, 0.0, 2.0]]),
            Parametrisation::Centripetal,
        );
        for time in [1.0, 1.3, 1.9, 2.0] {
            assert_eq!(flight.at(time, Vec3::ZERO, Vec3::Y).0, Vec3::new(3.0, 1.0, 0.0));
        }
    }

    #[test]
    fn a_camera_turns_where_its_target_would_pass_its_eye() {
        let key = |time: f64, target: Vec3| CameraKey { time, eye: Vec3::splat(2.0), target };
        let keys = vec![key(0.0, Vec3::new(2.0, 2.0, -8.0)), key(1.0, Vec3::new(2.0, 2.0, 11.9))];
        let flight = Flight::new(keys.clone(), Parametrisation::Centripetal);
        let forward = |flight: &Flight, time: f64| {
            let (eye, target) = flight.at(time, Vec3::ZERO, Vec3::Y);
            (target - eye).normalize()
        };
        for frame in 0..8 {
            let [now, next] = [frame, frame + 1].map(|frame| forward(&flight, f64::from(frame) / 8.0));
            assert!((now.angle_between(next).to_degrees() - 22.5).abs() < 0.01, "{now} {next}");
        }
        assert!(forward(&flight, 0.5).distance(Vec3::X) < 1e-5);
        assert!(forward(&flight, 1.0).distance(Vec3::Z) < 1e-6);
        // Files saved by earlier versions keep their flight.
        let uniform = Flight::new(keys, Parametrisation::Uniform);
        assert!(forward(&uniform, 0.49).distance(Vec3::NEG_Z) < 1e-6);
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn every_key_is_passed_at_its_time(steps in prop::collection::vec((0.1f64..4.0, -9f32..9.0, -9f32..9.0), 2..8)) {
            let mut time = 0.0;
            let keys: Vec<CameraKey> = steps.iter().map(|&(step, x, z)| {
                time += step;
                CameraKey { time, eye: Vec3::new(x, 0.1 * x * z, z), target: Vec3::new(z, x, 0.0) }
            }).collect();
            for parametrisation in Parametrisation::ALL {
                let flight = Flight::new(keys.clone(), parametrisation);
                for key in &keys {
                    prop_assert!(flight.point(key.time, Vec3::ZERO, |key| key.eye).distance(key.eye) < 1e-4);
                    prop_assert!(flight.point(key.time - 1e-9, Vec3::ZERO, |key| key.target).distance(key.target) < 1e-3);
                }
            }
        }
    }
}
