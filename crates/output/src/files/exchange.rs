//! Lossless renaming: two names are exchanged, or a name is only used if no file has it.

use super::atomic::{PartialFile, Target, folder_of};
use std::{
    io::{self, ErrorKind},
    path::Path,
};
use throng_base::disk;

impl PartialFile {
    /// Like [`Self::persist`], but forces the file to the disk and replaces only an expected file. `is_expected` gets the path of the
    /// replaced file, or None if there is none. Returns whether the file now has its final name.
    ///
    /// If the system can exchange two names, the replaced file is checked after the exchange, and the names are exchanged back if it is not
    /// expected. Changes at the last moment are therefore not lost. Otherwise it is checked right before renaming.
    ///
    /// # Errors
    /// If the file cannot be written to the disk or renamed.
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
                    // The file written by someone else stays beside it.
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

/// Exchanges the names of two files atomically.
///
/// # Errors
/// If one of the files does not exist, or if the file system does not support this.
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rename_with(a, b, libc::RENAME_EXCHANGE)
    }
    #[cfg(not(target_os = "linux"))]
    {
        // A missing file is reported as on Linux.
        a.symlink_metadata().and(b.symlink_metadata())?;
        Err(ErrorKind::Unsupported.into())
    }
}

/// Renames a file, unless the new name is in use.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if the new name is in use; another error if the file system does not support this.
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
    // SAFETY: both strings are null-terminated and outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Forces the names in a folder to the disk, if the system supports this.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder) {
        // An error is harmless: the contents are on the disk, and a power failure at most restores the old file under the name.
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
