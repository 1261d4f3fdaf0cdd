//! Tracing of given rays, without a picture.

use super::{
    device::CudaDevice,
    kernels::arguments,
    memory::bytes_of,
    slot::{elapsed, event_now},
};
use cust::error::CudaResult;
use std::time::Duration;
use throng_abi::{Hit, NO_INDEX, Params, QueueState, Ray};

impl CudaDevice {
    /// Traces the rays of one launch `passes` times, and adds to `times`.
    pub(super) fn trace_slice(
        &mut self,
        params: &Params,
        any: bool,
        rays: &[Ray],
        hits: &mut [Hit],
        times: &mut [Duration],
    ) -> CudaResult<()> {
        let size = if any { size_of::<u32>() } else { size_of::<Hit>() };
        // One queue per pass, so that passes run without waiting for the host.
        let state = QueueState { length: rays.len() as u32, fetched: 0 };
        let states = vec![state; times.len()];
        let queue_bytes = size_of_val(&states[..]).next_multiple_of(256);
        self.rays.reserve(size_of_val(rays) + queue_bytes)?;
        self.hits.reserve(rays.len() * size)?;
        self.rays.write(0, bytes_of(&states))?;
        self.rays.write(queue_bytes, bytes_of(rays))?;
        let (first_ray, first_hit) = (self.rays.at::<Ray>(queue_bytes), self.hits.at::<Hit>(0));
        let stream = &self.slots[0].stream;
        let mut ends = vec![event_now(stream)?];
        for pass in 0..times.len() {
            let queue = self.rays.at::<QueueState>(pass * size_of::<QueueState>());
            // SAFETY: the arguments match the kernel, and the memory lives until the stream was waited for.
            unsafe {
                self.kernels.of(params).launch_trace(
                    any,
                    false,
                    stream,
                    arguments![*params, first_ray, first_hit, queue],
                )?;
            }
            ends.push(event_now(stream)?);
        }
        stream.synchronize()?;
        for (time, pass) in times.iter_mut().zip(ends.windows(2)) {
            *time += elapsed(&pass[0], &pass[1])?;
        }
        if !any {
            return self.hits.read(bytemuck::cast_slice_mut(hits));
        }
        let mut blocked = vec![0u32; rays.len()];
        self.hits.read(bytemuck::cast_slice_mut(&mut blocked))?;
        for (hit, blocked) in hits.iter_mut().zip(blocked) {
            *hit = Hit {
                t: if blocked == 0 { -1.0 } else { 1.0 },
                u: 0.0,
                v: 0.0,
                prim: NO_INDEX,
                instance: NO_INDEX,
                record: NO_INDEX,
            };
        }
        Ok(())
    }
}
