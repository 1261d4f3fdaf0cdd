//! Lights.

use glam::Vec3;

/// A source of light. Colours are linear RGB; directions are unit vectors in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Light {
    /// A point whose light falls off with the square of the distance.
    Point {
        /// In scene units.
        position: Vec3,
        /// Radiant intensity.
        intensity: Vec3,
        /// Distance at which the light ends, by the formula of KHR_lights_punctual. None: no limit.
        range: Option<f32>,
    },
    /// A distant disc, visible to camera and mirror rays.
    Sun {
        /// Direction towards the light.
        direction: Vec3,
        /// Irradiance on a surface that faces the light.
        irradiance: Vec3,
        /// Angular radius in radians. 0 gives hard shadows and no visible disc.
        angular_radius: f32,
    },
    /// A distant disc that is partly dark.
    Moon {
        /// Direction towards the moon.
        direction: Vec3,
        /// Irradiance from the lit part, on a surface that faces the moon.
        irradiance: Vec3,
        /// Angular radius in radians.
        angular_radius: f32,
        /// Unit vector perpendicular to the direction, pointing to the lit side.
        bright_limb: Vec3,
        /// Cosine of the angle between the middle of the lit side and the viewer.
        phase_cosine: f32,
    },
    /// A point light that shines into a cone: fully within `inner`, not beyond `outer`, and in between by the formula of
    /// KHR_lights_punctual.
    Spot {
        /// In scene units.
        position: Vec3,
        /// The axis of the cone.
        direction: Vec3,
        /// Radiant intensity along the axis.
        intensity: Vec3,
        /// Half-angle in radians.
        inner: f32,
        /// Half-angle in radians.
        outer: f32,
        /// Radius of an invisible disc perpendicular to the direction. 0 for a point.
        radius: f32,
        /// Distance at which the light ends, as for a point light.
        range: Option<f32>,
    },
    /// An emissive instance, for the Whitted integrator, which supports only spheres and discs.
    Lamp {
        /// The middle, in scene units.
        position: Vec3,
        /// Direction of a disc, which emits into that half space. None for a sphere.
        direction: Option<Vec3>,
        /// Radiant intensity; of a disc, along the direction.
        intensity: Vec3,
        /// In scene units.
        radius: f32,
    },
}
