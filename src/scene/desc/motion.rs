//! `motions: { "name": (parts: [..], phase: ..) }`: movements that instances and groups share.

use super::{Aim, Double, Finite, Point, Rotation, Scale, Varying, values};
use crate::scene::{Ease, Ends};
use glam::{EulerRot, Quat, Vec3};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// `(parts: [Spin(axis: (0, 1, 0), period: 4)], phase: random(seed: 1))`: an entry of the `motions` section, by its name: a movement that
/// placements may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "motions", deny_unknown_fields)]
pub struct MotionDesc {
    /// Movements, whose transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<PartDesc>,
    /// How far ahead each copy is. Default `same`: all move in step.
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

/// `Spin(axis: (0, 1, 0), period: 4)`: one turn per `period` seconds (negative: the other way).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// Axis of the rotation, of any length but 0. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub axis: Point,
    /// Seconds of one turn, not 0; negative turns the other way.
    pub period: Double,
}

/// `Sway(axis: (0, 0, 1), degrees: 10, period: 3)`: rotation to `degrees` and to -`degrees` once per `period` seconds.
///
/// With `bend`, the mesh bends by height instead, as a tree does in wind: `Sway(direction: (1, 0, 0), degrees: 8, period: 3, bend: ())`.
/// A group bends as one mesh.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sway {
    /// Axis of the rotation, of any length but 0, in the space of the copy. Either this or `direction` is given.
    #[serde(default)]
    pub axis: Option<Point>,
    /// Level direction in which the top goes first, of any length but 0. A copy that bends is bent along it however the copy is turned; one that
    /// does not bend has it in its own space. Either this or `axis` is given.
    #[serde(default)]
    pub direction: Option<Point>,
    /// Greatest angle, either way, in degrees; of the top of what bends, at most 120.
    pub degrees: Finite,
    /// Seconds to go forth and back, not 0.
    pub period: Double,
    /// How the mesh bends; `()` bends it as a tree. For placements of meshes and groups in which nothing moves by itself. Default: none, it turns
    /// as a whole.
    #[serde(default)]
    pub bend: Option<BendDesc>,
}

/// `bend: (from: 0.1, stiffness: 2, gusts: 0.5)`: how a mesh bends by height. Its foot is its lowest point, and its trunk the line above its
/// origin, which keeps its length. All copies choose from poses that are made once for each mesh.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "bend", default, deny_unknown_fields)]
pub struct BendDesc {
    /// Height at which the bend begins, as a share of the mesh's height, at least 0 and below 1. Default 0: its foot.
    pub from: Finite,
    /// How much stiffer it is at the foot than at the top, 1 to 8. At 1 it is an arc. Default 2, as of a trunk that gets thinner upwards.
    pub stiffness: Finite,
    /// Share of the movement that comes in gusts, 0 to 1: at 0 it swings to and fro evenly, at 1 it leans along `direction` in gusts that take
    /// about four periods, and rests in between. Default 0.4.
    pub gusts: Finite,
    /// Seed of the gusts: another one gives others. Default 0.
    pub seed: u32,
    /// Number of poses to either side, 1 to 128. More take more memory and are smoother. Where copies are turned differently, there are four
    /// times as many, to bend along the wind within 22.5 degrees. Default 16.
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
    /// Greatest offset, either way, in scene units.
    pub offset: Point,
    /// Seconds to go forth and back, not 0.
    pub period: Double,
}

/// `Keyframes(keys: [(time: 0), (time: 2, translate: (0, 1, 0), ease: smooth)], ends: loop)`: interpolated transforms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframes {
    /// Keys at increasing times, at least one.
    pub keys: Vec<KeyframeDesc>,
    /// The same as `ends: loop`. Default false.
    #[serde(default)]
    pub repeat: bool,
    /// What comes before the first key and after the last: `hold` (default), `loop` or `ping_pong`.
    #[serde(default)]
    pub ends: Ends,
    /// How rotations are interpolated. Default: `slerp`, but `euler` where some key is more than 180 degrees from the one before.
    #[serde(default)]
    pub rotations: Option<Rotations>,
}

/// How rotations between two keys of [`Keyframes`] are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "rotations", rename_all = "snake_case")]
pub enum Rotations {
    /// The shortest way from one to the other, at constant speed (Shoemake 1985).
    Slerp,
    /// Smoothly through all keys, each time the short way (Shoemake 1987).
    Squad,
    /// The angles about x, y and z each by themselves, so that turns may count on beyond 180 degrees.
    Euler,
}

