//! The BLASes of all meshes on the GPU.

use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::{
    Frame,
    records::{
        pieces::send_pool,
        pool::{pool_size, tree_size, write_tree},
    },
};
use cust::{error::CudaResult, stream::Stream};
use std::sync::Arc;
use throng_abi::{Params, PatchRow, Unit};
use throng_accel::{Blas, PoolOffset, pool_offsets};

/// Trees of a scene without deforming meshes, shared by all frames in flight.
#[derive(Default)]
pub struct StaticPool {
    units: Array,
    leaves: Array,
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
        let (units, rows) = pool_size(blas);
        self.blas = None;
        self.units.reserve(units * size_of::<Unit>())?;
        self.leaves.reserve(rows * size_of::<PatchRow>())?;
        send_pool(
            blas,
            |first, units| self.units.write(first * size_of::<Unit>(), bytes_of(units)),
            |first, rows| self.leaves.write(first * size_of::<PatchRow>(), bytes_of(rows)),
        )?;
        self.blas = Some(blas.clone());
        Ok(())
    }

    pub fn apply(&self, params: &mut Params) {
        params.trees.blas_units = self.units.at(0);
        params.trees.leaves = self.leaves.at(0);
    }
}

/// Trees of a scene with deforming meshes, for one frame in flight. The pool holds the trees of all meshes, so that references count from one start.
/// Trees of meshes that do not deform come first and are uploaded once.
#[derive(Default)]
pub struct DeformingPool {
    units: Array,
    leaves: Array,
    /// The uploaded trees of meshes that do not deform.
    fixed: Vec<Arc<Blas>>,
    staging: Pinned,
}

/// Range of a pool, in units or rows: start and count.
type PoolRange = (usize, usize);

impl DeformingPool {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.units.bytes() + self.leaves.bytes()
    }

    /// Queues the upload of trees that are not uploaded yet. Work that was queued before must not use the pool.
    pub fn upload(&mut self, blas: &[Arc<Blas>], stream: &Stream) -> CudaResult<()> {
        let (units, rows) = pool_size(blas);
        let bytes = (units * size_of::<Unit>(), rows * size_of::<PatchRow>());
        let grows = self.units.bytes() < bytes.0 || self.leaves.bytes() < bytes.1;
        if grows || !self.has_fixed(blas) {
            self.fixed.clear();
            self.units.reserve_with_room(bytes.0)?;
            self.leaves.reserve_with_room(bytes.1)?;
            self.send(blas, |_| true, stream)?;
            let fixed = blas.iter().filter(|blas| !blas.deforms());
            self.fixed = fixed.cloned().collect();
            return Ok(());
        }
        self.send(blas, Blas::deforms, stream)
    }

    pub fn apply(&self, params: &mut Params) {
        params.trees.blas_units = self.units.at(0);
        params.trees.leaves = self.leaves.at(0);
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
        let rows = part(|offset| offset.leaves, |blas| tree_size(blas).1);
        let unit_bytes = units.1 * size_of::<Unit>();
        let row_bytes = rows.1 * size_of::<PatchRow>();
        self.staging.reserve_with_room(unit_bytes + row_bytes)?;
        // Units and rows have the same alignment.
        let (front, back) = self.staging.bytes_mut().split_at_mut(unit_bytes);
        let unit_places: &mut [Unit] = bytemuck::cast_slice_mut(front);
        let row_places: &mut [PatchRow] = bytemuck::cast_slice_mut(&mut back[..row_bytes]);
        for (blas, offset) in trees {
            write_tree(
                blas,
                offset,
                &mut unit_places[offset.units as usize - units.0..],
                &mut row_places[offset.leaves as usize - rows.0..],
            );
        }
        let to = units.0 * size_of::<Unit>();
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe {
            self.units.write_later(to, &self.staging, 0, unit_bytes, stream)?;
            let to = rows.0 * size_of::<PatchRow>();
            self.leaves.write_later(to, &self.staging, unit_bytes, row_bytes, stream)
        }
    }
}

/// Bytes of the compressed trees of all meshes of a frame.
pub fn tree_bytes(frame: &Frame) -> usize {
    let (units, rows) = pool_size(&frame.blas);
    units * size_of::<Unit>() + rows * size_of::<PatchRow>()
}
