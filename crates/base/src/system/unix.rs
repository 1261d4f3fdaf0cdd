//! Files, memory and processes on Unix.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    os::{
        fd::IntoRawFd,
        unix::{
            ffi::OsStringExt,
            fs::{FileExt, MetadataExt, OpenOptionsExt},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::Command,
};

/// Numbers that all names of a file have in common: those of its device and of its inode.
pub type FileNumbers = (u64, u64);

/// Numbers of the file at `path`, with links followed.
pub fn numbers_at(path: &Path) -> io::Result<FileNumbers> {
    fs::metadata(path).map(|found| numbers_of(&found))
}

/// Numbers of an open file.
pub fn numbers(file: &File) -> io::Result<FileNumbers> {
    file.metadata().map(|found| numbers_of(&found))
}

fn numbers_of(found: &Metadata) -> FileNumbers {
    (found.dev(), found.ino())
}

/// Whether the file at `path` has more than one name.
pub fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.nlink() > 1)
}

/// The form in which names of files that do not exist yet are compared.
pub fn compared(name: &OsStr) -> OsString {
    name.to_owned()
}

/// A name without separators in the form in which it can be a file's. All such names can.
pub fn allowed(name: String) -> String {
    name
}

/// Checks that a file can have this name. It can have any name.
pub fn check_name(_: &OsStr) -> io::Result<()> {
    Ok(())
}

/// A path without links in the form in which users write it.
pub fn plain(path: PathBuf) -> PathBuf {
    path
}

/// Makes opening a pipe return at once, even without a process at its other end.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NONBLOCK)
}

/// Fills `to` with the bytes at `offset`. May be called from several threads at once.
pub fn read_exact_at(file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(to, offset)
}

/// Writes `bytes` at `offset`. May be called from several threads at once.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Creates a name from encoded bytes, which are any bytes here.
pub fn os_string(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_owned())
}

/// Opens a file.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Renames a file and replaces any file at `to`.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Locks a file if no other process holds the lock.
pub fn lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Makes written data visible to other machines. Network file systems send data, and report a full disk, only when a file is closed; so a
/// second descriptor of the file is closed here. On local file systems this has no effect.
pub fn flush(file: &File) -> io::Result<()> {
    match file.try_clone() {
        Ok(copy) => close(copy),
        // No second descriptor is available.
        Err(_) => file.sync_data(),
    }
}

fn close(file: File) -> io::Result<()> {
    // SAFETY: `into_raw_fd` gave up ownership, so the descriptor is closed only here.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => {
            Some(io::Error::last_os_error()).filter(|error| error.kind() != ErrorKind::Interrupted).map_or(Ok(()), Err)
        }
    }
}

/// Forces the names in a folder to the disk, if the system supports this.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        // An error is harmless: the contents are on the disk, and a power failure at most restores the old file under the name.
        let _ = folder.sync_all();
    }
}

/// Whether the process could have `bytes` more of address space.
pub fn has_room(bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    // SAFETY: creates and removes a new mapping that is not used by anything else.
    unsafe {
        let room = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
        if room == libc::MAP_FAILED {
            return false;
        }
        libc::munmap(room, bytes);
    }
    true
}

/// How a user allows a process more memory.
pub const MORE_MEMORY: &str = "ulimit -v";

/// Keeps the terminal's Ctrl-C from a process that is going to be started.
pub fn without_ctrl_c(command: &mut Command) -> &mut Command {
    command.process_group(0)
}
