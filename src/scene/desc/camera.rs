//! The `camera:` section of the scene file: camera paths, projections and lenses.

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

/// The `camera:` section: a still camera, an orbit or a flight along a spline.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "camera")]
pub enum CameraDesc {
    LookAt(LookAt),
    Orbit(Orbit),
    Spline(Spline),
}

impl CameraDesc {
    /// The optics of any kind of camera: vertical field of view in degrees, projection, and lens (None for a pinhole).
    pub fn optics(&self) -> (Finite, ProjectionDesc, Option<&LensDesc>) {
        match self {
            Self::LookAt(c) => (c.fov, c.projection, c.lens.as_ref()),
            Self::Orbit(c) => (c.fov, c.projection, c.lens.as_ref()),
            Self::Spline(c) => (c.fov, c.projection, c.lens.as_ref()),
        }
    }

    /// The shutter of any kind of camera; None for pictures without motion blur.
    pub fn shutter(&self) -> Option<ShutterDesc> {
        match self {
            Self::LookAt(LookAt { shutter, .. })
            | Self::Orbit(Orbit { shutter, .. })
            | Self::Spline(Spline { shutter, .. }) => *shutter,
        }
    }
}

/// `LookAt(eye: (0, 2, 8), target: (0, 1, 0), fov: 40)`: a camera that stands still.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookAt {
    pub eye: Point,
    pub target: Point,
    /// Vertical field of view in degrees, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// Direction that is up in the picture; not (0, 0, 0), and not along the view. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// How the scene is projected: `perspective` (default), `orthographic(height: 4)` or `equirectangular`.
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// A lens, which blurs whatever is out of focus. Default: none, a pinhole camera, to which everything is sharp.
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: for how many frames the shutter is open, centred on the frame's time; or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `Orbit(target: (0, 1, 0), radius: 8, height: 3)`: a turntable, which is seamless when the frames are looped.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orbit {
    pub target: Point,
    /// Distance of the eye from the axis, in scene units, above 0.
    pub radius: Finite,
    /// Height of the eye above the target, along `up`, in scene units. Default 0.
    #[serde(default)]
    pub height: Finite,
    /// Angle at the first frame, in degrees: at 0 (default) the eye is on the +Z side of the target, at 90 on the +X side.
    #[serde(default)]
    pub start: Finite,
    /// Number of turns over the whole animation; negative turns the other way. Default 1.
    #[serde(default = "values::one")]
    pub turns: Finite,
    /// Vertical field of view in degrees, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// Direction of the axis through the target, which is up in the picture. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// As in [`LookAt`].
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// As in [`LookAt`].
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: for how many frames the shutter is open, centred on the frame's time; or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `Spline(keys: [(eye: .., target: ..), ..])`: a flight along a Catmull-Rom spline through at least 2 keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spline {
    pub keys: Vec<SplineKey>,
    /// Vertical field of view in degrees, above 0 and below 180. Default 40.
    #[serde(default = "values::forty")]
    pub fov: Finite,
    /// Direction that is up in the picture; not (0, 0, 0), and not along the view. Default (0, 1, 0).
    #[serde(default = "values::up")]
    pub up: Point,
    /// As in [`LookAt`].
    #[serde(default)]
    pub projection: ProjectionDesc,
    /// As in [`LookAt`].
    #[serde(default)]
    pub lens: Option<LensDesc>,
    /// Motion blur: for how many frames the shutter is open, centred on the frame's time; or `(open: -0.25, close: 0.25)`. Default: none.
    #[serde(default)]
    pub shutter: Option<ShutterDesc>,
}

/// `(eye: (0, 2, 8), target: (0, 1, 0), time: 1.5, fov: 30, focus: "dragon")`: a key of a [`Spline`]. Where it leaves out optics,
/// those of the camera apply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct SplineKey {
    pub eye: Point,
    pub target: Point,
    /// Time in seconds. Either all keys have one, in increasing order, or none has: they are then spread evenly over the animation.
    #[serde(default)]
    pub time: Option<Finite>,
    /// Vertical field of view in degrees at this key, for a perspective camera.
    #[serde(default)]
    pub fov: Option<Finite>,
    /// Height of the view at this key, in scene units, for an orthographic camera.
    #[serde(default)]
    pub height: Option<Finite>,
    /// F-number at this key, for a camera whose lens has an `f_stop`.
    #[serde(default)]
    pub f_stop: Option<Finite>,
    /// Radius of the aperture at this key, in scene units, for a camera whose lens has a `radius`.
    #[serde(default)]
    pub radius: Option<Finite>,
    /// Focus at this key, for a camera that has a lens.
    #[serde(default)]
    pub focus: Option<FocusDesc>,
}

/// How a camera projects the scene onto the picture.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "projection", rename_all = "snake_case")]
pub enum ProjectionDesc {
    #[default]
    Perspective,
    /// `orthographic(height: 4)`: parallel rays. The height of the view is in scene units and above 0.
    Orthographic(Parallel),
    /// The whole surroundings by longitude and latitude, for pictures twice as wide as high.
    Equirectangular,
}

/// The fields of [`ProjectionDesc::Orthographic`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parallel {
    pub height: Finite,
}

/// `lens: (f_stop: 2.8, focus: "dragon", blades: 6)`: a thin lens, which blurs whatever is out of focus.
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

/// The focus of a lens: a distance along the camera's axis, above 0; a point `(x, y, z)`; or the name of a mesh or group that is
/// placed. `"dragon"` is the first instance of a mesh or copy of a group, `"dragon:4"` the fifth instance of a mesh.
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
