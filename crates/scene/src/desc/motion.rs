//! `motions: { "name": (parts: [..], phase: ..) }`: movements shared by instances and groups.

use super::{Aim, Double, Finite, Point, Rotation, Scale, Varying, values};
use crate::{Ease, Ends};
use glam::{EulerRot, Quat, Vec3};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// `(parts: [Spin(axis: (0, 1, 0), period: 4)], phase: random(seed: 1))`: an entry of the `motions` section, by its name: a movement for
/// placements.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "motions", deny_unknown_fields)]
pub struct MotionDesc {
    /// Movements. Their transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<PartDesc>,
    /// Phase offset of each copy. Default `same`: all copies move in step.
    #[serde(default)]
    pub phase: PhaseDesc,
}

/// Each entry of `parts` is one of the following.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "parts")]
pub enum PartDesc {
    Spin(Spin),
    Sway(Sway),
    Bob(Bob),
    Keyframes(Keyframes),
    Follow(FollowDesc),
    LookAt(Towards),
    Noise(Shake),
    Clip(Clip),
}

/// `Spin(axis: (0, 1, 0), period: 4)`: one revolution per `period` seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// Axis of the rotation. Any length but 0. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub axis: Point,
    /// Seconds per revolution, not 0; negative numbers reverse the direction.
    pub period: Double,
}

/// `Sway(axis: (0, 0, 1), degrees: 10, period: 3)`: rotation to `degrees` and to -`degrees` once per `period` seconds.
///
/// With `bend`, the mesh bends with height instead, like a tree in wind: `Sway(direction: (1, 0, 0), degrees: 8, period: 3, bend: ())`. A
/// group bends as one mesh.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sway {
    /// Axis of the rotation, in the space of the copy. Any length but 0. Either this or `direction` is given.
    #[serde(default)]
    pub axis: Option<Point>,
    /// Horizontal direction in which the top moves first. Any length but 0. With `bend`, the direction is independent of the copy's
    /// rotation; otherwise it is in the space of the copy. Either this or `axis` is given.
    #[serde(default)]
    pub direction: Option<Point>,
    /// Maximum angle in either direction, in degrees. With `bend`, it is the angle of the top, at most 120.
    pub degrees: Finite,
    /// Seconds per cycle, not 0.
    pub period: Double,
    /// Bending of the mesh; `()` bends it like a tree. Only for placements of meshes and groups whose contents do not move. Default: none,
    /// it rotates rigidly.
    #[serde(default)]
    pub bend: Option<BendDesc>,
}

/// `bend: (from: 0.1, stiffness: 2, gusts: 0.5)`: bending of a mesh with height. The foot is the lowest point of the mesh. The trunk is the
/// vertical line above its origin, and keeps its length. All copies use poses that are computed once per mesh.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "bend", default, deny_unknown_fields)]
pub struct BendDesc {
    /// Height at which the bend begins, relative to the mesh's height, at least 0 and below 1. Default 0: the foot.
    pub from: Finite,
    /// Stiffness of the foot relative to the top, 1 to 8. At 1, the trunk bends into an arc. Default 2, like a trunk that tapers upwards.
    pub stiffness: Finite,
    /// Share of the movement that comes in gusts, 0 to 1. At 0, the mesh swings evenly. At 1, it leans along `direction` in gusts of about
    /// four periods, and rests in between. Default 0.4.
    pub gusts: Finite,
    /// Seed of the gusts. Default 0.
    pub seed: u32,
    /// Number of poses on either side, 1 to 128. More poses are smoother and take more memory. If copies are rotated differently, there are
    /// four times as many poses, so that they bend along the wind within 22.5 degrees. Default 16.
    pub poses: u32,
}

impl Default for BendDesc {
    fn default() -> Self {
        Self { from: Finite(0.0), stiffness: Finite(2.0), gusts: Finite(0.4), seed: 0, poses: 16 }
    }
}

/// `Bob(offset: (0, 0.5, 0), period: 2)`: translation to `offset` and to -`offset` once per `period` seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bob {
    /// Maximum offset in either direction, in scene units.
    pub offset: Point,
    /// Seconds per cycle, not 0.
    pub period: Double,
}

