//! Transforms of prims (UsdGeomXformable), in doubles and for column vectors.
//!
//! A [`Place`] is the product of all transforms between a group and a prim. It is sampled where any of its ops has a sample, and between samples
//! where matrices could not be interpolated: USD interpolates angles, and a turn of 360 degrees has two samples.

use super::values::{Values, compact};
use crate::Sampled;
use glam::{DAffine3, DMat4, DQuat, DVec3};
use openusd::usd::Prim;
use std::rc::Rc;

/// Largest rotation in degrees between two samples of a place, unless they are a time code apart.
const LARGEST_TURN: f64 = 10.0;

/// Largest error of interpolated axes relative to their length: that of the middle between two rotations by [`LARGEST_TURN`].
const AXIS_TOLERANCE: f64 = 4e-3;

/// Largest error of interpolated positions, relative to the length of the axes.
const POSITION_TOLERANCE: f64 = 1e-3;

/// Samples of a place at most.
const MOST_SAMPLES: usize = 10_000;

/// The place of a prim in its group.
#[derive(Clone)]
pub enum Place {
    /// It stays.
    Still(DAffine3),
    /// The product of these.
    Moving(Rc<Vec<Local>>),
}

/// A factor of a [`Place`].
#[derive(Clone)]
pub enum Local {
    /// It stays.
    Still(DAffine3),
    /// The product of the ops of a prim.
    Ops(Rc<Vec<Op>>),
}

/// The transform of a prim relative to its parent.
pub struct OwnTransform {
    /// The transform.
    pub local: Local,
    /// Whether it is relative to the world instead (`!resetXformStack!`).
    pub resets: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self::Still(DAffine3::IDENTITY)
    }
}

impl Place {
    /// The place of a child with this transform.
    pub fn child(&self, own: &OwnTransform) -> Self {
        let above = if own.resets { &Self::default() } else { self };
        match (above, &own.local) {
            (Self::Still(above), Local::Still(local)) => Self::Still(*above * *local),
            (Self::Still(above), moving) => Self::Moving(Rc::new(vec![Local::Still(*above), moving.clone()])),
            (Self::Moving(above), local) => {
                let mut factors = above.as_ref().clone();
                match (factors.last_mut(), local) {
                    (Some(Local::Still(last)), Local::Still(local)) => *last *= *local,
                    _ => factors.push(local.clone()),
                }
                Self::Moving(Rc::new(factors))
            }
        }
    }

    /// The place over time, with samples close enough for matrices to be interpolated. `None` if it is not finite.
    pub fn sampled(&self, values: &Values) -> Option<Sampled<DAffine3>> {
        let sampled = match self {
            Self::Still(place) => Sampled::Still(*place),
            Self::Moving(factors) => {
                let times = dense_times(factors, values);
                compact(times.into_iter().map(|time| (time, product(factors, time))).collect())?
            }
        };
        sampled.all(|place| place.is_finite()).then_some(sampled)
    }
}

fn product(factors: &[Local], time: f64) -> DAffine3 {
    factors.iter().fold(DAffine3::IDENTITY, |product, factor| product * factor.at(time))
}

impl Local {
    fn at(&self, time: f64) -> DAffine3 {
        match self {
            Self::Still(local) => *local,
            Self::Ops(ops) => ops.iter().fold(DAffine3::IDENTITY, |product, op| product * op.at(time)),
        }
    }

    fn ops(&self) -> &[Op] {
        match self {
            Self::Still(_) => &[],
            Self::Ops(ops) => ops,
        }
    }
}

/// Times at which the product is sampled.
fn dense_times(factors: &[Local], values: &Values) -> Vec<f64> {
    let ops: Vec<&Op> = factors.iter().flat_map(Local::ops).filter(|op| op.value.moves()).collect();
    let mut keys: Vec<f64> = ops.iter().flat_map(|op| op.times()).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    // Samples far outside of the range only matter for the values at a frame beyond its ends.
    if let Some((start, end)) = values.times().range {
        keys.iter_mut().for_each(|time| *time = time.clamp(start - 1.0, end + 1.0));
        keys.dedup();
    }
    let mut times = Vec::with_capacity(keys.len());
    for pair in keys.windows(2) {
        let steps = steps(factors, &ops, pair[0], pair[1]);
        let length = (pair[1] - pair[0]) / steps as f64;
        times.extend((0..steps).map(|step| pair[0] + step as f64 * length));
    }
    times.extend(keys.last());
    let stride = times.len().div_ceil(MOST_SAMPLES).max(1);
    let last = times.last().copied();
    let mut times: Vec<f64> = times.into_iter().step_by(stride).collect();
    times.extend(last.filter(|last| times.last() != Some(last)));
    times
}

