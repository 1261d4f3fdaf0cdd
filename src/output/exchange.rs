//! Renaming that loses nothing: two names are exchanged, or a name is given only where nobody has it.

use super::atomic::{Part, Target, folder_of};
use crate::disk;
use std::{
    io::{self, ErrorKind},
    path::Path,
};

impl Part {
    /// Gives the file its name as [`Self::persist`] does, and forces it to the disk, but only in place of a file that `is_expected`; None
    /// stands for no file. Returns whether it has the name now.
    ///
    /// Where the system can exchange two names, the file that had the name is looked at after the exchange, so that a change at the last
    /// moment is not lost either: the names are exchanged back. Elsewhere it is looked at right before.
    pub fn persist_in_place_of(&mut self, is_expected: impl Fn(Option<&Path>) -> bool) -> io::Result<bool> {
        let Target::File(path) = &self.target else {
            return self.persist().map(|()| true);
        };
        let Some(temporary) = self.temporary.take() else { return Ok(true) };
        self.file.sync_all()?;
        disk::flush(&temporary.0, &self.file)?;
        match exchange(&temporary.0, path) {
            Ok(()) if is_expected(Some(&temporary.0)) => {}
            Ok(()) => {
                let back = exchange(&temporary.0, path).or_else(|_| disk::rename(&temporary.0, path));
                if back.is_err() {
                    // What somebody wrote stays beside it.
                    std::mem::forget(temporary);
                }
                return back.map(|()| false);
            }
            Err(error) if error.kind() == ErrorKind::NotFound && is_expected(None) => {
                match rename_to_new(&temporary.0, path) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                    Err(_) if path.exists() => return Ok(false),
                    Err(_) => temporary.rename(path, &self.file)?,
                }
            }
            Err(_) if is_expected(path.exists().then_some(path)) => temporary.rename(path, &self.file)?,
            Err(_) => return Ok(false),
        }
        sync_folder(folder_of(path));
        Ok(true)
    }
}

/// Exchanges two files in one step.
///
/// # Errors
/// If one of them is not there, or the file system cannot do that.
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rename_with(a, b, libc::RENAME_EXCHANGE)
    }
    #[cfg(not(target_os = "linux"))]
    {
        // Whoever asks learns what is missing as well.
        a.symlink_metadata().and(b.symlink_metadata())?;
        Err(ErrorKind::Unsupported.into())
    }
}

/// Renames a file, unless there is one of the new name.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if there is one, and if the file system cannot do that.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rename_with(from, to, libc::RENAME_NOREPLACE)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (from, to);
        Err(ErrorKind::Unsupported.into())
    }
}

#[cfg(target_os = "linux")]
fn rename_with(from: &Path, to: &Path, flags: libc::c_uint) -> io::Result<()> {
    use std::{ffi::CString, os::unix::ffi::OsStrExt};
    let [from, to] = [from, to].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (from, to) = (from?, to?);
    // SAFETY: both texts end with 0 and outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Forces the names in a folder to the disk, where the system can.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder) {
        // The files have their contents; a name that a power failure takes back is the old file.
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
