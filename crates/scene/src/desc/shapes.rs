//! Entries of `meshes` that need no model file: simple shapes, terrains, and ribbons along curves.

use super::{BoxSize, Finite};
use glam::Vec3;
use serde::Deserialize;

/// `Quad(tile: 4)`: a square of side 1 in the XZ plane, centred at the origin, facing +Y. UVs range from 0 to `tile`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quad {
    /// Number of texture repetitions along each side. Default 1.
    pub tile: Finite,
}

impl Default for Quad {
    fn default() -> Self {
        Self { tile: Finite(1.0) }
    }
}

/// `Box(size: (4, 3, 6))`: a box centred at the origin. UVs range from 0 to `tile` on each face.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Box", default, deny_unknown_fields)]
pub struct Cuboid {
    /// Side lengths along X, Y and Z, or one length for all. Default 1.
    pub size: BoxSize,
    /// Number of texture repetitions along each side. Default 1.
    pub tile: Finite,
}

impl Default for Cuboid {
    fn default() -> Self {
        Self { size: BoxSize(Vec3::ONE), tile: Finite(1.0) }
    }
}

/// `Cylinder(radius: 0.5, height: 3)`: a cylinder about the Y axis, centred at the origin. UVs run around it and from bottom to top; the
/// caps have the UVs of a `Disc`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, above 0. Default 0.5.
    pub radius: Finite,
    /// Height, above 0. Default 1.
    pub height: Finite,
    /// Number of flat sides, 3 to 4096. They are smoothly shaded. Default 48.
    pub segments: u32,
    /// Whether the bottom and the top are closed. Default true.
    pub caps: bool,
}

impl Default for Cylinder {
    fn default() -> Self {
        Self { radius: Finite(0.5), height: Finite(1.0), segments: 48, caps: true }
    }
}

/// `Cone(radius: 0.5, height: 3)`: a cone about the Y axis, centred at the origin, with UVs as on a `Cylinder`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cone {
    /// Radius at the bottom, above 0. Default 0.5.
    pub radius: Finite,
    /// Height, above 0. Default 1.
    pub height: Finite,
    /// Number of flat sides, 3 to 4096. They are smoothly shaded. Default 48.
    pub segments: u32,
    /// Whether the bottom is closed. Default true.
    pub caps: bool,
}

impl Default for Cone {
    fn default() -> Self {
        Self { radius: Finite(0.5), height: Finite(1.0), segments: 48, caps: true }
    }
}

/// `Disc(radius: 2)`: a disc in the XZ plane, centred at the origin, facing +Y. UVs range from 0 to 1 over its bounding square, as on a
/// `Quad`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disc {
    /// Radius, above 0. Default 0.5.
    pub radius: Finite,
    /// Number of sides, 3 to 4096. Default 48.
    pub segments: u32,
}

impl Default for Disc {
    fn default() -> Self {
        Self { radius: Finite(0.5), segments: 48 }
    }
}

/// `Torus(radius: 1, tube: 0.25)`: a ring about the Y axis, centred at the origin. UVs run around the ring and around its tube.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Torus {
    /// Distance from the axis to the middle of the tube, at least `tube`. Default 0.5.
    pub radius: Finite,
    /// Radius of the tube, above 0. Default 0.15.
    pub tube: Finite,
    /// Number of flat segments around the axis, 3 to 4096. The tube has half as many, but at least 3. Default 64.
    pub segments: u32,
}

impl Default for Torus {
    fn default() -> Self {
        Self { radius: Finite(0.5), tube: Finite(0.15), segments: 64 }
    }
}

