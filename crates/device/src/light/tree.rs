//! A binary tree over lights, rebuilt for every frame. Splits minimise power times squared size of the nodes.

use glam::Vec3;
use rayon::prelude::*;
use throng_abi::{LEAF, LightNode};
use throng_base::math::{Aabb, affine_from_rows};

/// Number of leaves above which the children of a node are built in parallel.
const PARALLEL: usize = 2048;
const BINS: usize = 16;
/// Number of lights above which consecutive lights are first grouped into runs, and the length of a run.
const FEW: usize = 4096;
const RUN: usize = 16;
/// Maximum number of levels of a tree: trails have this number of bits.
const MOST_LEVELS: u32 = 32;

/// Bounds of lights, and their estimated mean intensity as luminance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightBounds {
    pub min: Vec3,
    pub max: Vec3,
    pub power: f32,
}

impl LightBounds {
    const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY, power: 0.0 };

    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), power: self.power + other.power }
    }

    fn center(&self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }

    /// Cost of a node with these bounds: power times squared diagonal; 0 without lights.
    fn cost(&self) -> f32 {
        if self.power > 0.0 { self.power * (self.max - self.min).length_squared() } else { 0.0 }
    }

    /// The node with these bounds. Its box is slightly enlarged, so that rounding never excludes a light.
    pub fn node(&self, child: u32) -> LightNode {
        let center = self.center();
        let extent = (self.max - self.min) * 0.5;
        let room = (center.abs() + extent) * 1e-6;
        LightNode { center: center.into(), power: self.power, extent: (extent + room).into(), child }
    }
}

/// A light with the indices of its record, see [`throng_abi::EmitterRecord`].
#[derive(Clone, Copy, Debug)]
pub struct LightLeaf {
    pub bounds: LightBounds,
    pub record: u32,
    pub table: u32,
}

/// A tree over lights. The tree of an assembly is in the assembly's space.
pub struct LightTree {
    /// Leaves in the order of the tree.
    pub leaves: Vec<LightLeaf>,
    /// The path from the root to each leaf: see [`throng_abi::EmitterRecord::trail`].
    pub trails: Vec<u32>,
    pub nodes: Vec<LightNode>,
    pub root: LightNode,
}

impl LightTree {
    /// Bounds of the whole tree for the transform `m`, a row-major 3×4 matrix; none if the volume is zero. Power is proportional to area,
    /// so it scales with the square of the mean scale.
    pub fn placed(&self, m: &[f32; 12]) -> Option<LightBounds> {
        let affine = affine_from_rows(m);
        let (center, extent) = (Vec3::from(self.root.center), Vec3::from(self.root.extent));
        let bounds = Aabb { min: center - extent, max: center + extent }.transformed(&affine);
        let power = self.root.power * affine.matrix3.determinant().abs().powf(2.0 / 3.0);
        (power > 0.0 && power.is_finite()).then_some(LightBounds { min: bounds.min, max: bounds.max, power })
    }
}

/// Lights that are consecutive in the input.
#[derive(Clone, Copy)]
struct Run {
    bounds: LightBounds,
    first: u32,
    count: u32,
}

/// The slices and indices into which a part of the tree is written.
struct TreeSlices<'a> {
    leaves: &'a mut [LightLeaf],
    trails: &'a mut [u32],
    /// Nodes of its pairs, two per pair. The number of pairs is one less than the number of leaves.
    nodes: &'a mut [LightNode],
    first_leaf: u32,
    first_pair: u32,
    trail: u32,
    depth: u32,
}

impl<'a> TreeSlices<'a> {
    /// Divides the place among a node's two children; the first child gets `middle` leaves. Also returns the pair of nodes for the
    /// children.
    fn split(self, middle: usize) -> (&'a mut [LightNode], [Self; 2]) {
        let (pair, below) = self.nodes.split_at_mut(2);
        let nodes = below.split_at_mut(2 * (middle - 1));
        let leaves = self.leaves.split_at_mut(middle);
        let trails = self.trails.split_at_mut(middle);
        let first = Self {
            leaves: leaves.0,
            trails: trails.0,
            nodes: nodes.0,
            first_leaf: self.first_leaf,
            first_pair: self.first_pair + 1,
            trail: self.trail,
            depth: self.depth + 1,
        };
        let second = Self {
            leaves: leaves.1,
            trails: trails.1,
            nodes: nodes.1,
            first_leaf: self.first_leaf + middle as u32,
            first_pair: self.first_pair + middle as u32,
            trail: self.trail | 1 << self.depth,
            depth: self.depth + 1,
        };
        (pair, [first, second])
    }

    /// Whether the remaining levels only suffice for even splits.
    fn is_deep(&self) -> bool {
        let levels = usize::BITS - (self.leaves.len() - 1).leading_zeros();
        self.depth + levels >= MOST_LEVELS
    }
}

