//! Small disks that are visible only to this process and its children.

use std::{ffi::CString, fs, io, os::unix::ffi::OsStrExt, path::Path};

/// Gives this process its own mounts, as root of a user namespace if it is not root. Must be called before threads are started. Returns
/// false if the system does not allow it.
pub fn are_allowed() -> bool {
    // SAFETY: these calls take no pointers.
    let (user, group, own) = unsafe { (libc::geteuid(), libc::getegid(), libc::unshare(libc::CLONE_NEWNS) == 0) };
    // SAFETY: as above.
    let own = own
        || unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) } == 0 && become_root(user, group).is_ok();
    own && mount("none", Path::new("/"), "", libc::MS_REC | libc::MS_PRIVATE, "").is_ok()
        && tempfile::tempdir().is_ok_and(|dir| Disk::new(dir.path(), 1 << 16).is_ok())
}

fn become_root(user: libc::uid_t, group: libc::gid_t) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// An in-memory file system mounted on a folder.
pub struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    pub fn new(folder: &'a Path, bytes: u64) -> io::Result<Self> {
        mount("none", folder, "tmpfs", 0, &format!("size={bytes}"))?;
        Ok(Self(folder))
    }

    pub fn resize(&self, bytes: u64) -> io::Result<()> {
        mount("none", self.0, "tmpfs", libc::MS_REMOUNT, &format!("size={bytes}"))
    }

    pub fn set_read_only(&self, read_only: bool) -> io::Result<()> {
        let flag = if read_only { libc::MS_RDONLY } else { 0 };
        mount("none", self.0, "tmpfs", libc::MS_REMOUNT | flag, "")
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        if let Ok(folder) = CString::new(self.0.as_os_str().as_bytes()) {
            // SAFETY: the string lives until the call returns.
            unsafe { libc::umount2(folder.as_ptr(), libc::MNT_DETACH) };
        }
    }
}

fn mount(source: &str, folder: &Path, kind: &str, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let source = CString::new(source)?;
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    let (kind, options) = (CString::new(kind)?, CString::new(options)?);
    // SAFETY: all strings live until the call returns.
    let done = unsafe { libc::mount(source.as_ptr(), folder.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
