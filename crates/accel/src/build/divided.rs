//! Trees of high quality over large sets, built part by part. The working memory of a build, several hundred bytes per box, is then bounded by the
//! size of a part.
//!
//! Binned splits divide the set until no part is too large; they fill the nodes above the parts. Each part becomes a node of its own, below which the
//! tree is as good as that of a small set. Parts are built from the last one to the first, so that the boxes of finished parts can be freed.

use crate::{
    Buffer, Quality,
    build::{
        BuildOptions, BuildPrim,
        collapse::{LeafRoom, MOST_LEVELS, Root, build_at_once},
        leaf_order::LeafOrder,
        parts::{PrimRange, Task, build_top},
        split::{SetBounds, SplitMethod},
    },
    node::Wide,
};
use rayon::prelude::*;
use std::ops::Range;
use throng_abi::{EMPTY_CHILD, LEAF};

/// Room is made for this fraction of the expected number of nodes in addition.
const SPARE: usize = 32;

/// The finished tree of a part, numbered from 0.
struct Part<const N: usize> {
    nodes: Buffer<Wide<N>>,
    root: u32,
    /// Deepest level, counted from the root of the whole tree.
    depth: u32,
    /// Position of the first primitive among all.
    first: u32,
    /// The node and slot in the top that refer to the part.
    parent: (usize, usize),
}

/// Primitives whose parts are finished from the last one to the first.
pub trait Source {
    /// The primitives that are not finished.
    fn open(&mut self) -> &mut [BuildPrim];

    /// Finishes the primitives from this position on, which are in the order of leaves.
    fn finish(&mut self, first: usize);
}

/// Keeps finished primitives.
pub struct InPlace<'a> {
    prims: &'a mut [BuildPrim],
    open: usize,
}

impl<'a> InPlace<'a> {
    pub fn new(prims: &'a mut [BuildPrim]) -> Self {
        Self { open: prims.len(), prims }
    }
}

impl Source for InPlace<'_> {
    fn open(&mut self) -> &mut [BuildPrim] {
        &mut self.prims[..self.open]
    }

    fn finish(&mut self, first: usize) {
        self.open = first;
    }
}

/// Keeps the order of finished primitives, and frees their memory.
pub struct Shrinking {
    prims: Vec<BuildPrim>,
    pub order: LeafOrder,
    join: bool,
}

impl Shrinking {
    /// `join`: as in [`LeafOrder::new`].
    pub fn new(prims: Vec<BuildPrim>, join: bool) -> Self {
        Self { order: LeafOrder::for_count(prims.len()), prims, join }
    }
}

impl Source for Shrinking {
    fn open(&mut self) -> &mut [BuildPrim] {
        &mut self.prims
    }

    fn finish(&mut self, first: usize) {
        self.order.put(first, &self.prims[first..], self.join);
        self.prims.truncate(first);
        self.prims.shrink_to_fit();
    }
}

/// A part that is not built yet: its primitives, the node and slot in the top that refer to it, and the level of that node.
struct Plan {
    range: Range<usize>,
    parent: (usize, usize),
    level: u32,
}

impl Plan {
    fn of(task: Task<'_>) -> Self {
        let first = task.part.first as usize;
        Self { range: first..first + task.part.prims.len(), parent: (task.node, task.slot), level: task.level }
    }
}

/// Builds a tree over the primitives of `source` in parts of at most `most`; `None` if it would be too deep. Deterministic, parallel.
pub fn build_divided<const N: usize>(
    source: &mut impl Source,
    room: LeafRoom<'_>,
    most: usize,
    nodes: &mut Buffer<Wide<N>>,
) -> Option<Root> {
    let (set, total) = (SetBounds::of(source.open()), source.open().len());
    let options = BuildOptions { leaf_size: room.least(), method: SplitMethod::Binned };
    let (top, tasks) = build_top(PrimRange::new(source.open(), 0, set), options, most);
    let mut plans: Vec<Plan> = tasks.into_iter().map(Plan::of).collect();
    plans.sort_unstable_by_key(|plan| plan.range.start);
    nodes.refill_joined(&top.nodes, &[], |node, _| node);
    let mut depth = top.depth;
    while let Some(batch) = last_batch(&mut plans, most) {
        let first = batch[0].range.start;
        let (mut rest, mut jobs) = (&mut source.open()[first..], Vec::new());
        let mut begin = first;
        for plan in batch {
            let (_, tail) = rest.split_at_mut(plan.range.start - begin);
            let (own, tail) = tail.split_at_mut(plan.range.len());
            (rest, begin) = (tail, plan.range.end);
            jobs.push((plan, own));
        }
        let parts: Vec<Option<Part<N>>> =
            jobs.into_par_iter().map(|(plan, prims)| Part::build(plan, prims, room)).collect();
        let parts: Vec<Part<N>> = parts.into_iter().collect::<Option<_>>()?;
        source.finish(first);
        let len = parts.iter().fold(nodes.len(), |len, part| len + part.nodes.len());
        if len > nodes.capacity() {
            // The other parts probably have as many nodes per primitive.
            let expected = (len as f64 * total as f64 / (total - first) as f64) as usize;
            nodes.grow(expected + expected / SPARE);
        }
        for part in parts {
            depth = depth.max(part.depth);
            part.append_to(nodes);
        }
    }
    source.finish(0);
    (depth <= MOST_LEVELS).then(|| Root { bounds: set.bounds(), reference: 0, depth })
}

/// Takes the last plans that together have at most `most` primitives, which one alone may have. They are built in parallel.
fn last_batch(plans: &mut Vec<Plan>, most: usize) -> Option<Vec<Plan>> {
    let mut count = plans.last()?.range.len();
    let before = plans[..plans.len() - 1].iter().rev();
    let joined = before.take_while(|plan| {
        count += plan.range.len();
        count <= most
    });
    let first = plans.len() - 1 - joined.count();
    Some(plans.split_off(first))
}

impl<const N: usize> Part<N> {
    /// Builds a part; `None` if it is too deep by itself.
    fn build(plan: Plan, prims: &mut [BuildPrim], room: LeafRoom<'_>) -> Option<Self> {
        let Plan { range, parent, level } = plan;
        let mut nodes = Buffer::new();
        let root = build_at_once(prims, room, Quality::High, &mut nodes)?;
        Some(Self { nodes, root: root.reference, depth: level + root.depth, first: range.start as u32, parent })
    }

    /// Appends the part to the nodes of the whole tree, and frees it.
    fn append_to(self, all: &mut Buffer<Wide<N>>) {
        let begin = all.len();
        assert!(begin + self.nodes.len() < LEAF as usize, "node references have 31 bits");
        let placed = |child: u32| match child {
            EMPTY_CHILD => child,
            _ if child & LEAF != 0 => child + self.first,
            _ => child + begin as u32,
        };
        let (node, slot) = self.parent;
        all[node].children[slot] = placed(self.root);
        all.extend_from(begin, &self.nodes, |node| Wide { children: node.children.map(placed), ..*node });
    }
}
