//! Point instancers (UsdGeomPointInstancer).

use super::values::Values;
use crate::{ABSENT, Sampled};
use glam::{Affine3, Quat, Vec3};
use openusd::{sdf::Value, usd::Prim};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// Largest rotation in degrees between two samples of a copy, unless they are a time code apart.
const LARGEST_TURN: f32 = 10.0;

/// Time codes between a sample at which copies come or go, and one before it.
const BEFORE_A_CHANGE: f64 = 0.01;

/// Transforms of all copies at all times at most. More samples would need gigabytes.
const MOST_PLACES: usize = 200_000_000;

/// The copies of a point instancer.
pub struct Scattered {
    /// Index of the prototype of each copy, valid in the list of prototypes.
    pub of: Vec<u32>,
    /// Place of each copy relative to the instancer.
    pub places: Sampled<Vec<Affine3>>,
}

/// Reads the copies of an instancer with this number of prototypes. Copies that are masked or invalid are left out.
pub fn read(values: &Values, prim: &Prim, prototypes: usize) -> Scattered {
    let reader = Reader { values, prim, prototypes, inactive: inactive(prim), tracks: Tracks::read(values, prim) };
    match reader.tracks.times() {
        keys if keys.len() > 1 => reader.moving(&values.within_range(keys)),
        keys => reader.one_state(keys.first().copied()),
    }
}

struct Reader<'a> {
    values: &'a Values,
    prim: &'a Prim,
    prototypes: usize,
    inactive: HashSet<i64>,
    tracks: Tracks,
}

/// An array over time. One without a time does not change.
type Track<T> = Vec<(f64, Vec<T>)>;

/// The arrays of an instancer over time.
struct Tracks {
    of: Track<i32>,
    ids: Track<i64>,
    hidden: Track<i64>,
    positions: Track<Vec3>,
    orientations: Track<Quat>,
    /// `orientationsf`, which replaces `orientations`.
    fine_orientations: Track<Quat>,
    scales: Track<Vec3>,
}

impl Tracks {
    fn read(values: &Values, prim: &Prim) -> Self {
        Self {
            of: values.track(prim, "protoIndices"),
            ids: values.track(prim, "ids"),
            hidden: values.track(prim, "invisibleIds"),
            positions: values.track(prim, "positions"),
            orientations: values.track(prim, "orientations"),
            fine_orientations: values.track(prim, "orientationsf"),
            scales: values.track(prim, "scales"),
        }
    }

    /// Times at which an array has a sample.
    fn times(&self) -> Vec<f64> {
        fn of<T>(track: &Track<T>) -> impl Iterator<Item = f64> {
            track.iter().map(|(time, _)| *time).filter(|time| time.is_finite())
        }
        let discrete = of(&self.of).chain(of(&self.ids)).chain(of(&self.hidden));
        let rotations = of(&self.orientations).chain(of(&self.fine_orientations));
        let mut times: Vec<f64> =
            discrete.chain(of(&self.positions)).chain(rotations).chain(of(&self.scales)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }
}

/// The array at a time, as it was before.
fn held<T>(track: &Track<T>, time: f64) -> &[T] {
    let after = track.partition_point(|(sample, _)| *sample <= time);
    track.get(after.saturating_sub(1)).map_or(&[], |(_, values)| values)
}

/// The array at a time, between samples of equal length as `mix` interpolates.
fn mixed<T: Copy>(track: &Track<T>, time: f64, mix: impl Fn(T, T, f32) -> T) -> Cow<'_, [T]> {
    let after = track.partition_point(|(sample, _)| *sample <= time);
    match (after.checked_sub(1).map(|before| &track[before]), track.get(after)) {
        (Some((from, a)), Some((to, b))) if a.len() == b.len() && time > *from => {
            let share = ((time - from) / (to - from)) as f32;
            Cow::Owned(a.iter().zip(b).map(|(a, b)| mix(*a, *b, share)).collect())
        }
        _ => Cow::Borrowed(held(track, time)),
    }
}

/// Arrays at a time.
struct Arrays<'a> {
    of: &'a [i32],
    ids: &'a [i64],
    hidden: HashSet<i64>,
    positions: Cow<'a, [Vec3]>,
    orientations: Cow<'a, [Quat]>,
    scales: Cow<'a, [Vec3]>,
}

