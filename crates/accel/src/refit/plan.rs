//! Plans that divide the refit of a tree among threads.
//!
//! Builders put parents before children and mostly keep subtrees contiguous. Runs of whole subtrees are therefore refitted in parallel, each in one
//! linear backward pass. The nodes above them follow. The runs and the sums over them depend on the tree only.

use crate::surface::SimdBox;
use rayon::prelude::*;
use std::ops::Range;

/// A node of a tree that is refitted, compressed or not.
pub trait Item {
    /// Maximum number of items per run: about as many as fit into a core's cache with their triangles.
    const LARGEST_RUN: u32;
    /// Whether an item's subtree begins with the item itself. Otherwise it begins with the item's children.
    const LEADS_SUBTREE: bool;

    /// Child items, all of which come later.
    fn children(&self) -> impl Iterator<Item = u32>;
}

/// An item with leaves of type `L`.
pub trait Bearer<L>: Item {
    /// The range of `leaves` from the item's first leaf to its last; `None` if it has no leaves.
    fn span(&self, leaves: &[L]) -> Option<Range<u32>>;
}

/// The primitives of a mesh in one shape.
pub trait Primitives: Sync {
    /// Prefetches the indices of a primitive's vertices.
    fn prefetch_indices(&self, prim: u32);

    /// Prefetches the vertices of a primitive.
    fn prefetch_vertices(&self, prim: u32);

    /// Prefetches a vertex.
    fn prefetch_vertex(&self, vertex: u32);
}

/// A leaf of primitives of type `P`: a pack, a single one, or a vertex of some.
pub trait Leaf<P>: Send + Sync {
    /// Number of leaves ahead for which vertices are prefetched. Their indices are prefetched twice as far ahead.
    const AHEAD: usize;

    /// Number of vertices that a plan keeps for each leaf, so that refits need not read the primitives; 0 for none.
    const KEPT: usize = 0;

    /// Numbers of the leaf's primitives, for prefetching; none if the plan keeps vertices.
    fn prefetched(&self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }

    /// Writes what the leaf stores of its primitives, and returns the box around them. `vertices`: those that the plan keeps.
    fn fill_kept(&mut self, prims: &P, vertices: &[u32]) -> SimdBox;
}

/// A leaf that holds the numbers of its primitives.
pub trait NamedLeaf<P>: Leaf<P> {
    /// As [`Leaf::fill_kept`], without kept vertices.
    fn fill(&mut self, prims: &P) -> SimdBox;

    /// Writes the vertices of the leaf, [`Leaf::KEPT`] indices.
    fn keep(&self, _: &P, _: &mut [u32]) {}
}

/// The vertices that a plan keeps of these leaves.
pub fn kept_vertices<L: NamedLeaf<P>, P: Sync>(leaves: &[L], prims: &P) -> Vec<u32> {
    let mut vertices = vec![0; L::KEPT * leaves.len()];
    if L::KEPT > 0 {
        let pairs = vertices.par_chunks_exact_mut(L::KEPT).zip(leaves).with_min_len(1024);
        pairs.for_each(|(to, leaf)| leaf.keep(prims, to));
    }
    vertices
}

/// The division of a tree into runs, computed once and used for each of its refits.
#[derive(Clone)]
pub struct RefitPlan {
    runs: Vec<Run>,
    /// Items in no run, in ascending order.
    top: Vec<u32>,
    /// The box of each item after the last refit.
    boxes: Vec<SimdBox>,
    /// [`Leaf::KEPT`] vertices of each leaf.
    vertices: Vec<u32>,
}

/// Items and leaves of a run. Outside the run, only `top` refers to them.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    items: Range<u32>,
    leaves: Range<u32>,
}

/// The part of a tree that is being refitted.
pub struct TreePart<'a, I, L, P> {
    pub items: &'a mut [I],
    prims: &'a P,
    leaves: &'a mut [L],
    /// [`Leaf::KEPT`] vertices of each leaf.
    vertices: &'a [u32],
    boxes: &'a mut [SimdBox],
    /// Boxes of leaves that are already filled.
    leaf_boxes: &'a [SimdBox],
    first_item: u32,
    first_leaf: u32,
}

