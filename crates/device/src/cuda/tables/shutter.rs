//! Motion keys of instances, the camera and meshes over the shutter interval, on the GPU, for one frame in flight.

use crate::cuda::memory::{Array, Pinned, bytes_of};
use crate::{
    Frame, FrameSettings,
    records::params::{camera_keys, mesh_keys},
};
use cust::{error::CudaResult, stream::Stream};
use throng_abi::{CameraRecord, InstanceKey, MeshKeys, Params};

/// Alignment of every part, so that keys are loaded in whole sectors.
const ALIGNMENT: usize = 256;

#[derive(Default)]
pub struct ShutterUpload {
    memory: Array,
    staging: Pinned,
}

impl ShutterUpload {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Queues the upload of a frame's keys, and sets their addresses in `params`. Work that was queued before must not use this memory.
    pub fn upload(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        params: &mut Params,
        stream: &Stream,
    ) -> CudaResult<()> {
        let (cameras, meshes) = (camera_keys(frame, settings), mesh_keys(frame));
        let parts = [bytes_of(&cameras), bytes_of(&meshes), bytes_of(&frame.tlas.shutter.keys)];
        let mut starts = [0; 3];
        let mut end = 0;
        for (start, part) in starts.iter_mut().zip(parts) {
            *start = end;
            end += part.len().next_multiple_of(ALIGNMENT);
        }
        self.memory.reserve_with_room(end)?;
        self.staging.reserve_with_room(end)?;
        for (start, part) in starts.iter().zip(parts) {
            self.staging.fill(*start, part);
        }
        // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
        unsafe { self.memory.write_later(0, &self.staging, 0, end, stream)? };
        params.keys.camera_segments = cameras.len().saturating_sub(1) as u32;
        params.keys.cameras = self.memory.at::<CameraRecord>(starts[0]);
        if !meshes.is_empty() {
            params.keys.meshes = self.memory.at::<MeshKeys>(starts[1]);
        }
        params.keys.instances = self.memory.at::<InstanceKey>(starts[2]);
        Ok(())
    }
}

/// Upper bound of the bytes that the keys of a frame take on the GPU.
pub fn shutter_bytes(frame: &Frame) -> usize {
    let meshes = frame.blas.len() * size_of::<MeshKeys>();
    let cameras = frame.camera_keys.len() * size_of::<CameraRecord>();
    let keys = meshes + cameras + size_of_val(&frame.tlas.shutter.keys[..]) + 3 * ALIGNMENT;
    if frame.moves() { keys * 9 / 8 } else { 0 }
}
