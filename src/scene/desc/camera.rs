//! The `camera:` section of the scene file: camera paths, projections and lenses.

use super::{
    Shake, ShutterDesc,
    values::{self, Double, Finite, Point},
};
use crate::scene::{Parametrisation, SENSOR_HEIGHT};
use glam::Vec3;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor, value},
};
use std::fmt;

/// The `camera` section: a still camera, one that fits something, an orbit or a flight along a spline. Instead of `camera`, a file may have
/// `cameras` by name, of which the first begins and which take over at `cuts`.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "camera")]
pub enum CameraDesc {
    LookAt(LookAt),
    Fit(Fit),
    Orbit(Orbit),
    Spline(Spline),
}

/// The fields that all kinds of camera share, borrowed from one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonOptics<'a> {
    /// Vertical field of view in degrees.
    pub fov: Finite,
    pub up: Point,
    pub roll: Finite,
    pub shake: Option<Shake>,
    pub projection: ProjectionDesc,
    pub shift: (Finite, Finite),
    /// None for a pinhole.
    pub lens: Option<&'a LensDesc>,
    /// None for pictures without motion blur.
    pub shutter: Option<ShutterDesc>,
}

/// Declares a kind of camera, with its own fields and those that all kinds share.
macro_rules! camera {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// Vertical field of view in degrees, above 0 and below 180. Default 40.
            #[serde(default = "values::forty")]
            pub fov: Finite,
            /// Direction that is up in the picture, and the axis of an orbit; not (0, 0, 0), and not along the view. Default (0, 1, 0).
            #[serde(default = "values::up")]
            pub up: Point,
            /// Rotation of the camera about its axis in degrees, clockwise. Default 0.
            #[serde(default)]
            pub roll: Finite,
            /// Smooth random movement, as of a camera that is held by hand: `Noise(translate: (0.02, 0.02, 0.02), rotate: (0.3, 0.3, 0.2),
            /// period: 2)`, along and about the camera's axes: right, up and back. Default: none.
            #[serde(default)]
            pub shake: Option<Shake>,
            /// How the scene is projected: `perspective` (default), `orthographic(height: 4)` or `equirectangular`.
            #[serde(default)]
            pub projection: ProjectionDesc,
            /// Shift of the lens to the right and upwards, in longer sides of the picture, as in Blender, -100 to 100: the picture shows more of
            /// what is there, and parallels stay parallel. Not of an `equirectangular` camera. Default (0, 0).
            #[serde(default)]
            pub shift: (Finite, Finite),
            /// A lens, which blurs whatever is out of focus. Default: none, a pinhole camera, to which everything is sharp.
            #[serde(default)]
            pub lens: Option<LensDesc>,
            /// Motion blur: for how many frames the shutter is open, centred on the frame's time; or `(open: -0.25, close: 0.25)`.
            /// Default: none. All cameras of a scene have the shutter of the first.
            #[serde(default)]
            pub shutter: Option<ShutterDesc>,
        }

        impl $name {
            fn optics(&self) -> CommonOptics<'_> {
                CommonOptics {
                    fov: self.fov,
                    up: self.up,
                    roll: self.roll,
                    shake: self.shake,
                    projection: self.projection,
                    shift: self.shift,
                    lens: self.lens.as_ref(),
                    shutter: self.shutter,
                }
            }
        }
    };
}

impl CameraDesc {
    /// The fields that all kinds of camera share.
    pub(crate) fn optics(&self) -> CommonOptics<'_> {
        match self {
            Self::LookAt(c) => c.optics(),
            Self::Fit(c) => c.optics(),
            Self::Orbit(c) => c.optics(),
            Self::Spline(c) => c.optics(),
        }
    }
}

camera! {
    /// `LookAt(eye: (0, 2, 8), target: (0, 1, 0), fov: 40)`: a camera that stands still, or follows what eye or target name.
    LookAt {
        /// Where the camera is.
        eye: Aim,
        /// Where it looks to: the middle of the picture.
        target: Aim,
    }
}

camera! {
    /// `Fit(of: "beast", from: (1, 0.4, 1), margin: 0.1)`: a camera as near to something as it fits into the picture.
    Fit {
        /// Name of a mesh or group that is placed, or a path, as in [`Aim`]. Default: everything.
        #[serde(default)]
        of: Option<String>,
        /// Direction from the thing to the camera, of any length but 0.
        from: Point,
        /// Empty space on each side, as a share of the picture's smaller side, 0 to 0.49. Default 0.1.
        #[serde(default = "values::a_tenth")]
        margin: Finite,
    }
}

camera! {
    /// `Orbit(target: (0, 1, 0), radius: 8, height: 3)`: a turntable, which is seamless when the frames are looped.
    Orbit {
        /// What the camera looks at, around which it turns.
        target: Aim,
        /// Distance of the eye from the axis, in scene units, above 0.
        radius: Finite,
        /// Height of the eye above the target, along `up`, in scene units. Default 0.
        #[serde(default)]
        height: Finite,
        /// Angle at the first frame, in degrees: at 0 (default) the eye is on the +Z side of the target, at 90 on the +X side.
        #[serde(default)]
        start: Finite,
        /// Number of turns over the whole animation; negative turns the other way. Default 1.
        #[serde(default = "values::one")]
        turns: Finite,
    }
}

