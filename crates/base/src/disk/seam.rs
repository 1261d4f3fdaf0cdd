//! Simulated disks for tests. A simulated disk handles its own paths; all other paths go to the operating system.

use super::Operation;
use std::{
    ffi::OsString,
    fs::{File, TryLockError},
    io,
    path::Path,
    time::Duration,
};

/// A simulated disk, which may fail, return wrong results or crash.
pub trait Disk: Send + Sync {
    fn has(&self, path: &Path) -> bool;

    /// Called before an operation. After an error, the operation is skipped.
    ///
    /// # Errors
    /// The error that the operation returns.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Called after an operation that succeeded.
    ///
    /// # Errors
    /// The error that the operation returns although it succeeded.
    fn after(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Writes a part of `bytes`, and returns the number of bytes that it reports as written.
    ///
    /// # Errors
    /// The errors of a write.
    fn write(&self, path: &Path, file: &File, bytes: &[u8]) -> io::Result<usize>;

    /// Locks a file if no other process holds the lock.
    ///
    /// # Errors
    /// As [`File::try_lock`].
    fn lock(&self, path: &Path, file: &File) -> Result<(), TryLockError>;

    /// Modifies the names that listing `folder` returns.
    fn list(&self, folder: &Path, names: &mut Vec<OsString>);

    /// Name of the machine that works on `path`.
    fn host(&self, path: &Path) -> String;

    /// Scales a time limit, such as the age at which a claim counts as stale.
    fn hurry(&self, time: Duration) -> Duration;
}

#[cfg(feature = "failing-disk")]
static DISK: std::sync::OnceLock<Box<dyn Disk>> = std::sync::OnceLock::new();

/// Installs `disk` for the rest of the process. Later calls have no effect.
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

/// The installed disk if it handles `path`.
pub(super) fn of(path: &Path) -> Option<&'static dyn Disk> {
    installed().filter(|disk| disk.has(path))
}
