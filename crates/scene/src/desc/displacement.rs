//! The field `displacement` of a mesh.

use super::{Finite, values::one};
use crate::Wrap;
use serde::Deserialize;

/// `displacement: (texture: "height.png", scale: 0.2)`: moves the vertices of a mesh along their normals, after subdivision and `fit`, by
/// (height - `midlevel`) * `scale`.
///
/// Normals are computed again from the displaced triangles, so detail of the picture that is finer than the triangles is lost: choose a
/// `subdivision` with edges as short as a texel, or show fine detail by a normal map. Vertices at one point, such as at seams of texture
/// coordinates, move together.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "displacement", deny_unknown_fields)]
pub struct DisplacementDesc {
    /// A picture of heights, over the mesh's first set of texture coordinates: the brightness, from 0 to 1 for 8 or 16 bits, and of any value
    /// for floats. It is linear, and interpolated between texels. 8 bits show steps, so use 16 bits or floats.
    pub texture: String,
    /// Distance from height 0 to height 1, in units of the mesh. Negative values exchange up and down. Default 1.
    #[serde(default = "one")]
    pub scale: Finite,
    /// The height at which vertices stay. Default 0.5.
    #[serde(default = "half")]
    pub midlevel: Finite,
    /// Wrap mode outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
    #[serde(default)]
    pub wrap: Wrap,
}

fn half() -> Finite {
    Finite(0.5)
}
