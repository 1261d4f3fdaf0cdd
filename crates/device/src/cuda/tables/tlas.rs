//! A TLAS on the GPU.

use super::tlas_build::{Building, TlasScratch};
use crate::{
    Frame,
    cuda::memory::{Array, Pinned, bytes_of, is_same},
};
use cust::{error::CudaResult, stream::Stream};
use std::sync::{Arc, Weak};
use throng_abi::{InstanceRecord, NestLevel, Params, Unit};
use throng_accel::{Place, StillTree, Tlas};

/// Minimum number of records of a TLAS that serves all frames for it to be uploaded once, not once per frame in flight. Smaller ones are not worth
/// the wait.
const FEWEST_SHARED: usize = 1 << 16;

#[derive(Default)]
pub struct TlasUpload {
    pub(super) units: Array,
    pub(super) records: Array,
    pub(super) staging: Pinned,
    /// The TLAS in `units` and `records`, so that an unchanged one is uploaded once.
    pub(super) uploaded: Weak<Tlas>,
    /// Its trees over what stands still, which other TLASes have, too.
    pub(super) still: Vec<Weak<StillTree>>,
    pub(super) building: Building,
}

/// Whether the TLAS of a frame is uploaded once for all frames in flight.
pub fn is_shared(frame: &Frame) -> bool {
    !frame.scene.is_animated() && frame.tlas.records.len() >= FEWEST_SHARED
}

impl TlasUpload {
    /// Whether exactly this TLAS is uploaded.
    pub fn holds(&self, tlas: &Arc<Tlas>) -> bool {
        is_same(&self.uploaded, tlas)
    }

    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.units.bytes() + self.records.bytes() + self.building.bytes_held()
    }

    /// Frees the memory. No work may use it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Marks the memory as empty, so that the next TLAS is uploaded.
    pub fn forget(&mut self) {
        (self.uploaded, self.still) = (Weak::new(), Vec::new());
        self.building.forget();
    }

    /// Copies the TLAS of a frame to page-locked memory and queues its upload, unless it is uploaded already, and sets its addresses in `params`. If the
    /// GPU builds it, [`Self::build`] must follow. Work that was queued before must not use this memory.
    pub fn upload(
        &mut self,
        frame: &Frame,
        scratch: &mut TlasScratch,
        params: &mut Params,
        stream: &Stream,
    ) -> CudaResult<()> {
        let tlas = &frame.tlas;
        match &tlas.unbuilt {
            Some(_) if self.holds(tlas) => {}
            Some(unbuilt) => self.upload_instances((frame, unbuilt), scratch, stream)?,
            None => return self.upload_built(tlas, params, stream),
        }
        params.trees.tlas_units = self.units.at::<Unit>(0);
        params.trees.instances = self.records.at::<InstanceRecord>(0);
        Ok(())
    }

    fn upload_built(&mut self, tlas: &Arc<Tlas>, params: &mut Params, stream: &Stream) -> CudaResult<()> {
        let (units, records) = (bytes_of(&tlas.units), bytes_of(&tlas.records));
        // Levels, numbers, records and indices of instances follow the records. Their sizes are multiples of a word.
        let nested = tlas.nested.as_ref().map_or([&[][..]; 4], |nested| nested.parts());
        let mut starts = [records.len(); 5];
        for (part, bytes) in nested.iter().enumerate() {
            starts[part + 1] = starts[part] + bytes.len();
        }
        let behind = starts[4] - records.len();
        if !self.holds(tlas) {
            let held = std::mem::take(&mut self.still);
            self.uploaded = Weak::new();
            self.building.forget();
            // Some room to grow, because the tree of a moving scene changes its size from frame to frame.
            let room = self.bytes_held();
            self.units.reserve_with_room(units.len())?;
            self.records.reserve_with_room(records.len() + behind)?;
            let keeps = room == self.bytes_held();
            let kept = tlas.still.iter().zip(&held).take_while(|(still, held)| keeps && is_same(held, still));
            let kept = kept.last().map(|(still, _)| still.end());
            // The roots are always new.
            let (first, next) = kept.map_or((0, 0), |end| (Place::FIRST.units, end.units));
            let [first, next] = [first, next].map(|unit| unit * size_of::<Unit>());
            let next_record = kept.map_or(0, |end| end.records) * size_of::<InstanceRecord>();
            let of_units = [(0, &units[..first]), (next, &units[next..])];
            let of_units = of_units.map(|(start, bytes)| (&self.units, start, bytes));
            let of_records = [(next_record, &records[next_record..])].into_iter().chain(starts.into_iter().zip(nested));
            let of_records = of_records.map(|(start, bytes)| (&self.records, start, bytes));
            let copies: Vec<(&Array, usize, &[u8])> = of_units.into_iter().chain(of_records).collect();
            self.staging.send(&copies, stream)?;
            self.uploaded = Arc::downgrade(tlas);
            self.still = tlas.still.iter().map(Arc::downgrade).collect();
        }
        params.trees.tlas_units = self.units.at::<Unit>(0);
        params.trees.instances = self.records.at::<InstanceRecord>(0);
        if behind > 0 {
            params.trees.levels = self.records.at::<NestLevel>(starts[0]);
            params.trees.numbers = self.records.at::<u32>(starts[1]);
            params.trees.records_of = self.records.at::<u32>(starts[2]);
            params.trees.indices = self.records.at::<u32>(starts[3]);
        }
        if let Some(nested) = &tlas.nested {
            params.trees.shares_numbers = nested.numbers.shared.into();
        }
        Ok(())
    }

    /// Uploads a TLAS that serves all frames, waits, and frees the page-locked copy.
    pub fn upload_whole(&mut self, tlas: &Arc<Tlas>, params: &mut Params, stream: &Stream) -> CudaResult<()> {
        let is_new = !self.holds(tlas);
        self.upload_built(tlas, params, stream)?;
        if is_new {
            stream.synchronize()?;
            self.staging = Pinned::default();
        }
        Ok(())
    }
}
