//! What operating systems do differently with files, memory and processes, behind one set of functions.
//!
//! `unix` is for Linux, macOS and the rest of the family, `windows` for Windows. Sizes of memory and lossless
//! renaming come from `linux`, `macos` or `windows`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::{exchange, rename_to_new, resident_bytes, total_bytes};
#[cfg(target_os = "macos")]
pub use macos::{exchange, rename_to_new, resident_bytes, total_bytes};
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// What other systems are not known to offer.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod unknown {
    use std::{
        io::{self, ErrorKind},
        path::Path,
    };

    pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
        // A missing file is reported as on Linux.
        a.symlink_metadata().and(b.symlink_metadata())?;
        Err(ErrorKind::Unsupported.into())
    }

    pub fn rename_to_new(_: &Path, _: &Path) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn total_bytes() -> Option<u64> {
        None
    }

    pub fn resident_bytes() -> Option<u64> {
        None
    }
}
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub use unknown::{exchange, rename_to_new, resident_bytes, total_bytes};
