//! Trees of high quality over large sets, built part by part. The working memory of a build, several hundred bytes per box, is then bounded by the
//! size of a part.
//!
//! Binned splits divide the set until no part is too large; they fill the nodes above the parts. Each part becomes a node of its own, below which the
//! tree is as good as that of a small set.

use crate::{
    Buffer, Quality,
    build::{
        BuildOptions, BuildPrim,
        collapse::{LeafRoom, MOST_LEVELS, Root, build_at_once},
        parts::{PrimRange, Task, build_top},
        split::{SetBounds, SplitMethod},
    },
    node::Wide,
};
use rayon::prelude::*;
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

/// Builds a tree over `prims` in parts of at most `most` primitives; `None` if it would be too deep. Deterministic, parallel.
pub fn build_divided<const N: usize>(
    prims: &mut [BuildPrim],
    room: LeafRoom<'_>,
    most: usize,
    nodes: &mut Buffer<Wide<N>>,
) -> Option<Root> {
    let (set, total) = (SetBounds::of(prims), prims.len());
    let options = BuildOptions { leaf_size: room.least(), method: SplitMethod::Binned };
    let (top, tasks) = build_top(PrimRange::new(prims, 0, set), options, most);
    nodes.refill_joined(&top.nodes, &[], |node, _| node);
    let (mut depth, mut done) = (top.depth, 0);
    for batch in batches(tasks, most) {
        done += batch.iter().map(|task| task.part.prims.len()).sum::<usize>();
        let parts: Vec<Option<Part<N>>> = batch.into_par_iter().map(|task| Part::build(task, room)).collect();
        let parts: Vec<Part<N>> = parts.into_iter().collect::<Option<_>>()?;
        let len = parts.iter().fold(nodes.len(), |len, part| len + part.nodes.len());
        if len > nodes.capacity() {
            // The other parts probably have as many nodes per primitive.
            let expected = (len as f64 * total as f64 / done as f64) as usize;
            nodes.grow(expected + expected / SPARE);
        }
        for part in parts {
            depth = depth.max(part.depth);
            part.append_to(nodes);
        }
    }
    (depth <= MOST_LEVELS).then(|| Root { bounds: set.bounds(), reference: 0, depth })
}

/// Groups tasks that together have at most `most` primitives, which one task may have alone. Each group is built in parallel.
fn batches(tasks: Vec<Task<'_>>, most: usize) -> Vec<Vec<Task<'_>>> {
    let (mut batches, mut total) = (Vec::<Vec<Task<'_>>>::new(), 0);
    for task in tasks {
        total += task.part.prims.len();
        match batches.last_mut() {
            Some(batch) if total <= most => batch.push(task),
            _ => {
                total = task.part.prims.len();
                batches.push(vec![task]);
            }
        }
    }
    batches
}

impl<const N: usize> Part<N> {
    /// Builds a part; `None` if it is too deep by itself.
    fn build(task: Task<'_>, room: LeafRoom<'_>) -> Option<Self> {
        let Task { part: PrimRange { prims, first, .. }, node, slot, level } = task;
        let mut nodes = Buffer::new();
        let root = build_at_once(prims, room, Quality::High, &mut nodes)?;
        Some(Self { nodes, root: root.reference, depth: level + root.depth, first, parent: (node, slot) })
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
