//! The choice of the kernels' variant.

use super::{
    CpuDevice,
    kernels::{KernelTable, VARIANTS},
};
use crate::DeviceError;

/// The variant that traverses the GPU's trees with the GPU's algorithm on the CPU. It is slow and serves for comparison only.
pub(super) const COMPRESSED: &str = "compressed";
/// The variant for any processor.
pub(super) const BASELINE: &str = "baseline";

/// The variant named by `THRONG_CPU`, or the fastest one.
pub(super) fn chosen_kernels() -> Result<&'static KernelTable, DeviceError> {
    match std::env::var("THRONG_CPU") {
        Ok(name) => kernels_named(&name),
        Err(_) => kernels_named(CpuDevice::variants().last().unwrap_or(&BASELINE)),
    }
}

pub(super) fn kernels_named(name: &str) -> Result<&'static KernelTable, DeviceError> {
    let found = VARIANTS.iter().find(|v| v.name == name && supported(v.name));
    found.ok_or_else(|| {
        let names = CpuDevice::variants().join(", ");
        DeviceError::Failed(format!(
            "there is no CPU variant `{name}`: this processor and build have {names} (see THRONG_CPU)"
        ))
    })
}

/// Whether this processor has the instructions that a variant uses.
pub(super) fn supported(variant: &str) -> bool {
    match variant {
        BASELINE | COMPRESSED => true,
        #[cfg(target_arch = "x86_64")]
        "avx2" => {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
        }
        #[cfg(target_arch = "x86_64")]
        "avx512" => {
            supported("avx2")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
        }
        _ => false,
    }
}
