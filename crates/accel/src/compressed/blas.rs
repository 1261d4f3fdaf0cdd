//! The bottom level for GPUs: compressed nodes, one triangle per leaf, and the offset of each mesh in the pools.

use crate::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::BuiltTree,
    build::{
        BuildMemory, BuildOptions, BuildPrim, build,
        collapse::{LeafRoom, build_collapsed},
        split::SplitMethod,
    },
    compressed::{
        compress::{arrange_all, place_root, wide_nodes, write_units},
        slots::{Arrangement, LeafKind},
    },
    node::{NodeLayout, Wide},
    refit::plan::Leaf,
    surface::Surface,
};
use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{LEAF, TriangleRecord, TriangleRow, Unit};

/// Position of a mesh's units and triangles in the pools of all meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOffset {
    pub units: u32,
    pub triangles: u32,
}

/// Returns the offsets of all meshes. Meshes that do not deform come first, so that their offsets do not change. Meshes without a compressed tree
/// (spheres, meshes without triangles) take no space.
pub fn pool_offsets(blas: &[Arc<Blas>]) -> Vec<PoolOffset> {
    let mut next = PoolOffset::default();
    let mut offsets = vec![next; blas.len()];
    for deforms in [false, true] {
        let some = blas.iter().zip(&mut offsets);
        for (blas, offset) in some.filter(|(blas, _)| blas.deforms() == deforms) {
            *offset = next;
            if let Some((units, triangles)) = blas.shape.compressed() {
                next.units += units.len() as u32;
                next.triangles += triangles.len() as u32;
            }
        }
    }
    offsets
}

/// Builds the compressed tree of `surface` over `prims`, the boxes of its triangles or of parts of them.
pub fn build_compressed(prims: Vec<BuildPrim>, surface: &Surface<'_>, quality: Quality) -> BuiltTree {
    let (tree, units, triangles) = compressed_tree(prims, quality, |triangles| fill_triangles(triangles, surface));
    #[cfg(debug_assertions)]
    crate::compressed::validate::validate_blas(&units, &triangles, surface, tree.depth)
        .expect("a fresh compressed BLAS is valid");
    BuiltTree {
        shape: BlasShape::Compressed { depth: tree.depth, units, triangles },
        bounds: tree.bounds,
        sah_cost: tree.sah_cost(1.0),
    }
}

/// Builds a tree over `prims`, in float nodes and in compressed units. `fill` completes the records of leaves, in which `prim` is set.
pub fn compressed_tree(
    mut prims: Vec<BuildPrim>,
    quality: Quality,
    fill: impl FnOnce(&mut [TriangleRecord]),
) -> (Tree, Buffer<Unit>, Buffer<TriangleRecord>) {
    let mut tree = Tree::new(NodeLayout::Compressed8);
    build_float_tree(&mut prims, quality, &mut tree);
    let (mut units, mut leaves) = (Buffer::new(), Buffer::new());
    if let Some(nodes) = wide_nodes(&mut tree) {
        let mut arrangements = Buffer::new();
        arrange_all(nodes, LeafKind::Separate, &mut arrangements);
        leaves = place_triangles(nodes, &arrangements, &prims);
        fill(&mut leaves);
        write_units(nodes, &arrangements, |_| (), |_| Unit::default(), &mut units);
    }
    (tree, units, leaves)
}

/// Builds `tree` with one triangle per leaf: from a binary tree, or by binned splits if `quality` is fast or the collapsed tree is unusable.
fn build_float_tree(prims: &mut [BuildPrim], quality: Quality, tree: &mut Tree) {
    let collapsed = quality != Quality::Fast && build_collapsed(prims, LeafRoom::Prims(1), quality, tree);
    if !collapsed {
        let options = BuildOptions { leaf_size: 1, method: SplitMethod::Binned };
        build(prims, &[], options, &BuildMemory::default(), tree);
    }
    place_root(tree);
}

/// Creates a record for each leaf that stores its triangle's index, and points the leaf at the record.
fn place_triangles(nodes: &mut [Wide<8>], arrangements: &[Arrangement], prims: &[BuildPrim]) -> Buffer<TriangleRecord> {
    let mut triangles = Buffer::filled(prims.len(), TriangleRecord::default());
    for (node, arrangement) in nodes.iter_mut().zip(arrangements) {
        let places = arrangement.leaf_base..;
        for (lane, place) in arrangement.leaf_lanes().zip(places) {
            let prim = prims[(node.children[lane] & !LEAF) as usize].id;
            triangles[place as usize].rows = [TriangleRow { prim, ..TriangleRow::default() }; 3];
            node.children[lane] = LEAF | place;
        }
    }
    triangles
}

/// Writes the corners of the triangles whose indices are in the records.
fn fill_triangles(triangles: &mut [TriangleRecord], surface: &Surface<'_>) {
    let records = triangles.par_iter_mut().with_min_len(512);
    records.for_each(|record| {
        record.fill(surface);
    });
}