/// Number of parts of the interval in which matrices can be interpolated; one per time code at most.
fn steps(factors: &[Local], ops: &[&Op], from: f64, to: f64) -> usize {
    let most = (to - from).ceil().clamp(1.0, MOST_SAMPLES as f64);
    let turn: f64 = ops.iter().map(|op| op.turn(from, to)).sum();
    let middle = 0.5 * (from + to);
    let (first, exact, last) = (product(factors, from), product(factors, middle), product(factors, to));
    let columns = |place: &DAffine3| [place.x_axis, place.y_axis, place.z_axis, place.translation];
    let size = columns(&exact)[..3].iter().map(|column| column.length()).fold(f64::MIN_POSITIVE, f64::max);
    let ends = columns(&first).into_iter().zip(columns(&last));
    let errors = ends.zip(columns(&exact)).map(|((a, b), exact)| (0.5 * (a + b) - exact).length() / size);
    let tolerances = [AXIS_TOLERANCE, AXIS_TOLERANCE, AXIS_TOLERANCE, POSITION_TOLERANCE];
    let error = errors.zip(tolerances).map(|(error, tolerance)| error / tolerance).fold(0.0, f64::max);
    // The error of a chord falls with the square of its length.
    let curved = if error.is_finite() { error.sqrt() } else { 1.0 };
    (turn / LARGEST_TURN).max(curved).ceil().clamp(1.0, most) as usize
}

/// An op of a prim's transform.
#[derive(Clone)]
pub struct Op {
    kind: Kind,
    inverse: bool,
    value: Sampled<Operand>,
}

/// What an op does with its operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Translate,
    Scale,
    /// Rotation about axes, in the order in which they are applied.
    Rotate(&'static [usize]),
    Orient,
    Matrix,
}

/// The value of an op.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Vector(DVec3),
    Rotation(DQuat),
    Matrix(DMat4),
}

impl Operand {
    /// The value between two samples, interpolated as USD does it.
    fn between(&self, other: &Self, share: f64) -> Self {
        match (self, other) {
            (Self::Vector(a), Self::Vector(b)) => Self::Vector(a.lerp(*b, share)),
            (Self::Rotation(a), Self::Rotation(b)) => Self::Rotation(slerp(*a, *b, share)),
            (Self::Matrix(a), Self::Matrix(b)) => Self::Matrix(*a + (*b - *a) * share),
            _ => *self,
        }
    }
}

fn slerp(a: DQuat, b: DQuat, share: f64) -> DQuat {
    a.normalize().slerp(b.normalize(), share)
}

/// The value at a time.
fn at(samples: &Sampled<Operand>, time: f64) -> Operand {
    let (a, b, share) = samples.around(time);
    a.between(b, share)
}

impl Op {
    fn at(&self, time: f64) -> DAffine3 {
        let transform = self.kind.transform(at(&self.value, time));
        if self.inverse { transform.inverse() } else { transform }
    }

    fn times(&self) -> Vec<f64> {
        match &self.value {
            Sampled::Still(_) => Vec::new(),
            Sampled::Moving(samples) => samples.iter().map(|(time, _)| *time).collect(),
        }
    }

    /// Rotation in degrees over the interval, which has no samples inside.
    fn turn(&self, from: f64, to: f64) -> f64 {
        match (self.kind, at(&self.value, from), at(&self.value, to)) {
            (Kind::Rotate(_), Operand::Vector(a), Operand::Vector(b)) => (b - a).abs().element_sum(),
            (Kind::Orient, Operand::Rotation(a), Operand::Rotation(b)) => {
                a.normalize().angle_between(b.normalize()).to_degrees()
            }
            // Between samples that are close, it makes no difference that tables of placements turn rigidly.
            (Kind::Matrix, Operand::Matrix(a), Operand::Matrix(b)) => {
                let angle = |axis: usize| a.col(axis).truncate().angle_between(b.col(axis).truncate()).to_degrees();
                (0..3).map(angle).fold(0.0, f64::max)
            }
            _ => 0.0,
        }
    }
}