impl<I, L: Leaf<P>, P> TreePart<'_, I, L, P> {
    /// The box of a leaf.
    #[inline]
    pub fn leaf(&mut self, leaf: u32) -> SimdBox {
        let position = (leaf - self.first_leaf) as usize;
        match self.leaf_boxes.get(position) {
            Some(bounds) => *bounds,
            None => self.leaves[position].fill_kept(self.prims, &self.vertices[position * L::KEPT..][..L::KEPT]),
        }
    }

    /// The leaves, and the index of the first of them.
    pub fn leaves(&self) -> (&[L], u32) {
        (self.leaves, self.first_leaf)
    }

    /// The box of a child item.
    #[inline]
    pub fn below(&self, child: u32) -> SimdBox {
        self.boxes[(child - self.first_item) as usize]
    }

    /// Refits items in the given order, and returns the sum of their children's half surface areas.
    fn pass(&mut self, order: impl Iterator<Item = usize>, refit: &impl Fn(&mut Self, usize) -> (SimdBox, f32)) -> f64 {
        let item = |index: usize| {
            let (bounds, half_areas) = refit(self, index);
            self.boxes[index] = bounds;
            f64::from(half_areas)
        };
        order.map(item).sum()
    }
}

/// Fills leaves in memory order. The primitives, which are in a different order, are prefetched.
fn fill_leaves<L: Leaf<P>, P: Primitives>(leaves: &mut [L], vertices: &[u32], prims: &P, boxes: &mut Vec<SimdBox>) {
    boxes.clear();
    if L::KEPT > 0 {
        for (position, (leaf, own)) in leaves.iter_mut().zip(vertices.chunks_exact(L::KEPT)).enumerate() {
            let near = (position + L::AHEAD) * L::KEPT;
            vertices.get(near..near + L::KEPT).into_iter().flatten().for_each(|&vertex| prims.prefetch_vertex(vertex));
            boxes.push(leaf.fill_kept(prims, own));
        }
        return;
    }
    for position in 0..leaves.len() {
        if let Some(far) = leaves.get(position + 2 * L::AHEAD) {
            far.prefetched().for_each(|prim| prims.prefetch_indices(prim));
        }
        if let Some(near) = leaves.get(position + L::AHEAD) {
            near.prefetched().for_each(|prim| prims.prefetch_vertices(prim));
        }
        boxes.push(leaves[position].fill_kept(prims, &[]));
    }
}

/// The results of a refit.
#[derive(Clone, Copy, Debug)]
pub struct Refitted {
    pub bounds: SimdBox,
    /// Sum of half the surface areas of all children's boxes.
    pub half_areas: f64,
}

impl Refitted {
    /// The result for a tree without nodes and leaves.
    pub const NOTHING: Self = Self { bounds: SimdBox::EMPTY, half_areas: 0.0 };

    /// Expected number of nodes and leaves that a ray through the bounds visits: [`Tree::sah_cost`](crate::Tree::sah_cost) with a leaf cost of
    /// 1.
    pub fn sah_cost(&self) -> f32 {
        let area = self.bounds.to_aabb().half_area();
        if area > 0.0 { 1.0 + (self.half_areas / f64::from(area)) as f32 } else { 1.0 }
    }
}

impl RefitPlan {
    /// Computes the plan of a tree with root 0. `vertices`: [`Leaf::KEPT`] vertices of each leaf. O(items).
    pub fn new<I: Bearer<L>, L>(items: &[I], leaves: &[L], vertices: Vec<u32>) -> Self {
        let (runs, mut top) = cut_into_runs(items, leaves);
        let mut runs = join_neighbours(runs, I::LARGEST_RUN);
        let apart =
            |pair: &[Run]| pair[0].items.end <= pair[1].items.start && pair[0].leaves.end <= pair[1].leaves.start;
        if !runs.windows(2).all(apart) {
            // No builder produces this order. The tree is refitted correctly, but in one thread.
            (runs, top) = (Vec::new(), (0..items.len() as u32).collect());
        }
        top.sort_unstable();
        Self { runs, top, boxes: vec![SimdBox::EMPTY; items.len()], vertices }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.runs[..])
            + size_of_val(&self.top[..])
            + size_of_val(&self.boxes[..])
            + size_of_val(&self.vertices[..])
    }

    /// Fills all leaves and calls `refit` for each item, children first. `refit` receives the position of the item in its part, updates the item, and
    /// returns its box and the sum of its children's half surface areas.
    pub fn pass<I: Send, L: Leaf<P>, P: Primitives>(
        &mut self,
        items: &mut [I],
        leaves: &mut [L],
        prims: &P,
        refit: impl Fn(&mut TreePart<'_, I, L, P>, usize) -> (SimdBox, f32) + Sync,
    ) -> Refitted {
        let parts = self.parts(items, leaves, prims, L::KEPT).into_par_iter();
        let sums: Vec<f64> = parts
            .map_init(Vec::new, |leaf_boxes, part| {
                fill_leaves(part.leaves, part.vertices, prims, leaf_boxes);
                let order = (0..part.items.len()).rev();
                TreePart { leaf_boxes, ..part }.pass(order, &refit)
            })
            .collect();
        let vertices = &self.vertices;
        let mut all = TreePart {
            items,
            prims,
            leaves,
            vertices,
            boxes: &mut self.boxes,
            leaf_boxes: &[],
            first_item: 0,
            first_leaf: 0,
        };
        let top = self.top.iter().rev().map(|&item| item as usize);
        let top = all.pass(top, &refit);
        Refitted {
            bounds: self.boxes.first().copied().unwrap_or(SimdBox::EMPTY),
            half_areas: sums.iter().sum::<f64>() + top,
        }
    }

    /// Creates one part per run. `kept`: number of vertices per leaf.
    fn parts<'a, I, L, P>(
        &'a mut self,
        mut items: &'a mut [I],
        mut leaves: &'a mut [L],
        prims: &'a P,
        kept: usize,
    ) -> Vec<TreePart<'a, I, L, P>> {
        let vertices = &self.vertices[..];
        let mut boxes = &mut self.boxes[..];
        let (mut item, mut leaf) = (0, 0);
        let part = |run: &Run| {
            let part = TreePart {
                items: take(&mut items, item, &run.items),
                prims,
                leaves: take(&mut leaves, leaf, &run.leaves),
                vertices: &vertices[run.leaves.start as usize * kept..run.leaves.end as usize * kept],
                boxes: take(&mut boxes, item, &run.items),
                leaf_boxes: &[],
                first_item: run.items.start,
                first_leaf: run.leaves.start,
            };
            (item, leaf) = (run.items.end, run.leaves.end);
            part
        };
        self.runs.iter().map(part).collect()
    }
}

