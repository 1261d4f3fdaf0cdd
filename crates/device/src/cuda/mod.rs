//! NVIDIA GPUs: the list of GPUs that this build can use, the reasons for which it cannot use any, and the device that runs on one. Only files in
//! this folder use cust.

#[cfg(throng_cuda)]
mod aovs;
#[cfg(throng_cuda)]
mod budget;
#[cfg(throng_cuda)]
mod denoise_filter;
#[cfg(throng_cuda)]
mod device;
#[cfg(throng_cuda)]
mod driver;
#[cfg(throng_cuda)]
mod exr;
mod gpus;
#[cfg_attr(not(throng_cuda), allow(dead_code))]
mod image;
#[cfg(throng_cuda)]
mod kept;
#[cfg(throng_cuda)]
mod kernels;
#[cfg(throng_cuda)]
mod memory;
#[cfg(throng_cuda)]
mod plan;
#[cfg(throng_cuda)]
mod queries;
#[cfg(throng_cuda)]
mod slot;
#[cfg(throng_cuda)]
mod spare;
#[cfg(throng_cuda)]
mod start;
#[cfg(throng_cuda)]
mod tables;
#[cfg(throng_cuda)]
mod waves;

#[cfg(throng_cuda)]
pub use device::CudaDevice;
pub use gpus::{Gpu, Unavailable, gpus};

use super::{Device, DeviceError};

/// Opens one of [`gpus`].
#[cfg(throng_cuda)]
pub(super) fn open(ordinal: u32) -> Result<Box<dyn Device>, DeviceError> {
    Ok(Box::new(CudaDevice::open(ordinal)?))
}

#[cfg(not(throng_cuda))]
pub(super) fn open(_: u32) -> Result<Box<dyn Device>, DeviceError> {
    Err(DeviceError::Failed(Unavailable::NotBuilt.to_string()))
}
