//! cust's build scripts ask this crate for a CUDA installation and stop where there is none. None is needed: the driver's functions come
//! from the stand-in that throng's own build script compiles (`kernels/driver/libcuda.c`), which loads the driver at run time.

/// Asks for nothing.
pub fn include_cuda() {}
