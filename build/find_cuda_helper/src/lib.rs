//! A replacement for the crate with which cust's build scripts locate a CUDA installation, and which fails without one. No installation is needed:
//! the driver's functions come from the stand-in that throng's own build script compiles (`kernels/driver/libcuda.c`), which loads the driver at run
//! time.

/// Does nothing, because no CUDA headers are needed.
pub fn include_cuda() {}
