//! The bottom level for GPUs: compressed nodes, one or two triangles per leaf, and the offset of each mesh in the pools.

use crate::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::{BuiltTree, build_binned, build_prims},
    build::{
        BuildPrim,
        collapse::{Effort, LeafRoom, build_ordered},
        leaf_order::LeafOrder,
    },
    compressed::{
        compress::{arrange_all, place_root, wide_nodes, write_units},
        patch::Patches,
        slots::{Arrangement, LeafKind},
    },
    node::{NodeLayout, Wide},
    surface::Surface,
};
use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{LEAF, PatchRow, Unit};
use throng_base::math::Aabb;

/// Number of segments in the space of one row.
const SEGMENTS_PER_ROW: usize = size_of::<PatchRow>() / size_of::<u32>();

/// Leaves of a compressed tree of a mesh. Trees of both kinds share a pool, in which positions count rows.
#[derive(Clone, Copy)]
pub enum CompressedLeaves<'a> {
    Patches(&'a [PatchRow]),
    /// Numbers of segments of curves.
    Segments(&'a [u32]),
}

impl CompressedLeaves<'_> {
    /// Number of rows in whose space the leaves fit.
    pub fn room(self) -> usize {
        match self {
            Self::Patches(rows) => rows.len(),
            Self::Segments(segments) => segments.len().div_ceil(SEGMENTS_PER_ROW),
        }
    }

    /// Index of the leaf that begins at this position of the pool.
    pub fn index_at(self, position: u32) -> u32 {
        match self {
            Self::Patches(_) => position,
            Self::Segments(_) => SEGMENTS_PER_ROW as u32 * position,
        }
    }

    /// Copies the leaves to the first places of `pool`.
    pub fn write(self, pool: &mut [PatchRow]) {
        match self {
            Self::Patches(rows) => copy(rows, pool),
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
    /// In rows.
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
    let room = LeafRoom::Pair(surface.triangles);
    let place = |triangles, nodes: &mut [Arrangement]| {
        let patches = Patches::new(triangles, nodes, surface);
        move || patches.write(surface)
    };
    let (tree, ()) = compressed_tree(prims, || build_prims(surface), room, effort, place, |_| ());
    let CompressedTree { depth, bounds, sah_cost, units, leaves: patches } = tree;
    #[cfg(debug_assertions)]
    crate::compressed::validate::validate_blas(&units, &patches, surface, depth)
        .expect("a fresh compressed BLAS is valid");
    BuiltTree { shape: BlasShape::Compressed { depth, units, patches }, bounds, sah_cost }
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

/// Builds a tree over `prims`, which are made `again` if necessary, as in [`build_ordered`]. `place` gets the IDs of all primitives, node by node and
/// leaf by leaf. It sets the nodes' first leaves, and returns the function that makes the leaves. `look` reads the float tree, which is dropped before
/// leaves are made; its result is returned.
pub fn compressed_tree<L: Copy, R, W: FnOnce() -> Buffer<L>>(
    prims: Vec<BuildPrim>,
    again: impl FnOnce() -> Vec<BuildPrim>,
    room: LeafRoom<'_>,
    effort: Effort,
    place: impl FnOnce(Vec<u32>, &mut [Arrangement]) -> W,
    look: impl FnOnce(&Tree) -> R,
) -> (CompressedTree<L>, R) {
    let mut tree = Tree::new(NodeLayout::Compressed8);
    let order = build_float_tree(prims, again, room, effort, &mut tree);
    let (mut units, mut arrangements) = (Buffer::new(), Buffer::new());
    let mut ids = Vec::new();
    if let Some(nodes) = wide_nodes(&mut tree) {
        arrange_all(nodes, LeafKind::Separate, &mut arrangements);
        ids = ids_by_node(nodes, &mut arrangements, &order);
    }
    drop(order);
    let write = place(ids, &mut arrangements);
    if let Some(nodes) = wide_nodes(&mut tree) {
        write_units(nodes, &arrangements, |_| (), |_| Unit::default(), &mut units);
    }
    let (depth, bounds, sah_cost, looked) = (tree.depth, tree.bounds, tree.sah_cost(1.0), look(&tree));
    drop((tree, arrangements));
    (CompressedTree { depth, bounds, sah_cost, units, leaves: write() }, looked)
}

/// Builds `tree` with small leaves: from a binary tree, or by binned splits if the quality is fast or the collapsed tree is unusable.
fn build_float_tree(
    mut prims: Vec<BuildPrim>,
    again: impl FnOnce() -> Vec<BuildPrim>,
    room: LeafRoom<'_>,
    effort: Effort,
    tree: &mut Tree,
) -> LeafOrder {
    let order = if effort.quality == Quality::Fast {
        build_binned(&mut prims, 1, tree);
        LeafOrder::new(prims, true)
    } else {
        build_ordered(prims, room, effort, (true, 1), tree, again).0
    };
    place_root(tree);
    order
}

/// The IDs of all primitives, in the order of the nodes. Marks the leaves of two primitives.
fn ids_by_node(nodes: &[Wide<8>], arrangements: &mut [Arrangement], order: &LeafOrder) -> Vec<u32> {
    let mut ids = Vec::new();
    for (node, arrangement) in nodes.iter().zip(arrangements) {
        for (slot, leaf) in arrangement.leaf_slots(node) {
            let before = ids.len();
            ids.extend(order.leaf((leaf & !LEAF) as usize));
            arrangement.pairs |= u8::from(ids.len() - before == 2) << slot;
        }
    }
    ids
}
