//! `curves: { "road": .. }`: named curves, which placements and meshes can follow.

use super::{Finite, Point};
use serde::Deserialize;

/// An entry of the `curves` section, by its name: a line in world space that placements, meshes, motions and rules can follow.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "curves")]
pub enum CurveDesc {
    CatmullRom(CatmullRomCurve),
    Bezier(BezierCurve),
    Obj(ObjCurve),
    Gltf(GltfCurve),
}

/// `CatmullRom(points: [(0, 0, 0), (10, 0, 5), (20, 0, 0)], closed: false)`: a smooth curve through points.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatmullRomCurve {
    /// At least two points. Neighbouring points must differ.
    pub points: Vec<Point>,
    /// Whether the curve continues from the last point to the first. A closed curve needs three points. Default false.
    #[serde(default)]
    pub closed: bool,
}

/// `Bezier(points: [(0, 0, 0), (5, 0, 0), (10, 0, 5), (10, 0, 10)])`: connected cubic segments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BezierCurve {
    /// The start, then two control points and the end of each segment: 4, 7, 10, .. points. The curve is closed if it ends where it starts.
    pub points: Vec<Point>,
}

/// `Obj(file: "lines.obj", name: "rail", line: 0)`: straight lines from the `l` elements of an OBJ file. An element that begins at the end
/// of the previous one continues it. The curve is closed if it ends where it starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjCurve {
    /// The file: .obj.
    pub file: String,
    /// Name of an object (`o`) or group (`g`), to count only its lines. Default: all lines of the file.
    #[serde(default)]
    pub name: Option<String>,
    /// Number of the line, counted from 0. Default 0.
    #[serde(default)]
    pub line: u32,
    /// Factor on the positions in the file, not 0. Default 1.
    #[serde(default = "super::values::one")]
    pub scale: Finite,
}

/// `Gltf(file: "path.glb", node: "Car")`: the path of a node that an animation translates, with its parent nodes at rest. Keys are
/// interpolated as the file specifies: linearly or by splines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GltfCurve {
    /// The file: .gltf or .glb.
    pub file: String,
    /// Name or number (from 0) of the node.
    pub node: String,
    /// Name or number (from 0) of the animation. Default: the first one that translates the node.
    #[serde(default)]
    pub animation: Option<String>,
    /// Factor on the positions in the file, not 0. Default 1.
    #[serde(default = "super::values::one")]
    pub scale: Finite,
}
