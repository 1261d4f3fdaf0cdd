//! The `camera:` section of the scene file: camera paths, projections and lenses.

use super::{
    Shake, ShutterDesc,
    values::{self, Double, Finite, Point},
};
use crate::{Parametrisation, SENSOR_HEIGHT};
use glam::Vec3;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor, value},
};
use std::fmt;

/// The `camera` section: a still camera, one that fits an object into the picture, an orbit, or a flight along a spline. Instead of
/// `camera`, a file may have several named `cameras`: the sequence starts with the first, and `cuts` switch between them.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "camera")]
pub enum CameraDesc {
    LookAt(LookAt),
    Fit(Fit),
    Orbit(Orbit),
    Spline(Spline),
}

/// The fields shared by all kinds of camera, borrowed from one of them.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct CommonOptics<'a> {
    /// Vertical field of view in degrees.
    pub fov: Finite,
    pub up: Point,
    pub roll: Finite,
    pub shake: Option<Shake>,
    pub projection: ProjectionDesc,
    pub shift: (Finite, Finite),
    /// None for a pinhole camera.
    pub lens: Option<&'a LensDesc>,
    /// None without motion blur.
    pub shutter: Option<ShutterDesc>,
}

/// Declares a kind of camera with its own fields and the shared ones.
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
            /// Up direction of the picture, and axis of an orbit. Neither (0, 0, 0) nor parallel to the view. Default (0, 1, 0).
            #[serde(default = "values::up")]
            pub up: Point,
            /// Clockwise rotation of the camera about its viewing axis, in degrees. Default 0.
            #[serde(default)]
            pub roll: Finite,
            /// Smooth random movement, like a hand-held camera's: `Noise(translate: (0.02, 0.02, 0.02), rotate: (0.3, 0.3, 0.2), period:
            /// 2)`, along and about the camera's axes (right, up and back). Default: none.
            #[serde(default)]
            pub shake: Option<Shake>,
            /// Projection onto the picture: `perspective` (default), `orthographic(height: 4)` or `equirectangular`.
            #[serde(default)]
            pub projection: ProjectionDesc,
            /// Lens shift to the right and up, relative to the longer side of the picture, as in Blender, -100 to 100. The view moves in
            /// this direction, and parallel lines stay parallel. Not available for `equirectangular` cameras. Default (0, 0).
            #[serde(default)]
            pub shift: (Finite, Finite),
            /// A lens, for depth of field. Default: none, a pinhole camera, which renders everything in focus.
            #[serde(default)]
            pub lens: Option<LensDesc>,
            /// Motion blur: shutter time in frames, centred on the frame's time; or `(open: -0.25, close: 0.25)`. Default: none. All
            /// cameras of a scene use the shutter of the first camera.
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
    /// The fields shared by all kinds of camera.
    #[doc(hidden)]
    pub fn optics(&self) -> CommonOptics<'_> {
        match self {
            Self::LookAt(c) => c.optics(),
            Self::Fit(c) => c.optics(),
            Self::Orbit(c) => c.optics(),
            Self::Spline(c) => c.optics(),
        }
    }
}

camera! {
    /// `LookAt(eye: (0, 2, 8), target: (0, 1, 0), fov: 40)`: a camera that stands still, or follows a moving `eye` or `target`.
    LookAt {
        /// Position of the camera.
        eye: Aim,
        /// Point in the middle of the picture.
        target: Aim,
    }
}

camera! {
    /// `Fit(of: "beast", from: (1, 0.4, 1), margin: 0.1)`: a camera at the least distance at which an object fits into the picture.
    Fit {
        /// Name of a placed mesh or group, or a path, as in [`Aim`]. Default: the whole scene.
        #[serde(default)]
        of: Option<String>,
        /// Direction from the object to the camera. Any length but 0.
        from: Point,
        /// Empty space on each side, relative to the picture's smaller side, 0 to 0.49. Default 0.1.
        #[serde(default = "values::a_tenth")]
        margin: Finite,
    }
}

