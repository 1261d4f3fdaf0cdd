//! Builds wide trees top down: a node's range of primitives is split in two, then the largest part repeatedly, until all slots are used. There is no
//! intermediate binary tree. The result does not depend on the number of threads.
//!
//! BLASes have one of three qualities. Fast: `curve` sorts triangles along a space-filling curve and cuts them into packs, over which the tree is
//! built as described above. Balanced: a binary tree of binned splits down to packs is collapsed to wide nodes with the minimum total surface
//! (`collapse`). This gives half as many nodes, because top-down splits fill nodes poorly near the leaves. High: the binary tree continues down to
//! single triangles, evaluates every split of small sets (`sorted`) and is improved by `reinsert`; nodes and leaves are collapsed together. Boxes of
//! long oblique triangles are first replaced by boxes of their parts (`spatial`).

pub mod binary;
pub mod budget;
pub mod collapse;
pub mod curve;
pub mod group;
pub mod occlusion;
pub mod reinsert;
pub mod sorted;
pub mod spatial;
pub mod split;

use crate::{
    Buffer,
    build::split::{SetBounds, SplitMethod, split_with_bounds},
    node::{NodeArray, Tree, Wide, each_width},
};
use glam::{Vec3, Vec4};
use rayon::prelude::*;
use std::{
    cmp::Ordering,
    sync::{Mutex, PoisonError},
};
use throng_abi::{EMPTY_CHILD, LEAF};
use throng_base::math::Aabb;

/// A primitive of the builder: a box and an ID. After a build, the primitives are in leaf order.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(16))]
pub struct BuildPrim {
    pub min: [f32; 3],
    pub id: u32,
    pub max: [f32; 3],
    /// Number of primitives in the leaf; set by the builder on the first primitive of each leaf.
    pub leaf_count: u32,
}

impl BuildPrim {
    /// Creates a primitive with these bounds. Loaders and the TLAS keep coordinates within ±1e18. Others are clamped, so that splits are computed
    /// from finite numbers and boxes are never inverted.
    pub fn new(bounds: &Aabb, id: u32) -> Self {
        let in_range = |v: Vec3| v.max(Vec3::splat(-1e30)).min(Vec3::splat(1e30));
        let (min, max) = (in_range(bounds.min), in_range(bounds.max));
        Self { min: min.into(), id, max: min.max(max).into(), leaf_count: 0 }
    }

    pub fn bounds(&self) -> Aabb {
        Aabb { min: self.min.into(), max: self.max.into() }
    }

    /// Corners as vectors; the fourth components are meaningless but finite.
    #[inline]
    pub fn vectors(&self) -> (Vec4, Vec4) {
        // Loads whole registers instead of assembling them from scalars.
        let [min, max]: [[f32; 4]; 2] = bytemuck::cast(*self);
        (Vec4::from(min).with_w(0.0), Vec4::from(max).with_w(0.0))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Maximum number of primitives per leaf.
    pub leaf_size: usize,
    pub method: SplitMethod,
}

impl BuildOptions {
    fn on_level(self, level: u32) -> Self {
        let method = match self.method {
            _ if level >= BALANCED_FROM => SplitMethod::Halved,
            SplitMethod::Hasty if level >= HASTY_FROM => SplitMethod::Halved,
            SplitMethod::Hasty => SplitMethod::Binned,
            method => method,
        };
        Self { method, ..self }
    }
}

/// Memory of subtrees, kept from one build to the next. Returning tens of megabytes to the system and allocating them again takes longer than copying
/// them, and does not run in parallel.
#[derive(Default)]
pub struct BuildMemory {
    spare4: Spare<4>,
    spare8: Spare<8>,
    spare16: Spare<16>,
}

#[derive(Default)]
struct Spare<const N: usize>(Mutex<Vec<Vec<Wide<N>>>>);

impl<const N: usize> Spare<N> {
    /// An empty vector with room for `capacity` nodes.
    fn take(&self, capacity: usize) -> Vec<Wide<N>> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut nodes = spare.unwrap_or_default();
        nodes.reserve(capacity);
        nodes
    }

