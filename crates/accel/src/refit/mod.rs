//! Refits trees to moved primitives: recomputes every box of a tree and keeps its topology.

pub mod plan;
pub mod policy;

use crate::{
    node::{Tree, Wide, each_width},
    refit::plan::{Bearer, Item, Leaf, NamedLeaf, Primitives, RefitPlan, Refitted, TreePart, kept_vertices},
    surface::{SimdBox, half_areas, planes},
};
use std::ops::Range;
use throng_abi::{EMPTY_CHILD, LEAF};

/// Refits a tree to the positions of `prims`, and returns its cost afterwards, as defined by [`Tree::sah_cost`]. O(primitives), no stack. Creates
/// `plan` on first use.
pub fn refit<L: NamedLeaf<P>, P: Primitives>(
    tree: &mut Tree,
    leaves: &mut [L],
    plan: &mut Option<RefitPlan>,
    prims: &P,
) -> f32 {
    let refitted = match tree.root {
        EMPTY_CHILD => Refitted::NOTHING,
        root if root & LEAF != 0 => Refitted { bounds: leaves[(root & !LEAF) as usize].fill(prims), half_areas: 0.0 },
        _ => each_width!(&mut tree.nodes, nodes => pass(nodes, leaves, plan, prims)),
    };
    tree.bounds = refitted.bounds.to_aabb();
    refitted.sah_cost()
}

fn pass<const N: usize, L: NamedLeaf<P>, P: Primitives>(
    nodes: &mut [Wide<N>],
    leaves: &mut [L],
    plan: &mut Option<RefitPlan>,
    prims: &P,
) -> Refitted {
    let plan = plan.get_or_insert_with(|| RefitPlan::new(nodes, leaves, kept_vertices(leaves, prims)));
    plan.pass(nodes, leaves, prims, refit_node)
}

/// Updates the boxes of a node's children. Returns the box around them and the sum of their half surface areas.
fn refit_node<const N: usize, L: Leaf<P>, P>(part: &mut TreePart<'_, Wide<N>, L, P>, index: usize) -> (SimdBox, f32) {
    let mut boxes = [SimdBox::EMPTY; N];
    let mut bounds = SimdBox::EMPTY;
    for (slot, child) in part.items[index].children.into_iter().enumerate() {
        if child == EMPTY_CHILD {
            continue;
        }
        boxes[slot] = if child & LEAF != 0 { part.leaf(child & !LEAF) } else { part.below(child) };
        bounds = bounds.union(boxes[slot]);
    }
    let node = &mut part.items[index];
    node.planes = planes(&boxes);
    (bounds, half_areas(&node.planes))
}

impl<const N: usize> Item for Wide<N> {
    const LARGEST_RUN: u32 = 1024 / N as u32;
    const LEADS_SUBTREE: bool = true;

    fn children(&self) -> impl Iterator<Item = u32> {
        self.children.into_iter().filter(|child| child & LEAF == 0)
    }
}