/// Builds the tree over `leaves`, which must not be empty. Large sets should be ordered so that neighbours are close, as in a TLAS, because
/// short runs of neighbours stay together. Deterministic, parallel.
pub fn build_light_tree(leaves: Vec<LightLeaf>) -> LightTree {
    let length = if leaves.len() > FEW { RUN } else { 1 };
    let starts = (0..leaves.len()).into_par_iter().step_by(length);
    let run = |first: usize| {
        let of_run = &leaves[first..leaves.len().min(first + length)];
        let bounds = of_run.iter().map(|leaf| leaf.bounds);
        Run {
            bounds: bounds.fold(LightBounds::EMPTY, LightBounds::union),
            first: first as u32,
            count: of_run.len() as u32,
        }
    };
    let mut runs: Vec<Run> = starts.map(run).collect();
    let mut nodes = vec![LightNode::default(); 2 * leaves.len().saturating_sub(1)];
    let mut trails = vec![0; leaves.len()];
    let mut ordered = leaves.clone();
    let place = TreeSlices {
        leaves: &mut ordered,
        trails: &mut trails,
        nodes: &mut nodes,
        first_leaf: 0,
        first_pair: 0,
        trail: 0,
        depth: 0,
    };
    let (bounds, child) = build(&leaves, &mut runs, place);
    LightTree { root: bounds.node(child), leaves: ordered, trails, nodes }
}

/// Builds the part over `runs` of `leaves`. Returns its bounds and its index for the parent.
fn build(leaves: &[LightLeaf], runs: &mut [Run], place: TreeSlices) -> (LightBounds, u32) {
    if let [run] = runs {
        let first = run.first as usize;
        let of_run = &leaves[first..first + run.count as usize];
        place.leaves.copy_from_slice(of_run);
        return build_run(place);
    }
    let middle = cut_runs(runs, place.is_deep());
    let (first_runs, second_runs) = runs.split_at_mut(middle);
    let count: u32 = first_runs.iter().map(|run| run.count).sum();
    let pair = place.first_pair;
    let is_large = place.leaves.len() > PARALLEL;
    let (nodes, [first, second]) = place.split(count as usize);
    let build_first = || build(leaves, first_runs, first);
    let build_second = || build(leaves, second_runs, second);
    let (first, second) =
        if is_large { rayon::join(build_first, build_second) } else { (build_first(), build_second()) };
    nodes[0] = first.0.node(first.1);
    nodes[1] = second.0.node(second.1);
    (first.0.union(second.0), pair)
}

/// Builds the part over the few leaves of one run, in their order. Returns its bounds and its index for the parent.
fn build_run(place: TreeSlices) -> (LightBounds, u32) {
    if let [leaf] = place.leaves {
        place.trails[0] = place.trail;
        return (leaf.bounds, LEAF | place.first_leaf);
    }
    let middle = cut_run(place.leaves, place.is_deep());
    let pair = place.first_pair;
    let (nodes, [first, second]) = place.split(middle);
    let (first, second) = (build_run(first), build_run(second));
    nodes[0] = first.0.node(first.1);
    nodes[1] = second.0.node(second.1);
    (first.0.union(second.0), pair)
}

/// Index at which to split a run: the split with the lowest cost, or the middle if `even` is set.
fn cut_run(leaves: &[LightLeaf], even: bool) -> usize {
    let count = leaves.len();
    if even || !(3..=RUN).contains(&count) {
        return count / 2;
    }
    let mut costs = [0.0; RUN];
    let mut sum = LightBounds::EMPTY;
    for (cost, leaf) in costs[1..].iter_mut().zip(leaves) {
        sum = sum.union(leaf.bounds);
        *cost = sum.cost();
    }
    let mut sum = LightBounds::EMPTY;
    for (cost, leaf) in costs[1..count].iter_mut().zip(&leaves[1..]).rev() {
        sum = sum.union(leaf.bounds);
        *cost += sum.cost();
    }
    least(&costs[..count])
}

/// Selects a split and partitions `runs`, of which there must be at least two. Returns the index of the split.
fn cut_runs(runs: &mut [Run], even: bool) -> usize {
    let half = runs.len() / 2;
    if even || runs.len() == 2 {
        return half;
    }
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for run in runs.iter() {
        let center = run.bounds.center();
        (min, max) = (min.min(center), max.max(center));
    }
    let extent = max - min;
    let axis = if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    };
    let scale = BINS as f32 / extent[axis];
    if !scale.is_finite() {
        return half;
    }
    let bin_of = |run: &Run| {
        let center = run.bounds.min[axis] * 0.5 + run.bounds.max[axis] * 0.5;
        (((center - min[axis]) * scale) as usize).min(BINS - 1)
    };
    let mut bins = [(LightBounds::EMPTY, 0usize); BINS];
    for run in runs.iter() {
        let bin = &mut bins[bin_of(run)];
        *bin = (bin.0.union(run.bounds), bin.1 + 1);
    }
    let cut = cheapest_cut(&bins);
    partition(runs, |run| bin_of(run) < cut);
    bins[..cut].iter().map(|bin| bin.1).sum()
}