    fn put_back(&self, subtrees: impl Iterator<Item = Subtree<N>>) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(subtrees.map(|mut subtree| {
            subtree.nodes.clear();
            subtree.nodes
        }));
    }
}

/// Ranges of at most this many primitives (or a 256th of all) are built as one task each. There are many more tasks than threads, because their costs
/// differ.
pub const SMALLEST_TASK: usize = 1024;
/// While all parts have at least this many primitives, all of them are split in parallel, instead of the one with the largest surface.
const SPLIT_TOGETHER: usize = 1 << 15;
/// Level (the root's is 1) at which nodes start to divide their primitives evenly. Trees of real scenes never reach it. For others it limits the
/// depth to 30 levels of 8-wide nodes, without the levels that groups add.
const BALANCED_FROM: u32 = 20;
/// Like `BALANCED_FROM`, for [`SplitMethod::Hasty`]: at most some thousand nodes are above this level.
const HASTY_FROM: u32 = 5;

/// Builds a tree over `prims` into `tree`, reusing its memory, and reorders `prims` so that every leaf is a contiguous run. A leaf reference is
/// [`LEAF`] plus the position of the run's first primitive.
///
/// `groups`: the end of each run of primitives that gets its own subtree, as returned by [`group`](crate::build::group::group); empty for no
/// groups.
pub fn build(prims: &mut [BuildPrim], groups: &[u32], options: BuildOptions, memory: &BuildMemory, tree: &mut Tree) {
    let set = SetBounds::of(prims);
    tree.bounds = if prims.is_empty() { Aabb::EMPTY } else { set.bounds() };
    if prims.len() <= options.leaf_size {
        let count = prims.len() as u32;
        let root = prims.first_mut().map_or(EMPTY_CHILD, |first| {
            first.leaf_count = count;
            LEAF
        });
        each_width!(&mut tree.nodes, nodes => nodes.resize(0, Wide::EMPTY));
        (tree.root, tree.depth) = (root, 0);
        return;
    }
    tree.root = 0;
    tree.depth = match &mut tree.nodes {
        NodeArray::Wide4(nodes) => build_wide(prims, set, groups, options, &memory.spare4, nodes),
        NodeArray::Wide8(nodes) => build_wide(prims, set, groups, options, &memory.spare8, nodes),
        NodeArray::Wide16(nodes) => build_wide(prims, set, groups, options, &memory.spare16, nodes),
    };
}

/// A range of primitives to which a slot of an unfinished node refers.
struct Part<'a> {
    prims: &'a mut [BuildPrim],
    /// Position of the first primitive among all.
    first: u32,
    set: SetBounds,
    area: f32,
}

impl<'a> Part<'a> {
    fn new(prims: &'a mut [BuildPrim], first: u32, set: SetBounds) -> Self {
        Self { area: set.bounds().half_area(), prims, first, set }
    }
}

impl Part<'_> {
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
struct Task<'a> {
    part: Part<'a>,
    node: usize,
    slot: usize,
    level: u32,
}

/// A part that will become a node, the slot (node, index) that refers to it, and the node's level.
struct Open<'a> {
    part: Part<'a>,
    parent: Option<(usize, usize)>,
    level: u32,
}

impl<'a> Open<'a> {
    fn root(part: Part<'a>, level: u32) -> Self {
        Self { part, parent: None, level }
    }
}

/// Nodes of one subtree, numbered from 0, and its deepest level (counted from the root of the whole tree).
pub struct Subtree<const N: usize> {
    pub nodes: Vec<Wide<N>>,
    pub depth: u32,
}