/// A copy: its id, or its index if there are no ids, and its prototype.
type Identity = (i64, u32);

impl Arrays<'_> {
    fn id(&self, index: usize) -> i64 {
        self.ids.get(index).copied().unwrap_or(index as i64)
    }

    /// The place of a copy, if its numbers are finite.
    fn place(&self, index: usize) -> Option<Affine3> {
        let position = *self.positions.get(index)?;
        let rotation = self.orientations.get(index).map_or(Quat::IDENTITY, |rotation| unit(*rotation));
        let scale = self.scales.get(index).copied().unwrap_or(Vec3::ONE);
        Some(Affine3::from_scale_rotation_translation(scale, rotation, position)).filter(Affine3::is_finite)
    }
}

fn unit(rotation: Quat) -> Quat {
    let length = rotation.length();
    if length > 1e-10 { rotation / length } else { Quat::IDENTITY }
}

impl Reader<'_> {
    fn arrays(&self, time: Option<f64>) -> Arrays<'_> {
        let tracks = &self.tracks;
        // Without a time, each array has one value.
        let time = time.unwrap_or(f64::INFINITY);
        let of = held(&tracks.of, time);
        let positions = mixed(&tracks.positions, time, Vec3::lerp);
        if positions.len() != of.len() {
            let counts = format!("{} positions for {} protoIndices", positions.len(), of.len());
            self.warn(format!("has {counts}; copies without a position are left out"));
        }
        let fits = |name: &str, count: usize| {
            let fits = count == of.len() || count == 0;
            if !fits {
                self.warn(format!("has {count} {name} for {} protoIndices; {name} are ignored", of.len()));
            }
            fits && count > 0
        };
        let turned = |track, name| {
            let mix = |a, b, share| unit(a).slerp(unit(b), share);
            Some(mixed(track, time, mix)).filter(|turns| fits(name, turns.len()))
        };
        let orientations = turned(&tracks.fine_orientations, "orientationsf");
        let orientations = orientations.or_else(|| turned(&tracks.orientations, "orientations"));
        let scales = Some(mixed(&tracks.scales, time, Vec3::lerp)).filter(|scales| fits("scales", scales.len()));
        let ids = Some(held(&tracks.ids, time)).filter(|ids| fits("ids", ids.len()));
        Arrays {
            of,
            ids: ids.unwrap_or_default(),
            hidden: held(&tracks.hidden, time).iter().copied().collect(),
            positions,
            orientations: orientations.unwrap_or_default(),
            scales: scales.unwrap_or_default(),
        }
    }

    /// Calls `each` with the index, identity and place of all copies that are drawn.
    fn copies(&self, arrays: &Arrays<'_>, mut each: impl FnMut(usize, Identity, Affine3)) {
        let (mut bad_index, mut bad_number) = (0_usize, 0_usize);
        for (index, &of) in arrays.of.iter().enumerate() {
            let id = arrays.id(index);
            if self.inactive.contains(&id) || arrays.hidden.contains(&id) {
                continue;
            }
            let Some(prototype) = u32::try_from(of).ok().filter(|&of| (of as usize) < self.prototypes) else {
                bad_index += 1;
                continue;
            };
            match arrays.place(index) {
                Some(place) => each(index, (id, prototype), place),
                // Missing positions have a warning of their own.
                None => bad_number += usize::from(index < arrays.positions.len()),
            }
        }
        if bad_index > 0 {
            let range = format!("not in the {} prototypes", self.prototypes);
            self.warn(format!("{bad_index} protoIndices are {range}; these copies are left out"));
        }
        if bad_number > 0 {
            self.warn(format!("{bad_number} copies have numbers that are not finite; they are left out"));
        }
    }

    /// Copies whose arrays have one sample at most, which may move by velocities.
    fn one_state(&self, key: Option<f64>) -> Scattered {
        let arrays = self.arrays(key);
        let mut of = Vec::with_capacity(arrays.of.len());
        let mut places = Vec::with_capacity(arrays.of.len());
        let mut indices = Vec::new();
        let motion = self.motion(&arrays, key);
        self.copies(&arrays, |index, (_, prototype), place| {
            of.push(prototype);
            places.push(place);
            if motion.is_some() {
                indices.push(index);
            }
        });
        let places = match motion {
            Some(motion) => Sampled::Moving(motion.sampled(&arrays, &indices, places)),
            None => Sampled::Still(places),
        };
        Scattered { of, places }
    }

    /// Motion by velocities, from a sample at `key` or else the first time.
    fn motion(&self, arrays: &Arrays<'_>, key: Option<f64>) -> Option<Motion> {
        let Self { values, prim, .. } = *self;
        let times = values.times();
        let read = |name: &str| {
            let found: Vec<Vec3> = values.get_any(prim, name, key).unwrap_or_default();
            let fits = found.len() == arrays.positions.len();
            if !fits && !found.is_empty() {
                let counts = format!("{} {name} for {} positions", found.len(), arrays.positions.len());
                self.warn(format!("has {counts}; they are ignored"));
            }
            if fits { found } else { Vec::new() }
        };
        let velocities = read("velocities");
        let turns = read("angularVelocities");
        // Accelerations only refine velocities.
        let accelerations = if velocities.is_empty() { Vec::new() } else { read("accelerations") };
        let moves = |values: &[Vec3]| values.iter().any(|value| *value != Vec3::ZERO && value.is_finite());
        if !moves(&velocities) && !moves(&turns) {
            return None;
        }
        let own = || values.sample_times(prim, "positions").first().copied();
        let origin = key.or_else(own).or(times.range.map(|(start, _)| start)).unwrap_or(0.0);
        let (from, to) = times.range.unwrap_or((origin, origin));
        let (from, to) = (from.min(origin) - 1.0, to.max(origin) + 1.0);
        let curved = moves(&turns) || moves(&accelerations);
        let most = (MOST_PLACES / arrays.of.len().max(1)).max(2) as f64;
        let steps = if curved { (to - from).ceil().min(most) } else { 1.0 };
        let mut samples: Vec<f64> = (0..=steps as usize).map(|step| from + (to - from) * step as f64 / steps).collect();
        samples.push(origin);
        samples.sort_by(f64::total_cmp);
        samples.dedup();
        Some(Motion { origin, per_second: times.per_second, samples, velocities, accelerations, turns })
    }

    /// Copies over several samples.
    fn moving(&self, keys: &[f64]) -> Scattered {
        let mut slots: HashMap<Identity, usize> = HashMap::new();
        let mut states: Vec<(f64, Vec<(usize, Affine3)>)> = Vec::new();
        let mut doubled = 0_usize;
        for time in self.dense_times(keys) {
            let arrays = self.arrays(Some(time));
            let mut state = Vec::with_capacity(arrays.of.len());
            let mut filled = HashSet::with_capacity(arrays.of.len());
            self.copies(&arrays, |_, identity, place| {
                let next = slots.len();
                let slot = *slots.entry(identity).or_insert(next);
                if filled.insert(slot) {
                    state.push((slot, place));
                } else {
                    doubled += 1;
                }
            });
            states.push((time, state));
        }
        if doubled > 0 {
            self.warn("several copies have the same id; all but the first of each are left out".to_owned());
        }
        let mut of = vec![0; slots.len()];
        slots.iter().for_each(|(&(_, prototype), &slot)| of[slot] = prototype);
        let spread = |state: Vec<(usize, Affine3)>| {
            let mut places = vec![ABSENT; of.len()];
            state.into_iter().for_each(|(slot, place)| places[slot] = place);
            places
        };
        let samples = states.into_iter().map(|(time, state)| (time, spread(state))).collect();
        let places = compact(samples);
        Scattered { of, places }
    }

    /// The copies that are there.
    fn identities(&self, arrays: &Arrays<'_>) -> HashSet<Identity> {
        let mut identities = HashSet::new();
        self.copies(arrays, |_, identity, _| {
            identities.insert(identity);
        });
        identities
    }

    /// The keys, and times between them: where a copy turns by more than matrices can be interpolated, and before copies come or go, because
    /// those of the earlier key stay until then.
    fn dense_times(&self, keys: &[f64]) -> Vec<f64> {
        let mut times = Vec::new();
        let mut before: Option<(f64, Arrays<'_>)> = None;
        for &key in keys {
            let arrays = self.arrays(Some(key));
            if let Some((from, before)) = &before {
                let steps = (turn(before, &arrays) / LARGEST_TURN).ceil().clamp(1.0, (key - from).ceil() as f32);
                let length = (key - from) / f64::from(steps);
                times.extend((1..steps as usize).map(|step| from + length * step as f64));
                if key - from > 1.0 && self.identities(before) != self.identities(&arrays) {
                    times.push(key - BEFORE_A_CHANGE);
                }
            }
            times.push(key);
            before = Some((key, arrays));
        }
        let copies = before.map_or(1, |(_, arrays)| arrays.of.len().max(1));
        let most = (MOST_PLACES / copies).max(2);
        if times.len() > most {
            let stride = times.len().div_ceil(most);
            self.warn(format!("has too many samples; every {stride}. one is used"));
            times = times.into_iter().step_by(stride).collect();
        }
        times
    }

    fn warn(&self, text: String) {
        self.values.warn(format!("{}: {text}", self.prim.path()));
    }
}