/// The number of bins before the split with the lowest cost. Both sides are non-empty.
fn cheapest_cut(bins: &[(LightBounds, usize); BINS]) -> usize {
    let mut costs = [0.0; BINS];
    let mut sum = LightBounds::EMPTY;
    for (cost, bin) in costs[1..].iter_mut().zip(bins) {
        sum = sum.union(bin.0);
        *cost = sum.cost();
    }
    let mut sum = LightBounds::EMPTY;
    for (cost, bin) in costs[1..].iter_mut().zip(&bins[1..]).rev() {
        sum = sum.union(bin.0);
        *cost += sum.cost();
    }
    least(&costs)
}

/// Index of the least of `costs`; the first entry is ignored.
fn least(costs: &[f32]) -> usize {
    let costs = costs.iter().enumerate().skip(1);
    let least = costs.min_by(|a, b| a.1.total_cmp(b.1));
    least.map_or(1, |(index, _)| index)
}

/// Moves the runs that are `before` to the front. The order is arbitrary but deterministic.
fn partition(runs: &mut [Run], before: impl Fn(&Run) -> bool) {
    let (mut first, mut end) = (0, runs.len());
    loop {
        while first < end && before(&runs[first]) {
            first += 1;
        }
        while first < end && !before(&runs[end - 1]) {
            end -= 1;
        }
        if first >= end {
            return;
        }
        runs.swap(first, end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_testing::same_cases;

    /// Traverses the tree below `node`, checks it and marks its leaves. `way` is the trail to `node` and its length in bits.
    fn walk(tree: &LightTree, node: &LightNode, way: (u32, u32), met: &mut [bool]) {
        if node.child & LEAF != 0 {
            let leaf = (node.child & !LEAF) as usize;
            assert!(!std::mem::replace(&mut met[leaf], true), "met twice");
            assert_eq!(tree.trails[leaf], way.0);
            assert!(covers(node, &tree.leaves[leaf].bounds.node(0)));
            return;
        }
        let pair = 2 * node.child as usize;
        let children = [tree.nodes[pair], tree.nodes[pair + 1]];
        let power: f32 = children.iter().map(|c| c.power).sum();
        assert!((power - node.power).abs() <= 1e-5 * power);
        for (child, bit) in children.iter().zip(0..) {
            assert!(covers(node, child));
            walk(tree, child, (way.0 | bit << way.1, way.1 + 1), met);
        }
    }

    fn covers(node: &LightNode, child: &LightNode) -> bool {
        let distance = (Vec3::from(node.center) - Vec3::from(child.center)).abs();
        let reach = Vec3::from(node.center).abs() + Vec3::from(node.extent);
        let room = Vec3::from(node.extent) + reach * 2e-6 + 1e-30;
        (distance + Vec3::from(child.extent)).cmple(room).all()
    }

    /// Checks that every light is in one leaf, and that nodes cover their children.
    fn check(lights: Vec<LightLeaf>) {
        let count = lights.len();
        let tree = build_light_tree(lights);
        let mut met = vec![false; count];
        walk(&tree, &tree.root, (0, 0), &mut met);
        assert!(met.iter().all(|&m| m));
        let mut records: Vec<u32> = tree.leaves.iter().map(|l| l.record).collect();
        records.sort_unstable();
        assert!(records.into_iter().eq(0..count as u32));
    }

    fn light(record: u32, place: Vec3, size: f32, power: f32) -> LightLeaf {
        LightLeaf { bounds: LightBounds { min: place, max: place + size, power }, record, table: 0 }
    }

    proptest! {
        #![proptest_config(same_cases(64))]
        #[test]
        fn every_light_is_in_one_leaf_and_nodes_cover_their_children(
            lights in prop::collection::vec((-1e4f32..1e4, -1.0f32..1.0, 0.0f32..2.0, 1e-6f32..1e6), 1..400)
        ) {
            let lights = (0..).zip(lights);
            check(lights.map(|(i, (x, y, size, power))| light(i, Vec3::new(x, y, 0.0), size, power)).collect());
        }
    }

    #[test]
    fn so_it_is_where_there_are_many() {
        for count in [4097, 20_000] {
            let place = |i: u32| Vec3::new((i / 100) as f32, (i % 100) as f32, (i % 7) as f32);
            check((0..count).map(|i| light(i, place(i), 0.5, 1.0)).collect());
        }
    }

    #[test]
    fn lights_at_one_point_and_lights_ever_closer_make_a_tree_of_few_levels() {
        for place in [|_: u32| 1.0, |i: u32| 2f32.powi(-(i as i32))] {
            check((0..120).map(|i| light(i, Vec3::splat(place(i)), 0.0, 1.0)).collect());
        }
    }
}