/// `Follow(curve: "road", speed: 8, gap: 20)`: moves along a curve, whose coordinates are those in which the copy is placed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Follow", deny_unknown_fields)]
pub struct FollowDesc {
    /// Name of a curve.
    pub curve: String,
    /// Scene units per second along the curve; negative goes the other way, and faces that way. Either this or `distance` is given.
    #[serde(default)]
    pub speed: Option<Double>,
    /// Distance along the curve over time: `keys([(0, 0), (8, 120, ease: smooth)])`. Either this or `speed` is given.
    #[serde(default)]
    pub distance: Option<Varying<Finite>>,
    /// Distance along the curve at time 0, for a `speed`. Default 0.
    #[serde(default)]
    pub start: Double,
    /// Distance by which each copy of a placement is behind the one before it. Default 0.
    #[serde(default)]
    pub gap: Finite,
    /// What comes before the start of an open curve and after its end: `hold` (default), `loop` or `ping_pong`. Closed ones go round.
    #[serde(default)]
    pub ends: Ends,
    /// Direction that the copy faces with its +X: `level` (default) is along the curve but upright, `tangent` also climbs with it, and
    /// `none` leaves it as it is.
    #[serde(default)]
    pub face: super::Face,
    /// Offset from the curve: to the right, up, and ahead along the curve. Default (0, 0, 0).
    #[serde(default)]
    pub offset: Point,
    /// How much it leans into bends: at 1 as a motorcycle does, for units of a metre; negative numbers lean outwards. Default 0.
    #[serde(default)]
    pub bank: Finite,
}

/// `LookAt(target: "tower")`: turns so that +X points to a thing, with +Y up as far as possible.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "LookAt", deny_unknown_fields)]
pub struct Towards {
    /// A point, the name or path of something that is placed, or `On(of: "car", offset: (0, 2, 0))`, as in [`Aim`].
    pub target: Aim,
}

/// `Noise(translate: (0.1, 0.1, 0.1), rotate: (1, 2, 1), period: 3, seed: 4)`: smooth random movement, such as that of wind or of a hand.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "Noise", deny_unknown_fields)]
pub struct Shake {
    /// Greatest translation along each axis, either way, in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub translate: Point,
    /// Greatest rotation about each axis in degrees, either way. Default (0, 0, 0).
    #[serde(default)]
    pub rotate: Point,
    /// About how many seconds it takes to go back and forth, above 0.
    pub period: Double,
    /// Seed of the noise: another one gives another movement. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// How a value gets to a key from the one before.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "ease", rename_all = "snake_case")]
pub enum EaseDesc {
    /// Not at all: it stays as it was and jumps at the key.
    Step,
    /// At one speed. The default.
    #[default]
    Linear,
    /// Starts and ends slowly.
    Smooth,
    /// Smoothly through all keys, along a Catmull-Rom spline.
    CatmullRom,
    /// `bezier(0.4, 0, 0.2, 1)`: by a cubic Bézier curve with the control points (x1, y1) and (x2, y2), as CSS has it; x1 and x2 are 0 to 1.
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

/// `Clip(speeds: (0.9, 1.1))`: how instances of a model with a palette of poses play its clip. Each has a random speed from this
/// range and begins at its phase, which counts in rounds of the clip. Without this part, the speed is 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Clip", default, deny_unknown_fields)]
pub struct Clip {
    /// Seconds of the clip per second, from the least to the greatest; negative plays backwards. Default (1, 1).
    pub speeds: (Finite, Finite),
}

impl Default for Clip {
    fn default() -> Self {
        Self { speeds: (Finite(1.0), Finite(1.0)) }
    }
}

/// `(time: 2, translate: (0, 1, 0), rotate: (0, 90, 0), ease: smooth)`: an entry of `keys` of [`Keyframes`], which is a transform at a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct KeyframeDesc {
    /// Time in seconds.
    pub time: Double,
    /// Translation in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub translate: Point,
    /// Rotation. The angles may be more than 360, for several turns. Default (0, 0, 0).
    #[serde(default)]
    pub rotate: Turns,
    /// Scale. Default 1.
    #[serde(default)]
    pub scale: Scale,
    /// How the copy gets here from the key before. Default `linear`.
    #[serde(default)]
    pub ease: EaseDesc,
}

/// A rotation as [`Rotation`], of which the angles are known.
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
    /// The rotation, however it was written.
    pub(crate) fn rotation(self) -> Quat {
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

/// How far ahead each instance is in its motion, in periods (in seconds for keyframes, in lengths of the curve for `Follow`).
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
    /// Greatest phase. Default 1, a whole period.
    pub spread: Finite,
}

impl Default for RandomPhase {
    fn default() -> Self {
        Self { seed: 0, spread: Finite(1.0) }
    }
}

/// `wave(direction: (1, 0, 0), length: 10)`: a plane wave, whose phase grows by 1 for every `length` scene units along `direction`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Direction in which the wave runs, of any length but 0.
    pub direction: Point,
    /// Distance in scene units from one crest to the next, not 0.
    pub length: Finite,
}
