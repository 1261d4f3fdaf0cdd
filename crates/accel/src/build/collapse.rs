//! Collapses a binary tree into wide nodes and multi-primitive leaves with the minimum expected number of visits per ray, by dynamic programming
//! (Ylitie, Karras and Laine 2017, section 3.1).

use crate::{
    Buffer, Quality, Tree,
    blas::build_binned as build_by_bins,
    buffer::reserve_huge_pages,
    build::{
        BuildPrim, SMALLEST_TASK, Subtree,
        binary::{BinaryNode, BinaryTree, build_binned, build_swept},
        divided::{InPlace, Shrinking, build_divided},
        join_subtrees,
        leaf_order::LeafOrder,
        reinsert::reinsert,
    },
    compressed::patch::are_pair,
    node::{Wide, each_width},
    pack::FewVertices,
};
use rayon::prelude::*;
use throng_abi::{COMPRESSED_STACK, LEAF, SHARED_PACK_SIZE};
use throng_base::math::Aabb;

/// Maximum number of levels of a collapsed tree; deeper ones are rejected.
pub const MOST_LEVELS: u32 = COMPRESSED_STACK / 2;
/// Maximum number of boxes of a tree of high quality that is built at once. Its build takes up to 600 bytes per box.
const MOST_AT_ONCE: usize = 1 << 20;
/// Number of children of the widest nodes.
const WIDEST: usize = 16;

/// Capacity of a leaf.
#[derive(Clone, Copy)]
pub enum LeafRoom<'a> {
    /// This many primitives.
    Prims(usize),
    /// As many primitives as fit into a [`SharedPack`](throng_abi::SharedPack). The triangles are given by their vertices.
    SharedPack(&'a [[u32; 3]]),
    /// As many triangles as fit into a leaf of a patch, or two parts of a triangle. The triangles are given by their vertices.
    Pair(&'a [[u32; 3]]),
}

impl LeafRoom<'_> {
    /// Number of primitives that always fit.
    pub fn least(self) -> usize {
        match self {
            Self::Prims(count) => count,
            Self::SharedPack(_) => SHARED_PACK_SIZE as usize / 3,
            Self::Pair(_) => 1,
        }
    }

    /// Maximum number of primitives that can fit.
    fn most(self) -> usize {
        match self {
            Self::Prims(count) => count,
            Self::SharedPack(_) => SHARED_PACK_SIZE as usize,
            Self::Pair(_) => 2,
        }
    }
}

/// Quality of a tree, and the number of boxes up to which a tree of high quality is built at once.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub quality: Quality,
    pub most_at_once: usize,
}

impl From<Quality> for Effort {
    fn from(quality: Quality) -> Self {
        Self { quality, most_at_once: MOST_AT_ONCE }
    }
}

impl Effort {
    /// Whether a set of this many boxes is divided into parts.
    pub fn divides(self, boxes: usize) -> bool {
        self.quality == Quality::High && boxes > self.most_at_once
    }

    /// Maximum number of boxes of a part.
    pub fn part(self) -> usize {
        self.most_at_once / 4
    }
}

/// The root of a finished tree.
pub struct Root {
    pub bounds: Aabb,
    /// Node 0, or a leaf of all primitives.
    pub reference: u32,
    pub depth: u32,
}

impl Root {
    /// Completes the tree of this root.
    fn set(self, tree: &mut Tree) {
        (tree.bounds, tree.root, tree.depth) = (self.bounds, self.reference, self.depth);
    }
}

/// Builds `tree` over `prims`, which it reorders, with leaves in the form of `build::build`. Returns false if there is nothing to collapse or the
/// tree would be too deep; `tree` must then be built in another way.
pub fn build_collapsed(
    prims: &mut [BuildPrim],
    room: LeafRoom<'_>,
    effort: impl Into<Effort>,
    tree: &mut Tree,
) -> bool {
    let effort = effort.into();
    if prims.len() <= room.least() {
        return false;
    }
    let root = each_width!(&mut tree.nodes, nodes => match effort.divides(prims.len()) {
        true => build_divided(&mut InPlace::new(prims), room, effort.part(), nodes),
        false => build_at_once(prims, room, effort.quality, nodes),
    });
    root.map(|root| root.set(tree)).is_some()
}

