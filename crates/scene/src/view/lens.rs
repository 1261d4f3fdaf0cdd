//! The camera's optics: projection, aperture and focus.

use glam::Vec3;
use std::sync::Arc;

/// Height of the sensor of a 35 mm camera, if a scene unit is a metre.
#[doc(hidden)]
pub const SENSOR_HEIGHT: f32 = 0.024;
/// Length of the sensor of a 35 mm camera along the longer side of the picture, if a scene unit is a metre.
const SENSOR_LENGTH: f32 = 0.036;
/// Maximum lens shift in either direction, relative to the longer side of the picture.
#[doc(hidden)]
pub const MOST_SHIFT: f32 = 100.0;
/// Maximum number of aperture blades.
#[doc(hidden)]
pub const MAX_BLADES: u32 = 64;

/// Projection of the scene onto the picture. The width of the view follows from the picture's aspect ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Perspective: distant objects appear smaller.
    Perspective {
        /// Vertical field of view in radians.
        fov_y: f32,
    },
    /// Parallel rays: sizes do not depend on distance.
    Orthographic {
        /// Height of the view, in scene units.
        height: f32,
    },
    /// The whole surroundings by longitude and latitude, with the forward direction in the middle. For pictures twice as wide as high.
    Equirectangular,
}

impl Default for Projection {
    fn default() -> Self {
        Self::Perspective { fov_y: 40f32.to_radians() }
    }
}

impl Projection {
    /// A copy with another [`LensTracks::span`].
    #[doc(hidden)]
    pub fn with_span(self, span: f32) -> Self {
        match self {
            Self::Perspective { .. } => Self::Perspective { fov_y: span },
            Self::Orthographic { .. } => Self::Orthographic { height: span },
            Self::Equirectangular => self,
        }
    }
}

/// A thin lens, for depth of field.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// Size of the aperture.
    pub aperture: Aperture,
    /// Focus of the lens.
    pub focus: Focus,
    /// Shape of the aperture.
    pub iris: Iris,
}

/// Size of the aperture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aperture {
    /// F-number. The focal length follows from the field of view and the height of the sensor.
    FStop {
        /// Focal length over diameter of the aperture.
        number: f32,
        /// Height of the sensor, in scene units.
        sensor: f32,
    },
    /// Radius in scene units. 0 means a pinhole.
    Radius(f32),
}

/// Height of the used part of a 35 mm camera's sensor, for a picture `aspect` times as wide as high. The picture's longer side takes the
/// length of the sensor, as in Blender.
#[doc(hidden)]
pub fn sensor_height(aspect: f32) -> f32 {
    SENSOR_LENGTH / aspect.max(1.0)
}

impl Aperture {
    /// Radius in scene units. Projections without a field of view use the focal length of the default field of view.
    pub fn radius(self, projection: Projection) -> f32 {
        let fov_y = |projection| match projection {
            Projection::Perspective { fov_y } => Some(fov_y),
            _ => None,
        };
        let fov_y = fov_y(projection).or_else(|| fov_y(Projection::default()));
        match self {
            Self::Radius(radius) => radius,
            Self::FStop { number, sensor } => {
                let slope = (0.5 * fov_y.unwrap_or(1.0)).tan();
                0.25 * sensor / (slope * number)
            }
        }
    }

    /// The number that [`LensTracks`] animate: the f-number or the radius.
    #[doc(hidden)]
    pub fn value(self) -> f32 {
        match self {
            Self::FStop { number, .. } => number,
            Self::Radius(radius) => radius,
        }
    }

    /// An aperture of this kind with another [`Self::value`].
    pub(crate) fn with_value(self, value: f32) -> Self {
        match self {
            Self::FStop { sensor, .. } => Self::FStop { number: value, sensor },
            Self::Radius(_) => Self::Radius(value),
        }
    }
}

/// Focus of a lens. Objects at this distance along the camera's axis are sharp.
#[derive(Clone, Debug, PartialEq)]
pub enum Focus {
    /// The camera's target.
    Target,
    /// A distance along the camera's axis in scene units, above 0.
    Distance(f32),
    /// A point in world space.
    Point(Vec3),
    /// The mean of moving points; never empty.
    On(Arc<[Anchor]>),
}

/// A point that moves with an instance or a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Anchor {
    /// A point of an instance.
    Instance {
        /// Index into [`crate::Scene::instances`].
        instance: u32,
        /// In object space.
        point: Vec3,
    },
    /// A point of an object within an assembly.
    Nested {
        /// Path to the object: numbers of instances in the world, in the assembly there, and so on.
        steps: Arc<[u32]>,
        /// In object space.
        point: Vec3,
    },
    /// The origin of one of the scene's nodes.
    Node {
        /// Index into [`crate::Scene::nodes`].
        node: u32,
    },
}

/// Shape of the aperture, which is visible in out-of-focus highlights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iris {
    /// Number of blades. Fewer than 3 mean a round aperture.
    pub blades: u32,
    /// Rotation in radians, from right to up in the picture.
    pub rotation: f32,
    /// Height over width, above 1 for anamorphic lenses.
    pub ratio: f32,
}

impl Default for Iris {
    fn default() -> Self {
        Self { blades: 0, rotation: 0.0, ratio: 1.0 }
    }
}

/// Animated optics of a camera on a spline: (time, value) keys at increasing times, interpolated like the camera's position but
/// clamped to the range of their values. An empty list animates nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LensTracks {
    /// Vertical field of view in radians, or height of an orthographic view.
    pub span: Vec<(f64, f32)>,
    /// F-numbers or radii, as the aperture has it.
    pub aperture: Vec<(f64, f32)>,
    /// Focus of the lens, interpolated as a distance.
    pub focus: Vec<(f64, Focus)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_side_of_a_picture_is_as_long_as_the_sensor() {
        // 50 mm in Blender, at f/2: the field of view is that of a sensor 36 mm along the longer side.
        for aspect in [1.0f32, 0.5, 16.0 / 9.0, 3.0] {
            let fov_y = 2.0 * (18.0 / aspect.max(1.0) / 50.0).atan();
            let aperture = Aperture::FStop { number: 2.0, sensor: sensor_height(aspect) };
            let radius = aperture.radius(Projection::Perspective { fov_y });
            assert!((radius - 0.0125).abs() < 1e-7, "{aspect}: {radius}");
        }
    }

    #[test]
    fn an_f_stop_is_the_focal_length_over_the_diameter() {
        // A 50 mm lens in front of a sensor 24 mm high.
        let fov_y = 2.0 * (12f32 / 50.0).atan();
        let aperture = Aperture::FStop { number: 2.0, sensor: SENSOR_HEIGHT };
        let radius = aperture.radius(Projection::Perspective { fov_y });
        assert!((radius - 0.0125).abs() < 1e-7, "{radius}");
    }
}
