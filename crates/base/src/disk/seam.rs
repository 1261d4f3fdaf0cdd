//! The place of a disk that tests make. It answers for the paths that it has; all others go to the system.

use super::Operation;
use std::{
    ffi::OsString,
    fs::{File, TryLockError},
    io,
    path::Path,
    time::Duration,
};

/// A disk that fails, lies and crashes as it likes.
pub trait Disk: Send + Sync {
    fn has(&self, path: &Path) -> bool;

    /// Called before an operation, which is not done after an error.
    ///
    /// # Errors
    /// The answer to the operation.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Called after an operation that succeeded.
    ///
    /// # Errors
    /// The answer to the operation in spite of that.
    fn after(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Writes some of `bytes`, and returns how many it says it has written.
    ///
    /// # Errors
    /// Those of writing.
    fn write(&self, path: &Path, file: &File, bytes: &[u8]) -> io::Result<usize>;

    /// Locks a file, if nobody else has.
    ///
    /// # Errors
    /// As [`File::try_lock`].
    fn lock(&self, path: &Path, file: &File) -> Result<(), TryLockError>;

    /// Changes the names that listing a folder shows.
    fn list(&self, folder: &Path, names: &mut Vec<OsString>);

    /// Name of the machine that has `path`.
    fn host(&self, path: &Path) -> String;

    /// The length of times such as the age of a stale claim.
    fn hurry(&self, time: Duration) -> Duration;
}

#[cfg(feature = "failing-disk")]
static DISK: std::sync::OnceLock<Box<dyn Disk>> = std::sync::OnceLock::new();

/// Puts `disk` in place for the rest of the process. Only the first call does.
#[cfg(feature = "failing-disk")]
pub fn install(disk: Box<dyn Disk>) {
    let _ = DISK.set(disk);
}

#[cfg(feature = "failing-disk")]
fn installed() -> Option<&'static dyn Disk> {
    DISK.get().map(|disk| &**disk)
}

#[cfg(not(feature = "failing-disk"))]
fn installed() -> Option<&'static dyn Disk> {
    None
}

/// The disk that tests made for `path`, if any.
pub(super) fn of(path: &Path) -> Option<&'static dyn Disk> {
    installed().filter(|disk| disk.has(path))
}
