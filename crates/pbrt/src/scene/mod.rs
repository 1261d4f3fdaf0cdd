//! A scene as plain data. All indices are valid and all numbers finite.
//!
//! Units and spaces are those of the files, in which nothing says which way is up. Matrices act on column vectors. Where something moves,
//! there are two transforms, at [`Scene::times`]. Colours are linear sRGB.

mod material;

pub use material::*;

use glam::{Affine3, DAffine3};
use std::{collections::BTreeMap, path::PathBuf};

/// An index that refers to nothing.
pub const NONE: u32 = u32::MAX;

/// A transform, and at [`Scene::times`]\[1\] another one if it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The transform at the first time.
    pub start: DAffine3,
    /// The transform at the second time.
    pub end: DAffine3,
}

impl Placement {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { start: DAffine3::IDENTITY, end: DAffine3::IDENTITY };

    /// Whether the transforms differ.
    pub fn moves(&self) -> bool {
        self.start != self.end
    }
}

/// A scene.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// All files that were read, the main one first.
    pub files: Vec<PathBuf>,
    /// The times of the two transforms of what moves, in seconds (`TransformTimes`).
    pub times: [f32; 2],
    /// The picture's size and exposure.
    pub film: Film,
    /// Maximum number of surfaces that scatter a path (`maxdepth` of the integrator). With 1, there is direct light only.
    pub max_depth: u32,
    /// The camera, if given.
    pub camera: Option<Camera>,
    /// Groups of objects. The first is the world; the others are objects (`ObjectBegin`), and files that do nothing but place objects.
    pub groups: Vec<Group>,
    /// Shapes, each stored once.
    pub shapes: Vec<Shape>,
    /// Materials. The first is the default, a grey diffuse one.
    pub materials: Vec<Material>,
    /// Textures that materials refer to.
    pub textures: Vec<Texture>,
    /// Emission of shapes (`AreaLightSource`).
    pub emissions: Vec<Emission>,
    /// Lights without geometry.
    pub lights: Vec<Light>,
    /// Homogeneous media.
    pub media: Vec<Medium>,
    /// Directives that have no effect, with their numbers.
    pub left_out: BTreeMap<String, u64>,
    /// What was replaced or left out: one line each, with file, line and column.
    pub warnings: Vec<String>,
}

/// Objects that are placed together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Name of the object or file.
    pub name: String,
    /// Its shapes.
    pub items: Vec<Item>,
    /// Its copies of other groups.
    pub copies: Vec<Copies>,
}

/// A shape in a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Index into [`Scene::shapes`].
    pub shape: u32,
    /// Index into [`Scene::materials`].
    pub material: u32,
    /// Index into [`Scene::emissions`], or [`NONE`].
    pub emission: u32,
    /// Index into [`Scene::media`] of the medium inside, or [`NONE`].
    pub inside: u32,
    /// Opacity, which is a cutout.
    pub alpha: Number,
    /// The transform from the shape's space to the group's.
    pub place: Placement,
}

/// Copies of a group within another one.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// Index into [`Scene::groups`].
    pub group: u32,
    /// Transforms of copies that do not move.
    pub places: Vec<Affine3>,
    /// Transforms at both times of copies that move.
    pub moving: Vec<[Affine3; 2]>,
}

/// A shape in its own space.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Type of the shape, and the place of its directive, for names and messages.
    pub name: String,
    /// Its geometry.
    pub kind: ShapeKind,
    /// Whether its front is its back (`ReverseOrientation`).
    pub reversed: bool,
}

/// Geometry of a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind {
    /// Triangles, counter-clockwise seen from the front.
    Mesh(Triangles),
    /// Patches of four corners each, of which the third and fourth are opposite the first and second.
    Bilinear {
        /// Corners and attributes of points.
        points: Points,
        /// Indices of the corners of each patch.
        patches: Vec<[u32; 4]>,
    },
    /// A subdivision surface (Loop) with the triangles as cage.
    Loop {
        /// The cage.
        cage: Triangles,
        /// Number of subdivisions.
        levels: u32,
    },
    /// A mesh in a PLY file, which may be compressed (.gz).
    Ply(PathBuf),
    /// A sphere around the origin, between two heights and over an angle about +Z in degrees.
    Sphere {
        /// Radius.
        radius: f32,
        /// Lowest and highest Z, at most the radius.
        heights: [f32; 2],
        /// Angle, 360 for all of it.
        phi_max: f32,
    },
    /// A cylinder about the Z axis, without ends.
    Cylinder {
        /// Radius.
        radius: f32,
        /// Lowest and highest Z.
        heights: [f32; 2],
        /// Angle in degrees.
        phi_max: f32,
    },
    /// A cone about the Z axis that stands on its plane, without its base.
    Cone {
        /// Radius at the base.
        radius: f32,
        /// Z of the tip.
        height: f32,
        /// Angle in degrees.
        phi_max: f32,
    },
    /// A paraboloid about the Z axis with its vertex at the origin.
    Paraboloid {
        /// Radius at the highest Z.
        radius: f32,
        /// Lowest and highest Z.
        heights: [f32; 2],
        /// Angle in degrees.
        phi_max: f32,
    },
    /// The surface of a segment that turns about the Z axis.
    Hyperboloid {
        /// The ends of the segment.
        ends: [[f32; 3]; 2],
        /// Angle in degrees.
        phi_max: f32,
    },
    /// A disc across the Z axis, which faces +Z.
    Disk {
        /// Radius.
        radius: f32,
        /// Radius of the hole.
        inner: f32,
        /// Z of the disc.
        height: f32,
        /// Angle in degrees.
        phi_max: f32,
    },
    /// Curves, of which consecutive directives with equal state are one shape.
    Curves(Curves),
}

