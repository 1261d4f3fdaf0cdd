//! Compressed BLASes one after the other, as kernels expect them: references count from the start of the pool.

use crate::{
    abi::{CompressedNode, TriangleRecord, Unit},
    accel::{Blas, BlasShape, pool_offsets},
};
use std::sync::Arc;

/// Units and triangles of all meshes.
#[derive(Default)]
pub struct Pool {
    pub units: Vec<Unit>,
    pub triangles: Vec<TriangleRecord>,
}

impl Pool {
    /// Meshes without a compressed tree take no room.
    pub fn new(blas: &[Arc<Blas>]) -> Self {
        let mut pool = Self::default();
        for (blas, offset) in blas.iter().zip(pool_offsets(blas)) {
            let BlasShape::Compressed {
                units, triangles, ..
            } = &blas.shape
            else {
                continue;
            };
            pool.triangles.extend_from_slice(triangles);
            pool.units.extend(units.iter().map(|&unit| {
                let node: CompressedNode = bytemuck::cast(unit);
                bytemuck::cast::<_, Unit>(CompressedNode {
                    unit_base: node.unit_base + offset.units,
                    leaf_base: node.leaf_base + offset.triangles,
                    ..node
                })
            }));
        }
        pool
    }
}