/// `Keyframes(keys: [(time: 0), (time: 2, translate: (0, 1, 0), ease: smooth)], ends: loop)`: interpolated transforms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframes {
    /// Keys at increasing times, at least one.
    pub keys: Vec<KeyframeDesc>,
    /// Short for `ends: loop`. Default false.
    #[serde(default)]
    pub repeat: bool,
    /// Behaviour before the first key and after the last: `hold` (default), `loop` or `ping_pong`.
    #[serde(default)]
    pub ends: Ends,
    /// Interpolation of rotations. Default: `slerp`, or `euler` if a key is more than 180 degrees from the previous one.
    #[serde(default)]
    pub rotations: Option<Rotations>,
}

/// Interpolation of rotations between two keys of [`Keyframes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "rotations", rename_all = "snake_case")]
pub enum Rotations {
    /// Shortest rotation at constant speed (Shoemake 1985).
    Slerp,
    /// Smooth interpolation through all keys, by the shortest rotations (Shoemake 1987).
    Squad,
    /// Separate interpolation of the angles about x, y and z, so that rotations may exceed 180 degrees.
    Euler,
}

/// `Follow(curve: "road", speed: 8, gap: 20)`: moves along a curve. The curve is in the space in which the copy is placed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Follow", deny_unknown_fields)]
pub struct FollowDesc {
    /// Name of a curve.
    pub curve: String,
    /// Speed along the curve in scene units per second. Negative numbers reverse the direction; copies face the direction of movement.
    /// Either this or `distance` is given.
    #[serde(default)]
    pub speed: Option<Double>,
    /// Distance along the curve over time: `keys([(0, 0), (8, 120, ease: smooth)])`. Either this or `speed` is given.
    #[serde(default)]
    pub distance: Option<Varying<Finite>>,
    /// Distance along the curve at time 0, for a `speed`. Default 0.
    #[serde(default)]
    pub start: Double,
    /// Distance between consecutive copies of a placement. Default 0.
    #[serde(default)]
    pub gap: Finite,
    /// Behaviour before the start of an open curve and after its end: `hold` (default), `loop` or `ping_pong`. Closed curves repeat.
    #[serde(default)]
    pub ends: Ends,
    /// Direction of the copy's +X: `level` (default) follows the curve but stays upright, `tangent` also follows slopes, and `none` keeps
    /// the copy's orientation.
    #[serde(default)]
    pub face: super::Face,
    /// Offset from the curve: to the right, up, and ahead along the curve. Default (0, 0, 0).
    #[serde(default)]
    pub offset: Point,
    /// Banking in bends. At 1, the copy leans like a motorcycle, if a scene unit is a metre; negative numbers lean outwards. Default 0.
    #[serde(default)]
    pub bank: Finite,
}

/// `LookAt(target: "tower")`: rotates so that +X points to a target, with +Y as far up as possible.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "LookAt", deny_unknown_fields)]
pub struct Towards {
    /// A point, the name or path of a placed object, or `On(of: "car", offset: (0, 2, 0))`, as in [`Aim`].
    pub target: Aim,
}