impl Kind {
    /// The kind of op with this name, and the axis of ops that have a single number.
    fn of(name: &str) -> Option<(Self, Option<usize>)> {
        const AXES: [(&str, &[usize]); 9] = [
            ("X", &[0]),
            ("Y", &[1]),
            ("Z", &[2]),
            ("XYZ", &[0, 1, 2]),
            ("XZY", &[0, 2, 1]),
            ("YXZ", &[1, 0, 2]),
            ("YZX", &[1, 2, 0]),
            ("ZXY", &[2, 0, 1]),
            ("ZYX", &[2, 1, 0]),
        ];
        let axes = |suffix: &str| AXES.iter().find(|(name, _)| *name == suffix).map(|(_, axes)| *axes);
        let single = |suffix: &str| axes(suffix).filter(|axes| axes.len() == 1).map(|axes| Some(axes[0]));
        let whole = |suffix: &str| suffix.is_empty().then_some(None);
        if let Some(suffix) = name.strip_prefix("translate") {
            Some((Self::Translate, whole(suffix).or_else(|| single(suffix))?))
        } else if let Some(suffix) = name.strip_prefix("scale") {
            Some((Self::Scale, whole(suffix).or_else(|| single(suffix))?))
        } else if let Some(suffix) = name.strip_prefix("rotate") {
            let axes = axes(suffix)?;
            Some((Self::Rotate(axes), (axes.len() == 1).then(|| axes[0])))
        } else {
            match name {
                "orient" => Some((Self::Orient, None)),
                "transform" => Some((Self::Matrix, None)),
                _ => None,
            }
        }
    }

    fn transform(self, operand: Operand) -> DAffine3 {
        match (self, operand) {
            (Self::Translate, Operand::Vector(by)) => DAffine3::from_translation(by),
            (Self::Scale, Operand::Vector(by)) => DAffine3::from_scale(by),
            (Self::Rotate(axes), Operand::Vector(degrees)) => {
                let rotation = axes.iter().fold(DQuat::IDENTITY, |rotation, &axis| {
                    DQuat::from_axis_angle(DVec3::AXES[axis], degrees[axis].to_radians()) * rotation
                });
                DAffine3::from_quat(rotation)
            }
            (_, Operand::Rotation(rotation)) if rotation.length_squared() > 0.0 => {
                DAffine3::from_quat(rotation.normalize())
            }
            (_, Operand::Matrix(matrix)) => DAffine3::from_mat4(matrix),
            _ => DAffine3::IDENTITY,
        }
    }

    /// Reads the op's attribute. `single` is the axis of an op with one number; a scale of the other axes stays 1.
    fn read(self, values: &Values, prim: &Prim, name: &str, single: Option<usize>) -> Option<Sampled<Operand>> {
        let rest = if self == Self::Scale { DVec3::ONE } else { DVec3::ZERO };
        match (self, single) {
            (Self::Orient, _) => Some(values.sampled::<DQuat>(prim, name)?.map(|value| Operand::Rotation(*value))),
            (Self::Matrix, _) => Some(values.sampled::<DMat4>(prim, name)?.map(|value| Operand::Matrix(*value))),
            (_, None) => Some(values.sampled(prim, name)?.map(|value| Operand::Vector(DVec3::from_array(*value)))),
            (_, Some(axis)) => {
                let number = values.sampled::<f64>(prim, name)?;
                Some(number.map(|&number| {
                    let mut vector = rest;
                    vector[axis] = number;
                    Operand::Vector(vector)
                }))
            }
        }
    }
}

/// Reads the transform of a prim.
pub fn read(values: &Values, prim: &Prim) -> OwnTransform {
    let order: Vec<String> = values.get(prim, "xformOpOrder").unwrap_or_default();
    // Ops before the last reset have no effect.
    let resets = order.iter().rposition(|name| name == "!resetXformStack!");
    let names = &order[resets.map_or(0, |index| index + 1)..];
    let ops: Vec<Op> = names.iter().filter_map(|name| read_op(values, prim, name)).collect();
    let local = if ops.iter().any(|op| op.value.moves()) {
        Local::Ops(Rc::new(ops))
    } else {
        Local::Still(ops.iter().fold(DAffine3::IDENTITY, |product, op| product * op.at(0.0)))
    };
    OwnTransform { local, resets: resets.is_some() }
}

fn read_op(values: &Values, prim: &Prim, name: &str) -> Option<Op> {
    let (inverse, attribute) = match name.strip_prefix("!invert!") {
        Some(attribute) => (true, attribute),
        None => (false, name),
    };
    let parts = attribute.strip_prefix("xformOp:").and_then(|rest| rest.split(':').next());
    let Some((kind, single)) = parts.and_then(Kind::of) else {
        values.warn(format!("{}: transform op `{name}` is unknown; it is left out", prim.path()));
        return None;
    };
    let value = kind.read(values, prim, attribute, single)?;
    Some(Op { kind, inverse, value })
}
