//! Lossless renaming: two names are exchanged, or a name is only used if no file has it.

use super::atomic::{PartialFile, Target, folder_of};
use std::{
    io::{self, ErrorKind},
    path::Path,
};
use throng_base::{
    disk,
    system::{exchange, rename_to_new, sync_folder},
};

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
