//! Collapses a binary tree into 8-wide nodes so that the sum of their surfaces is the least possible: dynamic programming
//! after Ylitie, Karras and Laine 2017, section 3.1 (with one primitive per leaf, what leaves cost makes no difference).

use super::{
    Tree,
    binary::{BinaryNode, build_binary},
    build::BuildPrim,
    compress::wide_nodes,
    node::Wide,
    reinsert::reinsert,
};
use crate::abi::{COMPRESSED_STACK, LEAF};

const WIDTH: usize = 8;
/// Collapsed trees of more levels are refused.
pub const MOST_LEVELS: u32 = COMPRESSED_STACK / 2;

/// Builds `tree` over `prims`, which it reorders; leaves as `build::build` makes them. False if there is nothing to
/// collapse, or if the outcome would be too deep: then `tree` has to be built otherwise.
pub fn build_collapsed(prims: &mut [BuildPrim], tree: &mut Tree) -> bool {
    if prims.len() < 2 {
        return false;
    }
    let mut binary = build_binary(prims);
    reinsert(&mut binary);
    let plans = plan(&binary);
    let (wide, depth) = emit(&binary, &plans);
    let Some(nodes) = wide_nodes(tree) else {
        return false;
    };
    if depth > MOST_LEVELS {
        return false;
    }
    nodes.resize(wide.len(), Wide::EMPTY);
    nodes.copy_from_slice(&wide);
    (tree.root, tree.depth) = (0, depth);
    tree.bounds = binary[0].bounds;
    true
}

/// The cheapest ways to represent a subtree.
#[derive(Clone, Copy)]
struct Plan {
    /// `cost[i]`: surface of wide nodes, where the subtree may take up i + 1 slots of the node above.
    cost: [f32; WIDTH - 1],
    /// `left[i]`: how many of i + 1 slots the left child gets; 0: the subtree uses one slot less. `left[7]` deals out the
    /// slots of the wide node that the subtree becomes if it has a single one.
    left: [u8; WIDTH],
}

/// Bottom up: the plans of all subtrees.
fn plan(nodes: &[BinaryNode]) -> Vec<Plan> {
    let leaf = Plan {
        cost: [0.0; WIDTH - 1],
        left: [0; WIDTH],
    };
    let mut plans = vec![leaf; nodes.len()];
    for index in top_down(nodes).into_iter().rev() {
        let node = &nodes[index as usize];
        if !node.is_leaf() {
            let [left, right] = node.children.map(|c| plans[c as usize]);
            plans[index as usize] = join(&left, &right, node.bounds.half_area());
        }
    }
    plans
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

fn join(left: &Plan, right: &Plan, area: f32) -> Plan {
    let mut plan = Plan {
        cost: [0.0; WIDTH - 1],
        left: [0; WIDTH],
    };
    let deal = |slots: usize| {
        let costs = (1..slots).map(|k| (left.cost[k - 1] + right.cost[slots - k - 1], k as u8));
        costs.fold((f32::INFINITY, 1), |a, b| if b.0 < a.0 { b } else { a })
    };
    let (children, first) = deal(WIDTH);
    plan.left[WIDTH - 1] = first;
    plan.cost[0] = area + children;
    for slots in 2..WIDTH {
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

/// The wide nodes, parents before children, and the number of levels.
fn emit(binary: &[BinaryNode], plans: &[Plan]) -> (Vec<Wide<8>>, u32) {
    let mut wide: Vec<Wide<8>> = Vec::with_capacity(binary.len() / 8 + 1);
    let mut depth = 0;
    // Binary node, its level, and the slot that will refer to it.
    let mut open = vec![(0u32, 1u32, None)];
    while let Some((root, level, parent)) = open.pop() {
        let index = wide.len();
        if let Some((node, slot)) = parent {
            let above: &mut Wide<8> = &mut wide[node];
            above.children[slot] = index as u32;
        }
        depth = depth.max(level);
        let mut node = Wide::EMPTY;
        for (slot, child) in children(binary, plans, root).into_iter().enumerate() {
            let below = &binary[child as usize];
            if below.is_leaf() {
                node.set(slot, &below.bounds, LEAF | below.prim);
            } else {
                node.set(slot, &below.bounds, 0);
                open.push((child, level + 1, Some((index, slot))));
            }
        }
        wide.push(node);
    }
    (wide, depth)
}

/// What fills the slots of the wide node that `root` becomes.
fn children(binary: &[BinaryNode], plans: &[Plan], root: u32) -> Vec<u32> {
    let mut children = Vec::with_capacity(WIDTH);
    let mut open = deal(binary, plans, root, WIDTH).to_vec();
    while let Some((node, slots)) = open.pop() {
        if slots == 1 || binary[node as usize].is_leaf() {
            children.push(node);
        } else if plans[node as usize].left[slots - 1] == 0 {
            open.push((node, slots - 1));
        } else {
            open.extend(deal(binary, plans, node, slots));
        }
    }
    children
}

/// The two children of a node, and their shares of its slots.
fn deal(binary: &[BinaryNode], plans: &[Plan], node: u32, slots: usize) -> [(u32, usize); 2] {
    let [left, right] = binary[node as usize].children;
    let first = usize::from(plans[node as usize].left[slots - 1]);
    [(left, first), (right, slots - first)]
}
