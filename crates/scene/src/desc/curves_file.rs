//! The `Curves` entry of `meshes`: hair, grass, fibres and lines from a file.

use super::{BoxSize, Double, Finite, Rate, StrandProfile, UpAxis, values};
use crate::Ends;
use serde::Deserialize;
use throng_base::choice::choice;

/// `Curves(file: "coat.npz", width: 0.002, tip: 0.2)`: strands from a point cache in NumPy's formats (.npz, .npy), from Cem Yuksel's .hair
/// format, or from the `l` elements of an OBJ file. A cache with several frames deforms.
///
/// An .npz file has the arrays `points`, and optionally `counts` (points per strand), `widths` (diameters), `uvs`, `colors` (linear, with or
/// without alpha) and `times` (seconds of each frame). With `counts`, `points` has the shape (points, 3) or (frames, points, 3); without, it
/// has the shape (strands, n, 3) or (frames, strands, n, 3) for strands of n points each. `widths`, `uvs` and `colors` have one row per point,
/// per strand, or for all. An .npy file has the array `points` alone.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Curves", deny_unknown_fields)]
pub struct CurvesFile {
    /// The file: .npz, .npy, .hair or .obj.
    pub file: String,
    /// Width at the root, above 0, in units of the file. Default: the widths of the file, which .npy and .obj files do not have.
    #[serde(default)]
    pub width: Option<Finite>,
    /// Width at the tip, relative to the root's, at least 0. It applies if `width` is given. Default 1.
    #[serde(default = "values::one")]
    pub tip: Finite,
    /// How points define strands: `linear` (default), `bezier`, `b_spline` or `catmull_rom`. The last two begin and end at the ends of the strand.
    #[serde(default)]
    pub basis: StrandBasis,
    /// Cross-section: `round` (default), or `ribbon` for flat strands that face each ray, which are cheaper.
    #[serde(default)]
    pub profile: StrandProfile,
    /// Name of the material. Default: grey, in the colours of the file.
    #[serde(default)]
    pub material: Option<String>,
    /// Vertical axis of the file's coordinates: `y` (default) or `z`. With `z`, (x, y, z) is the point (x, z, -y) of the mesh.
    #[serde(default)]
    pub up: UpAxis,
    /// As [`MeshFile::fit`](super::MeshFile::fit), with the points of the first frame. Widths are scaled as well.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Frames per second of a cache without `times`. Default: the scene's.
    #[serde(default)]
    pub fps: Option<Rate>,
    /// Time of the first frame in seconds, or the time that is added to `times`. Default 0.
    #[serde(default)]
    pub start: Double,
    /// Behaviour before the first frame and after the last: `hold` (default), `loop` or `ping_pong`. In a loop, the last frame is at the time of
    /// the first.
    #[serde(default)]
    pub ends: Ends,
}

choice! {
    /// How the points of a strand define it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StrandBasis = Linear {
        /// Straight segments.
        Linear = "linear",
        /// Cubic Bézier segments: the start, then two control points and the end of each.
        Bezier = "bezier",
        /// A cubic B-spline.
        BSpline = "b_spline",
        /// A Catmull-Rom spline through the points.
        CatmullRom = "catmull_rom",
    }
}
