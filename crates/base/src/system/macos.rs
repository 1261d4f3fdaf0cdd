//! Sizes of memory on macOS, and lossless renaming.

use std::{
    ffi::CString,
    io,
    mem::{size_of, zeroed},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// Exchanges the names of two files atomically.
///
/// # Errors
/// If one of the files does not exist, or if the file system does not support this.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    rename_with(a, b, libc::RENAME_SWAP)
}

/// Renames a file, unless the new name is in use.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the new name is in use; another error if the file system does not support this.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, libc::RENAME_EXCL)
}

fn rename_with(from: &Path, to: &Path, flags: libc::c_uint) -> io::Result<()> {
    let [from, to] = [from, to].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (from, to) = (from?, to?);
    // SAFETY: both strings are null-terminated and outlive the call.
    let done = unsafe { libc::renamex_np(from.as_ptr(), to.as_ptr(), flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes of memory of this machine.
pub fn total_bytes() -> Option<u64> {
    let (mut bytes, mut length) = (0u64, size_of::<u64>());
    // SAFETY: the name is null-terminated, and `bytes` has `length` bytes for the result.
    let status = unsafe {
        libc::sysctlbyname(c"hw.memsize".as_ptr(), (&raw mut bytes).cast(), &raw mut length, std::ptr::null_mut(), 0)
    };
    (status == 0 && length == size_of::<u64>()).then_some(bytes)
}

/// Resident bytes of this process.
pub fn resident_bytes() -> Option<u64> {
    let size = size_of::<libc::proc_taskinfo>() as libc::c_int;
    // SAFETY: all zeros is a valid value of the struct, and the call fills at most `size` bytes of it.
    unsafe {
        let mut info: libc::proc_taskinfo = zeroed();
        let filled = libc::proc_pidinfo(libc::getpid(), libc::PROC_PIDTASKINFO, 0, (&raw mut info).cast(), size);
        (filled == size).then_some(info.pti_resident_size)
    }
}