camera! {
    /// `Spline(keys: [(eye: (0, 2, 9), target: (0, 0, 0)), (eye: (5, 3, 4), target: (0, 1, 0))])`: a flight along a Catmull-Rom spline through at least 2 keys.
    Spline {
        /// The keys, in the order of the flight, at least 2.
        keys: Vec<SplineKey>,
        /// What the camera looks at all the time, instead of the targets of the keys. Default: the keys have targets.
        #[serde(default)]
        target: Option<Aim>,
        /// How the curves of eye and targets lead through the keys: `centripetal` (default), which stays close to them, `chordal` or
        /// `uniform`, which swings far beyond keys that are uneven.
        #[serde(default)]
        parametrisation: Parametrisation,
        /// How the eye gets along the path from the first key's time to the last's, by its length: `constant`, `smooth`, which starts and
        /// ends slowly, or `bezier(x1, y1, x2, y2)` as CSS has it. Default: the times of the keys set its speed.
        #[serde(default)]
        pace: Option<PaceDesc>,
        /// Lean into bends of the path: at 1 as a motorcycle or a plane does, for units of a metre; negative numbers lean outwards. The lean
        /// grows with the square of the speed: fast flights need a smaller number, such as 0.05. Default 0.
        #[serde(default)]
        bank: Finite,
        /// `("land", 6)`: a mesh or group that is placed, and the height that the eye keeps above it, whatever is below. Heights of keys then
        /// count from the ground: an eye at y = 0 is as high above it as this says, one at y = 10 by 10 more, and a target at y = 0 is on
        /// the ground. Default: none, heights are those of the scene.
        #[serde(default)]
        above: Option<(String, Finite)>,
        /// Length of the path over which the ground is made smooth for `above`, at least 0: bumps that are shorter are flown over. Default:
        /// the height above it.
        #[serde(default)]
        smooth: Option<Finite>,
        /// Name of a mesh or group that the eye keeps out of, or a path, as in [`Aim`]: where the flight leads through its first copy, the eye
        /// is moved out of it, away from its middle. Default: none.
        #[serde(default)]
        clear_of: Option<String>,
    }
}

/// `pace: constant`: how a flight gets along its path, by its length, from the first key's time to the last's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "pace", rename_all = "snake_case")]
pub enum PaceDesc {
    /// At one speed.
    Constant,
    /// Starts and ends slowly.
    Smooth,
    /// `bezier(0.4, 0, 0.2, 1)`: along a curve of distance over time, as CSS has it.
    Bezier(Finite, Finite, Finite, Finite),
}

/// `cuts: [(time: 4, to: "chase")]`: a camera of `cameras` that takes over at a time in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "cut", deny_unknown_fields)]
pub struct CutDesc {
    /// Time in seconds, later than those of the cuts before.
    pub time: Double,
    /// Name of one of `cameras`.
    pub to: String,
}

/// Where a camera is or what it looks at: a point such as `(0, 1, 0)`; the name of a mesh or group that is placed, such as `"car"`, which is
/// the middle of its first copy, or of the fifth instance with `"car:4"`; a path such as `"beast/dragon.12/scale.7041"`, the name of an instance
/// in mattes and of what is picked in `throng view`, or the part of it that leads to a nested group; or a place by a thing that moves, such as
/// `On(of: "car", offset: (-8, 3, 0), lag: 0.4)` (see [`AimOn`]).
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    Point(Vec3),
    Name(String),
    On(AimOn),
}

/// `On(of: "car", offset: (-8, 3, 0), turn: true, lag: 0.4)`: a place by a thing that moves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename = "On", deny_unknown_fields)]
pub struct AimOn {
    /// Name of a mesh or group that is placed, or a path, as in [`Aim`].
    pub of: String,
    /// From the middle of the thing, in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub offset: Point,
    /// Whether the offset turns with the thing, along whose own axes it then is. Default true.
    #[serde(default = "values::yes")]
    pub turn: bool,
    /// Mean time in seconds by which the camera is behind, as an operator would be. Default 0.
    #[serde(default)]
    pub lag: Finite,
}

impl<'de> Deserialize<'de> for Aim {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(AimVisitor)
    }
}

struct AimVisitor;