/// `Noise(translate: (0.1, 0.1, 0.1), rotate: (1, 2, 1), period: 3, seed: 4)`: smooth random movement, such as wind or a hand-held camera.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "Noise", deny_unknown_fields)]
pub struct Shake {
    /// Maximum translation along each axis, in either direction, in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub translate: Point,
    /// Maximum rotation about each axis, in either direction, in degrees. Default (0, 0, 0).
    #[serde(default)]
    pub rotate: Point,
    /// Approximate seconds per cycle, above 0.
    pub period: Double,
    /// Seed of the noise. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// Interpolation of a value from the previous key to this one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "ease", rename_all = "snake_case")]
pub enum EaseDesc {
    /// No interpolation: the value jumps at the key.
    Step,
    /// Constant speed. The default.
    #[default]
    Linear,
    /// Slow start and end.
    Smooth,
    /// A Catmull-Rom spline through all keys.
    CatmullRom,
    /// `bezier(0.4, 0, 0.2, 1)`: a cubic Bézier curve with the control points (x1, y1) and (x2, y2), as in CSS; x1 and x2 are 0 to 1.
    Bezier(f32, f32, f32, f32),
}

impl From<EaseDesc> for Ease {
    fn from(ease: EaseDesc) -> Self {
        match ease {
            EaseDesc::Step => Self::Step,
            EaseDesc::Linear => Self::Linear,
            EaseDesc::Smooth => Self::Smooth,
            EaseDesc::CatmullRom => Self::CatmullRom,
            EaseDesc::Bezier(a, b, c, d) => Self::Bezier([a, b, c, d]),
        }
    }
}

/// `Clip(speeds: (0.9, 1.1))`: playback of the clip of a model with a palette of poses. Each instance has a random speed from this range
/// and starts at its phase, in cycles of the clip. Without this part, the speed is 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Clip", default, deny_unknown_fields)]
pub struct Clip {
    /// Minimum and maximum speed, in seconds of the clip per second; negative numbers play backwards. Default (1, 1).
    pub speeds: (Finite, Finite),
}

impl Default for Clip {
    fn default() -> Self {
        Self { speeds: (Finite(1.0), Finite(1.0)) }
    }
}

/// `(time: 2, translate: (0, 1, 0), rotate: (0, 90, 0), ease: smooth)`: an entry of `keys` of [`Keyframes`]: a transform at a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct KeyframeDesc {
    /// Time in seconds.
    pub time: Double,
    /// Translation in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub translate: Point,
    /// Rotation. Angles may exceed 360 degrees, for several revolutions. Default (0, 0, 0).
    #[serde(default)]
    pub rotate: Turns,
    /// Scale. Default 1.
    #[serde(default)]
    pub scale: Scale,
    /// Interpolation from the previous key. Default `linear`.
    #[serde(default)]
    pub ease: EaseDesc,
}

/// A [`Rotation`] that keeps its angles.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turns {
    /// Degrees about x, then y, then z.
    Angles(Vec3),
    AxisAngle(Quat),
}

impl Default for Turns {
    fn default() -> Self {
        Self::Angles(Vec3::ZERO)
    }
}

impl Turns {
    /// The rotation as a quaternion.
    #[doc(hidden)]
    pub fn rotation(self) -> Quat {
        match self {
            Self::Angles(degrees) => {
                let [x, y, z] = degrees.to_array().map(f32::to_radians);
                Quat::from_euler(EulerRot::ZYX, z, y, x)
            }
            Self::AxisAngle(rotation) => rotation,
        }
    }
}

impl<'de> Deserialize<'de> for Turns {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(TurnsVisitor)
    }
}

struct TurnsVisitor;

impl<'de> Visitor<'de> for TurnsVisitor {
    type Value = Turns;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("(x, y, z) in degrees or (axis: (x, y, z), degrees: a)")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Turns, A::Error> {
        values::triple(seq).map(Turns::Angles)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Turns, A::Error> {
        Rotation::of_axis(map).map(|rotation| Turns::AxisAngle(rotation.0))
    }
}

/// Phase offset of each instance, in periods (in seconds for keyframes, in lengths of the curve for `Follow`).
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "phase", rename_all = "snake_case")]
pub enum PhaseDesc {
    /// All instances move in step. The default.
    #[default]
    Same,
    Random(RandomPhase),
    Wave(Wave),
}

/// `random(seed: 1, spread: 1)`: a random phase for each instance, uniform in 0 to `spread`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomPhase {
    /// Seed of the random numbers. Default 0.
    pub seed: u32,
    /// Maximum phase. Default 1, a whole period.
    pub spread: Finite,
}

impl Default for RandomPhase {
    fn default() -> Self {
        Self { seed: 0, spread: Finite(1.0) }
    }
}

/// `wave(direction: (1, 0, 0), length: 10)`: a plane wave. The phase grows by 1 for every `length` scene units along `direction`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Direction of the wave. Any length but 0.
    pub direction: Point,
    /// Wavelength in scene units, not 0.
    pub length: Finite,
}