camera! {
    /// `Orbit(target: (0, 1, 0), radius: 8, height: 3)`: a turntable, which loops seamlessly.
    Orbit {
        /// Point that the camera looks at, and centre of the orbit.
        target: Aim,
        /// Distance of the camera from the axis, in scene units, above 0. Default: the least distance at which an object that is named as
        /// the target fits into the picture from all sides.
        #[serde(default)]
        radius: Option<Finite>,
        /// Empty space on each side without a `radius`, relative to the picture's smaller side, 0 to 0.49. Default 0.1.
        #[serde(default = "values::a_tenth")]
        margin: Finite,
        /// Height of the camera above the target, along `up`, in scene units. Default 0.
        #[serde(default)]
        height: Finite,
        /// Angle at the first frame, in degrees. At 0 (default) the camera is on the +Z side of the target, at 90 on the +X side.
        #[serde(default)]
        start: Finite,
        /// Number of revolutions over the whole animation; negative numbers reverse the direction. Default 1.
        #[serde(default = "values::one")]
        turns: Finite,
    }
}

camera! {
    /// `Spline(keys: [(eye: (0, 2, 9), target: (0, 0, 0)), (eye: (5, 3, 4), target: (0, 1, 0))])`: a flight along a Catmull-Rom spline through at least 2 keys.
    Spline {
        /// Keys in order, at least 2.
        keys: Vec<SplineKey>,
        /// A single point to look at, instead of the targets of the keys. Default: the keys have targets.
        #[serde(default)]
        target: Option<Aim>,
        /// Parametrisation of the curves of eye and target: `centripetal` (default) stays close to the keys, `chordal` bends less between
        /// distant keys, and `uniform` overshoots unevenly spaced keys.
        #[serde(default)]
        parametrisation: Parametrisation,
        /// Pace along the path, by arc length, from the first key's time to the last key's: `constant`; `smooth`, which starts and ends
        /// slowly; or `bezier(x1, y1, x2, y2)` as in CSS. Default: the times of the keys set the speed.
        #[serde(default)]
        pace: Option<PaceDesc>,
        /// Banking in bends of the path. At 1, the camera leans like a motorcycle or plane, if a scene unit is a metre; negative numbers
        /// lean outwards. The angle grows with the square of the speed and stays below 60
        /// degrees: fast flights need a smaller number, such as 0.05. Default 0.
        #[serde(default)]
        bank: Finite,
        /// `("land", 6)`: a placed mesh or group, and the minimum height of the camera above it. Heights of keys then count from the
        /// ground: an eye at y = 0 is at this height, an eye at y = 10 is 10 higher, and a target at y = 0 is on the ground. Default: none,
        /// heights are scene coordinates.
        #[serde(default)]
        above: Option<(String, Finite)>,
        /// Length of the path over which the ground is smoothed for `above`, at least 0. Shorter bumps do not move the camera. Default: the
        /// height above the ground.
        #[serde(default)]
        smooth: Option<Finite>,
        /// Name of a placed mesh or group that the camera stays out of, or a path, as in [`Aim`]. Where the flight passes through its first
        /// copy, the camera is moved out, away from the copy's middle. Default: none.
        #[serde(default)]
        clear_of: Option<String>,
    }
}

/// `pace: constant`: pace of a flight along its path, by arc length, from the first key's time to the last key's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "pace", rename_all = "snake_case")]
pub enum PaceDesc {
    /// Constant speed.
    Constant,
    /// Slow start and end.
    Smooth,
    /// `bezier(0.4, 0, 0.2, 1)`: a curve of distance over time, as in CSS.
    Bezier(Finite, Finite, Finite, Finite),
}

/// `cuts: [(time: 4, to: "chase")]`: a switch to one of `cameras`, at a time in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "cut", deny_unknown_fields)]
pub struct CutDesc {
    /// Time in seconds, later than the previous cut.
    pub time: Double,
    /// Name of one of `cameras`.
    pub to: String,
}

/// Position or target of a camera. A point such as `(0, 1, 0)`; the name of a placed mesh or group, such as `"car"`, for the middle of its
/// first copy, or `"car:4"` for the fifth instance; a path such as `"beast/dragon.12/scale.7041"`; or a place relative to a moving object,
/// such as `On(of: "car", offset: (-8, 3, 0), lag: 0.4)` (see [`AimOn`]).
///
/// A path is the name of an instance, as in mattes and in selections of `throng view`. The beginning of a path leads to a nested group.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    Point(Vec3),
    Name(String),
    On(AimOn),
}

