//! Sizes of memory on Linux, from `/proc`, and lossless renaming.

use std::{ffi::CString, fs, io, os::unix::ffi::OsStrExt, path::Path};

/// Exchanges the names of two files atomically.
///
/// # Errors
/// If one of the files does not exist, or if the file system does not support this.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    rename_with(a, b, libc::RENAME_EXCHANGE)
}

/// Renames a file, unless the new name is in use.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the new name is in use; another error if the file system does not support this.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, libc::RENAME_NOREPLACE)
}

fn rename_with(from: &Path, to: &Path, flags: libc::c_uint) -> io::Result<()> {
    let [from, to] = [from, to].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (from, to) = (from?, to?);
    // SAFETY: both strings are null-terminated and outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes of memory of this machine, or the container's limit if that is less.
pub fn total_bytes() -> Option<u64> {
    let machine = parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = container.and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(machine, |limit| machine.min(limit)))
}

/// Resident bytes of this process.
pub fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: only queries a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(page.try_into().ok()?)
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
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
}
