//! Checks that the references of a tree from a file are valid.
//!
//! Each child and each leaf must be referenced once, and children must come after their parents. Traversals then terminate and never exceed their
//! stack. Slots without a child must have the box that no ray enters, because kernels do not check their references. Only a mesh without triangles
//! may have no tree, because kernels do not check for a missing one.
//!
//! Other boxes and corners are not checked. Even if they are not numbers, they only affect which nodes are visited and which hits are found. The
//! checksum detects accidental damage to them.

use crate::{
    build::collapse::MOST_LEVELS,
    compressed::patch::{rows_of, triangle_count},
    node::{Tree, Wide, each_width},
    pack::Pack,
};
use rayon::prelude::*;
use std::ops::Range;
use throng_abi::{CompressedNode, EMPTY_CHILD, LEAF, PatchRow, Unit};

/// More levels than builders create for 2³² triangles, because their splits are even below level 20.
const MOST_WIDE_LEVELS: u32 = 128;

/// Number of leaves per task.
const LEAVES_PER_TASK: usize = 1024;

/// Whether all references of a tree are valid, for a mesh with `triangles` triangles.
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

/// Returns the number of levels of the tree below node 0. `None` if a reference is invalid, or if there are more levels than builders create, because
/// code that traverses trees may be recursive.
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

/// Like [`are_sound`], for a compressed tree.
pub fn are_sound_compressed(units: &[Unit], rows: &[PatchRow], depth: u32, triangles: usize) -> bool {
    let nodes: &[CompressedNode] = bytemuck::cast_slice(units);
    match nodes {
        [] => rows.is_empty() && depth == 0 && triangles == 0,
        _ => depth <= MOST_LEVELS && compressed_levels(nodes, rows, triangles) == Some(depth),
    }
}

fn compressed_levels(nodes: &[CompressedNode], rows: &[PatchRow], triangles: usize) -> Option<u32> {
    let mut walk = Walk::new(nodes.len(), rows.len())?;
    for (index, node) in nodes.iter().enumerate() {
        if node.instances != 0 || node.units & node.leaves != 0 || node.pairs & !node.leaves != 0 {
            return None;
        }
        // Bases must be in range even if no child uses them, because pools add an offset to them.
        for child in within(node.unit_base, node.units, nodes.len())? {
            walk.enter(index, child)?;
        }
        for row in rows_of(node, rows)? {
            walk.meet(row as u32)?;
        }
        let named = &rows[node.leaf_base as usize..][..triangle_count(node)];
        if named.iter().any(|row| row.prim as usize >= triangles) {
            return None;
        }
    }
    walk.levels()
}

/// The range of indices that starts at `first` and has one index per set bit of `slots`. `None` if it exceeds `all`.
fn within(first: u32, slots: u8, all: usize) -> Option<Range<u32>> {
    let end = first.checked_add(slots.count_ones())?;
    (end as usize <= all).then_some(first..end)
}

/// A pass over the nodes of a tree in memory order.
struct Walk {
    /// Level of each node, starting at 1; 0 if it has not been referenced yet.
    levels: Vec<u32>,
    /// Whether each leaf has been referenced.
    met: Vec<bool>,
}

impl Walk {
    /// Begins a pass; `None` for a tree without nodes.
    fn new(nodes: usize, leaves: usize) -> Option<Self> {
        let mut levels = vec![0; nodes];
        *levels.first_mut()? = 1;
        let met = vec![false; leaves];
        Some(Self { levels, met })
    }

    /// Records the reference from a node to a child. `None` if the child does not exist, precedes the node, or already has a parent.
    fn enter(&mut self, node: usize, child: u32) -> Option<()> {
        let above = self.levels[node];
        let level = self.levels.get_mut(child as usize)?;
        let first = child as usize > node && *level == 0;
        *level = above + 1;
        first.then_some(())
    }

    /// Records a reference to a leaf. `None` if the leaf does not exist or was already referenced.
    fn meet(&mut self, leaf: u32) -> Option<()> {
        let met = self.met.get_mut(leaf as usize)?;
        let first = !std::mem::replace(met, true);
        first.then_some(())
    }

    /// Returns the number of levels. `None` if a node or leaf was never referenced.
    fn levels(self) -> Option<u32> {
        let whole = self.met.iter().all(|met| *met) && self.levels.iter().all(|level| *level > 0);
        self.levels.into_iter().max().filter(|_| whole)
    }
}
