//! Binary trees of few primitives, for which every split along all axes is evaluated. Primitives are sorted once, and stay sorted while sets are
//! split.

use crate::{
    build::{
        BuildPrim,
        binary::{BALANCED_FROM, BinaryNode},
        split::{cheapest_cut, sortable},
    },
    surface::SimdBox,
};
use glam::Vec3;
use std::ops::Range;

/// Maximum number of primitives of such a tree. The top levels of larger trees gain nothing from evaluating more splits, and this many primitives fit
/// into the nearest caches.
pub const MOST_SORTED: usize = 1 << 10;

/// Builds the tree of 1 to [`MOST_SORTED`] primitives, with one per leaf and parents before children. The first primitive has number `first`, and the
/// root is on `level` of a larger tree. Deterministic.
pub fn build_sorted(prims: &[BuildPrim], first: u32, level: u32) -> Vec<BinaryNode> {
    let mut builder = Builder {
        prims,
        first,
        orders: [0, 1, 2].map(|axis| order_along(prims, axis)),
        is_right: vec![false; prims.len()],
        spare: vec![0; prims.len()],
        costs: vec![0.0; prims.len()],
        nodes: Vec::with_capacity(2 * prims.len() - 1),
    };
    let all = builder.set(0..prims.len());
    builder.build(all, level);
    builder.nodes
}

struct Builder<'a> {
    prims: &'a [BuildPrim],
    first: u32,
    /// Indices into `prims`, sorted by centre along each axis. A set occupies an identical range of all three.
    orders: [Vec<u16>; 3],
    /// Whether each primitive is on the right of the latest split of its set.
    is_right: Vec<bool>,
    spare: Vec<u16>,
    costs: Vec<f32>,
    nodes: Vec<BinaryNode>,
}

/// A subset of the primitives.
struct Set {
    range: Range<usize>,
    bounds: SimdBox,
}

impl Builder<'_> {
    /// The set with this range of the orders.
    fn set(&self, range: Range<usize>) -> Set {
        let own = self.orders[0][range.clone()].iter();
        let bounds = own.fold(SimdBox::EMPTY, |all, &place| all.union(self.bounds(place)));
        Set { range, bounds }
    }

    fn bounds(&self, place: u16) -> SimdBox {
        let (min, max) = self.prims[usize::from(place)].vectors();
        SimdBox { min, max }
    }

    /// Appends the nodes of the subtree, and returns the index of its root.
    fn build(&mut self, set: Set, level: u32) -> u32 {
        let index = self.nodes.len();
        let count = set.range.len();
        self.nodes.push(BinaryNode {
            bounds: set.bounds.to_aabb(),
            first: self.first + u32::from(self.orders[0][set.range.start]),
            count: count as u32,
            ..BinaryNode::EMPTY
        });
        if count > 1 {
            let halves = self.cut(set.range, level);
            self.nodes[index].children = halves.map(|half| self.build(half, level + 1));
        }
        index as u32
    }

    /// Splits a set of at least two primitives.
    fn cut(&mut self, range: Range<usize>, level: u32) -> [Set; 2] {
        let (axis, count) = match range.len() {
            2 => (0, 1),
            _ => self.best_cut(&range, level),
        };
        let middle = range.start + count;
        let halves = [range.start..middle, middle..range.end];
        let sides = halves.map(|half| {
            let is_right = half.start == middle;
            let mut bounds = SimdBox::EMPTY;
            for place in half.clone() {
                let prim = self.orders[axis][place];
                self.is_right[usize::from(prim)] = is_right;
                bounds = bounds.union(self.bounds(prim));
            }
            Set { range: half, bounds }
        });
        for other in (0..3).filter(|other| *other != axis) {
            self.share_out(other, range.clone());
        }
        sides
    }

    /// Returns the axis of the best split, and the number of primitives on the left.
    fn best_cut(&mut self, range: &Range<usize>, level: u32) -> (usize, usize) {
        let extent = self.center_extent(range);
        let halved = (extent.max_position(), range.len() / 2);
        // If all centres coincide, all splits are equally good.
        let is_divisible = extent.max_element() > 0.0;
        if !is_divisible || level >= BALANCED_FROM {
            return halved;
        }
        let (mut least, mut best) = (f32::INFINITY, halved);
        for (axis, order) in self.orders.iter().enumerate() {
            let order = &order[range.clone()];
            let corners = |i: usize| self.prims[usize::from(order[i])].vectors();
            let (cost, count) = cheapest_cut(order.len(), corners, 1, &mut self.costs);
            if cost < least {
                (least, best) = (cost, (axis, count));
            }
        }
        best
    }

    /// Extent of the doubled centres along each axis.
    fn center_extent(&self, range: &Range<usize>) -> Vec3 {
        let extents = [0, 1, 2].map(|axis| {
            let center = |place: usize| {
                let prim = &self.prims[usize::from(self.orders[axis][place])];
                prim.min[axis] + prim.max[axis]
            };
            center(range.end - 1) - center(range.start)
        });
        Vec3::from(extents)
    }

    /// Stable partition: moves primitives on the left before those on the right.
    fn share_out(&mut self, axis: usize, range: Range<usize>) {
        let order = &mut self.orders[axis][range];
        let (mut left, mut right) = (0, 0);
        for from in 0..order.len() {
            let prim = order[from];
            let is_right = usize::from(self.is_right[usize::from(prim)]);
            order[left] = prim;
            self.spare[right] = prim;
            left += 1 - is_right;
            right += is_right;
        }
        order[left..].copy_from_slice(&self.spare[..right]);
    }
}