/// `Terrain(size: (400, 40, 400), cells: 512, noise: (seed: 3, scale: 120))`: hills centred at the origin, with heights from noise or a
/// picture. They are modified by `valley`, then by each bed of `level`. UVs range from 0 to 1: u along +X, v along -Z.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerrainDesc {
    /// Extent along X, maximum height above y = 0, and extent along Z, all above 0.
    pub size: BoxSize,
    /// Number of cells along X, 2 to 8192. The number along Z follows from square cells. Default: 256, or one cell corner per pixel of a
    /// picture. 4096 cells a side load in 1 GB of memory. With their tree they take 6 GB (with `--trees fast`; 14 GB while a high-quality
    /// tree is built).
    #[serde(default)]
    pub cells: Option<u32>,
    /// A picture of heights, seen from above with -Z at the top: black is 0, white is `size.y`. Values of 8 or 16 bits are used as stored
    /// in the file. Default: none.
    #[serde(default)]
    pub file: Option<String>,
    /// Noise, instead of a picture. Without either, the terrain is flat at y = 0.
    #[serde(default)]
    pub noise: Option<NoiseDesc>,
    /// A valley along a curve. Default: none.
    #[serde(default)]
    pub valley: Option<Valley>,
    /// Strips along curves that are level from side to side, such as roads and rivers. Later ones cut into earlier ones. Default: none.
    #[serde(default)]
    pub level: Vec<Bed>,
}

/// `noise: (seed: 3, octaves: 6, scale: 120)`: a sum of waves (octaves), each half as long and half as high as the previous one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "noise", deny_unknown_fields)]
pub struct NoiseDesc {
    /// Seed of the noise. Default 0.
    #[serde(default)]
    pub seed: u32,
    /// Number of octaves, 1 to 16. Default 6.
    #[serde(default = "six")]
    pub octaves: u32,
    /// Wavelength of the largest octave, above 0.
    pub scale: Finite,
}

fn six() -> u32 {
    6
}

/// `valley: (curve: "river", width: 30, blend: 120)`: the terrain is at y = 0 along a curve and rises away from it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "valley", deny_unknown_fields)]
pub struct Valley {
    /// Name of a curve.
    pub curve: String,
    /// Width of the flat bottom, at least 0.
    pub width: Finite,
    /// Distance from the flat bottom over which the terrain rises to its full height, above 0.
    pub blend: Finite,
}

/// `level: [(curve: "road", width: 8, blend: 12)]`: strips along curves in which a terrain is level from side to side.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "level", deny_unknown_fields)]
pub struct Bed {
    /// Name of a curve.
    pub curve: String,
    /// Width of the level part, above 0.
    pub width: Finite,
    /// Distance from the level part over which the terrain returns to its own height, at least 0.
    pub blend: Finite,
    /// Depth of the bed below its line; above 0 for rivers. Default 0.
    #[serde(default)]
    pub depth: Finite,
    /// Line of the bed: `ground` (default) is the smoothed terrain along the curve; `curve` is the curve itself.
    #[serde(default)]
    pub follow: BedLine,
    /// Length along the curve over which heights are smoothed, at least 0. Default: 4 times the width for `ground`, 0 for `curve`.
    #[serde(default)]
    pub smooth: Option<Finite>,
}

/// The line that a bed of a terrain follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "follow", rename_all = "snake_case")]
pub enum BedLine {
    /// The smoothed terrain along the curve. The default.
    #[default]
    Ground,
    /// The curve itself, with its heights.
    Curve,
}

/// `Ribbon(curve: "road", width: 6, lift: 0.05, on: "terrain")`: a strip along a curve, facing up, such as a road. In the direction of the
/// curve, u ranges from 0 on the left to 1 on the right. v runs along the curve, in units of the width.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RibbonDesc {
    /// Name of a curve.
    pub curve: String,
    /// Width, above 0 and less than twice the radius of any bend.
    pub width: Finite,
    /// Height above the curve, or above the mesh of `on`. Default 0.
    #[serde(default)]
    pub lift: Finite,
    /// Name of a mesh or model, earlier in the file, on which the ribbon lies. The mesh is used in its own space. Default: none, the ribbon
    /// has the heights of the curve.
    #[serde(default)]
    pub on: Option<String>,
    /// Maximum length of its segments, above 0. Default: a quarter of the width.
    #[serde(default)]
    pub step: Option<Finite>,
    /// Distance along the curve at which the ribbon begins. Default 0.
    #[serde(default)]
    pub from: Finite,
    /// Distance along the curve at which the ribbon ends. Default: the curve's length.
    #[serde(default)]
    pub to: Option<Finite>,
}
