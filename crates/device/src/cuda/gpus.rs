//! The GPUs that this build can use, and the reasons for which it cannot use any.

#[cfg(throng_cuda)]
use super::{
    driver,
    image::{architectures, runs_on},
};
use std::sync::OnceLock;

/// A GPU that this build can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The driver's number of the GPU.
    pub ordinal: u32,
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Memory in bytes.
    pub memory: u64,
}

/// Reasons for which no GPU can be used. The texts are parts of sentences.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("built without CUDA")]
    NotBuilt,
    #[error("built without nvcc, so there are no GPU kernels")]
    NoNvcc,
    #[error("no NVIDIA driver ({0})")]
    NoDriver(String),
    #[error("the NVIDIA driver does not work ({0})")]
    DriverFailed(String),
    #[error("no NVIDIA GPU")]
    NoGpu,
    #[error(
        "this build has no kernels for the {name} of compute capability {}.{}",
        .capability.0,
        .capability.1
    )]
    TooOld { name: String, capability: (u32, u32) },
}

impl Unavailable {
    /// Whether the machine has a GPU, as far as can be determined.
    pub fn has_gpu(&self) -> bool {
        match self {
            Self::NotBuilt | Self::NoNvcc | Self::NoDriver(_) | Self::NoGpu => false,
            Self::DriverFailed(_) | Self::TooOld { .. } => true,
        }
    }

    /// Returns advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NotBuilt => "build on Linux with the feature `cuda`, or use --device cpu",
            Self::NoNvcc => "run `just cuda-toolkit` and build again, or use --device cpu",
            Self::NoDriver(_) => "install the NVIDIA driver, or use --device cpu",
            Self::DriverFailed(_) => "see whether nvidia-smi works, or use --device cpu",
            Self::NoGpu => "use --device cpu",
            Self::TooOld { .. } => "build with its capability in THRONG_CUDA_ARCH, or use --device cpu",
        }
    }
}

/// The GPUs that this build can use, by ascending ordinal; at least one. The driver is queried once per process.
///
/// # Errors
/// The reason for which no GPU can be used.
pub fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    static GPUS: OnceLock<Result<Vec<Gpu>, Unavailable>> = OnceLock::new();
    GPUS.get_or_init(usable_gpus).clone()
}

#[cfg(not(throng_cuda))]
fn usable_gpus() -> Result<Vec<Gpu>, Unavailable> {
    Err(Unavailable::NotBuilt)
}

#[cfg(throng_cuda)]
fn usable_gpus() -> Result<Vec<Gpu>, Unavailable> {
    let architectures = architectures();
    if architectures.is_empty() {
        return Err(Unavailable::NoNvcc);
    }
    let runs = |gpu: &Gpu| runs_on(&architectures, gpu.capability);
    let (usable, others): (Vec<Gpu>, Vec<Gpu>) = driver::gpus()?.into_iter().partition(runs);
    match others.into_iter().next() {
        Some(Gpu { name, capability, .. }) if usable.is_empty() => Err(Unavailable::TooOld { name, capability }),
        _ if usable.is_empty() => Err(Unavailable::NoGpu),
        _ => Ok(usable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_described_or_the_reason_is_told() {
        match gpus() {
            Ok(gpus) => {
                assert!(gpus.is_sorted_by_key(|gpu| gpu.ordinal) && !gpus.is_empty());
                for gpu in gpus {
                    assert!(!gpu.name.is_empty() && gpu.memory > 1 << 28, "{gpu:?}");
                }
            }
            Err(reason) => {
                println!("skipped: {reason}");
                assert!(reason.advice().contains("--device cpu"));
            }
        }
    }
}
