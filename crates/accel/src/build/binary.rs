//! Binary trees by the surface area heuristic, from which wide trees of balanced and high quality are built.

use crate::{
    Buffer,
    build::{
        BuildPrim, SMALLEST_TASK,
        sorted::{MOST_SORTED, build_sorted},
        split::{SetBounds, SplitMethod, split_with_bounds},
    },
};
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Index that means "no node". Node 0 is the root, which is never a child.
pub const NO_NODE: u32 = 0;
/// Level at which primitives are first divided evenly, which bounds the recursion.
pub const BALANCED_FROM: u32 = 64;
/// Minimum number of subtrees into which finished trees are divided, if they have that many.
const FEWEST_PARTS: usize = 128;

#[derive(Clone, Copy)]
pub struct BinaryNode {
    pub bounds: Aabb,
    /// Both are [`NO_NODE`] for a leaf.
    pub children: [u32; 2],
    /// Position of the first primitive, and number of primitives. After reinsertion, the primitives of a subtree are no longer contiguous, and these
    /// fields are valid in leaves only.
    pub first: u32,
    pub count: u32,
}

impl BinaryNode {
    pub const EMPTY: Self = Self { bounds: Aabb::EMPTY, children: [NO_NODE; 2], first: 0, count: 0 };

    pub fn is_leaf(&self) -> bool {
        self.children[0] == NO_NODE
    }
}

/// A binary tree as an array of nodes: root first, children after their parents. It consists of parts that can be processed in parallel.
pub struct BinaryTree {
    pub nodes: Buffer<BinaryNode>,
    /// Number of nodes in each part. The first part is the top of the tree, whose nodes may refer to any part. Nodes of other parts refer only to
    /// nodes of their own part.
    pub parts: Vec<usize>,
}

impl BinaryTree {
    /// Joins `top` and `subtrees`, whose nodes are numbered from 0. Each subtree comes with the node and the child index in the top that refer to it.
    fn joined(mut top: Vec<BinaryNode>, subtrees: &[((usize, usize), Vec<BinaryNode>)]) -> Self {
        let sizes = subtrees.iter().map(|(_, nodes)| nodes.len());
        let parts: Vec<usize> = [top.len()].into_iter().chain(sizes).collect();
        let mut offset = top.len();
        for ((node, side), nodes) in subtrees {
            top[*node].children[*side] = offset as u32;
            offset += nodes.len();
        }
        let mut nodes = Buffer::new();
        let subtrees: Vec<_> = subtrees.iter().map(|(_, nodes)| &nodes[..]).collect();
        nodes.refill_joined(&top, &subtrees, |mut node: BinaryNode, first| {
            if !node.is_leaf() {
                node.children = node.children.map(|child| child + first as u32);
            }
            node
        });
        Self { nodes, parts }
    }

    /// Arranges nodes that are in any order except that the root comes first.
    pub fn arranged(nodes: &[BinaryNode]) -> Self {
        let mut top: Vec<BinaryNode> = Vec::new();
        // Nodes of one level, each with the node and child index that refer to it.
        let mut level: Vec<(Option<(usize, usize)>, u32)> = vec![(None, 0)];
        while level.len() < FEWEST_PARTS {
            let mut next = Vec::new();
            for (parent, node) in level {
                let index = top.len();
                let node = nodes[node as usize];
                top.push(node);
                if let Some((parent, side)) = parent {
                    top[parent].children[side] = index as u32;
                }
                if !node.is_leaf() {
                    let places = [(index, 0), (index, 1)].map(Some);
                    next.extend(places.into_iter().zip(node.children));
                }
            }
            level = next;
            if level.is_empty() {
                break;
            }
        }
        let subtrees: Vec<_> = level
            .into_par_iter()
            .filter_map(|(parent, root)| {
                let mut subtree = Vec::new();
                copy_subtree(nodes, root, &mut subtree);
                Some((parent?, subtree))
            })
            .collect();
        Self::joined(top, &subtrees)
    }
}