/// Points of a mesh, and their attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Positions.
    pub positions: Vec<[f32; 3]>,
    /// One per position, or empty.
    pub normals: Vec<[f32; 3]>,
    /// One per position, or empty.
    pub uvs: Vec<[f32; 2]>,
}

/// Triangles with their points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// The points.
    pub points: Points,
    /// Indices of the corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// Cubic curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Control points of all curves.
    pub points: Vec<[f32; 3]>,
    /// Number of control points of each curve.
    pub counts: Vec<u32>,
    /// Width at both ends of each curve.
    pub widths: Vec<[f32; 2]>,
    /// Normals at both ends of each curve, if these are flat; otherwise empty.
    pub normals: Vec<[[f32; 3]; 2]>,
    /// Whether the points are those of a B-spline rather than of Bézier curves.
    pub b_spline: bool,
}

/// Light that a shape emits.
#[derive(Clone, Debug, PartialEq)]
pub struct Emission {
    /// Radiance, or with `power` the power of all of the shape.
    pub radiance: [f32; 3],
    /// Power in all, if it is given instead of the radiance, whose colour counts.
    pub power: Option<f32>,
    /// Whether its back emits as well.
    pub two_sided: bool,
    /// Picture that multiplies the radiance.
    pub picture: Option<PathBuf>,
}

/// A light without geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Its type and the place of its directive.
    pub name: String,
    /// What it emits.
    pub kind: LightKind,
    /// The transform from the light's space to the world's, at the first time.
    pub world_from_light: DAffine3,
}

/// Kinds of lights. Positions and directions are in the light's space.
#[derive(Clone, Debug, PartialEq)]
pub enum LightKind {
    /// Light from all directions.
    Infinite {
        /// Radiance, or what multiplies the picture.
        radiance: [f32; 3],
        /// Picture of all directions.
        picture: Option<PathBuf>,
        /// Irradiance of a surface that faces up, which the light is scaled to.
        illuminance: Option<f32>,
    },
    /// Parallel light.
    Distant {
        /// Irradiance of a surface that faces the light.
        irradiance: [f32; 3],
        /// Direction towards the light.
        direction: [f32; 3],
    },
    /// Light from a point.
    Point {
        /// Radiant intensity.
        intensity: [f32; 3],
        /// Where it is.
        position: [f32; 3],
    },
    /// Light from a point into a cone.
    Spot {
        /// Radiant intensity along the axis.
        intensity: [f32; 3],
        /// Where it is.
        position: [f32; 3],
        /// Where it shines to.
        target: [f32; 3],
        /// Half angles in degrees up to which the light is full, and beyond which there is none.
        angles: [f32; 2],
    },
}

/// A homogeneous medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Absorption per unit of length.
    pub absorption: [f32; 3],
    /// Scattering per unit of length.
    pub scattering: [f32; 3],
    /// Mean cosine of the scattering angle.
    pub anisotropy: f32,
}

/// A camera. It looks along +Z, with +Y up and +X to the right.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// How it projects.
    pub kind: CameraKind,
    /// The part of the screen that the picture shows: least and greatest x and y, where the shorter side goes from -1 to 1.
    pub screen: [f32; 4],
    /// Radius of the lens; 0 for a pinhole.
    pub lens_radius: f32,
    /// Distance of what is sharp.
    pub focal_distance: f32,
    /// Seconds at which the shutter opens and closes.
    pub shutter: [f32; 2],
    /// The transform from the camera's space to the world's.
    pub world_from_camera: Placement,
    /// Index into [`Scene::media`] of the medium around it, or [`NONE`].
    pub medium: u32,
}

/// Kinds of cameras.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraKind {
    /// With an angle of view in degrees from -1 to 1 of the screen.
    Perspective(f32),
    /// Parallel.
    Orthographic,
    /// All directions, +Y up.
    Spherical,
}

/// The picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Film {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The part that is rendered, as least and greatest x and y from 0 to 1.
    pub crop: [f32; 4],
    /// Factor of all values.
    pub exposure: f32,
}

impl Default for Film {
    fn default() -> Self {
        Self { size: [1280, 720], crop: [0.0, 1.0, 0.0, 1.0], exposure: 1.0 }
    }
}
