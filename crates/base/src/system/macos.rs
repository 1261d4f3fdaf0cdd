//! Sizes of memory on macOS.

use std::mem::{size_of, zeroed};

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
