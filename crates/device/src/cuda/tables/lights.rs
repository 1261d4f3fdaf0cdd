//! The tree over the lights inside the scene, on the GPU, for one frame in flight.

use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::light::LocalTree;
use cust::{error::CudaResult, stream::Stream};
use std::{mem::size_of_val, ptr::null, sync::Arc};
use throng_abi::LocalLights;

/// Alignment of every part, so that records are loaded in whole sectors.
const ALIGNMENT: usize = 256;

#[derive(Default)]
pub struct Lights {
    memory: Array,
    staging: Pinned,
    /// The uploaded tree. An unchanged tree is uploaded once.
    uploaded: Option<Arc<LocalTree>>,
}

impl Lights {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Queues the upload of `tree`, unless it is already uploaded, and returns the parameters that point to it. Work that was queued before must not
    /// use this memory.
    pub fn upload(&mut self, tree: &Arc<LocalTree>, stream: &Stream) -> CudaResult<LocalLights> {
        let parts = parts(tree);
        let mut starts = [0; 5];
        let mut end = 0;
        for (start, part) in starts.iter_mut().zip(parts) {
            *start = end;
            end += part.len().next_multiple_of(ALIGNMENT);
        }
        if !self.uploaded.as_ref().is_some_and(|own| Arc::ptr_eq(own, tree)) {
            self.uploaded = None;
            self.memory.reserve_with_room(end)?;
            self.staging.reserve_with_room(end)?;
            for (start, part) in starts.iter().zip(parts) {
                self.staging.fill(*start, part);
            }
            // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
            unsafe { self.memory.write_later(0, &self.staging, 0, end, stream)? };
            self.uploaded = Some(tree.clone());
        }
        let memory = &self.memory;
        Ok(LocalLights {
            nodes: memory.at(starts[0]),
            emitters: memory.at(starts[1]),
            emitter_of: if tree.emitter_of.is_empty() { null() } else { memory.at(starts[2]) },
            tables: memory.at(starts[3]),
            triangles: memory.at(starts[4]),
            ..tree.params()
        })
    }

    /// Marks the memory as empty, so that the next tree is uploaded.
    pub fn clear(&mut self) {
        self.uploaded = None;
    }
}

fn parts(tree: &LocalTree) -> [&[u8]; 5] {
    [
        bytes_of(&tree.nodes),
        bytes_of(&tree.emitters),
        bytes_of(&tree.emitter_of),
        bytes_of(&tree.tables.tables),
        bytes_of(&tree.tables.triangles),
    ]
}

/// Upper bound of the bytes that a tree takes on the GPU.
pub fn tree_bytes(tree: &LocalTree) -> usize {
    let parts = parts(tree);
    parts.iter().map(|part| size_of_val(*part)).sum::<usize>() + parts.len() * ALIGNMENT
}
