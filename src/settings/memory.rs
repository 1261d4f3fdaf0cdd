//! Whether a picture fits into this machine, asked before the work starts rather than by the kernel's OOM killer.

use super::SettingsError;
use crate::memory::total_bytes;

/// An estimate: the float film, and the output pixels of the frames that are under way at the same time.
const BYTES_PER_PIXEL: u64 = 32;

/// Machines that do not tell how much memory they have are trusted to have enough.
pub fn check(width: u32, height: u32) -> Result<(), SettingsError> {
    let needed = u64::from(width) * u64::from(height) * BYTES_PER_PIXEL;
    match total_bytes() {
        Some(available) if needed > available => Err(SettingsError::Memory { width, height, needed, available }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_fits_everywhere() {
        assert!(check(64, 64).is_ok());
    }
}
