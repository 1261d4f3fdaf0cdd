//! Whether a picture fits into this machine, asked before the work starts rather than by the kernel's OOM killer.

use super::SettingsError;
use std::fs;

/// An estimate: the float film, and the output pixels of the frames that are under way at the same time.
const BYTES_PER_PIXEL: u64 = 32;

/// Machines that do not tell how much memory they have are trusted to have enough.
pub fn check(width: u32, height: u32) -> Result<(), SettingsError> {
    let needed = u64::from(width) * u64::from(height) * BYTES_PER_PIXEL;
    match total_bytes() {
        Some(available) if needed > available => Err(SettingsError::Memory {
            width,
            height,
            needed,
            available,
        }),
        _ => Ok(()),
    }
}

/// "12.3 GB", or "123 MB" below one GB.
pub fn describe(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        gigabytes if gigabytes < 1.0 => format!("{:.0} MB", gigabytes * 1e3),
        gigabytes => format!("{gigabytes:.1} GB"),
    }
}

/// What is built in, or what this container may use if that is less. Memory in use by others counts as available:
/// whether they give it back in time is not known here.
fn total_bytes() -> Option<u64> {
    let machine = parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = container.and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(machine, |limit| machine.min(limit)))
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_kibibytes() {
        let text = "MemTotal:       24644156 kB\nMemFree:        123 kB\n";
        assert_eq!(parse_meminfo(text), Some(24_644_156 * 1024));
        assert_eq!(parse_meminfo("MemFree: 1 kB"), None);
        assert_eq!(parse_meminfo("MemTotal: lots"), None);
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(describe(137_430_000_000), "137.4 GB");
        assert_eq!(describe(512_000_000), "512 MB");
    }

    #[test]
    fn a_small_picture_fits_everywhere() {
        assert!(check(64, 64).is_ok());
    }
}
