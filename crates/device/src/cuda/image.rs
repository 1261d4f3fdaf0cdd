//! The compiled kernels, and the GPUs that can run them.

/// Keeps the fat binary aligned as its header requires.
#[repr(C, align(16))]
struct Aligned<T: ?Sized>(T);

#[cfg(throng_cuda)]
static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin")));
#[cfg(throng_cuda)]
static MOVING_IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels_moving.fatbin")));
#[cfg(throng_cuda)]
static NESTED_IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels_nested.fatbin")));
#[cfg(not(throng_cuda))]
static IMAGE: &Aligned<[u8]> = &Aligned([]);
#[cfg(not(throng_cuda))]
static MOVING_IMAGE: &Aligned<[u8]> = &Aligned([]);
#[cfg(not(throng_cuda))]
static NESTED_IMAGE: &Aligned<[u8]> = &Aligned([]);

#[cfg(throng_cuda)]
const BUILT: &str = env!("THRONG_CUDA_BUILT");
#[cfg(not(throng_cuda))]
const BUILT: &str = "";

/// The fat binary of kernels for static pictures; empty in a build without nvcc.
pub fn image() -> &'static [u8] {
    &IMAGE.0
}

/// The fat binary of kernels for pictures with motion blur.
pub fn moving_image() -> &'static [u8] {
    &MOVING_IMAGE.0
}

/// The fat binary of kernels for scenes with assemblies.
pub fn nested_image() -> &'static [u8] {
    &NESTED_IMAGE.0
}

/// Compute capabilities with machine code in [`image`], ascending, like 75 for 7.5. The last one also has PTX. Empty in a build without nvcc.
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

    #[test]
    fn there_are_kernels_exactly_if_there_are_architectures() {
        assert_eq!(image().is_empty(), architectures().is_empty());
        assert_eq!(moving_image().is_empty(), image().is_empty());
        assert_eq!(nested_image().is_empty(), image().is_empty());
    }
}