/// Removes `range` and everything before it from the front of `rest`, whose first element has index `first`. Returns `range`.
fn take<'a, T>(rest: &mut &'a mut [T], first: u32, range: &Range<u32>) -> &'a mut [T] {
    let (_, tail) = std::mem::take(rest).split_at_mut((range.start - first) as usize);
    let (taken, tail) = tail.split_at_mut(range.len());
    *rest = tail;
    taken
}

/// The extent of a subtree in memory: the index ranges that enclose its items and leaves, and the number of its items.
#[derive(Clone, Copy)]
struct Extent {
    items: (u32, u32),
    leaves: (u32, u32),
    count: u32,
}

impl Extent {
    const EMPTY: Self = Self { items: (u32::MAX, 0), leaves: (u32::MAX, 0), count: 0 };

    fn with_item(mut self, item: u32) -> Self {
        self.items = hull(self.items, (item, item + 1));
        self.count += 1;
        self
    }

    fn with_leaves(mut self, leaves: Range<u32>) -> Self {
        self.leaves = hull(self.leaves, (leaves.start, leaves.end));
        self
    }

    fn union(self, other: Self) -> Self {
        Self {
            items: hull(self.items, other.items),
            leaves: hull(self.leaves, other.leaves),
            count: self.count + other.count,
        }
    }

    /// The subtree as a run; `None` if other items lie between its items, or if it has more than `largest`.
    fn run(&self, largest: u32) -> Option<Run> {
        let Self { items, leaves, .. } = *self;
        let closed = (1..=largest).contains(&self.count) && items.1 - items.0 == self.count;
        (closed && leaves.0 < leaves.1).then_some(Run { items: items.0..items.1, leaves: leaves.0..leaves.1 })
    }
}

fn hull(a: (u32, u32), b: (u32, u32)) -> (u32, u32) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Returns maximal runs of whole subtrees, in order, and the items outside of them, unordered.
fn cut_into_runs<I: Bearer<L>, L>(items: &[I], leaves: &[L]) -> (Vec<Run>, Vec<u32>) {
    let extents = extents(items, leaves);
    let (mut runs, mut top) = (Vec::new(), Vec::new());
    let mut open: Vec<u32> = (0..items.len().min(1) as u32).collect();
    while let Some(index) = open.pop() {
        let run = extents[index as usize].run(I::LARGEST_RUN);
        if run.is_none() {
            open.extend(items[index as usize].children());
        }
        if run.is_none() || !I::LEADS_SUBTREE {
            top.push(index);
        }
        runs.extend(run);
    }
    runs.sort_unstable_by_key(|run| run.items.start);
    (runs, top)
}

