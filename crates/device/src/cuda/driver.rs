//! Initialises the CUDA driver and lists its GPUs.

use super::{Gpu, Unavailable};
use cust::{
    CudaFlags,
    device::{Device, DeviceAttribute},
    error::{CudaError, CudaResult},
};
use std::ffi::{CStr, c_char};

unsafe extern "C" {
    /// Returns a static text, empty if the driver started. Defined in `kernels/driver/libcuda.c`.
    safe fn throng_driver_problem() -> *const c_char;
}

/// Returns all GPUs by ordinal.
pub fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    let started = cust::init(CudaFlags::empty());
    match (started, problem()) {
        (Err(CudaError::NoDevice), None) => return Err(Unavailable::NoGpu),
        (Err(CudaError::NoDevice), Some(problem)) => return Err(Unavailable::NoDriver(problem)),
        (Err(error), problem) => {
            let text = problem.unwrap_or_else(|| format!("{error:?}"));
            return Err(Unavailable::DriverFailed(text));
        }
        (Ok(()), _) => {}
    }
    let count = Device::num_devices().map_err(failed)?;
    (0..count).map(|i| gpu(i).map_err(failed)).collect()
}

fn gpu(ordinal: u32) -> CudaResult<Gpu> {
    let device = Device::get_device(ordinal)?;
    let capability = |attribute| Ok(device.get_attribute(attribute)?.unsigned_abs());
    Ok(Gpu {
        ordinal,
        name: device.name()?,
        capability: (
            capability(DeviceAttribute::ComputeCapabilityMajor)?,
            capability(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        memory: device.total_memory()? as u64,
    })
}

/// The message of the driver or the dynamic linker. Must be called after `init`, by the same thread.
fn problem() -> Option<String> {
    // SAFETY: the function returns a static, zero-terminated text; only `cuInit` writes to it.
    let text = unsafe { CStr::from_ptr(throng_driver_problem()) };
    Some(text.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
}

fn failed(error: CudaError) -> Unavailable {
    Unavailable::DriverFailed(error.to_string())
}
