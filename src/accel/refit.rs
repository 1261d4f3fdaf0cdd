//! Follows moving primitives: recomputes every box of a tree and keeps its shape.

use super::{
    Buffer,
    blas::fill_lanes,
    node::{Tree, Wide, each_width},
};
use crate::{
    abi::{EMPTY_CHILD, LEAF, NO_INDEX, TrianglePack},
    math::Aabb,
    scene::TriangleMesh,
};
use glam::Vec3;
use rayon::prelude::*;

/// Takes over the positions of `mesh`. O(triangles), no stack.
pub fn refit(tree: &mut Tree, packs: &mut Buffer<TrianglePack>, mesh: &TriangleMesh) {
    packs
        .par_iter_mut()
        .with_min_len(256)
        .for_each(|pack| fill_lanes(pack, mesh));
    let leaf_bounds = |leaf: u32| pack_bounds(&packs[leaf as usize]);
    tree.bounds = match tree.root {
        EMPTY_CHILD => Aabb::EMPTY,
        root if root & LEAF != 0 => leaf_bounds(root & !LEAF),
        _ => each_width!(&mut tree.nodes, nodes => sweep(nodes, leaf_bounds)),
    };
}

/// Children come after their parents, so one reverse sweep has both ends of every edge in hand. Returns the root's box.
fn sweep<const N: usize>(nodes: &mut [Wide<N>], leaf_bounds: impl Fn(u32) -> Aabb) -> Aabb {
    for index in (0..nodes.len()).rev() {
        for slot in 0..N {
            let child = nodes[index].children[slot];
            if child == EMPTY_CHILD {
                continue;
            }
            let bounds = if child & LEAF != 0 {
                leaf_bounds(child & !LEAF)
            } else {
                nodes[child as usize].union()
            };
            nodes[index].set(slot, &bounds, child);
        }
    }
    nodes[0].union()
}

/// The box around a pack's triangles.
pub fn pack_bounds(pack: &TrianglePack) -> Aabb {
    let lanes = (0..pack.prim.len()).filter(|&lane| pack.prim[lane] != NO_INDEX);
    Aabb::of_points(lanes.flat_map(|lane| {
        pack.vertices
            .iter()
            .map(move |v| Vec3::new(v[0][lane], v[1][lane], v[2][lane]))
    }))
}
