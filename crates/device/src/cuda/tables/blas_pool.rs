//! The BLASes of all meshes on the GPU.

use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::{
    Frame,
    records::pool::{Pool, pool_size, tree_size, write_tree},
};
use cust::{error::CudaResult, stream::Stream};
use std::sync::Arc;
use throng_abi::{Params, TriangleRecord, Unit};
use throng_accel::{Blas, PoolOffset, pool_offsets};

/// Trees of a scene without deforming meshes, shared by all frames in flight.
#[derive(Default)]
pub struct StaticPool {
    units: Array,
    triangles: Array,
    /// The uploaded trees.
    blas: Option<Arc<Vec<Arc<Blas>>>>,
}

impl StaticPool {
    /// Whether exactly these trees are uploaded.
    pub fn holds(&self, blas: &Arc<Vec<Arc<Blas>>>) -> bool {
        self.blas.as_ref().is_some_and(|own| Arc::ptr_eq(own, blas))
    }

    /// Replaces the trees and waits. No work on the GPU may use them during the call.
    pub fn upload(&mut self, blas: &Arc<Vec<Arc<Blas>>>) -> CudaResult<()> {
        let pool = Pool::new(blas);
        let (units, triangles) = (bytes_of(&pool.units), bytes_of(&pool.triangles));
        self.blas = None;
        self.units.reserve(units.len())?;
        self.triangles.reserve(triangles.len())?;
        self.units.write(0, units)?;
        self.triangles.write(0, triangles)?;
        self.blas = Some(blas.clone());
        Ok(())
    }

    pub fn apply(&self, params: &mut Params) {
        params.trees.blas_units = self.units.at(0);
        params.trees.triangles = self.triangles.at(0);
    }
}

/// Trees of a scene with deforming meshes, for one frame in flight. The pool holds the trees of all meshes, so that references count from one start.
/// Trees of meshes that do not deform come first and are uploaded once.
#[derive(Default)]
pub struct DeformingPool {
    units: Array,
    triangles: Array,
    /// The uploaded trees of meshes that do not deform.
    fixed: Vec<Arc<Blas>>,
    staging: Pinned,
}

/// Range of a pool, in units or triangles: start and count.
type PoolRange = (usize, usize);

impl DeformingPool {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.units.bytes() + self.triangles.bytes()
    }

    /// Queues the upload of trees that are not uploaded yet. Work that was queued before must not use the pool.
    pub fn upload(&mut self, blas: &[Arc<Blas>], stream: &Stream) -> CudaResult<()> {
        let (units, triangles) = pool_size(blas);
        let bytes = (units * size_of::<Unit>(), triangles * size_of::<TriangleRecord>());
        let grows = self.units.bytes() < bytes.0 || self.triangles.bytes() < bytes.1;
        if grows || !self.has_fixed(blas) {
            self.fixed.clear();
            self.units.reserve_with_room(bytes.0)?;
            self.triangles.reserve_with_room(bytes.1)?;
            self.send(blas, |_| true, stream)?;
            let fixed = blas.iter().filter(|blas| !blas.deforms());
            self.fixed = fixed.cloned().collect();
            return Ok(());
        }
        self.send(blas, Blas::deforms, stream)
    }

    pub fn apply(&self, params: &mut Params) {
        params.trees.blas_units = self.units.at(0);
        params.trees.triangles = self.triangles.at(0);
    }

    fn has_fixed(&self, blas: &[Arc<Blas>]) -> bool {
        let mut fixed = blas.iter().filter(|blas| !blas.deforms());
        let same = |own: &Arc<Blas>| fixed.next().is_some_and(|blas| Arc::ptr_eq(own, blas));
        self.fixed.iter().all(same) && fixed.next().is_none()
    }

    /// Queues the upload of the trees for which `wanted` is true, which are contiguous in the pool.
    fn send(&mut self, blas: &[Arc<Blas>], wanted: impl Fn(&Blas) -> bool, stream: &Stream) -> CudaResult<()> {
        let pairs = blas.iter().zip(pool_offsets(blas));
        let trees: Vec<(&Blas, PoolOffset)> =
            pairs.map(|(blas, offset)| (&**blas, offset)).filter(|(blas, _)| wanted(blas)).collect();
        let part = |start: fn(&PoolOffset) -> u32, size: fn(&Blas) -> usize| -> PoolRange {
            let first = trees.iter().map(|(_, offset)| start(offset) as usize).min();
            let count = trees.iter().map(|(blas, _)| size(blas)).sum();
            (first.unwrap_or(0), count)
        };
        let units = part(|offset| offset.units, |blas| tree_size(blas).0);
        let triangles = part(|offset| offset.leaves, |blas| tree_size(blas).1);
        let unit_bytes = units.1 * size_of::<Unit>();
        // Triangles have a greater alignment than units.
        let start = unit_bytes.next_multiple_of(align_of::<TriangleRecord>());
        let triangle_bytes = triangles.1 * size_of::<TriangleRecord>();
        self.staging.reserve_with_room(start + triangle_bytes)?;
        let (front, back) = self.staging.bytes_mut().split_at_mut(start);
        let unit_places: &mut [Unit] = bytemuck::cast_slice_mut(&mut front[..unit_bytes]);
        let triangle_places: &mut [TriangleRecord] = bytemuck::cast_slice_mut(&mut back[..triangle_bytes]);
        for (blas, offset) in trees {
            write_tree(
                blas,
                offset,
                &mut unit_places[offset.units as usize - units.0..],
                &mut triangle_places[offset.leaves as usize - triangles.0..],
            );
        }
        let to = units.0 * size_of::<Unit>();
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe {
            self.units.write_later(to, &self.staging, 0, unit_bytes, stream)?;
            let to = triangles.0 * size_of::<TriangleRecord>();
            self.triangles.write_later(to, &self.staging, start, triangle_bytes, stream)
        }
    }
}

/// Bytes of the compressed trees of all meshes of a frame.
pub fn tree_bytes(frame: &Frame) -> usize {
    let (units, triangles) = pool_size(&frame.blas);
    units * size_of::<Unit>() + triangles * size_of::<TriangleRecord>()
}
