//! File-system operations that create outputs, one function each. Tests can replace the disk to simulate a bad disk or a render farm
//! ([`seam`]); the program itself uses the standard library.

pub mod seam;

use crate::system::{self, FileNumbers};
use std::{
    ffi::OsString,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, Write},
    path::Path,
    time::Duration,
};

/// Kinds of operations, as a file server would count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Look,
    Create,
    Open,
    Lock,
    Flush,
    Rename,
    Remove,
    List,
}

fn call<T>(operation: Operation, path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(disk) = seam::of(path) else {
        return work();
    };
    disk.before(operation, path)?;
    let done = work()?;
    disk.after(operation, path)?;
    Ok(done)
}

/// Metadata of the file at `path`, with links followed.
///
/// # Errors
/// As [`fs::metadata`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    call(Operation::Look, path, || fs::metadata(path))
}

/// Metadata of the entry at `path`, with links not followed.
///
/// # Errors
/// As [`fs::symlink_metadata`].
pub fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    call(Operation::Look, path, || fs::symlink_metadata(path))
}

/// Numbers of the file at `path`, with links followed, which all its names have in common.
///
/// # Errors
/// If there is no such file, or if its folder cannot be searched.
pub fn numbers(path: &Path) -> io::Result<FileNumbers> {
    call(Operation::Look, path, || system::numbers_at(path))
}

/// Creates a file at `path`, where no file may exist yet.
///
/// # Errors
/// As [`File::create_new`].
pub fn create_new(path: &Path) -> io::Result<File> {
    call(Operation::Create, path, || system::open(OpenOptions::new().read(true).write(true).create_new(true), path))
}

/// Creates a file next to `path` by calling `create`.
///
/// # Errors
/// The errors of `create`.
pub fn create<T>(path: &Path, create: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    call(Operation::Create, path, create)
}

/// Creates an unnamed temporary file in `folder`.
///
/// # Errors
/// As [`tempfile::tempfile_in`].
pub fn create_unnamed(folder: &Path) -> io::Result<File> {
    call(Operation::Create, folder, || tempfile::tempfile_in(folder))
}

/// Opens the file at `path`.
///
/// # Errors
/// As [`OpenOptions::open`].
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    call(Operation::Open, path, || system::open(options, path))
}

/// Renames a file and replaces any file at `to`. On Windows, waits a moment for a program that has one of the files open.
///
/// # Errors
/// As [`fs::rename`]; on Windows [`io::ErrorKind::ResourceBusy`] if another program keeps the file from being replaced.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    call(Operation::Rename, to, || system::rename(from, to))
}

/// Removes a file.
///
/// # Errors
/// As [`fs::remove_file`].
pub fn remove(path: &Path) -> io::Result<()> {
    call(Operation::Remove, path, || system::remove(path))
}

/// Lists the names in a folder, at most `most` of them, in no particular order.
///
/// # Errors
/// As [`fs::read_dir`]. Unreadable entries are skipped.
pub fn list(folder: &Path, most: usize) -> io::Result<Vec<OsString>> {
    let mut names = call(Operation::List, folder, || {
        let entries = fs::read_dir(folder)?.flatten().take(most);
        Ok(entries.map(|entry| entry.file_name()).collect::<Vec<_>>())
    })?;
    if let Some(disk) = seam::of(folder) {
        disk.list(folder, &mut names);
    }
    Ok(names)
}

/// Locks the file at `path` if no other process holds the lock. The lock ends when the file is closed.
///
/// # Errors
/// As [`File::try_lock`].
pub fn lock(path: &Path, file: &File) -> Result<(), TryLockError> {
    match seam::of(path) {
        Some(disk) => {
            disk.before(Operation::Lock, path).map_err(TryLockError::Error)?;
            disk.lock(path, file)
        }
        None => system::lock(file),
    }
}

/// Makes written data visible to other machines. Network file systems send data, and report a full disk, late. On local file systems this
/// has no effect.
///
/// # Errors
/// Errors of the delayed writes.
pub fn flush(path: &Path, file: &File) -> io::Result<()> {
    call(Operation::Flush, path, || system::flush(file))
}

/// Writes to `file`, which is at `path`.
pub struct Writer<'a> {
    pub path: &'a Path,
    pub file: &'a File,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match seam::of(self.path) {
            Some(disk) => disk.write(self.path, self.file, bytes),
            None => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Name of the machine that works on `path`. Opens no file, so it also works when no descriptor is free.
pub fn host(path: &Path) -> String {
    match seam::of(path) {
        Some(disk) => disk.host(path),
        None => gethostname::gethostname().to_string_lossy().into_owned(),
    }
}

/// Scales a timeout that runs apply to one another's files. Returned unchanged unless a simulated farm shortens it.
pub fn time(path: &Path, time: Duration) -> Duration {
    seam::of(path).map_or(time, |disk| disk.hurry(time))
}
