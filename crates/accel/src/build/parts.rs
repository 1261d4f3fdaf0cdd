//! Division of primitives into parts, which become nodes and leaves of a wide tree.

use super::{BuildOptions, BuildPrim, SMALLEST_TASK, Spare};
use crate::{
    Buffer,
    build::split::{SetBounds, SplitMethod, split_with_bounds},
    node::Wide,
};
use rayon::prelude::*;
use std::cmp::Ordering;
use throng_abi::{EMPTY_CHILD, LEAF};

/// While all parts have at least this many primitives, all of them are split in parallel, instead of the one with the largest surface.
const SPLIT_TOGETHER: usize = 1 << 15;

/// A range of primitives to which a slot of an unfinished node refers.
pub(super) struct PrimRange<'a> {
    pub prims: &'a mut [BuildPrim],
    /// Position of the first primitive among all.
    pub first: u32,
    set: SetBounds,
    area: f32,
}

impl<'a> PrimRange<'a> {
    pub fn new(prims: &'a mut [BuildPrim], first: u32, set: SetBounds) -> Self {
        Self { area: set.bounds().half_area(), prims, first, set }
    }
}

impl PrimRange<'_> {
    /// Key of the part to split next, the greatest first: the surface area, then the number of primitives. If sets are halved, only the number
    /// counts, which keeps the tree shallow when many boxes coincide.
    fn priority(&self, method: SplitMethod) -> (f32, usize) {
        match method {
            SplitMethod::Halved => (0.0, self.prims.len()),
            _ => (self.area, self.prims.len()),
        }
    }
}

/// A subtree to be built on its own, and the slot in the top part that will refer to it.
pub(super) struct Task<'a> {
    pub part: PrimRange<'a>,
    pub node: usize,
    pub slot: usize,
    /// The level of `node`.
    pub level: u32,
}

/// A part that will become a node, the slot (node, index) that refers to it, and the node's level.
struct Open<'a> {
    part: PrimRange<'a>,
    parent: Option<(usize, usize)>,
    level: u32,
}

impl<'a> Open<'a> {
    fn root(part: PrimRange<'a>, level: u32) -> Self {
        Self { part, parent: None, level }
    }
}

/// Nodes of one subtree, numbered from 0, and its deepest level (counted from the root of the whole tree).
pub struct Subtree<const N: usize> {
    pub nodes: Vec<Wide<N>>,
    pub depth: u32,
}

pub(super) fn build_wide<const N: usize>(
    prims: &mut [BuildPrim],
    set: SetBounds,
    groups: &[u32],
    options: BuildOptions,
    spare: &Spare<N>,
    out: &mut Buffer<Wide<N>>,
) -> u32 {
    let is_small = prims.len() <= SMALLEST_TASK;
    let (mut top, tasks) = if groups.is_empty() {
        let task_size = (prims.len() / 256).max(SMALLEST_TASK);
        build_top(PrimRange::new(prims, 0, set), options, task_size)
    } else {
        build_over_groups(prims, groups, options, spare)
    };
    // Waking threads takes longer than building a tree that is as small as a task.
    let fewest = if is_small { tasks.len() } else { 1 };
    let subtrees: Vec<_> = tasks
        .into_par_iter()
        .with_min_len(fewest.max(1))
        .map(|t| {
            let subtree = build_subtree(t.part, t.level + 1, options, spare);
            ((t.node, t.slot), subtree)
        })
        .collect();
    let depth = join_subtrees(&mut top, &subtrees, out);
    spare.put_back(subtrees.into_iter().map(|(_, subtree)| subtree));
    depth
}

/// Joins the top and its subtrees into one tree in `out`. Each subtree comes with the node and slot in the top that will refer to it. Returns the
/// deepest level.
pub fn join_subtrees<const N: usize>(
    top: &mut Subtree<N>,
    subtrees: &[((usize, usize), Subtree<N>)],
    out: &mut Buffer<Wide<N>>,
) -> u32 {
    let mut depth = top.depth;
    let mut total = top.nodes.len();
    for ((node, slot), subtree) in subtrees {
        top.nodes[*node].children[*slot] = total as u32;
        total += subtree.nodes.len();
        depth = depth.max(subtree.depth);
    }
    assert!(total < LEAF as usize, "node references have 31 bits");
    let parts: Vec<_> = subtrees.iter().map(|(_, subtree)| &subtree.nodes[..]).collect();
    out.refill_joined(&top.nodes, &parts, |mut node, first| {
        for child in node.children.iter_mut().filter(|c| **c & LEAF == 0) {
            *child += first as u32;
        }
        node
    });
    depth
}