fn build_wide<const N: usize>(
    prims: &mut [BuildPrim],
    set: SetBounds,
    groups: &[u32],
    options: BuildOptions,
    spare: &Spare<N>,
    out: &mut Buffer<Wide<N>>,
) -> u32 {
    let (mut top, tasks) = if groups.is_empty() {
        build_top(Part::new(prims, 0, set), options)
    } else {
        build_over_groups(prims, groups, options, spare)
    };
    let subtrees: Vec<_> = tasks
        .into_par_iter()
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

/// Builds the nodes of large parts level by level, all nodes of a level in parallel. Smaller parts are returned as tasks.
fn build_top<const N: usize>(root: Part<'_>, options: BuildOptions) -> (Subtree<N>, Vec<Task<'_>>) {
    let task_size = (root.prims.len() / 256).max(SMALLEST_TASK);
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
            Some(Part::new(prims, first, set))
        })
        .collect();
    let mut boxes: Vec<BuildPrim> =
        parts.iter().flatten().zip(0..).map(|(part, id)| BuildPrim::new(&part.set.bounds(), id)).collect();
    let set = SetBounds::of(&boxes);
    let one_each = BuildOptions { leaf_size: 1, ..options };
    let mut top = build_subtree::<N>(Part::new(&mut boxes, 0, set), 1, one_each, spare);
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
    root: Part<'_>,
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
    fn place<'a>(&mut self, part: Part<'a>, node: usize, slot: usize, leaf_size: usize) -> Option<Part<'a>> {
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
fn fill_slots<const N: usize>(part: Part<'_>, options: BuildOptions) -> Vec<Part<'_>> {
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
fn cut(part: Part<'_>, options: BuildOptions) -> [Part<'_>; 2] {
    let Part { prims, first, set, .. } = part;
    let (count, [left_set, right_set]) = split_with_bounds(prims, &set, options.leaf_size, options.method);
    let (left, right) = prims.split_at_mut(count);
    [Part::new(left, first, left_set), Part::new(right, first + count as u32, right_set)]
}

/// Replaces parts by their single primitives while there are free slots. This saves the visit of a node that would hold only these primitives. Parts
/// that save the most surface per slot come first.
fn open_small_parts<const N: usize>(parts: &mut Vec<Part<'_>>) {
    loop {
        let free = N - parts.len();
        let best = position_of_max(parts, |p| {
            let extra = p.prims.len() - 1;
            (1..=free).contains(&extra).then(|| (p.area / extra as f32, extra))
        });
        let Some(best) = best else { return };
        let Part { prims, first, .. } = parts.swap_remove(best);
        for (i, prim) in prims.chunks_mut(1).enumerate() {
            let set = SetBounds::of(prim);
            parts.push(Part::new(prim, first + i as u32, set));
        }
    }
}

/// Index of the part with the greatest key, among parts that have one.
fn position_of_max(parts: &[Part<'_>], key: impl Fn(&Part<'_>) -> Option<(f32, usize)>) -> Option<usize> {
    let keyed = parts.iter().enumerate().filter_map(|(i, part)| Some((key(part)?, i)));
    let greatest = keyed.reduce(|a, b| if b.0.partial_cmp(&a.0) == Some(Ordering::Greater) { b } else { a });
    greatest.map(|(_, i)| i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeLayout;
    use crate::build::group::group;
    use proptest::prelude::*;
    use throng_base::math::hash_unit;

    fn boxes(count: u32, seed: u32, spread: f32, size: f32) -> Vec<BuildPrim> {
        let random = |i| hash_unit(seed, i) * 2.0 - 1.0;
        let one = |i: u32| {
            let center = Vec3::new(random(6 * i), random(6 * i + 1), random(6 * i + 2)) * spread;
            let half = Vec3::new(random(6 * i + 3), random(6 * i + 4), random(6 * i + 5)).abs() * size;
            BuildPrim::new(&Aabb { min: center - half, max: center + half }, i)
        };
        (0..count).map(one).collect()
    }

    fn tree(mut prims: Vec<BuildPrim>, leaf_size: usize, method: SplitMethod) -> (Tree, Vec<BuildPrim>) {
        let mut tree = Tree::new(NodeLayout::Wide8);
        let options = BuildOptions { leaf_size, method };
        build(&mut prims, &[], options, &BuildMemory::default(), &mut tree);
        (tree, prims)
    }

    /// Runs of primitives to which leaves refer, checked against their slots' boxes.
    fn leaf_runs(tree: &Tree, prims: &[BuildPrim]) -> Vec<(usize, usize)> {
        let NodeArray::Wide8(nodes) = &tree.nodes else {
            return Vec::new();
        };
        let leaves = nodes.iter().flat_map(|n| n.occupied()).filter(|(_, child)| child & LEAF != 0);
        leaves
            .map(|(bounds, child)| {
                let first = (child & !LEAF) as usize;
                let count = prims[first].leaf_count as usize;
                for p in &prims[first..first + count] {
                    assert!(bounds.contains(&Aabb { min: p.min.into(), max: p.max.into() }));
                }
                (first, count)
            })
            .collect()
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn every_primitive_is_in_exactly_one_leaf_inside_its_box(
            count in 9u32..3000,
            seed in any::<u32>(),
            spread in prop::sample::select(vec![0.0f32, 1e-30, 1e-3, 1.0, 1e15]),
            size in prop::sample::select(vec![0.0f32, 1e-20, 0.1, 1e12]),
            leaf_size in prop::sample::select(vec![1usize, 8]),
            method in prop::sample::select(vec![SplitMethod::Binned, SplitMethod::Hasty]),
        ) {
            let (tree, prims) = tree(boxes(count, seed, spread, size), leaf_size, method);
            let mut runs = leaf_runs(&tree, &prims);
            runs.sort_unstable();
            let mut next = 0;
            for (first, run) in runs {
                prop_assert_eq!(first, next);
                prop_assert!(run >= 1 && run <= leaf_size);
                next += run;
            }
            prop_assert_eq!(next, count as usize);
            let mut ids: Vec<u32> = prims.iter().map(|p| p.id).collect();
            ids.sort_unstable();
            prop_assert!(ids.into_iter().eq(0..count));
        }
    }

    #[test]
    fn the_tree_does_not_depend_on_the_number_of_threads() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (tree, prims) = pool.install(|| tree(boxes(200_000, 1, 100.0, 0.1), 1, SplitMethod::Binned));
            let NodeArray::Wide8(nodes) = &tree.nodes else { panic!("built 8 wide") };
            let ids: Vec<u32> = prims.iter().map(|p| p.id).collect();
            (nodes.iter().map(|n| (n.planes, n.children)).collect::<Vec<_>>(), ids)
        };
        assert!(with(1) == with(3));
    }

    #[test]
    fn a_tree_over_groups_holds_every_primitive_and_is_as_good_as_one_without() {
        let count = 70_000;
        let mut prims = boxes(count, 3, 100.0, 0.1);
        let ground = Aabb { min: Vec3::new(-1000.0, -101.0, -1000.0), max: Vec3::new(1000.0, -100.0, 1000.0) };
        prims[5] = BuildPrim::new(&ground, 5);
        let (without, _) = tree(prims.clone(), 1, SplitMethod::Binned);
        let groups = group(&mut prims, 8);
        assert_eq!(groups.last(), Some(&count));
        let sizes: Vec<u32> = groups.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(sizes.iter().all(|&size| (1..=512).contains(&size)));
        assert_eq!(sizes.last(), Some(&1), "the ground is a group of its own");

        let mut with = Tree::new(NodeLayout::Wide8);
        let options = BuildOptions { leaf_size: 1, method: SplitMethod::Binned };
        build(&mut prims, &groups, options, &BuildMemory::default(), &mut with);
        let mut runs = leaf_runs(&with, &prims);
        runs.sort_unstable();
        assert!(runs.into_iter().eq((0..count as usize).map(|i| (i, 1))));
        assert!(with.sah_cost(1.0) < 1.02 * without.sah_cost(1.0));
    }

    #[test]
    fn few_primitives_are_not_grouped() {
        assert!(group(&mut boxes(1000, 3, 1.0, 0.1), 8).is_empty());
        assert!(group(&mut [], 8).is_empty());
    }

    #[test]
    fn a_million_coincident_boxes_make_a_shallow_tree() {
        let (tree, _) = tree(boxes(1_000_000, 0, 0.0, 0.0), 1, SplitMethod::Binned);
        assert!(tree.depth <= 10, "{} levels", tree.depth);
    }
}
