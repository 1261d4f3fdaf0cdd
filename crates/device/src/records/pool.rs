//! All compressed BLASes concatenated for kernels; references count from the start of the pool.

use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{CompressedNode, TriangleRecord, Unit};
use throng_accel::{Blas, PoolOffset, pool_offsets};

/// Units and triangles of all meshes.
#[derive(Default)]
pub struct Pool {
    pub units: Vec<Unit>,
    pub triangles: Vec<TriangleRecord>,
}

impl Pool {
    /// Copies all trees into a pool. Meshes without a compressed tree take no space.
    pub fn new(blas: &[Arc<Blas>]) -> Self {
        let offsets = pool_offsets(blas);
        let (mut units, mut triangles) = pool_size(blas);
        let mut pool =
            Self { units: vec![Unit::default(); units], triangles: vec![TriangleRecord::default(); triangles] };
        for (blas, offset) in blas.iter().zip(offsets) {
            (units, triangles) = (offset.units as usize, offset.triangles as usize);
            write_tree(blas, offset, &mut pool.units[units..], &mut pool.triangles[triangles..]);
        }
        pool
    }
}

/// Total numbers of units and triangles in the trees of all meshes.
pub fn pool_size(blas: &[Arc<Blas>]) -> (usize, usize) {
    blas.iter().map(|blas| tree_size(blas)).fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1))
}

/// Numbers of units and triangles in one tree.
pub fn tree_size(blas: &Blas) -> (usize, usize) {
    blas.shape.compressed().map_or((0, 0), |(units, leaves)| (units.len(), leaves.len()))
}

/// Copies a tree to the start of `units` and `triangles`, and adds `offset`, its position in the pool, to all references.
pub fn write_tree(blas: &Blas, offset: PoolOffset, units: &mut [Unit], triangles: &mut [TriangleRecord]) {
    let Some((own, own_triangles)) = blas.shape.compressed() else {
        return;
    };
    let moved = units.par_iter_mut().zip(own.par_iter());
    moved.with_min_len(4096).for_each(|(to, &unit)| {
        let node: CompressedNode = bytemuck::cast(unit);
        *to = bytemuck::cast(CompressedNode {
            unit_base: node.unit_base + offset.units,
            leaf_base: node.leaf_base + offset.triangles,
            ..node
        });
    });
    let copied = triangles.par_iter_mut().zip(own_triangles.par_iter());
    copied.with_min_len(4096).for_each(|(to, from)| *to = *from);
}
