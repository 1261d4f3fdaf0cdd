//! `camera:` as it is written: paths, projections and lenses.

use super::{
    ShutterDesc,
    values::{self, Finite, Point},
};
use crate::scene::SENSOR_HEIGHT;
use glam::Vec3;
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use std::fmt;

/// `camera:`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "camera")]
pub enum CameraDesc {
    LookAt(LookAt),
    Orbit(Orbit),
    Spline(Spline),
}

impl CameraDesc {
    /// What all kinds have: field of view, projection and lens.
    pub fn optics(&self) -> (Finite, ProjectionDesc, Option<&LensDesc>) {
        match self {
            Self::LookAt(c) => (c.fov, c.projection, c.lens.as_ref()),
            Self::Orbit(c) => (c.fov, c.projection, c.lens.as_ref()),
            Self::Spline(c) => (c.fov, c.projection, c.lens.as_ref()),
        }
    }

    /// What all kinds have besides.
    pub fn shutter(&self) -> Option<ShutterDesc> {
        match self {
            Self::LookAt(LookAt { shutter, .. })
            | Self::Orbit(Orbit { shutter, .. })
            | Self::Spline(Spline { shutter, .. }) => *shutter,
        }
    }
}

/// `LookAt(eye: (0, 2, 8), target: (0, 1, 0), fov: 40)`: stands still.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookAt {
    pub eye: Point,
    pub target: Point,
    /// Vertical, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// `perspective` (default), `orthographic(height: 4)` or `equirectangular`.
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// None: a pinhole, to which everything is sharp.
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: how many frames long the shutter is open about a frame's time, or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `Orbit(target: (0, 1, 0), radius: 8, height: 3)`: a turntable, seamless when the frames are looped.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orbit {
    pub target: Point,
    /// Above 0.
    pub radius: Finite,
    /// Of the eye above the target. Default 0.
    #[serde(default)]
    pub height: Finite,
    /// Where it begins: 0 (default) looks from +Z, 90 from +X.
    #[serde(default)]
    pub start: Finite,
    /// Over the whole animation; negative turns the other way. Default 1.
    #[serde(default = "values::one")]
    pub turns: Finite,
    /// Vertical, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// The axis. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// As of [`LookAt`].
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// As of [`LookAt`].
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: how many frames long the shutter is open about a frame's time, or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `Spline(keys: [(eye: .., target: ..), ..])`: a Catmull-Rom flight through at least 2 keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spline {
    pub keys: Vec<SplineKey>,
    /// Vertical, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// As of [`LookAt`].
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// As of [`LookAt`].
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: how many frames long the shutter is open about a frame's time, or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `(eye: (0, 2, 8), target: (0, 1, 0), time: 1.5, fov: 30, focus: "dragon")`. What a key leaves out of the optics is the
/// camera's own there.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct SplineKey {
    pub eye: Point,
    pub target: Point,
    /// All keys have a time, increasing, or none: then they are spread evenly over the animation.
    #[serde(default)]
    pub time: Option<Finite>,
    /// As the camera's, which is perspective.
    #[serde(default)]
    pub fov: Option<Finite>,
    /// As that of an orthographic camera.
    #[serde(default)]
    pub height: Option<Finite>,
    /// As the lens's.
    #[serde(default)]
    pub f_stop: Option<Finite>,
    /// As the lens's.
    #[serde(default)]
    pub radius: Option<Finite>,
    /// As the lens's.
    #[serde(default)]
    pub focus: Option<FocusDesc>,
}

/// How a camera flattens what it sees.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "projection", rename_all = "snake_case")]
pub enum ProjectionDesc {
    #[default]
    Perspective,
    /// `orthographic(height: 4)`: parallel rays; the height of what is seen is above 0.
    Orthographic(Parallel),
    /// All around, by longitude and latitude; for pictures twice as wide as high.
    Equirectangular,
}

/// See [`ProjectionDesc::Orthographic`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parallel {
    pub height: Finite,
}

/// `lens: (f_stop: 2.8, focus: "dragon", blades: 6)`: a thin lens, to which only what is in focus is sharp.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lens", default, deny_unknown_fields)]
pub struct LensDesc {
    /// Focal length over the aperture's diameter, above 0. Either this or `radius` is given.
    pub f_stop: Option<Finite>,
    /// Of the aperture, in scene units, at least 0.
    pub radius: Option<Finite>,
    /// Height of the sensor that the focal length is for, in scene units. Default 0.024, as of a 35 mm camera where a unit is
    /// a metre: in a scene ten times as large, 0.24 blurs as much.
    pub sensor: Finite,
    /// What is sharp. Default: the camera's target.
    pub focus: Option<FocusDesc>,
    /// Sides of the aperture, 3 to 64; 0 (default) for a round one.
    pub blades: u32,
    /// Of the blades, from right to up. Default 0: the right side is upright.
    pub rotation: Finite,
    /// Height of the aperture over its width, above 0. Default 1; 2 as of anamorphic lenses.
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

/// A distance along the camera's axis, a point `(x, y, z)`, or the name of a mesh or group that is placed (`"dragon"`: the first
/// of them; `"dragon:4"`: the fifth of a mesh).
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
