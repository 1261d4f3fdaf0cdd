//! Devices, which execute kernels: the trait that every device implements, and the choice of a device.

pub mod batch;
mod choice;
mod cpu;
pub mod cuda;
mod denoise_filter;
mod device;
#[cfg(any(throng_cuda, feature = "probe"))]
pub mod exr;
#[cfg(any(test, feature = "probe"))]
pub mod fake;
mod film;
#[cfg(test)]
mod fog_tests;
mod frame;
mod kept;
pub mod light;
#[cfg(test)]
mod maths_tests;
mod multi_device;
mod picture;
#[cfg(feature = "probe")]
pub mod probe;
mod progress;
mod rays;
mod records;
mod rendered;
#[cfg(any(throng_cuda, all(test, feature = "probe")))]
mod tlas_build;

pub use choice::{DeviceChoice, DeviceList, DeviceNameError, Opened, open, start_threads, together};
pub use cpu::{CpuDevice, DenoiseFilter, Developer, FrameLayers};
pub use denoise_filter::{ALBEDO_FLOOR, DenoiseWanted, DeviceRecords, Filtered, FrameRecords, HostFrame};
pub use device::{Device, DeviceError, Stop};
pub use film::{Accumulation, AccumulationState, FoldedFilm, Samples, layer_columns, layer_words};
pub use frame::{Frame, OtherPose, PosedMesh};
pub use kept::{KeptImage, KeptMemory, KeptPicture, MatteNumbers, PixelFormat, Plane, ValueType};
pub use multi_device::MultiDevice;
pub use picture::{Delivery, FrameSettings, Region, RegionError, TILE, TileGrid};
pub use progress::FrameProgress;
pub use rays::{OwnRays, RayCounts, RayKind, WorkCounts};
pub use records::params::tone_code;
pub use rendered::{Rendered, StageTimes};
pub use throng_picture::pixels::PixelType;
