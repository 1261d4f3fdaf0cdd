//! The bottom level for GPUs: compressed nodes, one triangle per leaf, and the offset of each mesh in the pools.

use crate::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::{BuiltTree, build_binned},
    build::{
        BuildPrim,
        collapse::{LeafRoom, build_collapsed},
    },
    compressed::{
        compress::{arrange_all, place_root, wide_nodes, write_units},
        slots::{Arrangement, LeafKind},
    },
    node::{NodeLayout, Wide},
    refit::plan::Leaf,
    surface::Surface,
};
use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{LEAF, TriangleRecord, TriangleRow, Unit};

/// Number of segments in the space of one triangle.
const SEGMENTS_PER_TRIANGLE: usize = size_of::<TriangleRecord>() / size_of::<u32>();

/// Leaves of a compressed tree of a mesh. Trees of both kinds share a pool, in which positions count triangles.
#[derive(Clone, Copy)]
pub enum CompressedLeaves<'a> {
    Triangles(&'a [TriangleRecord]),
    /// Numbers of segments of curves.
    Segments(&'a [u32]),
}

impl CompressedLeaves<'_> {
    /// Number of triangles in whose space the leaves fit.
    pub fn room(self) -> usize {
        match self {
            Self::Triangles(triangles) => triangles.len(),
            Self::Segments(segments) => segments.len().div_ceil(SEGMENTS_PER_TRIANGLE),
        }
    }

    /// Index of the leaf that begins at this position of the pool.
    pub fn index_at(self, position: u32) -> u32 {
        match self {
            Self::Triangles(_) => position,
            Self::Segments(_) => SEGMENTS_PER_TRIANGLE as u32 * position,
        }
    }

    /// Copies the leaves to the first places of `pool`.
    pub fn write(self, pool: &mut [TriangleRecord]) {
        match self {
            Self::Triangles(triangles) => copy(triangles, pool),
            Self::Segments(segments) => copy(segments, bytemuck::cast_slice_mut(pool)),
        }
    }
}

fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut [T]) {
    let pairs = to.par_iter_mut().zip(from.par_iter());
    pairs.with_min_len(4096).for_each(|(to, from)| *to = *from);
}

/// Position of a mesh's units and leaves in the pools of all meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOffset {
    pub units: u32,
    /// In triangles.
    pub leaves: u32,
}

/// Returns the offsets of all meshes. Meshes that do not deform come first, so that their offsets do not change, and curves before triangles, so that
/// indices of their segments do not exceed 32 bits. Meshes without a compressed tree (spheres, meshes without triangles) take no space.
pub fn pool_offsets(blas: &[Arc<Blas>]) -> Vec<PoolOffset> {
    let mut next = PoolOffset::default();
    let mut offsets = vec![next; blas.len()];
    let group = |blas: &Blas| (blas.deforms(), !matches!(blas.shape, BlasShape::CompressedCurves { .. }));
    for wanted in [(false, false), (false, true), (true, false), (true, true)] {
        let some = blas.iter().zip(&mut offsets);
        for (blas, offset) in some.filter(|(blas, _)| group(blas) == wanted) {
            *offset = next;
            if let Some((units, leaves)) = blas.shape.compressed() {
                next.units += units.len() as u32;
                next.leaves += leaves.room() as u32;
            }
        }
    }
    offsets
}

/// Builds the compressed tree of `surface` over `prims`, the boxes of its triangles or of parts of them.
pub fn build_compressed(prims: Vec<BuildPrim>, surface: &Surface<'_>, quality: Quality) -> BuiltTree {
    let named = |prim| TriangleRecord { rows: [TriangleRow { prim, ..TriangleRow::default() }; 3] };
    let (tree, units, mut triangles) = compressed_tree(prims, quality, named);
    fill_triangles(&mut triangles, surface);
    #[cfg(debug_assertions)]
    crate::compressed::validate::validate_blas(&units, &triangles, surface, tree.depth)
        .expect("a fresh compressed BLAS is valid");
    BuiltTree {
        shape: BlasShape::Compressed { depth: tree.depth, units, triangles },
        bounds: tree.bounds,
        sah_cost: tree.sah_cost(1.0),
    }
}

/// Builds a tree over `prims`, in float nodes and in compressed units. `leaf` makes the leaf of a primitive from its ID.
pub fn compressed_tree<L: Copy + Default>(
    mut prims: Vec<BuildPrim>,
    quality: Quality,
    leaf: impl Fn(u32) -> L,
) -> (Tree, Buffer<Unit>, Buffer<L>) {
    let mut tree = Tree::new(NodeLayout::Compressed8);
    build_float_tree(&mut prims, quality, &mut tree);
    let (mut units, mut leaves) = (Buffer::new(), Buffer::new());
    if let Some(nodes) = wide_nodes(&mut tree) {
        let mut arrangements = Buffer::new();
        arrange_all(nodes, LeafKind::Separate, &mut arrangements);
        leaves = place_leaves(nodes, &arrangements, &prims, leaf);
        write_units(nodes, &arrangements, |_| (), |_| Unit::default(), &mut units);
    }
    (tree, units, leaves)
}

/// Builds `tree` with one triangle per leaf: from a binary tree, or by binned splits if `quality` is fast or the collapsed tree is unusable.
fn build_float_tree(prims: &mut [BuildPrim], quality: Quality, tree: &mut Tree) {
    let collapsed = quality != Quality::Fast && build_collapsed(prims, LeafRoom::Prims(1), quality, tree);
    if !collapsed {
        build_binned(prims, 1, tree);
    }
    place_root(tree);
}

/// Makes all leaves, and points the nodes at them.
fn place_leaves<L: Copy + Default>(
    nodes: &mut [Wide<8>],
    arrangements: &[Arrangement],
    prims: &[BuildPrim],
    leaf: impl Fn(u32) -> L,
) -> Buffer<L> {
    let mut leaves = Buffer::filled(prims.len(), L::default());
    for (node, arrangement) in nodes.iter_mut().zip(arrangements) {
        let places = arrangement.leaf_base..;
        for (lane, place) in arrangement.leaf_lanes().zip(places) {
            let prim = prims[(node.children[lane] & !LEAF) as usize].id;
            leaves[place as usize] = leaf(prim);
            node.children[lane] = LEAF | place;
        }
    }
    leaves
}

/// Writes the corners of the triangles whose indices are in the records.
fn fill_triangles(triangles: &mut [TriangleRecord], surface: &Surface<'_>) {
    let records = triangles.par_iter_mut().with_min_len(512);
    records.for_each(|record| {
        record.fill(surface);
    });
}
