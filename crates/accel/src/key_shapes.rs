//! BLASes of meshes that deform while the shutter is open: one tree, whose boxes enclose the triangles over the whole interval, with one set of
//! leaves per key.

use crate::{
    Blas, BlasShape, Buffer, NodeLayout,
    blas::{BuiltTree, build_triangles},
    build::BuildPrim,
    compressed::blas::build_compressed,
    pack::each_kind,
    refit::{plan::Leaf, policy::rebuild_quality},
    surface::Surface,
};
use glam::Vec3;
use rayon::prelude::*;
use std::time::Instant;
use throng_abi::MeshKeys;
use throng_base::math::Aabb;

impl Blas {
    /// Builds the tree of a deforming mesh. `keys` are its shapes at even steps over the shutter interval, at least one, with identical triangles.
    /// Between keys, vertices are interpolated linearly. The quality is [`rebuild_quality`]. Deterministic, parallel.
    pub fn of_keys(keys: &[Surface<'_>], layout: NodeLayout) -> Self {
        let start = Instant::now();
        let Some((first, later)) = keys.split_first() else { unreachable!("a mesh has a shape") };
        let prims = key_prims(keys);
        let quality = rebuild_quality(layout);
        let (tree, leaves) = match layout {
            NodeLayout::Compressed8 => {
                let tree = build_compressed(prims, first, quality);
                with_keys(tree, later)
            }
            _ => with_keys(build_triangles(prims, first, layout, quality), later),
        };
        let mut blas = Self::of_tree(tree, None, start.elapsed());
        blas.set_keys(MeshKeys {
            segments: later.len() as u32,
            vertices: first.positions.len() as u32,
            leaves: leaves as u32,
            reserved: 0,
        });
        blas
    }
}

/// For each triangle, the box that encloses it at all keys and between them.
fn key_prims(keys: &[Surface<'_>]) -> Vec<BuildPrim> {
    let Some(first) = keys.first() else {
        return Vec::new();
    };
    let prims = (0..first.triangles.len()).into_par_iter().with_min_len(1024);
    let prims = prims.map(|triangle| {
        let boxes = keys.iter().map(|surface| surface.bounds(triangle));
        let all = boxes.fold(Aabb::EMPTY, Aabb::union);
        // Interpolation between keys rounds a coordinate twice.
        let slack = Vec3::splat(2.0 * f32::EPSILON * all.reach().max_element());
        let all = Aabb { min: all.min - slack, max: all.max + slack };
        BuildPrim::new(&all, triangle as u32)
    });
    prims.collect()
}

/// Adds the leaves of the `later` keys to a tree. Returns the tree and the number of leaves per key.
fn with_keys(mut tree: BuiltTree, later: &[Surface<'_>]) -> (BuiltTree, usize) {
    let leaves = match &mut tree.shape {
        BlasShape::Triangles { packs, .. } => each_kind!(packs, packs => add_keys(packs, later)),
        BlasShape::Compressed { triangles, .. } => add_keys(triangles, later),
        _ => 0,
    };
    (tree, leaves)
}

fn add_keys<L: Leaf + Copy + Sync>(leaves: &mut Buffer<L>, later: &[Surface<'_>]) -> usize {
    let count = leaves.len();
    if count == 0 {
        return 0;
    }
    let mut all = Vec::with_capacity(count * (1 + later.len()));
    for _ in 0..=later.len() {
        all.extend_from_slice(leaves);
    }
    let own = all.par_chunks_mut(count).skip(1).zip(later);
    own.for_each(|(leaves, surface)| {
        let leaves = leaves.par_iter_mut().with_min_len(512);
        leaves.for_each(|leaf| {
            leaf.fill(surface);
        });
    });
    *leaves = Buffer::copied(&all);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn shape(height: f32) -> Vec<[f32; 3]> {
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, z)| [x, height * (1.0 + x), z]).into()
    }

    fn blas(heights: &[f32], layout: NodeLayout) -> Blas {
        let shapes: Vec<_> = heights.iter().map(|&height| shape(height)).collect();
        let surfaces = shapes.iter().map(|positions| Surface { positions, triangles: &TRIANGLES });
        let surfaces: Vec<_> = surfaces.collect();
        Blas::of_keys(&surfaces, layout)
    }

    #[test]
    fn a_tree_holds_its_triangles_at_all_keys() {
        for layout in [NodeLayout::Wide4, NodeLayout::Wide16, NodeLayout::Compressed8] {
            let blas = blas(&[0.0, 3.0, -1.0], layout);
            assert!(blas.bounds.min.y <= -2.0 && blas.bounds.max.y >= 6.0);
            let keys = blas.keys();
            assert_eq!((keys.segments, keys.vertices), (2, 4));
            match &blas.shape {
                BlasShape::Triangles { packs, .. } => assert_eq!(packs.count(), 3),
                BlasShape::Compressed { triangles, .. } => assert_eq!(triangles.len(), 6),
                _ => panic!("no sphere"),
            }
        }
    }

    #[test]
    fn leaves_of_later_keys_have_the_shape_of_these() {
        let blas = blas(&[0.0, 5.0], NodeLayout::Compressed8);
        let BlasShape::Compressed { triangles, .. } = &blas.shape else {
            panic!("compressed");
        };
        for (early, late) in triangles[..2].iter().zip(&triangles[2..]) {
            assert_eq!(early.rows[0].prim, late.rows[0].prim);
            assert_eq!(early.rows[0].corners, late.rows[0].corners);
            assert_eq!(late.rows[1].corners, late.rows[0].corners.map(|x| 5.0 * (1.0 + x)));
        }
    }
}