/// As [`build_collapsed`], or by binned splits to leaves of at most `leaf_size` primitives if that fails. Returns the order of the leaves, and whether the
/// tree is collapsed. The boxes of a large set are freed while its parts are built; if that fails, they are made `again`. `join`: as in
/// [`LeafOrder::new`].
pub fn build_ordered(
    mut prims: Vec<BuildPrim>,
    room: LeafRoom<'_>,
    effort: Effort,
    (join, leaf_size): (bool, usize),
    tree: &mut Tree,
    again: impl FnOnce() -> Vec<BuildPrim>,
) -> (LeafOrder, bool) {
    if effort.divides(prims.len()) {
        let mut source = Shrinking::new(prims, join);
        let root = each_width!(&mut tree.nodes, nodes => build_divided(&mut source, room, effort.part(), nodes));
        if let Some(root) = root {
            root.set(tree);
            return (source.order, true);
        }
        prims = again();
    } else if build_collapsed(&mut prims, room, effort, tree) {
        return (LeafOrder::new(prims, join), true);
    }
    build_by_bins(&mut prims, leaf_size, tree);
    (LeafOrder::new(prims, join), false)
}

/// Builds a tree from one binary tree over all of `prims`; `None` if it would be too deep.
pub fn build_at_once<const N: usize>(
    prims: &mut [BuildPrim],
    room: LeafRoom<'_>,
    quality: Quality,
    nodes: &mut Buffer<Wide<N>>,
) -> Option<Root> {
    // After reinsertion, primitives must follow their subtrees. Otherwise each subtree's primitives are contiguous, in the order of leaves.
    let (binary, scattered) = if quality == Quality::High {
        let mut swept = build_swept(prims);
        reinsert(&mut swept.nodes);
        (BinaryTree::arranged(&swept.nodes), Some(prims.to_vec()))
    } else {
        (build_binned(prims, room.least()), None)
    };
    let own = scattered.as_deref().unwrap_or(prims);
    let collapse = Collapse::new(&binary, own, room, N);
    let bounds = binary.nodes[0].bounds;
    if collapse.is_leaf(0) {
        prims[0].leaf_count = prims.len() as u32;
        return Some(Root { bounds, reference: LEAF, depth: 0 });
    }
    let mut emitted = collapse.emit(scattered.as_deref(), prims);
    if emitted.depth() > MOST_LEVELS {
        return None;
    }
    let depth = join_subtrees(&mut emitted.top, &emitted.subtrees, nodes);
    Some(Root { bounds, reference: 0, depth })
}

/// A binary tree, and the optimal plan for each of its subtrees.
struct Collapse<'a> {
    binary: &'a [BinaryNode],
    plans: Vec<SubtreePlan>,
    width: usize,
}

/// Wide nodes, parents before children.
struct Emitted<const N: usize> {
    top: Subtree<N>,
    /// Subtrees, each with the node and slot in the top that refer to it.
    subtrees: Vec<((usize, usize), Subtree<N>)>,
}

/// The cheapest representations of a subtree. Nodes and leaves both cost their surface area, regardless of their content.
#[derive(Clone, Copy)]
struct SubtreePlan {
    /// `cost[i]`: total area of nodes and leaves if the subtree may use up to i + 1 slots of its parent node, which must have more slots.
    cost: [f32; WIDEST],
    /// `left[i]`: how many of i + 1 slots the left child gets; 0 if the subtree uses one slot less. The last entry in use, for all slots of a node,
    /// describes the subtree as a node of its own; 0 there means that the subtree becomes a leaf.
    left: [u8; WIDEST],
    /// Number of primitives in the whole subtree.
    prims: u32,
}

