//! What operating systems do differently, behind one set of functions. All other modules of this crate are free of conditional compilation.
//!
//! `unix` is for Linux, macOS and the rest of the family, `windows` for Windows. Sizes of memory come from `linux`, `macos` or `windows`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::{resident_bytes, total_bytes};
#[cfg(target_os = "macos")]
pub use macos::{resident_bytes, total_bytes};
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// Other systems do not report sizes of memory.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod unknown {
    pub fn total_bytes() -> Option<u64> {
        None
    }

    pub fn resident_bytes() -> Option<u64> {
        None
    }
}
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub use unknown::{resident_bytes, total_bytes};
