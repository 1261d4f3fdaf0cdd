//! The top level for GPUs: compressed nodes and, among them, the instances in the form that traversal reads.

use crate::{
    Blas, BlasShape, Buffer, Tlas,
    buffer::prefetch,
    compressed::{
        blas::pool_offsets,
        compress::{arrange_all, place_root, wide_nodes, write_units},
        slots::{Arrangement, LeafKind},
    },
    node::Wide,
    shape_of,
};
use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{EMPTY_CHILD, InstanceRecord, InstanceUnit, LEAF, MeshTree, NO_INDEX, Unit};

/// Replaces `tlas.units` by the compressed form of `tlas.tree`, whose leaves are the instances of `tlas.records`. Leaves of hidden records are
/// removed from the tree; `some_hidden` is false if there are none.
pub fn compress_tlas(tlas: &mut Tlas, blas: &[Arc<Blas>], some_hidden: bool, arrangements: &mut Buffer<Arrangement>) {
    let meshes = mesh_trees(blas);
    place_root(&mut tlas.tree);
    let records = &tlas.records[..];
    let Some(nodes) = wide_nodes(&mut tlas.tree) else {
        return;
    };
    if some_hidden || meshes.iter().any(|m| m.solid == 0) {
        prune(nodes, |leaf| {
            let record = &records[leaf as usize];
            record.mask == 0 || meshes[record.mesh as usize].solid == 0
        });
    }
    arrange_all(nodes, LeafKind::Units, arrangements);
    let unit = |leaf| instance_unit(records, leaf, &meshes);
    let ahead = |leaf| prefetch(records, leaf as usize);
    write_units(nodes, arrangements, ahead, unit, &mut tlas.units);
}

/// What the instances of each mesh have in common.
pub fn mesh_trees(blas: &[Arc<Blas>]) -> Vec<MeshTree> {
    let pairs = blas.iter().zip(pool_offsets(blas));
    let trees = pairs.zip(0..).map(|((blas, offset), mesh)| {
        let (root, solid, reach) = match &blas.shape {
            BlasShape::Compressed { units, .. } => (offset.units, !units.is_empty(), 0.0),
            BlasShape::CompressedCurves { units, profile, .. } => {
                (offset.units, !units.is_empty(), -(shape_of(*profile) as f32))
            }
            BlasShape::Sphere => (NO_INDEX, true, 0.0),
            BlasShape::Triangles { .. } | BlasShape::Curves { .. } => (NO_INDEX, false, 0.0),
            // The address of its units is set once all trees are joined.
            BlasShape::Assembly(tree) => {
                (0, !tree.tlas.units.is_empty(), blas.bounds.magnitude().max(f32::MIN_POSITIVE))
            }
        };
        let keys = blas.keys();
        MeshTree {
            min: blas.bounds.min.into(),
            max: blas.bounds.max.into(),
            root,
            mesh_segments: keys.segments,
            mesh_leaves: if reach < 0.0 { mesh } else { keys.leaves },
            reach,
            solid: solid.into(),
            support: NO_INDEX,
            cells: 0,
            reserved: 0,
        }
    });
    trees.collect()
}

/// Removes leaves from the tree. Nodes that lose all children stay; rays find nothing in them.
fn prune(nodes: &mut [Wide<8>], remove: impl Fn(u32) -> bool + Sync) {
    nodes.par_iter_mut().with_min_len(512).for_each(|node| {
        for slot in 0..8 {
            let child = node.children[slot];
            if child != EMPTY_CHILD && child & LEAF != 0 && remove(child & !LEAF) {
                node.clear(slot);
            }
        }
    });
}

fn instance_unit(records: &[InstanceRecord], leaf: u32, meshes: &[MeshTree]) -> Unit {
    let record = &records[leaf as usize];
    let mesh = &meshes[record.mesh as usize];
    bytemuck::cast(InstanceUnit {
        object_from_world: record.object_from_world,
        root: mesh.root,
        instance: record.instance,
        record: leaf,
        segments: record.segments,
        first_key: record.first_key,
        mesh_segments: mesh.mesh_segments,
        mesh_leaves: mesh.mesh_leaves,
        reach: mesh.reach,
    })
}