impl SubtreePlan {
    const NONE: Self = Self { cost: [0.0; WIDEST], left: [0; WIDEST], prims: 0 };

    fn of_leaf(node: &BinaryNode, area: f32) -> Self {
        Self { cost: [area; WIDEST], prims: node.count, ..Self::NONE }
    }

    /// Whether the subtree becomes a leaf in a tree of nodes with `width` children.
    fn is_leaf(&self, width: usize) -> bool {
        self.left[width - 1] == 0
    }
}

/// Computes the plans of subtrees.
struct Planner<'a> {
    nodes: &'a [BinaryNode],
    /// The primitives to which leaves of the binary tree refer.
    prims: &'a [BuildPrim],
    room: LeafRoom<'a>,
    width: usize,
}

impl Planner<'_> {
    /// Computes the first `count` of `plans`, in reverse order. The first plan is for node `begin`. Plans after these must already be computed.
    fn plan(&self, plans: &mut [SubtreePlan], begin: usize, count: usize) {
        for place in (0..count).rev() {
            let (head, behind) = plans.split_at_mut(place + 1);
            let node = &self.nodes[begin + place];
            let area = node.bounds.half_area();
            head[place] = if node.is_leaf() {
                SubtreePlan::of_leaf(node, area)
            } else {
                let of_child = |child| &behind[child as usize - begin - place - 1];
                let halves = node.children.map(of_child);
                let is_leaf = halves.iter().all(|half| half.is_leaf(self.width))
                    && self.has_room((begin + place) as u32, halves[0].prims + halves[1].prims);
                join(halves, area, self.width, is_leaf)
            };
        }
    }

    /// Whether the subtree of `root`, which has `count` primitives, fits into a leaf.
    fn has_room(&self, root: u32, count: u32) -> bool {
        if count as usize > self.room.most() {
            return false;
        }
        if count as usize <= self.room.least() {
            return true;
        }
        match self.room {
            LeafRoom::Prims(_) => true,
            LeafRoom::SharedPack(triangles) => {
                let mut vertices = FewVertices::<{ SHARED_PACK_SIZE as usize }>::default();
                self.each_prim(root, |triangle| {
                    let corners = triangles[triangle as usize];
                    corners.into_iter().all(|vertex| vertices.place_of(vertex).is_some())
                })
            }
            LeafRoom::Pair(triangles) => {
                let mut other = None;
                self.each_prim(root, |triangle| match other.replace(triangle) {
                    Some(first) => {
                        first == triangle || are_pair(triangles[first as usize], triangles[triangle as usize])
                    }
                    None => true,
                })
            }
        }
    }

    /// Visits the primitives of a small subtree until `visit` returns false. Returns whether all were visited.
    fn each_prim(&self, root: u32, mut visit: impl FnMut(u32) -> bool) -> bool {
        each_leaf(self.nodes, root, |leaf| {
            let prims = &self.prims[leaf.first as usize..][..leaf.count as usize];
            prims.iter().all(|prim| visit(prim.id))
        })
    }
}

/// A subtree that becomes a wide node.
struct Open {
    root: u32,
    /// Level of the wide node; the root's is 1.
    level: u32,
    /// Position of its first primitive in the order of leaves.
    first: u32,
    /// The node and slot that refer to it.
    parent: Option<(usize, usize)>,
}

/// Primitives in the order of leaves; the first one has position `first`.
struct Leaves<'a> {
    prims: &'a mut [BuildPrim],
    first: u32,
}

