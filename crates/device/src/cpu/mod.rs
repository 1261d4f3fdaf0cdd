//! The CPU device: the kernels as compiled by the host compiler, in the widest variant that this processor supports, on rayon's threads. Other
//! devices are tested against it.

mod denoise_filter;
mod develop;
mod developer;
mod device;
mod gathering;
mod join;
#[allow(dead_code, reason = "some kernels are launched on GPUs alone")]
mod kernels;
mod launch;
mod picture;
mod variants;
mod watch;

pub use denoise_filter::{DenoiseFilter, FrameLayers};
pub use developer::Developer;
pub use device::CpuDevice;

/// Items of `render_pixel` per batch: four 8×8 tiles.
const PIXEL_BATCH: u32 = 256;
/// Pixels of `resolve_pixel` per batch.
const RESOLVE_BATCH: u32 = 1 << 14;