impl<const N: usize, L> Bearer<L> for Wide<N> {
    fn span(&self, _: &[L]) -> Option<Range<u32>> {
        let leaf = |child: u32| child & LEAF != 0 && child != EMPTY_CHILD;
        let leaves = self.children.into_iter().filter(move |&child| leaf(child));
        let leaves = leaves.map(|child| child & !LEAF);
        leaves.fold(None, |span: Option<Range<u32>>, leaf| {
            let (start, end) = span.map_or((leaf, leaf), |span| (span.start.min(leaf), (span.end - 1).max(leaf)));
            Some(start..end + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Blas, BlasShape, Geometry, NodeLayout, Packs, Quality, Surface, compressed, pack::each_kind,
        validate::validate_blas,
    };
    use glam::Vec3;
    use throng_abi::CurvePoint;
    use throng_base::math::{Aabb, hash_unit};
    use throng_scene::{Curves, Mesh, Shape, TriangleMesh};

    /// Number of triangles that gives many runs and a top above them.
    const MANY: u32 = 60_000;

    /// Scattered triangles, displaced by `phase`.
    fn moving(count: u32, phase: f32) -> TriangleMesh {
        let coordinate = |i: u32| {
            let swing = (phase + i as f32).sin() * phase;
            hash_unit(5, i / 9) * 10.0 + hash_unit(6, i) * 0.3 + swing
        };
        let corner = |i: u32| [coordinate(3 * i), coordinate(3 * i + 1), coordinate(3 * i + 2)];
        TriangleMesh {
            positions: (0..3 * count).map(corner).collect(),
            triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..TriangleMesh::default()
        }
    }

    /// A wavy sheet.
    fn sheet(side: u32, phase: f32) -> TriangleMesh {
        let point = |i: u32| {
            let (x, z) = ((i % side) as f32, (i / side) as f32);
            [x, (0.3 * x + 0.2 * z + phase).sin(), z]
        };
        let cell = |i: u32| {
            let a = i / (side - 1) * side + i % (side - 1);
            [[a, a + 1, a + side], [a + side, a + 1, a + side + 1]]
        };
        TriangleMesh {
            positions: (0..side * side).map(point).collect(),
            triangles: (0..(side - 1) * (side - 1)).flat_map(cell).collect(),
            ..TriangleMesh::default()
        }
    }

    fn build(mesh: TriangleMesh, layout: NodeLayout) -> Blas {
        build_of(mesh, layout, Quality::Fast)
    }

    fn build_of(mesh: TriangleMesh, layout: NodeLayout, quality: Quality) -> Blas {
        let mesh = Mesh { name: "moving".into(), shape: Shape::Triangles(mesh), slot_count: 1 };
        Blas::build(&mesh, layout, quality)
    }

    /// The words of a tree's boxes and leaves, and its cost.
    fn contents(blas: &Blas) -> (Vec<u32>, f32) {
        let words = match &blas.shape {
            BlasShape::Triangles { tree, packs } => {
                let words: &[u32] = each_kind!(packs, packs => bytemuck::cast_slice(packs));
                let planes = each_width!(&tree.nodes, nodes => nodes
                    .iter()
                    .flat_map(|node| node.planes.into_iter().flatten())
                    .collect::<Vec<f32>>());
                let planes = planes.into_iter().map(f32::to_bits);
                planes.chain(words.iter().copied()).collect()
            }
            BlasShape::Compressed { units, patches, .. } => {
                let units: &[u32] = bytemuck::cast_slice(units);
                [units, bytemuck::cast_slice(patches)].concat()
            }
            BlasShape::Curves { tree, .. } => each_width!(&tree.nodes, nodes => nodes
                .iter()
                .flat_map(|node| node.planes.into_iter().flatten().map(f32::to_bits))
                .collect()),
            BlasShape::CompressedCurves { units, .. } => bytemuck::pod_collect_to_vec(units),
            _ => Vec::new(),
        };
        (words, blas.sah_cost())
    }

    #[test]
    fn a_refitted_tree_is_valid_and_tight() {
        for layout in NodeLayout::ALL {
            for count in [1, 7, 9, 500, MANY] {
                let mut blas = build(moving(count, 0.0), layout);
                let moved = moving(count, 1.3);
                let surface = Surface::from(&moved);
                blas.refit((&moved).into());
                match &blas.shape {
                    BlasShape::Triangles { tree, packs } => {
                        validate_blas(tree, packs, &surface).unwrap();
                        assert_eq!(tree.bounds, blas.bounds);
                        let cost = tree.sah_cost(1.0);
                        assert!((blas.sah_cost() - cost).abs() < 1e-4 * cost);
                    }
                    BlasShape::Compressed { depth, units, patches } => {
                        compressed::validate::validate_blas(units, patches, &surface, *depth).unwrap();
                    }
                    _ => panic!("a mesh of triangles has a tree"),
                }
                let exact = Aabb::of_points(moved.positions.iter().map(|&p| Vec3::from(p)));
                assert_eq!(blas.bounds, exact);
            }
        }
    }

    #[test]
    fn shared_corners_are_followed_like_others() {
        let (before, after) = (sheet(40, 0.0), sheet(40, 1.3));
        let mut blas = build_of(before.clone(), NodeLayout::Wide16, Quality::High);
        let fresh = contents(&blas).0;
        blas.refit((&after).into());
        let BlasShape::Triangles { tree, packs } = &blas.shape else {
            panic!("of packs");
        };
        assert!(matches!(packs, Packs::Shared(_)));
        validate_blas(tree, packs, &(&after).into()).unwrap();
        blas.refit((&before).into());
        assert!(fresh == contents(&blas).0);
    }

    #[test]
    fn refitting_what_did_not_move_changes_nothing() {
        for layout in NodeLayout::ALL {
            let still = moving(3000, 0.0);
            let mut blas = build(still.clone(), layout);
            let (before, cost) = contents(&blas);
            blas.refit((&still).into());
            let (after, refitted_cost) = contents(&blas);
            assert!(before == after);
            assert!((cost - refitted_cost).abs() < 1e-4 * cost);
        }
    }

    #[test]
    fn refits_there_and_back_leave_no_trace() {
        for layout in NodeLayout::ALL {
            let mut blas = build(moving(3000, 0.0), layout);
            let (before, _) = contents(&blas);
            blas.refit((&moving(3000, 1.7)).into());
            blas.refit((&moving(3000, 0.0)).into());
            assert!(before == contents(&blas).0);
        }
    }

    /// Scattered strands of three segments, displaced by `phase`.
    fn waving(count: u32, phase: f32) -> Curves {
        let coordinate =
            |i: u32| hash_unit(5, i / 12) * 10.0 + hash_unit(6, i) * 0.3 + (phase + i as f32).sin() * phase;
        let point = |i: u32| CurvePoint {
            position: [coordinate(3 * i), coordinate(3 * i + 1), coordinate(3 * i + 2)],
            radius: 0.1 * hash_unit(7, i),
        };
        let points = (0..4 * count).map(point).collect();
        Curves { points, strands: (0..count).map(|i| 4 * i).collect(), ..Curves::default() }
    }

    #[test]
    fn curves_are_refitted_like_triangles() {
        for layout in NodeLayout::ALL {
            for quality in [Quality::Fast, Quality::Balanced] {
                for count in [1, 2, 20, 3000] {
                    let (still, moved) = (waving(count, 0.0), waving(count, 1.3));
                    let mut blas = Blas::of_strands((&still).into(), layout, quality);
                    let (before, cost) = contents(&blas);
                    blas.refit(Geometry::Curves((&moved).into()));
                    let fresh = Blas::of_strands((&moved).into(), layout, quality);
                    assert_eq!(blas.bounds, fresh.bounds);
                    assert!(count < 3000 || blas.cost_ratio() > 1.1, "{}", blas.cost_ratio());
                    blas.refit(Geometry::Curves((&still).into()));
                    assert!(before == contents(&blas).0);
                    assert!((cost - blas.sah_cost()).abs() < 1e-4 * cost);
                }
            }
        }
    }

    #[test]
    fn a_refit_does_not_depend_on_the_number_of_threads() {
        let moved = moving(MANY, 0.9);
        for layout in NodeLayout::ALL {
            let built = build(moving(MANY, 0.0), layout);
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut blas = built.clone();
                pool.install(|| blas.refit((&moved).into()));
                (contents(&blas), blas.bounds)
            };
            assert!(with(1) == with(3));
        }
    }

    #[test]
    fn a_refitted_tree_costs_no_less_than_a_fresh_one_built_for_it() {
        for layout in NodeLayout::ALL {
            let mut blas = build(moving(2000, 0.0), layout);
            let fresh = build(moving(2000, 2.0), layout).sah_cost();
            blas.refit((&moving(2000, 2.0)).into());
            assert!(blas.sah_cost() > fresh, "{} {fresh}", blas.sah_cost());
        }
    }
}
