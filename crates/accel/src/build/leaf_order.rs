//! The primitives of a finished tree in the order of its leaves, in 4 bytes each. They replace the boxes, which take 32, before leaves are made.

use crate::build::BuildPrim;
use throng_abi::LEAF;

/// Mark of the last primitive of a leaf. IDs are smaller, because references to leaves are positions of primitives next to the mark [`LEAF`].
const LAST: u32 = LEAF;

/// IDs of primitives, leaf by leaf.
pub struct LeafOrder(Vec<u32>);

impl LeafOrder {
    /// Takes the primitives of a tree from `build::build` or `build_collapsed`. `join`: all parts of a triangle that are in one leaf are merged.
    pub fn new(prims: Vec<BuildPrim>, join: bool) -> Self {
        let mut order = Self::for_count(prims.len());
        order.put(0, &prims, join);
        order
    }

    /// The order of `count` primitives, which are then [`Self::put`].
    pub fn for_count(count: usize) -> Self {
        Self(vec![0; count])
    }

    /// Sets the order of all leaves from position `first` to that of the last of `prims`.
    pub fn put(&mut self, first: usize, prims: &[BuildPrim], join: bool) {
        let (mut rest, mut places, mut leaf) = (prims, &mut self.0[first..first + prims.len()], Vec::new());
        while let Some(first) = rest.first() {
            let (own, others) = rest.split_at(first.leaf_count as usize);
            leaf.extend(own.iter().map(|prim| prim.id));
            if join {
                leaf.sort_unstable();
                leaf.dedup();
            }
            if let Some(last) = leaf.last_mut() {
                *last |= LAST;
            }
            // Every leaf keeps its position.
            leaf.resize(own.len(), LAST);
            let (to, tail) = places.split_at_mut(own.len());
            to.copy_from_slice(&leaf);
            leaf.clear();
            (rest, places) = (others, tail);
        }
    }

    /// The primitives of the leaf whose first one has this position.
    pub fn leaf(&self, first: usize) -> impl Iterator<Item = u32> {
        let own = &self.0[first..];
        let last = own.iter().position(|id| id & LAST != 0);
        own.iter().take(last.map_or(0, |last| last + 1)).map(|id| id & !LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use throng_base::math::Aabb;

    fn prims(pairs: &[(u32, u32)]) -> Vec<BuildPrim> {
        let prim = |&(id, leaf_count): &(u32, u32)| BuildPrim {
            leaf_count,
            ..BuildPrim::new(&Aabb::of_points([Vec3::ONE]), id)
        };
        pairs.iter().map(prim).collect()
    }

    #[test]
    fn leaves_keep_their_primitives_and_positions() {
        let order = LeafOrder::new(prims(&[(5, 3), (2, 0), (5, 0), (7, 1)]), false);
        assert!(order.leaf(0).eq([5, 2, 5]) && order.leaf(3).eq([7]));
    }

    #[test]
    fn parts_in_one_leaf_become_one() {
        let order = LeafOrder::new(prims(&[(5, 4), (2, 0), (5, 0), (2, 0), (5, 1)]), true);
        assert!(order.leaf(0).eq([2, 5]) && order.leaf(4).eq([5]));
    }
}