/// Returns the extent of each item's subtree.
fn extents<I: Bearer<L>, L>(items: &[I], leaves: &[L]) -> Vec<Extent> {
    let own = |index: u32| {
        let span = items[index as usize].span(leaves);
        span.into_iter().fold(Extent::EMPTY.with_item(index), Extent::with_leaves)
    };
    let mut extents = vec![Extent::EMPTY; items.len()];
    for (index, item) in items.iter().enumerate().rev() {
        let mut extent = if I::LEADS_SUBTREE {
            own(index as u32)
        } else {
            item.children().map(own).fold(Extent::EMPTY, Extent::union)
        };
        for child in item.children() {
            extent = extent.union(extents[child as usize]);
        }
        extents[index] = extent;
    }
    extents
}

/// Joins consecutive runs while they have at most `largest` items.
fn join_neighbours(runs: Vec<Run>, largest: u32) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs {
        match joined.last_mut() {
            Some(last)
                if last.items.end == run.items.start
                    && last.leaves.end <= run.leaves.start
                    && run.items.end - last.items.start <= largest =>
            {
                last.items.end = run.items.end;
                last.leaves.end = run.leaves.end;
            }
            _ => joined.push(run),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Wide;
    use throng_abi::{EMPTY_CHILD, LEAF, TrianglePack};

    /// Spans of wide nodes do not depend on the leaves.
    const NO_LEAVES: [TrianglePack; 0] = [];

    /// A node with these items and leaves.
    fn node(children: &[u32]) -> Wide<8> {
        let mut node = Wide::EMPTY;
        node.children[..children.len()].copy_from_slice(children);
        assert_eq!(node.children[7], EMPTY_CHILD);
        node
    }

    /// A binary tree of `levels` levels, depth first, with two leaves below each of the lowest nodes.
    fn depth_first(levels: u32, leaves: &mut u32, nodes: &mut Vec<Wide<8>>) -> u32 {
        let index = nodes.len() as u32;
        nodes.push(node(&[]));
        let mut below = || match levels {
            1 => {
                *leaves += 1;
                LEAF | (*leaves - 1)
            }
            _ => depth_first(levels - 1, leaves, nodes),
        };
        let children = [below(), below()];
        nodes[index as usize].children[..2].copy_from_slice(&children);
        index
    }

    /// Checks that each item is in one run or in the top, and that references in a run stay in the run.
    fn assert_runs_are_closed(nodes: &[Wide<8>], plan: &RefitPlan) {
        let inside = plan.runs.iter().flat_map(|run| run.items.clone());
        let mut all: Vec<u32> = inside.chain(plan.top.iter().copied()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..nodes.len() as u32));
        for run in &plan.runs {
            assert!(run.items.len() as u32 <= <Wide<8> as Item>::LARGEST_RUN);
            for item in run.items.clone() {
                let node = &nodes[item as usize];
                assert!(node.children().all(|child| run.items.contains(&child)));
                let span = node.span(&NO_LEAVES);
                assert!(span.is_none_or(|span| run.leaves.start <= span.start && span.end <= run.leaves.end));
            }
        }
    }

    #[test]
    fn runs_are_whole_subtrees_and_little_is_above_them() {
        let (mut nodes, mut leaves) = (Vec::new(), 0);
        depth_first(10, &mut leaves, &mut nodes);
        let plan = RefitPlan::new(&nodes, &NO_LEAVES, Vec::new());
        assert_runs_are_closed(&nodes, &plan);
        assert!(plan.runs.len() > 4 && plan.top.len() < 32);
    }

    #[test]
    fn an_order_that_keeps_no_subtree_together_leaves_all_but_the_lowest_nodes_to_one_thread() {
        let count = 1023;
        let child = |index: u32| match 2 * index {
            below if below + 2 < count => [below + 1, below + 2],
            below => [LEAF | below, LEAF | (below + 1)],
        };
        let nodes: Vec<_> = (0..count).map(|i| node(&child(i))).collect();
        let plan = RefitPlan::new(&nodes, &NO_LEAVES, Vec::new());
        assert_runs_are_closed(&nodes, &plan);
        assert_eq!(plan.top.len(), 511);
    }

    #[test]
    fn runs_whose_leaves_interlock_are_given_up() {
        let child = |leaf: u32| node(&[LEAF | leaf, LEAF | (leaf + 2)]);
        // More items than one run may have, so that the two halves become separate runs.
        let half = <Wide<8> as Item>::LARGEST_RUN;
        let mut nodes = vec![node(&[1, 1 + half])];
        for first in [0, 1] {
            let begin = nodes.len() as u32;
            nodes.extend((1..half).map(|i| node(&[begin + i])));
            nodes.push(child(first));
        }
        let plan = RefitPlan::new(&nodes, &NO_LEAVES, Vec::new());
        assert!(plan.runs.is_empty() && plan.top.len() == nodes.len());
    }
}
