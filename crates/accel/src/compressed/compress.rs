//! Converts a tree of 8-wide float nodes into the compressed units that GPUs traverse, for either level.
//!
//! There are two parallel passes over the nodes. The first assigns children to slots (`slots`) and counts them. The second writes each node's child
//! units, which are contiguous. The meaning of leaves is defined in `blas` and `tlas` only.

use crate::{
    Buffer, Tree,
    buffer::prefetch,
    compressed::{
        quantize::quantize,
        slots::{Arrangement, LeafKind, arrange},
    },
    node::{NodeArray, Wide},
};
use rayon::prelude::*;
use std::mem::MaybeUninit;
use throng_abi::{CompressedNode, EMPTY_CHILD, LEAF, Unit};

/// Number of nodes per task.
const CHUNK: usize = 512;
/// Number of nodes ahead for which the children are prefetched.
const PREFETCH_DISTANCE: usize = 4;

/// The nodes of a tree that is or will be compressed. `None` for a tree of another layout.
pub fn wide_nodes(tree: &mut Tree) -> Option<&mut Buffer<Wide<8>>> {
    match &mut tree.nodes {
        NodeArray::Wide8(nodes) => Some(nodes),
        _ => None,
    }
}

/// Adds a node above a root that is a leaf, because compressed trees start with a node.
pub fn place_root(tree: &mut Tree) {
    let (root, bounds) = (tree.root, tree.bounds);
    let leaf_alone = root & LEAF != 0 && !bounds.is_empty();
    if let (true, Some(nodes)) = (leaf_alone, wide_nodes(tree)) {
        let mut node = Wide::EMPTY;
        node.set(0, &bounds, root);
        nodes.resize(1, node);
        (tree.root, tree.depth) = (0, 1);
    }
}

/// First pass: assigns slots to all nodes' children, and computes the offsets of each node's child units. Unit 0 is the root.
pub fn arrange_all(nodes: &[Wide<8>], leaves: LeafKind, out: &mut Buffer<Arrangement>) {
    // SAFETY: every element is written.
    unsafe {
        out.refill(nodes.len(), |out| {
            let pairs = out.par_iter_mut().zip(nodes).with_min_len(CHUNK);
            pairs.for_each(|(to, node)| {
                to.write(arrange(node, leaves));
            });
        });
    }
    let mut units = 1;
    for arrangement in out.iter_mut() {
        arrangement.unit_base = units;
        units += arrangement.units.count_ones();
    }
}

/// Second pass: writes all units. In trees whose leaves are units, `leaf_unit` creates the unit of a leaf, and `prefetch_leaf` prefetches its data
/// some time before.
pub fn write_units(
    nodes: &[Wide<8>],
    arrangements: &[Arrangement],
    prefetch_leaf: impl Fn(u32) + Sync,
    leaf_unit: impl Fn(u32) -> Unit + Sync,
    units: &mut Buffer<Unit>,
) {
    let Some(last) = arrangements.last() else {
        units.resize(0, Unit::default());
        return;
    };
    let total = last.unit_base as usize + last.units.count_ones() as usize;
    let node_unit = |i: usize| bytemuck::cast(compress(&nodes[i], &arrangements[i]));
    let write_children = |node: usize, to: &mut [MaybeUninit<Unit>]| {
        if let Some(ahead) = nodes.get(node + PREFETCH_DISTANCE) {
            for &child in ahead.children.iter().filter(|c| **c != EMPTY_CHILD) {
                if child & LEAF == 0 {
                    prefetch(nodes, child as usize);
                } else {
                    prefetch_leaf(child & !LEAF);
                }
            }
        }
        for (to, child) in to.iter_mut().zip(arrangements[node].child_units(&nodes[node])) {
            to.write(if child & LEAF != 0 { leaf_unit(child & !LEAF) } else { node_unit(child as usize) });
        }
    };
    let fill = |all: &mut [MaybeUninit<Unit>]| {
        let Some((root, rest)) = all.split_first_mut() else {
            return;
        };
        root.write(node_unit(0));
        split_by_node(rest, arrangements).into_par_iter().for_each(|(first, mut to)| {
            let chunk = arrangements.iter().skip(first).take(CHUNK);
            for (node, arrangement) in (first..).zip(chunk) {
                let count = arrangement.units.count_ones() as usize;
                let (children, tail) = to.split_at_mut(count);
                write_children(node, children);
                to = tail;
            }
            assert!(to.is_empty(), "child units follow each other");
        });
    };
    // SAFETY: the root and the child units of all nodes are written, and each unit of a chunk is one of these.
    unsafe { units.refill(total, fill) };
}

/// Splits the child units by chunks of nodes. Returns the index of each chunk's first node, and the units of its nodes.
fn split_by_node<'a>(
    mut rest: &'a mut [MaybeUninit<Unit>],
    arrangements: &[Arrangement],
) -> Vec<(usize, &'a mut [MaybeUninit<Unit>])> {
    let mut chunks = Vec::with_capacity(arrangements.len().div_ceil(CHUNK));
    for first in (0..arrangements.len()).step_by(CHUNK) {
        let begin = arrangements[first].unit_base;
        let next = arrangements.get(first + CHUNK);
        let count = next.map_or(rest.len(), |a| (a.unit_base - begin) as usize);
        let (units, tail) = rest.split_at_mut(count);
        chunks.push((first, units));
        rest = tail;
    }
    chunks
}

/// The unit of a root whose child units follow it, all of which are nodes. Returns the children in the order of their units, too.
pub fn root_of(node: &Wide<8>) -> (Unit, impl Iterator<Item = u32>) {
    let arrangement = Arrangement { unit_base: 1, ..arrange(node, LeafKind::Units) };
    (bytemuck::cast(compress(node, &arrangement)), arrangement.child_units(node))
}

/// Compresses a node to 80 bytes.
fn compress(node: &Wide<8>, arrangement: &Arrangement) -> CompressedNode {
    let mut grid = quantize(&node.planes);
    let sources = arrangement.sources;
    grid.planes = grid.planes.map(|plane| sources.map(|lane| plane[lane as usize & 7]));
    let mut compressed = CompressedNode {
        unit_base: arrangement.unit_base,
        leaf_base: arrangement.leaf_base,
        units: arrangement.units,
        instances: arrangement.leaf_units,
        leaves: arrangement.leaves,
        pairs: arrangement.pairs,
        ..CompressedNode::default()
    };
    grid.store(&mut compressed);
    compressed
}
