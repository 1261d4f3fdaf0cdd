//! The compiled kernels, and the GPUs that can run them.

#[cfg(throng_cuda)]
pub use throng_kernels_cuda::{moving as moving_image, nested as nested_image, still as image, tlas as tlas_image};

#[cfg(throng_cuda)]
const BUILT: &str = throng_kernels_cuda::ARCHITECTURES;
#[cfg(not(throng_cuda))]
const BUILT: &str = "";

/// Compute capabilities of the kernels, ascending, like 75 for 7.5. Empty in a build without nvcc.
pub fn architectures() -> Vec<u32> {
    BUILT.split(',').filter_map(|a| a.parse().ok()).collect()
}

/// Whether a GPU can run the kernels. Machine code runs on GPUs of its generation with its capability or a higher one; PTX runs on all newer GPUs.
pub(super) fn runs_on(architectures: &[u32], (major, minor): (u32, u32)) -> bool {
    let gpu = major * 10 + minor;
    let native = |&arch: &u32| arch / 10 == major && arch <= gpu;
    architectures.iter().any(native) || architectures.last().is_some_and(|&ptx| ptx <= gpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_serves_its_generation_and_ptx_everything_newer() {
        let built = [75, 80, 90];
        for gpu in [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 1)] {
            assert!(runs_on(&built, gpu), "{gpu:?}");
        }
        assert!(!runs_on(&built, (7, 0)));
        assert!(!runs_on(&[86], (8, 0)));
        assert!(!runs_on(&[], (9, 0)));
    }

    #[cfg(throng_cuda)]
    #[test]
    fn there_are_kernels_exactly_if_there_are_architectures() {
        assert_eq!(image().is_empty(), architectures().is_empty());
        assert_eq!(moving_image().is_empty(), image().is_empty());
        assert_eq!(nested_image().is_empty(), image().is_empty());
        assert_eq!(tlas_image().is_empty(), image().is_empty());
    }
}
