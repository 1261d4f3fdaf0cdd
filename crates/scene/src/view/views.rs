//! Views given as data: a camera of its own for each frame.

use crate::{Camera, CameraPath, Focus, Intrinsics, Lens, Projection, RenderDefaults};
use glam::{Mat3, Vec2, Vec3};

/// At least one view. Each replaces the scene's camera in one frame, from the first frame on.
#[derive(Clone, Debug, PartialEq)]
pub struct Views(Vec<View>);

/// A camera at rest, and the time at which it sees the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Name of the view, such as the file name of its picture; may be empty.
    pub name: String,
    /// Position in world space.
    pub eye: Vec3,
    /// Axes of the camera in world space: unit vectors to the right, up and back, orthogonal to each other.
    pub axes: Mat3,
    /// Projection of the view. None: the projection of the scene's camera.
    pub optics: Option<Optics>,
    /// Distance along the axis to what the view shows, on which a lens focuses by default; positive.
    pub distance: f32,
    /// Time in seconds.
    pub time: f64,
}

/// How a [`View`] is projected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optics {
    /// A calibrated camera.
    Calibrated(Intrinsics),
    /// As cameras of scene files, with the middle of the picture on the axis.
    Plain(Projection),
}

impl Views {
    /// The views in the order of frames. None if there are none.
    pub fn new(list: Vec<View>) -> Option<Self> {
        (!list.is_empty()).then_some(Self(list))
    }

    /// All views, at least one.
    pub fn list(&self) -> &[View] {
        &self.0
    }

    /// The view in frame `number` of a scene with these settings. The first and the last view continue before and after their frames.
    pub fn of_frame(&self, settings: &RenderDefaults, number: u32) -> &View {
        let index = number.saturating_sub(settings.first_frame) as usize;
        &self.0[index.min(self.0.len() - 1)]
    }
}

impl View {
    /// `camera` seen from this view. It keeps its lens.
    #[doc(hidden)]
    pub fn of(&self, camera: &Camera) -> Camera {
        let (projection, shift, intrinsics) = match self.optics {
            None => (camera.projection, camera.shift, camera.intrinsics),
            Some(Optics::Plain(projection)) => (projection, Vec2::ZERO, None),
            Some(Optics::Calibrated(intrinsics)) => {
                (Projection::Perspective { fov_y: intrinsics.fov_y() }, Vec2::ZERO, Some(intrinsics))
            }
        };
        let lens = camera.lens.clone().map(|lens| match lens.focus {
            Focus::Target => Lens { focus: Focus::Distance(self.distance), ..lens },
            _ => lens,
        });
        // The target is far enough away that the direction survives rounding.
        let ahead = self.distance.max(self.eye.abs().max_element());
        Camera {
            path: CameraPath::Still { eye: self.eye, target: self.eye - self.axes.z_axis * ahead },
            up: self.axes.y_axis,
            projection,
            shift,
            intrinsics,
            lens,
            ..Camera::default()
        }
    }
}
