//! Blocks of OpenEXR files, compressed on the GPU. Copying the floats of all AOVs to the host would take longer than tracing a frame, and encoding
//! them there longer still.

use super::{
    kernels::{Kernels, arguments},
    memory::{Array, Pinned, bytes_of},
};
use crate::exr::{bytes_needed, params_of, piece_count, records};
use cust::{error::CudaResult, stream::Stream};
use throng_abi::{ExrBlock, ExrParams};
use throng_picture::aov::{Aov, channels::FileRows};

/// Threads that compress a piece together: `kPieceThreads` in the kernels.
const THREADS: u32 = 256;

/// Memory for blocks, reused from frame to frame.
#[derive(Default)]
pub struct ExrMemory {
    channels: Array,
    staging: Pinned,
    room: Array,
    pieces: Array,
    blocks: Array,
    /// The offsets of all blocks, on the host.
    placed: Pinned,
}

impl ExrMemory {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        let own = [&self.channels, &self.room, &self.pieces, &self.blocks];
        own.iter().map(|array| array.bytes()).sum()
    }

    /// Queues the compression of a picture with `size` pixels, and the copy of the blocks' offsets to the host. `values` returns the address of an
    /// AOV's values, or of the picture's for `None`. Work that was queued before must not use this memory.
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
        // SAFETY: a picture is finished only after its stream was waited for, and the next one starts later (see `Slot`).
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
        // SAFETY: as above. The argument matches the kernels, and the memory belongs to a slot, which outlives queued work.
        unsafe {
            let all = piece_count(&params);
            kernels.launch("throng_deflate_exr", all, THREADS, stream, arguments![params])?;
            kernels.launch("throng_place_exr", 1, THREADS, stream, arguments![params])?;
            self.blocks.read_later(&mut self.placed, 0, blocks, stream)?;
        }
        Ok(params)
    }

    /// Returns the offsets of the blocks, and their total size in bytes. Must be called after the stream has passed [`Self::compress`].
    pub fn places(&self, params: &ExrParams) -> (Vec<u64>, usize) {
        let bytes = bytes_needed(params)[2];
        let blocks: Vec<ExrBlock> = bytemuck::pod_collect_to_vec(&self.placed.bytes()[..bytes]);
        let mut offsets: Vec<u64> = blocks.iter().map(|block| block.offset).collect();
        let end = offsets.pop().unwrap_or(0);
        (offsets, end as usize)
    }

    /// Queues the kernel that writes all blocks to page-locked memory, starting at offset `to`.
    pub fn deliver(
        &self,
        mut params: ExrParams,
        (memory, to): (&mut Pinned, usize),
        kernels: &Kernels,
        stream: &Stream,
    ) -> CudaResult<()> {
        params.out = memory.bytes_mut()[to..].as_mut_ptr();
        // SAFETY: as above. Page-locked memory has the same address on the GPU, and it is read only after the stream was waited for.
        unsafe {
            let all = piece_count(&params);
            kernels.launch("throng_copy_exr", all, THREADS, stream, arguments![params])
        }
    }
}
