//! `curves: { "road": .. }`: named curves, which placements and meshes follow.

use super::{Finite, Point};
use serde::Deserialize;

/// An entry of the `curves` section, by its name: a line in world space that placements, meshes, motions and rules may follow.
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
    /// Two points or more; no two neighbours are the same.
    pub points: Vec<Point>,
    /// Whether the curve goes on from the last point to the first. It then needs three points. Default false.
    #[serde(default)]
    pub closed: bool,
}

/// `Bezier(points: [(0, 0, 0), (5, 0, 0), (10, 0, 5), (10, 0, 10)])`: cubic segments from end to end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BezierCurve {
    /// The start, then for each segment two control points and its end: 4, 7, 10, .. points. The curve is closed if it ends where it
    /// starts.
    pub points: Vec<Point>,
}

/// `Obj(file: "lines.obj", name: "rail", line: 0)`: straight lines from the `l` elements of an OBJ file. An element that begins where the
/// one before it ends goes on with it. The curve is closed if it ends where it starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjCurve {
    /// The file: .obj.
    pub file: String,
    /// Name of the object (`o`) or the group (`g`) whose lines are counted. Default: all lines of the file.
    #[serde(default)]
    pub name: Option<String>,
    /// Number of the line, from 0. Default 0.
    #[serde(default)]
    pub line: u32,
    /// Factor on the positions in the file, not 0. Default 1.
    #[serde(default = "super::values::one")]
    pub scale: Finite,
}

/// `Gltf(file: "path.glb", node: "Car")`: the way that a node takes by an animation of its translation, with its nodes above at rest.
/// Its keys are joined as the file says: straight from key to key, or by splines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GltfCurve {
    /// The file: .gltf or .glb.
    pub file: String,
    /// Name or number (from 0) of the node.
    pub node: String,
    /// Name or number (from 0) of the animation. Default: the first that moves the node.
    #[serde(default)]
    pub animation: Option<String>,
    /// Factor on the positions in the file, not 0. Default 1.
    #[serde(default = "super::values::one")]
    pub scale: Finite,
}