/// Largest rotation of a copy in degrees between two samples.
fn turn(from: &Arrays<'_>, to: &Arrays<'_>) -> f32 {
    // Quaternions are interpolated only where arrays have the same length.
    if from.orientations.len() != to.orientations.len() {
        return 0.0;
    }
    let pairs = from.orientations.iter().zip(to.orientations.iter());
    let turns = pairs.map(|(from, to)| unit(*from).angle_between(unit(*to)).to_degrees());
    turns.filter(|turn| turn.is_finite()).fold(0.0, f32::max)
}

/// Samples that differ. Equal bits are equal, as absent copies are NaN.
fn compact(mut samples: Vec<(f64, Vec<Affine3>)>) -> Sampled<Vec<Affine3>> {
    let bits = |places: &[Affine3]| -> Vec<[u32; 12]> {
        places.iter().map(|place| place.to_cols_array().map(f32::to_bits)).collect()
    };
    let still = samples.windows(2).all(|pair| bits(&pair[0].1) == bits(&pair[1].1));
    if still || samples.len() < 2 {
        return Sampled::Still(samples.pop().map(|(_, places)| places).unwrap_or_default());
    }
    Sampled::Moving(samples)
}

/// Motion of copies away from a sample.
struct Motion {
    origin: f64,
    per_second: f64,
    samples: Vec<f64>,
    velocities: Vec<Vec3>,
    accelerations: Vec<Vec3>,
    /// Degrees per second about each axis.
    turns: Vec<Vec3>,
}

