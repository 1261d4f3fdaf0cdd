//! A binary tree over lights, rebuilt for every frame: cuts keep small what a node stands for, by its power and its size.

use crate::abi::{LEAF, LightNode};
use glam::Vec3;

/// Nodes with more leaves than this are built side by side with their siblings.
const PARALLEL: usize = 2048;
const BINS: usize = 16;
/// Trails have as many bits.
const MOST_LEVELS: u32 = 32;

/// Where lights are, and their estimated mean intensity as luminance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightBounds {
    pub min: Vec3,
    pub max: Vec3,
    pub power: f32,
}

impl LightBounds {
    const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
        power: 0.0,
    };

    fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            power: self.power + other.power,
        }
    }

    fn center(&self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }

    /// Nothing for no lights.
    fn cost(&self) -> f32 {
        if self.power > 0.0 {
            self.power * (self.max - self.min).length_squared()
        } else {
            0.0
        }
    }

    /// As a node; its box is a little larger, so that rounding never puts a light outside.
    pub fn node(&self, child: u32) -> LightNode {
        let center = self.center();
        let extent = (self.max - self.min) * 0.5;
        let room = (center.abs() + extent) * 1e-6;
        LightNode {
            center: center.into(),
            power: self.power,
            extent: (extent + room).into(),
            child,
        }
    }
}

/// A light, and which one it is: see [`crate::abi::EmitterRecord`].
#[derive(Clone, Copy, Debug)]
pub struct LightLeaf {
    pub bounds: LightBounds,
    pub record: u32,
    pub table: u32,
}

/// A part of the tree that is to be built, and where it goes.
struct Part<'a> {
    leaves: &'a mut [LightLeaf],
    trails: &'a mut [u32],
    /// Of its pairs, one less than it has leaves.
    nodes: &'a mut [LightNode],
    first_leaf: u32,
    first_pair: u32,
    trail: u32,
    depth: u32,
}

/// Sorts `leaves` into the order of the tree over them, of which there is at least one, and returns nodes, the way to each leaf
/// ([`crate::abi::EmitterRecord::trail`]), and the root. Deterministic, parallel.
pub fn build_light_tree(leaves: &mut [LightLeaf]) -> (Vec<LightNode>, Vec<u32>, LightNode) {
    let mut nodes = vec![LightNode::default(); 2 * leaves.len().saturating_sub(1)];
    let mut trails = vec![0; leaves.len()];
    let all = Part {
        leaves,
        trails: &mut trails,
        nodes: &mut nodes,
        first_leaf: 0,
        first_pair: 0,
        trail: 0,
        depth: 0,
    };
    let (bounds, child) = build(all);
    (nodes, trails, bounds.node(child))
}

/// Bounds of the part, and what leads to it.
fn build(part: Part) -> (LightBounds, u32) {
    let count = part.leaves.len();
    if count == 1 {
        part.trails[0] = part.trail;
        return (part.leaves[0].bounds, LEAF | part.first_leaf);
    }
    let middle = split(part.leaves, part.depth);
    let (pair, below) = part.nodes.split_at_mut(2);
    let (left_nodes, right_nodes) = below.split_at_mut(2 * (middle - 1));
    let (left_leaves, right_leaves) = part.leaves.split_at_mut(middle);
    let (left_trails, right_trails) = part.trails.split_at_mut(middle);
    let left = Part {
        leaves: left_leaves,
        trails: left_trails,
        nodes: left_nodes,
        first_leaf: part.first_leaf,
        first_pair: part.first_pair + 1,
        trail: part.trail,
        depth: part.depth + 1,
    };
    let right = Part {
        leaves: right_leaves,
        trails: right_trails,
        nodes: right_nodes,
        first_leaf: part.first_leaf + middle as u32,
        first_pair: part.first_pair + middle as u32,
        trail: part.trail | 1 << part.depth,
        depth: part.depth + 1,
    };
    let (left, right) = if count > PARALLEL {
        rayon::join(|| build(left), || build(right))
    } else {
        (build(left), build(right))
    };
    pair[0] = left.0.node(left.1);
    pair[1] = right.0.node(right.1);
    (left.0.union(right.0), part.first_pair)
}