/// Builds the nodes of large parts level by level, all nodes of a level in parallel. Parts of at most `task_size` primitives are returned as tasks.
pub(super) fn build_top<const N: usize>(
    root: PrimRange<'_>,
    options: BuildOptions,
    task_size: usize,
) -> (Subtree<N>, Vec<Task<'_>>) {
    let mut top = Subtree::new(Vec::new());
    let mut tasks = Vec::new();
    let mut open = vec![Open::root(root, 1)];
    while !open.is_empty() {
        let filled: Vec<_> = open
            .into_par_iter()
            .map(|Open { part, parent, level }| (parent, level, fill_slots::<N>(part, options.on_level(level))))
            .collect();
        open = Vec::new();
        for (parent, level, parts) in filled {
            let node = top.push_node(parent, level);
            for (slot, part) in parts.into_iter().enumerate() {
                let Some(part) = top.place(part, node, slot, options.leaf_size) else {
                    continue;
                };
                if part.prims.len() > task_size {
                    open.push(Open { part, parent: Some((node, slot)), level: level + 1 });
                } else {
                    tasks.push(Task { part, node, slot, level });
                }
            }
        }
    }
    (top, tasks)
}

/// Builds the nodes above groups of primitives. The groups are returned as tasks; each counts as one primitive.
fn build_over_groups<'a, const N: usize>(
    prims: &'a mut [BuildPrim],
    groups: &[u32],
    options: BuildOptions,
    spare: &Spare<N>,
) -> (Subtree<N>, Vec<Task<'a>>) {
    let mut parts: Vec<_> = runs(prims, groups)
        .into_par_iter()
        .map(|(first, prims)| {
            let set = SetBounds::of(prims);
            Some(PrimRange::new(prims, first, set))
        })
        .collect();
    let mut boxes: Vec<BuildPrim> =
        parts.iter().flatten().zip(0..).map(|(part, id)| BuildPrim::new(&part.set.bounds(), id)).collect();
    let set = SetBounds::of(&boxes);
    let one_each = BuildOptions { leaf_size: 1, ..options };
    let mut top = build_subtree::<N>(PrimRange::new(&mut boxes, 0, set), 1, one_each, spare);
    let mut levels = vec![1; top.nodes.len()];
    let mut tasks = Vec::with_capacity(parts.len());
    for node in 0..top.nodes.len() {
        for slot in 0..N {
            let child = top.nodes[node].children[slot];
            if child & LEAF == 0 {
                levels[child as usize] = levels[node] + 1;
            } else if child != EMPTY_CHILD {
                let group = boxes[(child & !LEAF) as usize].id as usize;
                let part = parts[group].take().and_then(|part| top.place(part, node, slot, 1));
                tasks.extend(part.map(|part| Task { part, node, slot, level: levels[node] }));
            }
        }
    }
    (top, tasks)
}

/// Returns the primitives of each group, and the position of the first one. `ends`: the end of each group; the last one is the total number.
fn runs<'a>(prims: &'a mut [BuildPrim], ends: &[u32]) -> Vec<(u32, &'a mut [BuildPrim])> {
    let (mut rest, mut first) = (prims, 0);
    let run = |&end: &u32| {
        let (run, tail) = std::mem::take(&mut rest).split_at_mut((end - first) as usize);
        let begin = first;
        (rest, first) = (tail, end);
        (begin, run)
    };
    ends.iter().map(run).collect()
}

/// Builds nodes depth first, parents before children.
fn build_subtree<const N: usize>(
    root: PrimRange<'_>,
    root_level: u32,
    options: BuildOptions,
    spare: &Spare<N>,
) -> Subtree<N> {
    // Nodes of trees over single primitives are about two thirds full.
    let capacity = root.prims.len() * 3 / (2 * N * options.leaf_size) + 1;
    let mut tree = Subtree::new(spare.take(capacity));
    let mut open = vec![Open::root(root, root_level)];
    while let Some(Open { part, parent, level }) = open.pop() {
        let node = tree.push_node(parent, level);
        let parts = fill_slots::<N>(part, options.on_level(level));
        for (slot, part) in parts.into_iter().enumerate() {
            if let Some(part) = tree.place(part, node, slot, options.leaf_size) {
                open.push(Open { part, parent: Some((node, slot)), level: level + 1 });
            }
        }
    }
    tree
}