/// Indices of the primitives, sorted by their centres; ties keep their order.
fn order_along(prims: &[BuildPrim], axis: usize) -> Vec<u16> {
    let keys = prims.iter().zip(0u64..).map(|(prim, place)| {
        let center = prim.min[axis] + prim.max[axis];
        u64::from(sortable(center)) << 32 | place
    });
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use throng_base::math::{Aabb, hash_unit};

    fn prims(count: u32, coordinate: impl Fn(u32, u32) -> f32) -> Vec<BuildPrim> {
        let prim = |i| {
            let point = |k: u32| Vec3::from([0, 1, 2].map(|axis| coordinate(2 * i + k, axis)));
            BuildPrim::new(&Aabb::of_points([point(0), point(1)]), i)
        };
        (0..count).map(prim).collect()
    }

    /// Returns the number of levels of a subtree, after checking that its boxes match its leaves. Counts leaves by primitive.
    fn check(nodes: &[BinaryNode], root: u32, prims: &[BuildPrim], seen: &mut [u32]) -> u32 {
        let node = &nodes[root as usize];
        if node.is_leaf() {
            let prim = node.first as usize - 7;
            seen[prim] += 1;
            assert_eq!(
                (node.count, node.bounds),
                (1, Aabb { min: prims[prim].min.into(), max: prims[prim].max.into() })
            );
            return 0;
        }
        let [left, right] = node.children.map(|child| nodes[child as usize]);
        assert!(node.children.iter().all(|&child| child > root));
        assert_eq!(node.bounds, left.bounds.union(right.bounds));
        assert_eq!(node.count, left.count + right.count);
        let levels = node.children.map(|child| check(nodes, child, prims, seen));
        1 + levels[0].max(levels[1])
    }

    #[test]
    fn each_primitive_has_a_leaf_and_each_box_is_as_small_as_can_be() {
        let random = |i, axis| hash_unit(axis, i);
        let on_a_grid = |i, axis| (4.0 * hash_unit(axis, i)).floor();
        for count in [1, 2, 3, 9, 700, MOST_SORTED as u32] {
            for prims in [prims(count, random), prims(count, on_a_grid), prims(count, |_, _| 1.0)] {
                let mut seen = vec![0; prims.len()];
                let nodes = build_sorted(&prims, 7, 3);
                check(&nodes, 0, &prims, &mut seen);
                assert!(seen.iter().all(|&times| times == 1));
            }
        }
    }

    #[test]
    fn trees_of_primitives_in_one_place_or_far_down_are_even() {
        for (level, prims) in [(0, prims(600, |_, _| 1.0)), (BALANCED_FROM, prims(600, |i, _| (i as f32).exp2()))] {
            let nodes = build_sorted(&prims, 7, level);
            assert_eq!(check(&nodes, 0, &prims, &mut [0; 600]), 10);
        }
    }

    #[test]
    fn cuts_are_where_they_are_cheapest() {
        // Clusters of 5 and 3 primitives, far apart along z.
        let clusters = prims(8, |i, axis| {
            let far = if axis == 2 && i >= 10 { 100.0 } else { 0.0 };
            far + hash_unit(axis, i)
        });
        let nodes = build_sorted(&clusters, 0, 0);
        let [left, right] = nodes[0].children.map(|child| nodes[child as usize].count);
        assert_eq!((left, right), (5, 3));
    }
}
