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
pub fn sweep<const N: usize>(nodes: &mut [Wide<N>], leaf_bounds: impl Fn(u32) -> Aabb) -> Aabb {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        accel::{Blas, BlasShape, NodeLayout, Quality, validate::validate_blas},
        math::hash_unit,
        scene::{Mesh, Shape},
    };

    const LAYOUTS: [NodeLayout; 3] = [NodeLayout::Wide4, NodeLayout::Wide8, NodeLayout::Wide16];

    /// Triangles here and there, displaced by `phase`.
    fn moving(count: u32, phase: f32) -> TriangleMesh {
        let coordinate = |i: u32| {
            let swing = (phase + i as f32).sin() * phase;
            hash_unit(5, i / 9) * 10.0 + hash_unit(6, i) * 0.3 + swing
        };
        let corner = |i: u32| {
            [
                coordinate(3 * i),
                coordinate(3 * i + 1),
                coordinate(3 * i + 2),
            ]
        };
        TriangleMesh {
            positions: (0..3 * count).map(corner).collect(),
            triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..TriangleMesh::default()
        }
    }

    fn build(mesh: TriangleMesh, layout: NodeLayout) -> Blas {
        let mesh = Mesh {
            name: "moving".into(),
            shape: Shape::Triangles(mesh),
            slot_count: 1,
        };
        Blas::build(&mesh, layout, Quality::Fast)
    }

    #[test]
    fn a_refitted_tree_is_valid_and_tight() {
        for layout in LAYOUTS {
            for count in [1, 7, 9, 500] {
                let mut blas = build(moving(count, 0.0), layout);
                let moved = moving(count, 1.3);
                blas.refit(&moved);
                let BlasShape::Triangles { tree, packs } = &blas.shape else {
                    panic!("a mesh of triangles has a tree of triangles");
                };
                validate_blas(tree, packs, &moved).unwrap();
                let exact = Aabb::of_points(moved.positions.iter().map(|&p| Vec3::from(p)));
                assert_eq!((tree.bounds, blas.bounds), (exact, exact));
            }
        }
    }

    #[test]
    fn refitting_what_did_not_move_changes_no_box() {
        let still = moving(500, 0.0);
        let mut blas = build(still.clone(), NodeLayout::Wide8);
        let boxes = |blas: &Blas| {
            let BlasShape::Triangles { tree, .. } = &blas.shape else {
                return Vec::new();
            };
            each_width!(&tree.nodes, n => n.iter().flat_map(|n| n.occupied().collect::<Vec<_>>()).collect())
        };
        let before = boxes(&blas);
        blas.refit(&still);
        assert_eq!(boxes(&blas), before);
    }

    #[test]
    fn a_refitted_tree_costs_no_less_than_a_fresh_one_built_for_it() {
        let mut blas = build(moving(2000, 0.0), NodeLayout::Wide8);
        let fresh = build(moving(2000, 2.0), NodeLayout::Wide8).sah_cost();
        blas.refit(&moving(2000, 2.0));
        assert!(blas.sah_cost() > fresh, "{} {fresh}", blas.sah_cost());
    }
}