impl<'a> Collapse<'a> {
    /// Computes the plans of all subtrees, bottom up.
    fn new(tree: &'a BinaryTree, prims: &[BuildPrim], room: LeafRoom<'_>, width: usize) -> Self {
        let planner = Planner { nodes: &tree.nodes, prims, room, width };
        let mut plans = Vec::new();
        reserve_huge_pages(&mut plans, tree.nodes.len());
        let none = (0..tree.nodes.len()).into_par_iter().with_min_len(4096);
        none.map(|_| SubtreePlan::NONE).collect_into_vec(&mut plans);
        let top = tree.parts[0];
        let (mut rest, mut begin) = (&mut plans[top..], top);
        let mut parts = Vec::new();
        for &size in &tree.parts[1..] {
            let (part, tail) = rest.split_at_mut(size);
            parts.push((part, begin));
            begin += size;
            rest = tail;
        }
        let parts = parts.into_par_iter();
        parts.for_each(|(part, begin)| planner.plan(part, begin, part.len()));
        planner.plan(&mut plans, 0, top);
        Self { binary: &tree.nodes, plans, width }
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.plans[node as usize].is_leaf(self.width)
    }

    fn prims(&self, node: u32) -> u32 {
        self.plans[node as usize].prims
    }

    /// Emits the nodes of large subtrees first, then all others in parallel. Puts `prims` into the order of leaves; `scattered` holds them in their
    /// old order if they are not yet in it.
    fn emit<const N: usize>(&self, scattered: Option<&[BuildPrim]>, prims: &mut [BuildPrim]) -> Emitted<N> {
        let task_size = (prims.len() / 256).max(SMALLEST_TASK) as u32;
        let mut top = Subtree::new(Vec::new());
        let mut open = vec![Open { root: 0, level: 1, first: 0, parent: None }];
        let mut tasks = Vec::new();
        while let Some(next) = open.pop() {
            if next.parent.is_some() && self.prims(next.root) <= task_size {
                tasks.push(next);
            } else {
                let mut leaves = Leaves { prims: &mut *prims, first: 0 };
                self.emit_node(next, scattered, &mut leaves, &mut top, &mut open);
            }
        }
        tasks.sort_unstable_by_key(|task| task.first);
        let (mut rest, mut first) = (prims, 0);
        let mut jobs = Vec::with_capacity(tasks.len());
        for task in tasks {
            let count = self.prims(task.root);
            let (_, tail) = rest.split_at_mut((task.first - first) as usize);
            let (own, tail) = tail.split_at_mut(count as usize);
            (rest, first) = (tail, task.first + count);
            jobs.push((task, own));
        }
        let subtrees = jobs
            .into_par_iter()
            .filter_map(|(task, own)| {
                let place = task.parent?;
                let mut leaves = Leaves { prims: own, first: task.first };
                let mut subtree = Subtree::new(Vec::new());
                let mut open = vec![Open { parent: None, ..task }];
                while let Some(next) = open.pop() {
                    self.emit_node(next, scattered, &mut leaves, &mut subtree, &mut open);
                }
                Some((place, subtree))
            })
            .collect();
        Emitted { top, subtrees }
    }

    /// Emits one node, puts the primitives of its leaves in order, and adds the subtrees below it to `open`.
    fn emit_node<const N: usize>(
        &self,
        node: Open,
        scattered: Option<&[BuildPrim]>,
        leaves: &mut Leaves<'_>,
        out: &mut Subtree<N>,
        open: &mut Vec<Open>,
    ) {
        let index = out.push_node(node.parent, node.level);
        let (children, count) = self.children(node.root);
        let mut next = node.first;
        for (slot, &child) in children[..count].iter().enumerate() {
            let BinaryNode { bounds, first, .. } = self.binary[child as usize];
            let first = scattered.map_or(first, |_| next);
            if self.is_leaf(child) {
                let place = (first - leaves.first) as usize;
                let count = self.prims(child) as usize;
                let own = &mut leaves.prims[place..place + count];
                if let Some(scattered) = scattered {
                    collect(self.binary, child, scattered, own);
                }
                own[0].leaf_count = count as u32;
                out.nodes[index].set(slot, &bounds, LEAF | first);
            } else {
                out.nodes[index].set(slot, &bounds, 0);
                open.push(Open { root: child, level: node.level + 1, first, parent: Some((index, slot)) });
            }
            next += self.prims(child);
        }
    }