impl<'de> Visitor<'de> for AimVisitor {
    type Value = Aim;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("(x, y, z), the name of something, or On(of: \"name\", offset: (x, y, z), lag: 0.5)")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Aim, E> {
        Ok(Aim::Name(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Aim, A::Error> {
        values::triple(seq).map(Aim::Point)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Aim, A::Error> {
        AimOn::deserialize(value::MapAccessDeserializer::new(map)).map(Aim::On)
    }
}

/// `keys: [(eye: (0, 2, 8), target: (0, 1, 0), time: 1.5, fov: 30)]`: keys of a [`Spline`]. Where it leaves out optics,
/// those of the camera apply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct SplineKey {
    /// Where the camera is.
    pub eye: Point,
    /// Where the camera looks to. It may be left out where the spline has a `target`.
    #[serde(default)]
    pub target: Option<Point>,
    /// Time in seconds, from the start of the animation. Either all keys have one, in increasing order, or none has: they are then spread evenly over the animation.
    #[serde(default)]
    pub time: Option<Double>,
    /// Rotation of the camera about its axis in degrees at this key, clockwise; more than 360 turns several times. Default: that of the camera.
    #[serde(default)]
    pub roll: Option<Finite>,
    /// Vertical field of view in degrees at this key, for a perspective camera. Default: that of the camera.
    #[serde(default)]
    pub fov: Option<Finite>,
    /// Height of the view at this key, in scene units, for an orthographic camera. Default: that of the camera.
    #[serde(default)]
    pub height: Option<Finite>,
    /// F-number at this key, for a camera whose lens has an `f_stop`. Default: that of the lens.
    #[serde(default)]
    pub f_stop: Option<Finite>,
    /// Radius of the aperture at this key, in scene units, for a camera whose lens has a `radius`. Default: that of the lens.
    #[serde(default)]
    pub radius: Option<Finite>,
    /// Focus at this key, for a camera that has a lens. Default: that of the lens.
    #[serde(default)]
    pub focus: Option<FocusDesc>,
}

/// `projection: orthographic(height: 4)`: how a camera projects the scene onto the picture.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "projection", rename_all = "snake_case")]
pub enum ProjectionDesc {
    /// As eyes and lenses see: what is far away is small.
    #[default]
    Perspective,
    /// `orthographic(height: 4)`: parallel rays, so that sizes do not depend on the distance.
    Orthographic(Parallel),
    /// The whole surroundings by longitude and latitude, for pictures twice as wide as high.
    Equirectangular,
}

/// The fields of [`ProjectionDesc::Orthographic`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parallel {
    /// Height of the view in scene units, above 0.
    pub height: Finite,
}

/// `lens: (f_stop: 2.8, focus: 5.5, blades: 6)`: a thin lens, which blurs whatever is out of focus.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lens", default, deny_unknown_fields)]
pub struct LensDesc {
    /// F-number: the focal length over the diameter of the aperture, 0.001 to 1000000. Either this or `radius` is given.
    pub f_stop: Option<Finite>,
    /// Radius of the aperture in scene units, at least 0. Either this or `f_stop` is given.
    pub radius: Option<Finite>,
    /// Height of the sensor in scene units. With the field of view, it gives the focal length that `f_stop` needs. Default 0.024,
    /// that of a 35 mm camera where a unit is a metre. In a scene ten times as large, 0.24 gives the same blur.
    pub sensor: Finite,
    /// Focus of the lens: a distance, a point or a name. Default: the camera's target.
    pub focus: Option<FocusDesc>,
    /// Number of blades, which are the sides of the aperture: 3 to 64, or 0 (default) for a round aperture.
    pub blades: u32,
    /// Rotation of the aperture in degrees, from right to up in the picture. Default 0: the side at the right is vertical.
    pub rotation: Finite,
    /// Height of the aperture over its width, 0.01 to 100. Default 1; anamorphic lenses have about 2.
    pub ratio: Finite,
}

impl Default for LensDesc {
    fn default() -> Self {
        Self {
            f_stop: None,
            radius: None,
            sensor: Finite(SENSOR_HEIGHT),
            focus: None,
            blades: 0,
            rotation: Finite(0.0),
            ratio: Finite(1.0),
        }
    }
}

/// What a lens is focused on: a distance along the camera's axis, above 0; a point such as `(0, 1, 0)`; or the name of a mesh or group that is
/// placed. `"dragon"` is the first instance of a mesh or copy of a group, `"dragon:4"` the fifth instance of a mesh, and
/// `"beast/dragon.4"` what has this path in a nested group, as in [`Aim`].
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, PartialEq)]
pub enum FocusDesc {
    Distance(f32),
    Point(Vec3),
    Name(String),
}

impl<'de> Deserialize<'de> for FocusDesc {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(FocusVisitor)
    }
}

struct FocusVisitor;

impl<'de> Visitor<'de> for FocusVisitor {
    type Value = FocusDesc;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a distance, (x, y, z) or the name of something")
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<FocusDesc, E> {
        values::finite(x as f32).map(FocusDesc::Distance)
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<FocusDesc, E> {
        Ok(FocusDesc::Distance(x as f32))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<FocusDesc, E> {
        Ok(FocusDesc::Distance(x as f32))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<FocusDesc, E> {
        Ok(FocusDesc::Name(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<FocusDesc, A::Error> {
        values::triple(seq).map(FocusDesc::Point)
    }
}