impl Motion {
    /// Places over time of the copies with these indices, whose places at the origin are given.
    fn sampled(&self, arrays: &Arrays<'_>, indices: &[usize], places: Vec<Affine3>) -> Vec<(f64, Vec<Affine3>)> {
        let at = |time: f64| {
            let seconds = ((time - self.origin) / self.per_second) as f32;
            let copies = indices.iter().zip(&places);
            copies.map(|(&index, place)| self.place(arrays, index, *place, seconds)).collect()
        };
        self.samples.iter().map(|&time| (time, at(time))).collect()
    }

    fn place(&self, arrays: &Arrays<'_>, index: usize, place: Affine3, seconds: f32) -> Affine3 {
        let of = |values: &[Vec3]| values.get(index).copied().filter(|value| value.is_finite()).unwrap_or(Vec3::ZERO);
        let moved = (of(&self.velocities) + of(&self.accelerations) * (0.5 * seconds)) * seconds;
        let turn = of(&self.turns) * seconds;
        let angle = turn.length().to_radians();
        let rotation = arrays.orientations.get(index).map_or(Quat::IDENTITY, |rotation| unit(*rotation));
        // As USD does it: the copy's own rotation comes first.
        let rotation = match turn.try_normalize() {
            Some(axis) => Quat::from_axis_angle(axis, angle) * rotation,
            None => rotation,
        };
        let scale = arrays.scales.get(index).copied().unwrap_or(Vec3::ONE);
        let moved = Affine3::from_scale_rotation_translation(scale, rotation, place.translation + moved);
        if moved.is_finite() { moved } else { place }
    }
}

/// Copies that are deactivated by metadata of the instancer.
fn inactive(prim: &Prim) -> HashSet<i64> {
    match prim.get_metadata::<Value>("inactiveIds").ok().flatten() {
        Some(Value::Int64ListOp(list)) => list.flatten().into_iter().collect(),
        Some(Value::Int64Vec(ids)) => ids.into_iter().collect(),
        _ => HashSet::new(),
    }
}
