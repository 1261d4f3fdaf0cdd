//! From a job to finished frames: what is done next, and the two drivers that do it.

pub mod batches;
pub mod busy;
pub mod frame_queue;
pub mod in_memory;
pub mod keeper;
pub mod overlapped;
pub mod paced;
pub mod plan;
pub mod prepare;
pub mod refine;
pub mod sampling;
pub mod slices;
pub mod window;
