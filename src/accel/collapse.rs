//! Collapses a binary tree into wide nodes, and leaves of several primitives, so that rays are expected to visit as little as possible:
//! dynamic programming after Ylitie, Karras and Laine 2017, section 3.1.

use super::{
    Tree,
    binary::{BinaryNode, build_binary},
    build::BuildPrim,
    node::{Wide, each_width},
    reinsert::reinsert,
};
use crate::abi::{COMPRESSED_STACK, LEAF};

/// Collapsed trees of more levels are refused.
pub const MOST_LEVELS: u32 = COMPRESSED_STACK / 2;
/// Children of the widest nodes.
const WIDEST: usize = 16;

/// Builds `tree` over `prims`, which it reorders; leaves as `build::build` makes them. False if there is nothing to
/// collapse, or if the outcome would be too deep: then `tree` has to be built otherwise.
pub fn build_collapsed(prims: &mut [BuildPrim], leaf_size: usize, tree: &mut Tree) -> bool {
    if prims.len() <= leaf_size {
        return false;
    }
    let mut binary = build_binary(prims);
    reinsert(&mut binary);
    let collapse = Collapse::new(&binary, leaf_size, tree.nodes.width());
    let depth = each_width!(&mut tree.nodes, nodes => {
        let emitted = collapse.emit(prims);
        if emitted.depth > MOST_LEVELS {
            return false;
        }
        nodes.resize(emitted.nodes.len(), Wide::EMPTY);
        nodes.copy_from_slice(&emitted.nodes);
        prims.copy_from_slice(&emitted.prims);
        emitted.depth
    });
    (tree.root, tree.depth) = (0, depth);
    tree.bounds = binary[0].bounds;
    true
}

/// A binary tree, and what is best made of its subtrees.
struct Collapse<'a> {
    binary: &'a [BinaryNode],
    plans: Vec<Plan>,
    width: usize,
}

/// Wide nodes, parents before children, and the primitives in the order of their leaves.
struct Emitted<const N: usize> {
    nodes: Vec<Wide<N>>,
    prims: Vec<BuildPrim>,
    depth: u32,
}

/// The cheapest ways to represent a subtree. A node costs its surface, and so does a leaf, whatever it holds.
#[derive(Clone, Copy)]
struct Plan {
    /// `cost[i]`: surface of nodes and leaves, where the subtree may take up i + 1 slots of the node above.
    cost: [f32; WIDEST - 1],
    /// `left[i]`: how many of i + 1 slots the left child gets; 0: the subtree uses one slot less. That of all slots of a
    /// node deals out those of the one that the subtree becomes if it has a single slot; 0: it becomes a leaf.
    left: [u8; WIDEST],
    /// In the whole subtree.
    prims: u32,
}

impl<'a> Collapse<'a> {
    /// Bottom up: the plans of all subtrees.
    fn new(binary: &'a [BinaryNode], leaf_size: usize, width: usize) -> Self {
        let leaf = Plan {
            cost: [0.0; WIDEST - 1],
            left: [0; WIDEST],
            prims: 1,
        };
        let mut plans = vec![leaf; binary.len()];
        for index in top_down(binary).into_iter().rev() {
            let node = &binary[index as usize];
            let area = node.bounds.half_area();
            plans[index as usize] = if node.is_leaf() {
                Plan {
                    cost: [area; WIDEST - 1],
                    ..leaf
                }
            } else {
                let [left, right] = node.children.map(|c| &plans[c as usize]);
                join([left, right], area, width, leaf_size)
            };
        }
        Self {
            binary,
            plans,
            width,
        }
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.plans[node as usize].left[self.width - 1] == 0
    }

    fn emit<const N: usize>(&self, prims: &[BuildPrim]) -> Emitted<N> {
        let mut out = Emitted {
            nodes: Vec::with_capacity(self.binary.len() / N + 1),
            prims: Vec::with_capacity(prims.len()),
            depth: 0,
        };
        // Binary node, its level, and the slot that will refer to it.
        let mut open = vec![(0u32, 1u32, None)];
        while let Some((root, level, parent)) = open.pop() {
            let index = out.nodes.len();
            if let Some((node, slot)) = parent {
                let above: &mut Wide<N> = &mut out.nodes[node];
                above.children[slot] = index as u32;
            }
            out.depth = out.depth.max(level);
            let mut node = Wide::EMPTY;
            for (slot, child) in self.children(root).into_iter().enumerate() {
                let bounds = self.binary[child as usize].bounds;
                if self.is_leaf(child) {
                    let first = out.prims.len();
                    self.collect(child, prims, &mut out.prims);
                    out.prims[first].leaf_count = (out.prims.len() - first) as u32;
                    node.set(slot, &bounds, LEAF | first as u32);
                } else {
                    node.set(slot, &bounds, 0);
                    open.push((child, level + 1, Some((index, slot))));
                }
            }
            out.nodes.push(node);
        }
        out
    }

    /// Appends the primitives of a subtree.
    fn collect(&self, root: u32, prims: &[BuildPrim], out: &mut Vec<BuildPrim>) {
        let mut open = vec![root];
        while let Some(index) = open.pop() {
            let node = &self.binary[index as usize];
            if node.is_leaf() {
                out.push(prims[node.prim as usize]);
            } else {
                open.extend(node.children);
            }
        }
    }

    /// What fills the slots of the wide node that `root` becomes.
    fn children(&self, root: u32) -> Vec<u32> {
        let mut children = Vec::with_capacity(self.width);
        let mut open = self.deal(root, self.width).to_vec();
        while let Some((node, slots)) = open.pop() {
            if slots == 1 || self.binary[node as usize].is_leaf() {
                children.push(node);
            } else if self.plans[node as usize].left[slots - 1] == 0 {
                open.push((node, slots - 1));
            } else {
                open.extend(self.deal(node, slots));
            }
        }
        children
    }

    /// The two children of a node, and their shares of its slots.
    fn deal(&self, node: u32, slots: usize) -> [(u32, usize); 2] {
        let [left, right] = self.binary[node as usize].children;
        let first = usize::from(self.plans[node as usize].left[slots - 1]);
        [(left, first), (right, slots - first)]
    }
}

/// Every parent before its children.
fn top_down(nodes: &[BinaryNode]) -> Vec<u32> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        order.push(index);
        let node = &nodes[index as usize];
        if !node.is_leaf() {
            open.extend(node.children);
        }
    }
    order
}

/// The plan of a subtree with that surface from those of its two halves.
fn join([left, right]: [&Plan; 2], area: f32, width: usize, leaf_size: usize) -> Plan {
    let mut plan = Plan {
        cost: [0.0; WIDEST - 1],
        left: [0; WIDEST],
        prims: left.prims + right.prims,
    };
    let deal = |slots: usize| {
        let costs = (1..slots).map(|k| (left.cost[k - 1] + right.cost[slots - k - 1], k as u8));
        costs.fold((f32::INFINITY, 1), |a, b| if b.0 < a.0 { b } else { a })
    };
    let (children, first) = deal(width);
    plan.left[width - 1] = first;
    plan.cost[0] = area + children;
    if plan.prims as usize <= leaf_size {
        plan.left[width - 1] = 0;
        plan.cost[0] = area;
    }
    for slots in 2..width {
        let (cost, first) = deal(slots);
        let fewer = plan.cost[slots - 2];
        (plan.cost[slots - 1], plan.left[slots - 1]) = if cost < fewer {
            (cost, first)
        } else {
            (fewer, 0)
        };
    }
    plan
}
