//! The kernels in `kernels/`, compiled for NVIDIA GPUs.
//!
//! A crate of its own has no features. Its compilation, which takes longest of all, is thus one for all builds.

#![no_std]

/// Keeps the fat binary aligned as its header requires.
#[repr(C, align(16))]
struct Aligned<T: ?Sized>(T);

static STILL: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin")));
static MOVING: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels_moving.fatbin")));
static NESTED: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels_nested.fatbin")));
static TLAS: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/kernels_tlas.fatbin")));

/// The fat binary of kernels for static pictures; empty in a build without nvcc.
pub fn still() -> &'static [u8] {
    &STILL.0
}

/// The fat binary of kernels for pictures with motion blur.
pub fn moving() -> &'static [u8] {
    &MOVING.0
}

/// The fat binary of kernels for scenes with assemblies.
pub fn nested() -> &'static [u8] {
    &NESTED.0
}

/// The fat binary of kernels that build TLASes.
pub fn tlas() -> &'static [u8] {
    &TLAS.0
}

/// Compute capabilities with machine code, ascending, like 75 for 7.5, separated by commas. The last one also has PTX. Empty in a build without nvcc.
pub const ARCHITECTURES: &str = env!("THRONG_CUDA_BUILT");
