//! The bottom level for GPUs: compressed nodes, one triangle per leaf, and where each mesh's part of the pools begins.

use super::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::{build_prims, corners},
    build::{BuildMemory, BuildOptions, BuildPrim, build},
    collapse::build_collapsed,
    compress::{arrange_all, plant_root, wide_nodes, write_units},
    node::{NodeLayout, Wide},
    refit::sweep,
    slots::{Arrangement, LeafKind},
};
use crate::{
    abi::{LEAF, TriangleRecord, TriangleRow, Unit},
    math::Aabb,
    scene::TriangleMesh,
};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Where a mesh's units and triangles begin in pools that hold those of all meshes one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOffset {
    pub units: u32,
    pub triangles: u32,
}

/// The offsets of all meshes. Meshes without a compressed tree (spheres, meshes of no triangles) take no room.
pub fn pool_offsets(blas: &[Arc<Blas>]) -> Vec<PoolOffset> {
    let mut next = PoolOffset::default();
    let offset = |blas: &Arc<Blas>| {
        let offset = next;
        if let BlasShape::Compressed {
            units, triangles, ..
        } = &blas.shape
        {
            next.units += units.len() as u32;
            next.triangles += triangles.len() as u32;
        }
        offset
    };
    blas.iter().map(offset).collect()
}

/// Builds the compressed tree of `mesh`. The float tree is kept for refits; its leaves refer to triangle records.
pub fn build_compressed(mesh: &TriangleMesh, quality: Quality) -> BlasShape {
    let mut prims = build_prims(mesh);
    let mut tree = Tree::new(NodeLayout::Compressed8);
    build_float_tree(&mut prims, quality, &mut tree);
    let (mut units, mut triangles) = (Buffer::new(), Buffer::new());
    let mut arrangements = Buffer::new();
    if let Some(nodes) = wide_nodes(&mut tree) {
        arrange_all(nodes, LeafKind::Separate, &mut arrangements);
        triangles = place_triangles(nodes, &arrangements, &prims);
        fill_triangles(&mut triangles, mesh);
        write_units(
            nodes,
            &arrangements,
            |_| (),
            |_| Unit::default(),
            &mut units,
        );
    }
    #[cfg(debug_assertions)]
    super::validate_compressed::validate_blas(&units, &triangles, mesh, tree.depth)
        .expect("a fresh compressed BLAS is valid");
    BlasShape::Compressed {
        tree,
        units,
        triangles,
        arrangements,
    }
}

/// Builds `tree` with one triangle per leaf, by way of a binary tree where quality is wanted.
fn build_float_tree(prims: &mut [BuildPrim], quality: Quality, tree: &mut Tree) {
    let collapsed = quality == Quality::High && build_collapsed(prims, tree);
    if !collapsed {
        let options = BuildOptions {
            leaf_size: 1,
            method: quality.split_method(),
        };
        build(prims, &[], options, &BuildMemory::default(), tree);
    }
    plant_root(tree);
}

/// Takes over the positions of `mesh`. Slots and sizes stay as they are. O(triangles).
pub fn refit_compressed(
    tree: &mut Tree,
    arrangements: &[Arrangement],
    units: &mut Buffer<Unit>,
    triangles: &mut [TriangleRecord],
    mesh: &TriangleMesh,
) {
    fill_triangles(triangles, mesh);
    let mut bounds = Aabb::EMPTY;
    if let Some(nodes) = wide_nodes(tree)
        && !nodes.is_empty()
    {
        bounds = sweep(nodes, |leaf| triangle_bounds(&triangles[leaf as usize]));
        write_units(nodes, arrangements, |_| (), |_| Unit::default(), units);
    }
    tree.bounds = bounds;
}

/// Names the triangle of each record, and points leaves at the records.
fn place_triangles(
    nodes: &mut [Wide<8>],
    arrangements: &[Arrangement],
    prims: &[BuildPrim],
) -> Buffer<TriangleRecord> {
    let mut triangles = Buffer::filled(prims.len(), TriangleRecord::default());
    for (node, arrangement) in nodes.iter_mut().zip(arrangements) {
        let places = arrangement.leaf_base..;
        for (lane, place) in arrangement.leaf_lanes().zip(places) {
            let prim = prims[(node.children[lane] & !LEAF) as usize].id;
            triangles[place as usize].rows = [TriangleRow {
                prim,
                ..TriangleRow::default()
            }; 3];
            node.children[lane] = LEAF | place;
        }
    }
    triangles
}

/// Writes the corners of the triangles that the records name.
fn fill_triangles(triangles: &mut [TriangleRecord], mesh: &TriangleMesh) {
    triangles
        .par_iter_mut()
        .with_min_len(512)
        .for_each(|record| {
            let corners = corners(mesh, record.rows[0].prim as usize);
            for (axis, row) in record.rows.iter_mut().enumerate() {
                row.corners = corners.map(|corner| corner[axis]);
            }
        });
}

/// The box around a triangle.
pub fn triangle_bounds(record: &TriangleRecord) -> Aabb {
    let [x, y, z] = record.rows.map(|row| row.corners);
    Aabb::of_points((0..3).map(|i| Vec3::new(x[i], y[i], z[i])))
}
