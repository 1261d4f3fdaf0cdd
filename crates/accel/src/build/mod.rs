//! Builds wide trees top down: a node's range of primitives is split in two, then the largest part repeatedly, until all slots are used. There is no
//! intermediate binary tree. The result does not depend on the number of threads.
//!
//! BLASes have one of three qualities. Fast: `curve` sorts triangles along a space-filling curve and cuts them into packs, over which the tree is
//! built as described above. Balanced: a binary tree of binned splits down to packs is collapsed to wide nodes with the minimum total surface
//! (`collapse`). This gives half as many nodes, because top-down splits fill nodes poorly near the leaves. High: the binary tree continues down to
//! single triangles, evaluates every split of small sets (`sorted`) and is improved by `reinsert`; nodes and leaves are collapsed together. Boxes of
//! long oblique triangles are first replaced by boxes of their parts (`spatial`). A large set is built part by part (`divided`), because a binary
//! tree takes several times the memory of the finished tree.

pub mod binary;
pub mod budget;
pub mod collapse;
pub mod curve;
pub mod divided;
pub mod group;
pub mod leaf_order;
pub mod occlusion;
mod parts;
pub mod reinsert;
pub mod sorted;
pub mod spatial;
pub mod split;

use parts::build_wide;
pub use parts::{Subtree, join_subtrees};

use crate::{
    build::split::{SetBounds, SplitMethod},
    node::{NodeArray, Tree, Wide, each_width},
};
use glam::{Vec3, Vec4};
use std::sync::Mutex;
use throng_abi::{EMPTY_CHILD, LEAF};
use throng_base::{math::Aabb, sync::lock};

/// Level (the root's is 1) at which nodes start to divide their primitives evenly. Trees of real scenes never reach it. For others it limits the
/// depth to 30 levels of 8-wide nodes, without the levels that groups add.
const BALANCED_FROM: u32 = 20;

/// Like `BALANCED_FROM`, for [`SplitMethod::Hasty`]: at most some thousand nodes are above this level.
const HASTY_FROM: u32 = 5;

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
        let spare = lock(&self.0).pop();
        let mut nodes = spare.unwrap_or_default();
        nodes.reserve(capacity);
        nodes
    }

    fn put_back(&self, subtrees: impl Iterator<Item = Subtree<N>>) {
        let mut spare = lock(&self.0);
        spare.extend(subtrees.map(|mut subtree| {
            subtree.nodes.clear();
            subtree.nodes
        }));
    }
}

/// Ranges of at most this many primitives (or a 256th of all) are built as one task each. There are many more tasks than threads, because their costs
/// differ.
pub const SMALLEST_TASK: usize = 1024;

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
