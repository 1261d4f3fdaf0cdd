//! Memory of this machine, and memory in use by this process.

use crate::system;
use std::{io, sync::LazyLock};

/// Bytes of memory of this machine, or the container's limit if that is less; `None` if the system does not report it. Includes memory in use by
/// other processes, because it is unknown whether they will release it in time.
pub fn total_bytes() -> Option<u64> {
    // Cached, because it is needed for every frame that is written.
    static TOTAL: LazyLock<Option<u64>> = LazyLock::new(system::total_bytes);
    *TOTAL
}

/// Resident bytes of this process; `None` if the system does not report them.
pub fn resident_bytes() -> Option<u64> {
    system::resident_bytes()
}

/// Stack size in bytes of a thread that does not set its own.
pub const THREAD_STACK: usize = 2 << 20;
/// Bytes that a thread needs in addition to its stack: for the stack of its signal handlers, and for the C library.
const BESIDE_STACK: usize = 256 << 10;

/// Checks that `count` more threads with stacks of `stack` bytes fit into this process's memory limit (`ulimit -v`, or the limit of its job object on Windows). Without enough room, a starting
/// thread would end the process before an error can be reported.
///
/// # Errors
/// If the threads do not fit.
pub fn check_room_for_threads(count: usize, stack: usize) -> io::Result<()> {
    let bytes = (count + 1) * (stack + BESIDE_STACK);
    if system::has_room(bytes) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{count} more would need {} more memory than this process may have; allow it more ({})",
        describe(bytes as u64),
        system::MORE_MEMORY
    )))
}

/// Maximum number of bytes of memory for decoding files of `held` bytes in total.
///
/// A few bytes can claim any size: counts without data, repeated references to one array, pictures of one colour. Ordinary files stay below this
/// limit; others are rejected before they take seconds and gigabytes.
pub fn allowance(held: u64) -> u64 {
    const ALWAYS: u64 = 512 << 20;
    const PER_BYTE: u64 = 768;
    held.saturating_mul(PER_BYTE).max(ALWAYS)
}

/// Formats a size for messages, in units of 1024 as `free` and `nvidia-smi` use them: "79.6 GiB", "512 MiB", "1.5 KiB", "32 bytes".
pub fn describe(bytes: u64) -> String {
    let (size, unit) = match bytes {
        0..0x400 => return format!("{bytes} bytes"),
        0x400..0x10_0000 => (bytes as f64 / 1024.0, "KiB"),
        0x10_0000..0x4000_0000 => (bytes as f64 / 1024f64.powi(2), "MiB"),
        _ => (bytes as f64 / 1024f64.powi(3), "GiB"),
    };
    let decimals = usize::from(size < 100.0);
    format!("{size:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_some_threads_and_not_for_any_number() {
        assert!(check_room_for_threads(4, THREAD_STACK).is_ok());
        assert!(check_room_for_threads(1 << 20, 1 << 30).is_err());
    }

    #[test]
    fn larger_files_may_take_more() {
        assert_eq!(allowance(0), allowance(1000));
        assert!(allowance(1 << 20) < 1 << 30 && allowance(1 << 30) > 1 << 39);
        assert_eq!(allowance(u64::MAX), u64::MAX);
    }

    #[test]
    fn sizes_are_readable() {
        let sizes = [0, 1023, 1024, 300_000, 27 << 20, 512 << 20, 3 << 29, 137_430_000_000].map(describe);
        assert_eq!(sizes, ["0 bytes", "1023 bytes", "1.0 KiB", "293 KiB", "27.0 MiB", "512 MiB", "1.5 GiB", "128 GiB"]);
    }

    #[test]
    fn a_process_is_in_memory_and_the_machine_is_larger() {
        if let (Some(resident), Some(total)) = (resident_bytes(), total_bytes()) {
            assert!(resident > 1 << 20 && resident < total, "{resident} of {total}");
        }
    }
}
