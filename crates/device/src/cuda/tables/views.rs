//! The cameras and seeds of the pictures of a batch, on the GPU, for one batch in flight.

use crate::cuda::memory::{Array, Pinned, bytes_of};
use cust::{error::CudaResult, stream::Stream};
use throng_abi::{Params, ViewRecord};

#[derive(Default)]
pub struct ViewUpload {
    memory: Array,
    staging: Pinned,
}

impl ViewUpload {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Queues the upload of `views`, and sets their address in `params`. Work that was queued before must not use this memory.
    pub fn upload(&mut self, views: &[ViewRecord], params: &mut Params, stream: &Stream) -> CudaResult<()> {
        let bytes = bytes_of(views);
        self.memory.reserve(bytes.len())?;
        self.staging.reserve(bytes.len())?;
        self.staging.fill(0, bytes);
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe { self.memory.write_later(0, &self.staging, 0, bytes.len(), stream)? };
        params.picture.views = self.memory.at(0);
        Ok(())
    }
}
