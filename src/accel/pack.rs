//! Packs of eight triangles, the leaves of trees for CPUs.

use super::{
    refit_plan::Leaf,
    surface::{SimdBox, Surface, rows},
};
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

impl Leaf for TrianglePack {
    const AHEAD: usize = 2;

    fn triangles(&self) -> impl Iterator<Item = u32> {
        self.prim.into_iter().take_while(|&prim| prim != NO_INDEX)
    }

    /// Unused lanes repeat the first triangle; what is found there is ignored.
    #[inline]
    fn fill(&mut self, surface: &Surface<'_>) -> SimdBox {
        let first = self.prim[0];
        let mut bounds = SimdBox::EMPTY;
        for half in [0, 4] {
            let corners = |lane: usize| {
                let named = self.prim[half + lane];
                surface.vectors(if named == NO_INDEX { first } else { named })
            };
            let corners = [corners(0), corners(1), corners(2), corners(3)];
            for (vertex, axes) in self.vertices.iter_mut().enumerate() {
                let [a, b, c, d] = &corners;
                let points = [a[vertex], b[vertex], c[vertex], d[vertex]];
                bounds = bounds.with_points(&points);
                for (axis, row) in axes.iter_mut().zip(rows(points)) {
                    axis[half..half + 4].copy_from_slice(&row.to_array());
                }
            }
        }
        bounds
    }
}