/// `On(of: "car", offset: (-8, 3, 0), turn: true, lag: 0.4)`: a place relative to a moving object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename = "On", deny_unknown_fields)]
pub struct AimOn {
    /// Name of a placed mesh or group, or a path, as in [`Aim`].
    pub of: String,
    /// Offset from the middle of the object, in scene units. Default (0, 0, 0).
    #[serde(default)]
    pub offset: Point,
    /// Whether the offset rotates with the object. It is then along the object's own axes. Default true.
    #[serde(default = "values::yes")]
    pub turn: bool,
    /// Mean delay of the camera in seconds, like a camera operator's. Default 0.
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

/// `keys: [(eye: (0, 2, 8), target: (0, 1, 0), time: 1.5, fov: 30)]`: keys of a [`Spline`]. Optical settings that a key leaves out are
/// taken from the camera.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct SplineKey {
    /// Position of the camera.
    pub eye: Point,
    /// Point that the camera looks at. May be left out if the spline has a `target`.
    #[serde(default)]
    pub target: Option<Point>,
    /// Time in seconds, from the start of the animation. Either all keys have a time, in increasing order, or none has. Without times, keys
    /// are spread evenly over the animation.
    #[serde(default)]
    pub time: Option<Double>,
    /// Clockwise rotation of the camera about its viewing axis at this key, in degrees. More than 360 means several revolutions. Default:
    /// the camera's.
    #[serde(default)]
    pub roll: Option<Finite>,
    /// Vertical field of view in degrees at this key, for a perspective camera. Default: the camera's.
    #[serde(default)]
    pub fov: Option<Finite>,
    /// Height of the view at this key, in scene units, for an orthographic camera. Default: the camera's.
    #[serde(default)]
    pub height: Option<Finite>,
    /// F-number at this key, for a lens with an `f_stop`. Default: the lens's.
    #[serde(default)]
    pub f_stop: Option<Finite>,
    /// Radius of the aperture at this key, in scene units, for a lens with a `radius`. Default: the lens's.
    #[serde(default)]
    pub radius: Option<Finite>,
    /// Focus at this key, for a camera with a lens. Default: the lens's.
    #[serde(default)]
    pub focus: Option<FocusDesc>,
}

/// `projection: orthographic(height: 4)`: projection of the scene onto the picture.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "projection", rename_all = "snake_case")]
pub enum ProjectionDesc {
    /// Perspective: distant objects appear smaller.
    #[default]
    Perspective,
    /// `orthographic(height: 4)`: parallel rays, so sizes do not depend on distance.
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

/// `lens: (f_stop: 2.8, focus: 5.5, blades: 6)`: a thin lens, for depth of field.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lens", default, deny_unknown_fields)]
pub struct LensDesc {
    /// F-number: the focal length over the diameter of the aperture, 0.001 to 1000000. Either this or `radius` is given.
    pub f_stop: Option<Finite>,
    /// Radius of the aperture in scene units, at least 0. Either this or `f_stop` is given.
    pub radius: Option<Finite>,
    /// Height of the sensor in scene units. Together with the field of view, it sets the focal length for `f_stop`. Default 0.024, a 35 mm
    /// camera's if a unit is a metre. In a scene ten times as large, 0.24 gives equal blur.
    pub sensor: Finite,
    /// Focus of the lens: a distance, a point or a name. Default: the camera's target.
    pub focus: Option<FocusDesc>,
    /// Number of aperture blades, 3 to 64, or 0 (default) for a round aperture.
    pub blades: u32,
    /// Rotation of the aperture in degrees, from right to up in the picture. Default 0: the right side is vertical.
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

/// Focus of a lens: a distance along the camera's axis, above 0; a point such as `(0, 1, 0)`; or the name of a placed mesh or group.
/// `"dragon"` is the first instance of a mesh or the first copy of a group, `"dragon:4"` the fifth instance of a mesh, and
/// `"beast/dragon.4"` a path in a nested group, as in [`Aim`].
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
