//! Blocks of OpenEXR files, made on the GPU: copying the floats of all AOVs to the host would take longer than tracing a frame,
//! and encoding them there longer still.

use super::{
    kernels::{Kernels, arguments},
    memory::{Array, Pinned, bytes_of},
};
use crate::{
    abi::{ExrBlock, ExrParams},
    aov::{Aov, channels::FileRows},
    device::blocks::{bytes_needed, params_of, piece_count, records},
};
use cust::{error::CudaResult, stream::Stream};

/// Threads that compress a piece together: `kPieceThreads` of the kernels.
const THREADS: u32 = 256;

/// Memory for the blocks of one frame after the other.
#[derive(Default)]
pub struct ExrMemory {
    channels: Array,
    staging: Pinned,
    room: Array,
    pieces: Array,
    blocks: Array,
    /// The places of all blocks, on the host.
    placed: Pinned,
}

impl ExrMemory {
    /// Bytes on the GPU that this has already.
    pub fn bytes_held(&self) -> usize {
        let own = [&self.channels, &self.room, &self.pieces, &self.blocks];
        own.iter().map(|array| array.bytes()).sum()
    }

    /// Queues the compression of a picture of `size`, and the copy of the blocks' places to the host. `values` tells where an AOV's
    /// values are, or the picture's own for `None`. Nothing that was queued before may use what is here.
    pub fn compress(
        &mut self,
        rows: &FileRows,
        size: (u32, u32),
        values: impl Fn(Option<Aov>) -> *const f32,
        kernels: &Kernels,
        stream: &Stream,
    ) -> CudaResult<ExrParams> {
        let mut params = params_of(rows, size);
        let channels = records(rows, size.0, values);
        let table = size_of_val(&channels[..]);
        self.channels.reserve(table)?;
        self.staging.reserve(table)?;
        self.staging.fill(0, bytes_of(&channels));
        // SAFETY: whoever finishes a picture waits for its stream before the next one (see `Slot`).
        unsafe {
            self.channels.write_later(0, &self.staging, 0, table, stream)?;
        }
        let [room, pieces, blocks] = bytes_needed(&params);
        self.room.reserve(room)?;
        self.pieces.reserve(pieces)?;
        self.blocks.reserve(blocks)?;
        self.placed.reserve(blocks)?;
        params.channels = self.channels.at(0);
        params.room = self.room.at(0);
        params.pieces = self.pieces.at(0);
        params.blocks = self.blocks.at(0);
        // SAFETY: as above. The argument is the kernels', and the memory belongs to a slot, which outlives what is queued.
        unsafe {
            let all = piece_count(&params);
            kernels.launch("throng_deflate_exr", all, THREADS, stream, arguments![params])?;
            kernels.launch("throng_place_exr", 1, THREADS, stream, arguments![params])?;
            self.blocks.read_later(&mut self.placed, 0, blocks, stream)?;
        }
        Ok(params)
    }

    /// Returns the offsets of the blocks, and the size of all; to be called once the stream is past [`Self::compress`].
    pub fn places(&self, params: &ExrParams) -> (Vec<u64>, usize) {
        let bytes = bytes_needed(params)[2];
        let blocks: Vec<ExrBlock> = bytemuck::pod_collect_to_vec(&self.placed.bytes()[..bytes]);
        let mut offsets: Vec<u64> = blocks.iter().map(|block| block.offset).collect();
        let end = offsets.pop().unwrap_or(0);
        (offsets, end as usize)
    }

    /// Queues the copy of all blocks to page-locked memory at `to`, which the GPU writes to itself.
    pub fn deliver(
        &self,
        mut params: ExrParams,
        (memory, to): (&mut Pinned, usize),
        kernels: &Kernels,
        stream: &Stream,
    ) -> CudaResult<()> {
        params.out = memory.bytes_mut()[to..].as_mut_ptr();
        // SAFETY: as above; page-locked memory has the same address on the GPU, and whoever reads it waits for the stream.
        unsafe {
            let all = piece_count(&params);
            kernels.launch("throng_copy_exr", all, THREADS, stream, arguments![params])
        }
    }
}
