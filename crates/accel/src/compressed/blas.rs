//! The bottom level for GPUs: compressed nodes, one triangle per leaf, and the offset of each mesh in the pools.

use crate::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::{BuiltTree, SMALLEST_SHARE, build_binned},
    build::{
        BuildPrim,
        collapse::{Effort, LeafRoom, build_collapsed},
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
use std::{mem::MaybeUninit, sync::Arc};
use throng_abi::{LEAF, TriangleRecord, TriangleRow, Unit};
use throng_base::math::Aabb;

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
pub fn build_compressed(prims: Vec<BuildPrim>, surface: &Surface<'_>, effort: Effort) -> BuiltTree {
    let named = |prim| TriangleRecord { rows: [TriangleRow { prim, ..TriangleRow::default() }; 3] };
    let (tree, ()) = compressed_tree(prims, effort, named, |_| ());
    let CompressedTree { depth, bounds, sah_cost, units, leaves: mut triangles } = tree;
    fill_triangles(&mut triangles, surface);
    #[cfg(debug_assertions)]
    crate::compressed::validate::validate_blas(&units, &triangles, surface, depth)
        .expect("a fresh compressed BLAS is valid");
    BuiltTree { shape: BlasShape::Compressed { depth, units, triangles }, bounds, sah_cost }
}

/// A compressed tree with leaves of type `L`.
pub struct CompressedTree<L: Copy> {
    /// Number of node levels on the longest path.
    pub depth: u32,
    pub bounds: Aabb,
    pub sah_cost: f32,
    pub units: Buffer<Unit>,
    pub leaves: Buffer<L>,
}

/// Builds a tree over `prims`. `leaf` makes the leaf of a primitive from its ID. `look` reads the float tree, which is dropped before leaves are made;
/// its result is returned.
pub fn compressed_tree<L: Copy + Send, R>(
    mut prims: Vec<BuildPrim>,
    effort: Effort,
    leaf: impl Fn(u32) -> L + Sync,
    look: impl FnOnce(&Tree) -> R,
) -> (CompressedTree<L>, R) {
    let mut tree = Tree::new(NodeLayout::Compressed8);
    build_float_tree(&mut prims, effort, &mut tree);
    let ids: Vec<u32> = prims.par_iter().map(|prim| prim.id).collect();
    drop(prims);
    let (mut units, mut order) = (Buffer::new(), Vec::new());
    if let Some(nodes) = wide_nodes(&mut tree) {
        let mut arrangements = Buffer::new();
        arrange_all(nodes, LeafKind::Separate, &mut arrangements);
        order = leaf_order(nodes, &arrangements, &ids);
        write_units(nodes, &arrangements, |_| (), |_| Unit::default(), &mut units);
    }
    let (depth, bounds, sah_cost, looked) = (tree.depth, tree.bounds, tree.sah_cost(1.0), look(&tree));
    drop((tree, ids));
    let mut leaves = Buffer::new();
    let fill = |leaves: &mut [MaybeUninit<L>]| {
        let pairs = leaves.par_iter_mut().zip(&order).with_min_len(SMALLEST_SHARE);
        pairs.for_each(|(to, &id)| {
            to.write(leaf(id));
        });
    };
    // SAFETY: there is one leaf per ID, and each is written.
    unsafe { leaves.refill(order.len(), fill) };
    (CompressedTree { depth, bounds, sah_cost, units, leaves }, looked)
}

/// Builds `tree` with one triangle per leaf: from a binary tree, or by binned splits if the quality is fast or the collapsed tree is unusable.
fn build_float_tree(prims: &mut [BuildPrim], effort: Effort, tree: &mut Tree) {
    let collapsed = effort.quality != Quality::Fast && build_collapsed(prims, LeafRoom::Prims(1), effort, tree);
    if !collapsed {
        build_binned(prims, 1, tree);
    }
    place_root(tree);
}

/// The IDs of all leaves, in the order of the nodes and their slots. A child of a float node is the position of an ID in `ids`.
fn leaf_order(nodes: &[Wide<8>], arrangements: &[Arrangement], ids: &[u32]) -> Vec<u32> {
    let mut order = Vec::with_capacity(ids.len());
    for (node, arrangement) in nodes.iter().zip(arrangements) {
        let leaves = arrangement.leaf_lanes().map(|lane| node.children[lane] & !LEAF);
        order.extend(leaves.map(|leaf| ids[leaf as usize]));
    }
    order
}

/// Writes the corners of the triangles whose indices are in the records.
fn fill_triangles(triangles: &mut [TriangleRecord], surface: &Surface<'_>) {
    let records = triangles.par_iter_mut().with_min_len(512);
    records.for_each(|record| {
        record.fill(surface);
    });
}
