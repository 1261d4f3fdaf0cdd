//! The entry points of the compiled kernels.

use throng_abi::{Params, Thread};
// Linked with.
use throng_kernels as _;
#[cfg(feature = "probe")]
use throng_kernels_probe as _;

/// A kernel: processes items `begin..end` on the calling thread.
pub type Kernel = unsafe extern "C" fn(*const Params, u32, u32, *mut Thread);

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::layout;

    #[test]
    fn every_compiled_kernel_lays_out_the_border_structs_as_rust_does() {
        for variant in VARIANTS {
            let mut count = 0;
            // SAFETY: returns a static table and its length; uses no instruction beyond the baseline.
            let found = unsafe { std::slice::from_raw_parts((variant.layout)(&mut count), count as usize) };
            let expected = layout::expected(variant.width);
            assert_eq!(found, expected, "variant {}", variant.name);
        }
    }
}