impl<const N: usize> Subtree<N> {
    pub fn new(nodes: Vec<Wide<N>>) -> Self {
        Self { nodes, depth: 0 }
    }

    /// Adds an empty node, and points the slot `parent` at it.
    pub fn push_node(&mut self, parent: Option<(usize, usize)>, level: u32) -> usize {
        let index = self.nodes.len();
        self.depth = self.depth.max(level);
        self.nodes.push(Wide::EMPTY);
        if let Some((node, slot)) = parent {
            self.nodes[node].children[slot] = index as u32;
        }
        index
    }

    /// Fills a slot. Returns the part unless it is a leaf; its node does not exist yet, and the slot has no reference to it.
    fn place<'a>(&mut self, part: PrimRange<'a>, node: usize, slot: usize, leaf_size: usize) -> Option<PrimRange<'a>> {
        let bounds = part.set.bounds();
        if part.prims.len() > leaf_size {
            self.nodes[node].set(slot, &bounds, 0);
            return Some(part);
        }
        part.prims[0].leaf_count = part.prims.len() as u32;
        self.nodes[node].set(slot, &bounds, LEAF | part.first);
        None
    }
}

/// Splits a part into at most `N` parts, one per slot of a node.
fn fill_slots<const N: usize>(part: PrimRange<'_>, options: BuildOptions) -> Vec<PrimRange<'_>> {
    // A part that fits into one node (or leaf) is not split further: it becomes that node, or its primitives go into this node.
    let small = if options.leaf_size == 1 { N } else { options.leaf_size };
    let mut parts = Vec::with_capacity(N);
    parts.push(part);
    while 2 * parts.len() <= N && parts.iter().all(|p| p.prims.len() >= SPLIT_TOGETHER) {
        let halves = parts.into_par_iter().flat_map_iter(|p| cut(p, options));
        parts = halves.collect();
    }
    while parts.len() < N {
        let largest = position_of_max(&parts, |p| (p.prims.len() > small).then(|| p.priority(options.method)));
        let Some(largest) = largest else { break };
        let part = parts.swap_remove(largest);
        parts.extend(cut(part, options));
    }
    if options.leaf_size == 1 {
        open_small_parts::<N>(&mut parts);
    }
    parts
}

/// Splits a part of at least two primitives.
fn cut(part: PrimRange<'_>, options: BuildOptions) -> [PrimRange<'_>; 2] {
    let PrimRange { prims, first, set, .. } = part;
    let (count, [left_set, right_set]) = split_with_bounds(prims, &set, options.leaf_size, options.method);
    let (left, right) = prims.split_at_mut(count);
    [PrimRange::new(left, first, left_set), PrimRange::new(right, first + count as u32, right_set)]
}

/// Replaces parts by their single primitives while there are free slots. This saves the visit of a node that would hold only these primitives. Parts
/// that save the most surface per slot come first.
fn open_small_parts<const N: usize>(parts: &mut Vec<PrimRange<'_>>) {
    loop {
        let free = N - parts.len();
        let best = position_of_max(parts, |p| {
            let extra = p.prims.len() - 1;
            (1..=free).contains(&extra).then(|| (p.area / extra as f32, extra))
        });
        let Some(best) = best else { return };
        let PrimRange { prims, first, .. } = parts.swap_remove(best);
        for (i, prim) in prims.chunks_mut(1).enumerate() {
            let set = SetBounds::of(prim);
            parts.push(PrimRange::new(prim, first + i as u32, set));
        }
    }
}

/// Index of the part with the greatest key, among parts that have one.
fn position_of_max(parts: &[PrimRange<'_>], key: impl Fn(&PrimRange<'_>) -> Option<(f32, usize)>) -> Option<usize> {
    let keyed = parts.iter().enumerate().filter_map(|(i, part)| Some((key(part)?, i)));
    let greatest = keyed.reduce(|a, b| if b.0.partial_cmp(&a.0) == Some(Ordering::Greater) { b } else { a });
    greatest.map(|(_, i)| i)
}