/// Where to cut: sorts `leaves` into those before and after.
fn split(leaves: &mut [LightLeaf], depth: u32) -> usize {
    let half = leaves.len() / 2;
    // As many levels as even cuts take are kept in reserve.
    let reserve = usize::BITS - (leaves.len() - 1).leading_zeros();
    if leaves.len() == 2 || depth + reserve >= MOST_LEVELS {
        return half;
    }
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for leaf in leaves.iter() {
        let center = leaf.bounds.center();
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
    let bin_of = |leaf: &LightLeaf| {
        let center = leaf.bounds.min[axis] * 0.5 + leaf.bounds.max[axis] * 0.5;
        (((center - min[axis]) * scale) as usize).min(BINS - 1)
    };
    let mut bins = [(LightBounds::EMPTY, 0usize); BINS];
    for leaf in leaves.iter() {
        let bin = &mut bins[bin_of(leaf)];
        *bin = (bin.0.union(leaf.bounds), bin.1 + 1);
    }
    let cut = cheapest_cut(&bins);
    let count: usize = bins[..cut].iter().map(|bin| bin.1).sum();
    partition(leaves, |leaf| bin_of(leaf) < cut);
    count
}

/// The number of bins before the cheapest cut. Both the first and the last bin have lights.
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
    let costs = costs.iter().enumerate().skip(1);
    costs
        .min_by(|a, b| a.1.total_cmp(b.1))
        .map_or(BINS / 2, |(cut, _)| cut)
}

/// Moves those that are `before` to the front; in no particular order, but always the same.
fn partition(leaves: &mut [LightLeaf], before: impl Fn(&LightLeaf) -> bool) {
    let (mut first, mut end) = (0, leaves.len());
    loop {
        while first < end && before(&leaves[first]) {
            first += 1;
        }
        while first < end && !before(&leaves[end - 1]) {
            end -= 1;
        }
        if first >= end {
            return;
        }
        leaves.swap(first, end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::same_cases;
    use proptest::prelude::*;

    /// Walks the tree below `node`, and marks the leaves that it meets.
    fn check(
        nodes: &[LightNode],
        trails: &[u32],
        leaves: &[LightLeaf],
        node: &LightNode,
        way: (u32, u32),
        met: &mut [bool],
    ) {
        if node.child & LEAF != 0 {
            let leaf = (node.child & !LEAF) as usize;
            assert!(!std::mem::replace(&mut met[leaf], true), "met twice");
            assert_eq!(trails[leaf], way.0);
            assert!(covers(node, &leaves[leaf].bounds.node(0)));
            return;
        }
        let pair = 2 * node.child as usize;
        let children = [nodes[pair], nodes[pair + 1]];
        let power: f32 = children.iter().map(|c| c.power).sum();
        assert!((power - node.power).abs() <= 1e-5 * power);
        for (child, bit) in children.iter().zip(0..) {
            assert!(covers(node, child));
            check(
                nodes,
                trails,
                leaves,
                child,
                (way.0 | bit << way.1, way.1 + 1),
                met,
            );
        }
    }

    fn covers(node: &LightNode, child: &LightNode) -> bool {
        let distance = (Vec3::from(node.center) - Vec3::from(child.center)).abs();
        let room = Vec3::from(node.extent) * 1.00001 + 1e-6;
        (distance + Vec3::from(child.extent)).cmple(room).all()
    }

    fn lights() -> impl Strategy<Value = Vec<LightLeaf>> {
        let coordinate = || prop_oneof![Just(0.0f32), -1.0f32..1.0, -1e4f32..1e4];
        let light = (
            coordinate(),
            coordinate(),
            coordinate(),
            0.0f32..2.0,
            1e-6f32..1e6,
        );
        let leaf = light.prop_map(|(x, y, z, size, power)| LightLeaf {
            bounds: LightBounds {
                min: Vec3::new(x, y, z),
                max: Vec3::new(x, y, z) + size,
                power,
            },
            record: 0,
            table: 0,
        });
        prop::collection::vec(leaf, 1..400)
    }

    proptest! {
        #![proptest_config(same_cases(64))]
        #[test]
        fn every_light_is_in_one_leaf_and_nodes_cover_their_children(lights in lights()) {
            let mut leaves: Vec<LightLeaf> = (0..).zip(lights).map(|(record, l)| LightLeaf { record, ..l }).collect();
            let (nodes, trails, root) = build_light_tree(&mut leaves);
            let mut met = vec![false; leaves.len()];
            check(&nodes, &trails, &leaves, &root, (0, 0), &mut met);
            prop_assert!(met.iter().all(|&m| m));
            let mut records: Vec<u32> = leaves.iter().map(|l| l.record).collect();
            records.sort_unstable();
            prop_assert!(records.into_iter().eq(0..leaves.len() as u32));
        }
    }

    #[test]
    fn lights_at_one_point_and_lights_ever_closer_make_a_tree_of_few_levels() {
        let at = |x: f32| LightLeaf {
            bounds: LightBounds {
                min: Vec3::splat(x),
                max: Vec3::splat(x),
                power: 1.0,
            },
            record: 0,
            table: 0,
        };
        for place in [|_: i32| 1.0, |i: i32| 2f32.powi(-i)] {
            let mut leaves: Vec<LightLeaf> = (0..120).map(|i| at(place(i))).collect();
            let (nodes, trails, root) = build_light_tree(&mut leaves);
            check(
                &nodes,
                &trails,
                &leaves,
                &root,
                (0, 0),
                &mut vec![false; 120],
            );
        }
    }
}
