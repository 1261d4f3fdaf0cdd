//! Checks that the references of a tree from a file lead to existing data.
//!
//! Each child and each leaf has to be referred to once and children have to come after their parents, so that traversals end and never
//! need a deeper stack than they were promised. Slots without a child need the box that no ray enters, since kernels do not check
//! their references. Only a mesh without triangles may have no tree, since kernels do not check whether there is one.
//!
//! Other boxes and corners are not checked. Whatever they are, even not a number, they lead traversals through the tree, and to
//! hits or past them, but nowhere else. The checksum finds those that were damaged by chance.

use crate::{
    abi::{CompressedNode, EMPTY_CHILD, LEAF, TriangleRecord, Unit},
    accel::{
        build::collapse::MOST_LEVELS,
        node::{Tree, Wide, each_width},
        pack::Pack,
    },
};
use rayon::prelude::*;
use std::ops::Range;

/// More levels than builders make of 2³² triangles, since their cuts are even below level 20.
const MOST_WIDE_LEVELS: u32 = 128;

/// Number of leaves that one task checks.
const LEAVES_PER_TASK: usize = 1024;

/// Whether all references of a tree are sound, for a mesh of `triangles` triangles.
pub fn are_sound<P: Pack>(tree: &Tree, packs: &[P], triangles: usize) -> bool {
    let packs_per_task = packs.par_iter().with_min_len(LEAVES_PER_TASK);
    let named = packs.is_empty() == (triangles == 0) && packs_per_task.all(|pack| pack.is_sound(triangles));
    let nodes = tree.nodes.count();
    let shape = match tree.root {
        EMPTY_CHILD => nodes == 0 && packs.is_empty() && tree.depth == 0,
        LEAF => nodes == 0 && packs.len() == 1 && tree.depth == 0,
        0 => each_width!(&tree.nodes, nodes => wide_levels(nodes, packs.len())) == Some(tree.depth),
        _ => false,
    };
    named && shape
}

/// Returns the number of levels of the tree below node 0. None if a reference is wrong, or if there are more levels than builders
/// make, since code that traverses trees may do so by recursion.
fn wide_levels<const N: usize>(nodes: &[Wide<N>], leaves: usize) -> Option<u32> {
    let mut walk = Walk::new(nodes.len(), leaves)?;
    for (index, node) in nodes.iter().enumerate() {
        for (slot, &child) in node.children.iter().enumerate() {
            match child {
                EMPTY_CHILD if !is_closed(node, slot) => return None,
                EMPTY_CHILD => (),
                _ if child & LEAF == 0 => walk.enter(index, child)?,
                _ => walk.meet(child & !LEAF)?,
            }
        }
    }
    walk.levels().filter(|levels| *levels <= MOST_WIDE_LEVELS)
}

/// Whether the slot has the box that no ray enters.
fn is_closed<const N: usize>(node: &Wide<N>, slot: usize) -> bool {
    let planes = node.planes.iter().zip(&Wide::<N>::EMPTY.planes);
    planes.into_iter().all(|(own, empty)| own[slot] == empty[slot])
}

/// The same as [`are_sound`] for a compressed tree.
pub fn are_sound_compressed(units: &[Unit], records: &[TriangleRecord], depth: u32, triangles: usize) -> bool {
    let records_per_task = records.par_iter().with_min_len(LEAVES_PER_TASK);
    let named = records.is_empty() == (triangles == 0)
        && records_per_task.all(|r| r.rows.iter().all(|row| (row.prim as usize) < triangles));
    let nodes: &[CompressedNode] = bytemuck::cast_slice(units);
    let shape = match nodes {
        [] => records.is_empty() && depth == 0,
        _ => depth <= MOST_LEVELS && compressed_levels(nodes, records.len()) == Some(depth),
    };
    named && shape
}

fn compressed_levels(nodes: &[CompressedNode], leaves: usize) -> Option<u32> {
    let mut walk = Walk::new(nodes.len(), leaves)?;
    for (index, node) in nodes.iter().enumerate() {
        if node.instances != 0 || node.units & node.triangles != 0 {
            return None;
        }
        // Bases must be in range even where no child uses them, since pools add an offset to them.
        for child in within(node.unit_base, node.units, nodes.len())? {
            walk.enter(index, child)?;
        }
        for leaf in within(node.leaf_base, node.triangles, leaves)? {
            walk.meet(leaf)?;
        }
    }
    walk.levels()
}

/// The range of as many indices from `first` on as bits of `slots` are set. None if it exceeds `all`.
fn within(first: u32, slots: u8, all: usize) -> Option<Range<u32>> {
    let end = first.checked_add(slots.count_ones())?;
    (end as usize <= all).then_some(first..end)
}

/// A pass over the nodes of a tree in the order of memory.
struct Walk {
    /// Level of each node, from 1 on; 0 if nothing has referred to it yet.
    levels: Vec<u32>,
    /// Whether something refers to each leaf.
    met: Vec<bool>,
}

impl Walk {
    /// Begins a pass; none for a tree without nodes.
    fn new(nodes: usize, leaves: usize) -> Option<Self> {
        let mut levels = vec![0; nodes];
        *levels.first_mut()? = 1;
        let met = vec![false; leaves];
        Some(Self { levels, met })
    }

    /// Records the reference from a node to a child. None if the child does not exist, comes before the node, or has a parent already.
    fn enter(&mut self, node: usize, child: u32) -> Option<()> {
        let above = self.levels[node];
        let level = self.levels.get_mut(child as usize)?;
        let first = child as usize > node && *level == 0;
        *level = above + 1;
        first.then_some(())
    }

    /// Records a reference to a leaf. None if the leaf does not exist, or if something refers to it already.
    fn meet(&mut self, leaf: u32) -> Option<()> {
        let met = self.met.get_mut(leaf as usize)?;
        let first = !std::mem::replace(met, true);
        first.then_some(())
    }

    /// Returns the number of levels. None if nothing refers to some node or leaf.
    fn levels(self) -> Option<u32> {
        let whole = self.met.iter().all(|met| *met) && self.levels.iter().all(|level| *level > 0);
        self.levels.into_iter().max().filter(|_| whole)
    }
}
