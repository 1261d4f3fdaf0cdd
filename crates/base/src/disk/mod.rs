//! Operations on the file system by which outputs come to be, one function each, so that tests can put a bad disk or a farm of
//! machines in the place of this one ([`seam`]). In the program they are those of the standard library.

pub mod seam;

use std::{
    ffi::OsString,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::Path,
    time::Duration,
};

/// Kinds of operations, as a server of files counts them.
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

/// Looks at what is at `path`, behind all links.
///
/// # Errors
/// As [`fs::metadata`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    call(Operation::Look, path, || fs::metadata(path))
}

/// Looks at what is at `path`, which may be a link.
///
/// # Errors
/// As [`fs::symlink_metadata`].
pub fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    call(Operation::Look, path, || fs::symlink_metadata(path))
}

/// Creates a file where there must be none yet.
///
/// # Errors
/// As [`File::create_new`].
pub fn create_new(path: &Path) -> io::Result<File> {
    call(Operation::Create, path, || File::create_new(path))
}

/// Creates a file beside `path`, as `create` does.
///
/// # Errors
/// Those of `create`.
pub fn create<T>(path: &Path, create: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    call(Operation::Create, path, create)
}

/// Creates a file without a name in `folder`.
///
/// # Errors
/// As [`tempfile::tempfile_in`].
pub fn create_unnamed(folder: &Path) -> io::Result<File> {
    call(Operation::Create, folder, || tempfile::tempfile_in(folder))
}

/// Opens a file.
///
/// # Errors
/// As [`OpenOptions::open`].
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    call(Operation::Open, path, || options.open(path))
}

/// Renames a file, in place of any other.
///
/// # Errors
/// As [`fs::rename`].
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    call(Operation::Rename, to, || fs::rename(from, to))
}

/// Removes a file.
///
/// # Errors
/// As [`fs::remove_file`].
pub fn remove(path: &Path) -> io::Result<()> {
    call(Operation::Remove, path, || fs::remove_file(path))
}

/// Lists the first names in a folder, at most so many.
///
/// # Errors
/// As [`fs::read_dir`]; entries that cannot be read are left out.
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

/// Locks the file at `path`, if nobody else has. The lock ends when the file is closed.
///
/// # Errors
/// As [`File::try_lock`].
pub fn lock(path: &Path, file: &File) -> Result<(), TryLockError> {
    match seam::of(path) {
        Some(disk) => {
            disk.before(Operation::Lock, path).map_err(TryLockError::Error)?;
            disk.lock(path, file)
        }
        None => file.try_lock(),
    }
}

/// Makes sure that everybody can read what was written to the file at `path`. Network file systems send it when a file is closed, and tell
/// only then that there was no room for it; so a second descriptor of the file is closed. Local file systems do nothing.
///
/// # Errors
/// Those of writing.
pub fn flush(path: &Path, file: &File) -> io::Result<()> {
    call(Operation::Flush, path, || match file.try_clone() {
        Ok(copy) => close(copy),
        // There is no second descriptor left.
        Err(_) => file.sync_data(),
    })
}

#[cfg(unix)]
fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: nobody else has the descriptor, as its file has given it up.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => {
            Some(io::Error::last_os_error()).filter(|error| error.kind() != ErrorKind::Interrupted).map_or(Ok(()), Err)
        }
    }
}

#[cfg(not(unix))]
fn close(_: File) -> io::Result<()> {
    Ok(())
}

/// Writes to the file at `path`.
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

/// The name of the machine that works on `path`. Getting it opens no file, so that it is the same in a run without a free descriptor.
pub fn host(path: &Path) -> String {
    match seam::of(path) {
        Some(disk) => disk.host(path),
        None => gethostname::gethostname().to_string_lossy().into_owned(),
    }
}

/// A time by which runs judge one another; simulated farms are in a hurry.
pub fn time(path: &Path, time: Duration) -> Duration {
    seam::of(path).map_or(time, |disk| disk.hurry(time))
}
