//! Cameras and their paths.

use crate::{Anchor, Flight, Intrinsics, Lens, LensTracks, Noise, Projection};
use glam::{Vec2, Vec3};
use std::sync::Arc;

/// A camera, which may move.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Position and target over time.
    pub path: CameraPath,
    /// Object that the eye of a still camera follows.
    pub eye: Option<Follow>,
    /// Object that the camera looks at, instead of the path's own target. It is also the centre of an orbit.
    pub target: Option<Follow>,
    /// Unit up vector of the picture. A path along a node has its own.
    pub up: Vec3,
    /// Rotation of the camera about its viewing axis in radians. A positive roll tilts the camera to the right, and the picture to the
    /// left.
    pub roll: f32,
    /// Camera shake, along and about the right, up and back axes.
    pub shake: Option<Noise>,
    /// Projection onto the picture.
    pub projection: Projection,
    /// Offset from the camera's axis to the middle of the picture, to the right and up, relative to the longer side of the picture. Not
    /// used by panoramas.
    pub shift: Vec2,
    /// Calibration that replaces the field of view and the shift of a perspective camera.
    pub intrinsics: Option<Intrinsics>,
    /// Index in a glTF file of the camera whose clips animate the projection.
    pub driver: Option<u32>,
    /// None for a pinhole camera.
    pub lens: Option<Lens>,
    /// Animated values of the projection and the lens.
    pub tracks: LensTracks,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO },
            eye: None,
            target: None,
            up: Vec3::Y,
            roll: 0.0,
            shake: None,
            projection: Projection::default(),
            shift: Vec2::ZERO,
            intrinsics: None,
            driver: None,
            lens: None,
            tracks: LensTracks::default(),
        }
    }
}

/// A named object that a lens can focus on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in the scene file or model.
    pub name: String,
    /// Points whose mean is the middle of the subject.
    pub anchors: Vec<Anchor>,
    /// Its instances.
    pub instances: Vec<u32>,
}

/// Position and target of a camera over time.
#[derive(Clone, Debug)]
pub enum CameraPath {
    /// A camera at rest.
    Still {
        /// Position of the camera.
        eye: Vec3,
        /// Point in the middle of the picture.
        target: Vec3,
    },
    /// A circle about the axis `up` through `target`, `height` above the target. The camera makes `turns` revolutions over the whole
    /// animation, from `start` radians at the first frame. At 0 it is at +Z of the target; positive angles are towards +X.
    Orbit {
        /// Point in the middle of the picture, on the axis of the circle.
        target: Vec3,
        /// Distance of the camera from the axis.
        radius: f32,
        /// Height of the camera above the target.
        height: f32,
        /// Angle at the first frame in radians.
        start: f32,
        /// Number of revolutions.
        turns: f32,
    },
    /// Along splines through keys.
    Spline(Flight),
    /// The view from the origin of a node along its -Z axis, with its +Y axis up.
    Node {
        /// Index into [`Scene::nodes`].
        node: u32,
    },
}

/// A moving object that a camera follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Follow {
    /// Points whose mean is the middle of the object.
    pub anchors: Arc<[Anchor]>,
    /// Offset from the middle, in scene units.
    pub offset: Vec3,
    /// Whether the offset rotates with the object.
    pub turns: bool,
    /// Mean delay of the camera in seconds.
    pub lag: f32,
}

/// A switch to another camera.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Time in seconds.
    pub time: f64,
    /// The camera after the cut.
    pub camera: Camera,
}
