//! Lights and cameras.

use super::{NONE, Sampled};
use glam::DAffine3;

/// A light (UsdLux). It shines along -Z of its space, where it has a direction.
#[derive(Clone, Debug)]
pub struct Light {
    /// Path of the prim.
    pub name: String,
    /// Its shape.
    pub kind: LightKind,
    /// `world_from_light`.
    pub world_from_light: Sampled<DAffine3>,
    /// Whether it is on: visibility of the prim and of those above. Steps.
    pub shown: Sampled<bool>,
    /// `intensity · 2^exposure · color`, with the colour of its temperature, linear. Luminance in nits.
    pub radiance: Sampled<[f32; 3]>,
    /// Whether the radiance is divided by the light's surface (by its solid angle for a distant light).
    pub normalize: bool,
    /// Its shaping, for lights other than domes and distant lights.
    pub shaping: Option<Shaping>,
    /// What a dome of throng has beyond its picture.
    pub sky: OwnSky,
}

/// What throng keeps of a sky in attributes of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnSky {
    /// Radiance of the zenith, the horizon and the nadir ([`Self::GRADIENT`]), between which the picture interpolates.
    pub gradient: Option<[[f32; 3]; 3]>,
    /// Irradiance of the faintest stars, what is subtracted from each, and their turn about the pole in radians ([`Self::STARS`]).
    pub stars: Option<[f32; 3]>,
}

impl OwnSky {
    /// Name of the attribute with three colours.
    pub const GRADIENT: &str = "throng:gradient";
    /// Name of the attribute with three numbers.
    pub const STARS: &str = "throng:stars";
}

/// Kinds of lights, with their dimensions.
#[derive(Clone, Debug, PartialEq)]
pub enum LightKind {
    /// Light from all directions.
    Dome {
        /// Index into [`super::Stage::pictures`] of a latitude-longitude picture, or [`NONE`].
        picture: u32,
        /// Whether the pole of the picture is +Z of the light's space, and not +Y (DomeLight_1's `poleAxis`).
        pole_is_z: bool,
    },
    /// Light from a distant disc.
    Distant {
        /// Angular diameter in degrees.
        angle: f64,
    },
    /// A sphere around the origin.
    Sphere {
        /// Its radius; 0 for a point (`treatAsPoint`).
        radius: f64,
    },
    /// A disc in the XY plane.
    Disk {
        /// Its radius.
        radius: f64,
    },
    /// A rectangle in the XY plane.
    Rect {
        /// Its sides along X and Y.
        size: [f64; 2],
        /// Index into [`super::Stage::pictures`], or [`NONE`].
        picture: u32,
    },
    /// A cylinder along X without ends.
    Cylinder {
        /// Its radius; 0 for a line (`treatAsLine`).
        radius: f64,
        /// Its length.
        length: f64,
    },
    /// Shapes that emit light (MeshLightAPI): items of the world with this name.
    Geometry,
}

impl Default for LightKind {
    fn default() -> Self {
        Self::Dome { picture: NONE, pole_is_z: false }
    }
}

/// A cone of light (UsdLuxShapingAPI).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaping {
    /// Half angle of the cone in degrees.
    pub angle: f32,
    /// Share of the angle over which the light fades.
    pub softness: f32,
    /// Exponent of the cosine by which the light is focused; 0 for none.
    pub focus: f32,
}

/// A camera (UsdGeomCamera). It looks along -Z of its space, with +Y up.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Path of the prim.
    pub name: String,
    /// `world_from_camera`.
    pub world_from_camera: Sampled<DAffine3>,
    /// Its lens. Lengths are in tenths of a unit, as in USD, but for the distance.
    pub lens: Sampled<CameraLens>,
    /// Whether it is orthographic; the apertures are then the size of the view.
    pub orthographic: bool,
    /// Seconds times the rate for which the shutter is open: `shutter:open` and `shutter:close`, relative to the frame in time codes.
    pub shutter: [f64; 2],
}

/// The lens of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraLens {
    /// Width and height of the aperture.
    pub aperture: [f32; 2],
    /// Offset of the aperture to the right and up.
    pub offset: [f32; 2],
    /// Focal length.
    pub focal_length: f32,
    /// Focal length divided by the diameter of the opening; 0 if all is in focus.
    pub f_stop: f32,
    /// Distance in units at which it is in focus.
    pub focus_distance: f32,
    /// Exposure in stops by which the picture is brighter (`exposure`).
    pub exposure: f32,
}
