//! Binary trees with one primitive per leaf, by the surface area heuristic with every cut tried: where wide trees of high
//! quality start from.

use super::{
    build::BuildPrim,
    sorted::{Sorted, SortedMemory},
    split::{LARGEST_SWEEP, SetBounds, SplitMethod, split},
};
use crate::math::Aabb;

/// Stands for "no node": node 0 is the root, nobody's child.
pub const NO_NODE: u32 = 0;
/// Subtrees of at least this many primitives are built side by side.
const PARALLEL: usize = 512;
/// From this level on, primitives are shared out evenly: bounds the recursion.
const BALANCED_FROM: u32 = 64;

#[derive(Clone, Copy)]
pub struct BinaryNode {
    pub bounds: Aabb,
    /// Both [`NO_NODE`] for a leaf.
    pub children: [u32; 2],
    /// Position of a leaf's primitive.
    pub prim: u32,
}

impl BinaryNode {
    const EMPTY: Self = Self {
        bounds: Aabb::EMPTY,
        children: [NO_NODE; 2],
        prim: 0,
    };

    pub fn is_leaf(&self) -> bool {
        self.children[0] == NO_NODE
    }
}

/// Builds the tree of at least one primitive, which it reorders. Deterministic, parallel; root first, children after their
/// parents.
pub fn build_binary(prims: &mut [BuildPrim]) -> Vec<BinaryNode> {
    let mut nodes = vec![BinaryNode::EMPTY; 2 * prims.len() - 1];
    let range = Range {
        prims,
        first: 0,
        node: 0,
        level: 0,
    };
    range.build(&mut nodes, None);
    nodes
}

/// Primitives from number `first` on, and the number of their root.
struct Range<'a> {
    prims: &'a mut [BuildPrim],
    first: u32,
    node: u32,
    level: u32,
}

impl Range<'_> {
    /// A subtree over n primitives is made of 2n - 1 nodes in a row, so subtrees need not know of each other. `sorted`:
    /// the orders of the primitives, once there are few enough to sort.
    fn build(self, nodes: &mut [BinaryNode], sorted: Option<Sorted<'_>>) {
        let set = SetBounds::of(self.prims);
        let Some((root, below)) = nodes.split_first_mut() else {
            return;
        };
        root.bounds = set.bounds();
        root.prim = self.first;
        let count = self.prims.len();
        if count == 1 {
            return;
        }
        let method = if self.level < BALANCED_FROM {
            SplitMethod::Swept
        } else {
            SplitMethod::Halved
        };
        let sweep = method == SplitMethod::Swept && count <= LARGEST_SWEEP;
        let mut memory = None;
        let sorted = sorted.or_else(|| {
            let memory = sweep.then(|| memory.insert(SortedMemory::new(count)));
            memory.map(|memory| memory.sort(self.prims))
        });
        let (left_count, [left_sorted, right_sorted]) = match sorted.filter(|_| sweep) {
            Some(sorted) => {
                let (left_count, halves) = sorted.cut(self.prims, &set);
                (left_count, halves.map(Some))
            }
            None => (split(self.prims, &set, 1, method), [None, None]),
        };
        let (left, right) = self.prims.split_at_mut(left_count);
        let (left_nodes, right_nodes) = below.split_at_mut(2 * left_count - 1);
        let range = |prims, first, node| Range {
            prims,
            first,
            node,
            level: self.level + 1,
        };
        let left = range(left, self.first, self.node + 1);
        let right = range(
            right,
            self.first + left_count as u32,
            self.node + 2 * left_count as u32,
        );
        root.children = [left.node, right.node];
        if count >= PARALLEL {
            rayon::join(
                || left.build(left_nodes, left_sorted),
                || right.build(right_nodes, right_sorted),
            );
        } else {
            left.build(left_nodes, left_sorted);
            right.build(right_nodes, right_sorted);
        }
    }
}