    /// Returns the binary nodes that fill the slots of the wide node for `root`, and their number.
    fn children(&self, root: u32) -> ([u32; WIDEST], usize) {
        let (mut children, mut count) = ([0; WIDEST], 0);
        let mut open = [(0, 0); WIDEST + 1];
        let mut waiting = 2;
        open[..2].copy_from_slice(&self.deal(root, self.width));
        while waiting > 0 {
            waiting -= 1;
            let (node, slots) = open[waiting];
            if slots == 1 || self.binary[node as usize].is_leaf() {
                children[count] = node;
                count += 1;
            } else if self.plans[node as usize].left[slots - 1] == 0 {
                open[waiting] = (node, slots - 1);
                waiting += 1;
            } else {
                open[waiting..waiting + 2].copy_from_slice(&self.deal(node, slots));
                waiting += 2;
            }
        }
        (children, count)
    }

    /// The two children of a node, and the number of slots for each.
    fn deal(&self, node: u32, slots: usize) -> [(u32, usize); 2] {
        let [left, right] = self.binary[node as usize].children;
        let first = usize::from(self.plans[node as usize].left[slots - 1]);
        [(left, first), (right, slots - first)]
    }
}

/// Visits the leaves of a small subtree until `visit` returns false. Returns whether all were visited.
fn each_leaf(nodes: &[BinaryNode], root: u32, mut visit: impl FnMut(&BinaryNode) -> bool) -> bool {
    let mut open = [root; WIDEST + 1];
    let mut count = 1;
    while count > 0 {
        count -= 1;
        let node = &nodes[open[count] as usize];
        if !node.is_leaf() {
            open[count..count + 2].copy_from_slice(&node.children);
            count += 2;
        } else if !visit(node) {
            return false;
        }
    }
    true
}

/// Copies the primitives of a subtree to `out`, which must have room for them.
fn collect(nodes: &[BinaryNode], root: u32, prims: &[BuildPrim], mut out: &mut [BuildPrim]) {
    each_leaf(nodes, root, |leaf| {
        let (own, rest) = std::mem::take(&mut out).split_at_mut(leaf.count as usize);
        own.copy_from_slice(&prims[leaf.first as usize..][..own.len()]);
        out = rest;
        true
    });
}

/// Computes the plan of a subtree with half surface `area` from the plans of its children. `is_leaf`: whether the subtree fits into a leaf.
fn join([left, right]: [&SubtreePlan; 2], area: f32, width: usize, is_leaf: bool) -> SubtreePlan {
    // Finds the minimum sum of the children's costs, and the left child's slots, for all slot counts at once. Infinite costs precede the right
    // child's costs, for zero or fewer slots.
    let mut costs = [f32::INFINITY; 2 * WIDEST];
    costs[WIDEST..].copy_from_slice(&right.cost);
    let (mut least, mut share) = ([f32::INFINITY; WIDEST], [1u32; WIDEST]);
    for first in 1..width {
        let others = &costs[WIDEST - first..][..WIDEST];
        for slot in 0..WIDEST {
            let cost = left.cost[first - 1] + others[slot];
            let cheaper = cost < least[slot];
            least[slot] = if cheaper { cost } else { least[slot] };
            share[slot] = if cheaper { first as u32 } else { share[slot] };
        }
    }
    let mut plan = SubtreePlan { cost: least, left: share.map(|first| first as u8), prims: left.prims + right.prims };
    plan.cost[0] = area + least[width - 1];
    if is_leaf {
        plan.left[width - 1] = 0;
        plan.cost[0] = area;
    }
    for slot in 1..width - 1 {
        if plan.cost[slot] >= plan.cost[slot - 1] {
            (plan.cost[slot], plan.left[slot]) = (plan.cost[slot - 1], 0);
        }
    }
    plan
}

impl<const N: usize> Emitted<N> {
    fn depth(&self) -> u32 {
        let depths = self.subtrees.iter().map(|(_, subtree)| subtree.depth);
        depths.fold(self.top.depth, u32::max)
    }
}
