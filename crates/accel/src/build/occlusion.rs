//! The order in which any-hit rays visit a node's children.
//!
//! An any-hit ray ends at the first hit that it finds. It should therefore begin with the child that probably ends it soonest: one that is likely to
//! stop a ray that enters it, and cheap to traverse if it does not (Ogaki and Derouet-Jourdan 2016, "An N-ary BVH Child Node Sorting Technique for
//! Occlusion Tests"). The kernel visits children from the last slot to the first one.

use crate::{
    Tree,
    node::{Wide, each_width},
    pack::{Pack, Packs, each_kind},
};
use rayon::prelude::*;
use throng_abi::{EMPTY_CHILD, LEAF};

/// Minimum number of packs or nodes per task.
const SMALLEST_SHARE: usize = 1024;

/// Summary of the subtree below a child.
#[derive(Clone, Copy)]
struct Content {
    /// One-sided surface area of its triangles.
    surface: f32,
    /// Expected number of nodes and leaves that a ray visits if it enters the child and is not stopped, including the child itself.
    visits: f32,
}

/// Sorts the children of every node of a tree of triangles. Children to visit first go into the last slots.
pub fn sort_children(tree: &mut Tree, packs: &Packs) {
    if tree.root & LEAF != 0 {
        return;
    }
    let packs = each_kind!(packs, packs => surfaces(packs));
    each_width!(&mut tree.nodes, nodes => sort_nodes(nodes, &packs));
}

fn surfaces<P: Pack>(packs: &[P]) -> Vec<f32> {
    let packs = packs.par_iter().with_min_len(SMALLEST_SHARE);
    packs.map(Pack::surface).collect()
}

fn sort_nodes<const N: usize>(nodes: &mut [Wide<N>], packs: &[f32]) {
    let nothing = Content { surface: 0.0, visits: 1.0 };
    let mut contents = vec![nothing; nodes.len()];
    // Children come after their parents.
    for (index, node) in nodes.iter().enumerate().rev() {
        contents[index] = content_of(node, packs, &contents);
    }
    let nodes = nodes.par_iter_mut().with_min_len(SMALLEST_SHARE);
    nodes.for_each(|node| sort_node(node, packs, &contents));
}

fn below(child: u32, packs: &[f32], contents: &[Content]) -> Content {
    if child & LEAF == 0 {
        return contents[child as usize];
    }
    Content { surface: packs[(child & !LEAF) as usize], visits: 1.0 }
}

fn content_of<const N: usize>(node: &Wide<N>, packs: &[f32], contents: &[Content]) -> Content {
    let (mut surface, mut visits) = (0.0, 0.0);
    for (bounds, child) in node.occupied() {
        let content = below(child, packs, contents);
        surface += content.surface;
        visits += content.visits * bounds.half_area();
    }
    let area = node.union().half_area();
    Content { surface, visits: 1.0 + if area > 0.0 { visits / area } else { 0.0 } }
}

/// Sorts children by the ascending probability that a visit ends the ray. Empty slots stay at the end.
fn sort_node<const N: usize>(node: &mut Wide<N>, packs: &[f32], contents: &[Content]) {
    let mut order = [(f32::INFINITY, 0); N];
    for (slot, place) in order.iter_mut().enumerate() {
        let child = node.children[slot];
        *place = (f32::INFINITY, slot);
        if child != EMPTY_CHILD {
            let content = below(child, packs, contents);
            place.0 = stop_rate(content, node.bounds(slot).half_area());
        }
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let unsorted = *node;
    for (slot, &(_, from)) in order.iter().enumerate() {
        for (row, old) in node.planes.iter_mut().zip(&unsorted.planes) {
            row[slot] = old[from];
        }
        node.children[slot] = unsorted.children[from];
    }
}

/// Probability per visit that a ray ends after it has entered a box of this half area. The fraction of the lines through a convex body that cross a
/// flat piece inside it is the piece's two-sided area divided by the body's area. Overlaps between pieces are assumed to be random.
fn stop_rate(content: Content, half_area: f32) -> f32 {
    let crossings = content.surface / half_area.max(f32::MIN_POSITIVE);
    let rate = crossings / (1.0 + crossings) / content.visits;
    // After an overflow the rate is not a number; the child is then visited last.
    if rate.is_finite() { rate } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blas, BlasShape, NodeLayout, Quality, Surface};
    use throng_scene::TriangleMesh;

    /// A square of two triangles and, far from it, an equal square of 800 triangles.
    fn squares() -> TriangleMesh {
        let mut mesh = TriangleMesh::default();
        let mut square = |left: f32, cells: u32| {
            let first = mesh.positions.len() as u32;
            let points = cells + 1;
            for i in 0..points * points {
                let [x, y] = [i % points, i / points].map(|i| i as f32 * 10.0 / cells as f32);
                mesh.positions.push([left + x, y, 0.0]);
            }
            for i in 0..cells * cells {
                let a = first + i / cells * points + i % cells;
                let [b, c, d] = [a + 1, a + points, a + points + 1];
                mesh.triangles.extend([[a, b, c], [b, d, c]]);
            }
        };
        square(0.0, 1);
        square(100.0, 20);
        mesh
    }

    #[test]
    fn what_stops_rays_soonest_is_in_the_last_slot() {
        for layout in [NodeLayout::Wide4, NodeLayout::Wide8, NodeLayout::Wide16] {
            for quality in [Quality::Balanced, Quality::High] {
                let mesh = squares();
                let blas = Blas::of_surface(Surface::from(&mesh), layout, quality);
                let BlasShape::Triangles { tree, packs } = &blas.shape else {
                    panic!("triangles");
                };
                each_width!(&tree.nodes, nodes => {
                    let root = &nodes[0];
                    let last = root.occupied().count() - 1;
                    assert_eq!(root.children[last + 1..].iter().find(|c| **c != EMPTY_CHILD), None);
                    // The square of two triangles needs one visit; the other square needs several.
                    let child = root.children[last];
                    assert!(child & LEAF != 0, "{layout:?} {quality:?}: {child:#x}");
                    let surfaces = each_kind!(packs, packs => surfaces(packs));
                    assert_eq!(surfaces[(child & !LEAF) as usize], 100.0);
                });
            }
        }
    }
}