/// Appends a subtree, parents before children.
fn copy_subtree(nodes: &[BinaryNode], root: u32, out: &mut Vec<BinaryNode>) {
    let mut open = vec![(None, root)];
    while let Some((parent, node)) = open.pop() {
        let index = out.len();
        let node = nodes[node as usize];
        out.push(node);
        if let Some((parent, side)) = parent {
            let above: &mut BinaryNode = &mut out[parent];
            above.children[side] = index as u32;
        }
        if !node.is_leaf() {
            let [left, right] = node.children;
            open.push((Some((index, 1)), right));
            open.push((Some((index, 0)), left));
        }
    }
}

/// Builds a tree over `prims`, which must not be empty, with binned splits and at most `leaf_size` primitives per leaf. Reorders `prims`.
/// Deterministic, parallel.
pub fn build_binned(prims: &mut [BuildPrim], leaf_size: usize) -> BinaryTree {
    let task_size = (prims.len() / 256).max(SMALLEST_TASK);
    grow(prims, leaf_size, task_size, |set| {
        let mut nodes = Vec::with_capacity(4 * set.prims.len() / (leaf_size + 1));
        set.build(leaf_size, &mut nodes);
        nodes
    })
}

/// Builds a tree over `prims`, which must not be empty, with one primitive per leaf. Evaluates every split of sets that are small enough. Reorders
/// `prims`. Deterministic, parallel. [`BinaryNode::first`] is valid in leaves only.
pub fn build_swept(prims: &mut [BuildPrim]) -> BinaryTree {
    grow(prims, 1, MOST_SORTED, |set| build_sorted(set.prims, set.first, set.level))
}

/// Splits sets until they have at most `task_size` primitives, and calls `finish` for these in parallel.
fn grow(
    prims: &mut [BuildPrim],
    leaf_size: usize,
    task_size: usize,
    finish: impl Fn(Binned<'_>) -> Vec<BinaryNode> + Sync,
) -> BinaryTree {
    let set = SetBounds::of(prims);
    let root = Binned { prims, set, first: 0, level: 0 };
    if root.prims.len() <= task_size {
        return BinaryTree::joined(finish(root), &[]);
    }
    let (mut top, mut tasks) = (vec![root.node()], Vec::new());
    let mut open = vec![(0, root)];
    while !open.is_empty() {
        let cuts: Vec<_> = open.into_par_iter().map(|(node, set)| (node, set.cut(leaf_size))).collect();
        open = Vec::new();
        for (node, halves) in cuts {
            for (side, half) in halves.into_iter().enumerate() {
                if half.prims.len() > task_size {
                    top[node].children[side] = top.len() as u32;
                    top.push(half.node());
                    open.push((top.len() - 1, half));
                } else {
                    tasks.push(((node, side), half));
                }
            }
        }
    }
    let subtrees: Vec<_> = tasks.into_par_iter().map(|(place, set)| (place, finish(set))).collect();
    BinaryTree::joined(top, &subtrees)
}

/// Primitives of a future subtree; the first one has number `first`.
struct Binned<'a> {
    prims: &'a mut [BuildPrim],
    set: SetBounds,
    first: u32,
    level: u32,
}

impl<'a> Binned<'a> {
    /// A leaf of all primitives.
    fn node(&self) -> BinaryNode {
        BinaryNode {
            bounds: self.set.bounds(),
            children: [NO_NODE; 2],
            first: self.first,
            count: self.prims.len() as u32,
        }
    }

    fn cut(self, leaf_size: usize) -> [Self; 2] {
        let method = if self.level < BALANCED_FROM { SplitMethod::Binned } else { SplitMethod::Halved };
        let (count, sets) = split_with_bounds(self.prims, &self.set, leaf_size, method);
        let (left, right) = self.prims.split_at_mut(count);
        let half = |prims, set, first| Self { prims, set, first, level: self.level + 1 };
        let [left_set, right_set] = sets;
        [half(left, left_set, self.first), half(right, right_set, self.first + count as u32)]
    }

    /// Appends the nodes of the subtree, parents before children, and returns the index of the first one.
    fn build(self, leaf_size: usize, nodes: &mut Vec<BinaryNode>) -> u32 {
        let index = nodes.len();
        nodes.push(self.node());
        if self.prims.len() > leaf_size {
            let halves = self.cut(leaf_size);
            nodes[index].children = halves.map(|half| half.build(leaf_size, nodes));
        }
        index as u32
    }
}
