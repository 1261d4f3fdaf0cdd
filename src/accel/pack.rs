//! Packs of eight triangles, the leaves of trees for CPUs.

use super::surface::{SimdBox, Surface, rows};
use crate::abi::{NO_INDEX, PACK_SIZE, TrianglePack};

const LANES: usize = PACK_SIZE as usize;

/// A pack of at most eight triangles, without their vertices.
pub fn named(triangles: impl Iterator<Item = u32>) -> TrianglePack {
    let mut pack = TrianglePack {
        vertices: [[[0.0; LANES]; 3]; 3],
        prim: [NO_INDEX; LANES],
    };
    for (lane, triangle) in pack.prim.iter_mut().zip(triangles) {
        *lane = triangle;
    }
    pack
}

/// Writes the vertices of the triangles that the pack names, and returns the box around them. Unused lanes repeat the
/// first triangle; what is found there is ignored.
#[inline]
pub fn fill(pack: &mut TrianglePack, surface: &Surface<'_>) -> SimdBox {
    let first = pack.prim[0];
    let mut bounds = SimdBox::EMPTY;
    for half in 0..2 {
        let lanes = 4 * half..4 * half + 4;
        let corners: [_; 4] = std::array::from_fn(|lane| {
            let triangle = pack.prim[4 * half + lane];
            surface.vectors(if triangle == NO_INDEX { first } else { triangle })
        });
        for (vertex, axes) in pack.vertices.iter_mut().enumerate() {
            let points = corners.map(|triangle| triangle[vertex]);
            bounds = bounds.with_points(&points);
            for (axis, row) in axes.iter_mut().zip(rows(points)) {
                axis[lanes.clone()].copy_from_slice(&row.to_array());
            }
        }
    }
    bounds
}
