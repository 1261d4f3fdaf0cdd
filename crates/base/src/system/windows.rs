//! Files, memory and processes on Windows.
//!
//! Another program can open a file in a way that forbids others to rename or remove it. Viewers, virus scanners and search indexers do so, mostly for a
//! moment. Operations on names are therefore repeated for a while ([`PATIENCE`]) before they fail, and the error names the reason.
//!
//! Locks are mandatory here: no other process can read or write locked bytes. Files are therefore locked at a byte that no file has
//! ([`LOCKED_BYTE`]), so that locks mean what they mean on Unix, and readers are not disturbed.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    mem::{size_of, zeroed},
    os::windows::{
        ffi::OsStringExt,
        fs::{FileExt, OpenOptionsExt},
        io::AsRawHandle,
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};
use windows_sys::Win32::{
    Foundation::{
        ERROR_ACCESS_DENIED, ERROR_DELETE_PENDING, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
        ERROR_USER_MAPPED_FILE,
    },
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, DELETE, FILE_FLAG_BACKUP_SEMANTICS, FILE_ID_INFO, FILE_REMOTE_PROTOCOL_INFO,
        FileIdInfo, FileRemoteProtocolInfo, GetFileInformationByHandle, GetFileInformationByHandleEx,
        LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    },
    System::{
        IO::OVERLAPPED,
        Memory::{MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, VirtualAlloc, VirtualFree},
        ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS},
        SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX},
        Threading::{CREATE_NEW_PROCESS_GROUP, GetCurrentProcess},
    },
};

/// Time for which renaming is repeated while another program has the file open.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time for which opening and removing are repeated. A file that is being removed has its name until its last handle is closed, and cannot
/// be opened.
const SHORT_PATIENCE: Duration = Duration::from_millis(200);
/// Longest pause between two attempts.
const LONGEST_NAP: Duration = Duration::from_millis(50);
/// Offset of the locked byte. Files are shorter.
const LOCKED_BYTE: u64 = 1 << 62;

/// Numbers that all names of a file have in common: those of its volume and of the file.
pub type FileNumbers = (u64, u128);

/// Numbers of the file at `path`, with links followed.
pub fn numbers_at(path: &Path) -> io::Result<FileNumbers> {
    numbers(&open_to_ask(path)?)
}

/// Opens a file or a folder without access to its contents, which nobody can forbid.
fn open_to_ask(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Numbers of an open file.
pub fn numbers(file: &File) -> io::Result<FileNumbers> {
    // SAFETY: all zeros is a valid value of the struct, and the call fills at most its size.
    let (is_known, info) = unsafe {
        let mut info: FILE_ID_INFO = zeroed();
        let size = size_of::<FILE_ID_INFO>() as u32;
        (GetFileInformationByHandleEx(file.as_raw_handle(), FileIdInfo, (&raw mut info).cast(), size), info)
    };
    if is_known != 0 {
        return Ok((info.VolumeSerialNumber, u128::from_le_bytes(info.FileId.Identifier)));
    }
    // The file system has no numbers of 128 bits.
    let info = information(file)?;
    let index = u64::from(info.nFileIndexHigh) << 32 | u64::from(info.nFileIndexLow);
    Ok((info.dwVolumeSerialNumber.into(), index.into()))
}

fn information(file: &File) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    // SAFETY: all zeros is a valid value of the struct, which the call fills.
    unsafe {
        let mut info = zeroed();
        match GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(info),
        }
    }
}

/// Whether the file at `path` has more than one name.
pub fn has_other_names(path: &Path) -> bool {
    open_to_ask(path).and_then(|file| information(&file)).is_ok_and(|info| info.nNumberOfLinks > 1)
}

/// The form in which names of files that do not exist yet are compared: case makes no difference.
pub fn compared(name: &OsStr) -> OsString {
    name.to_string_lossy().to_lowercase().into()
}

/// A name without separators in the form in which it can be a file's. Forbidden characters become `_`: a colon would lead to another stream of
/// the file. So do dots and spaces at the end, which the system cuts off. Names of devices get a `_` in front.
pub fn allowed(name: String) -> String {
    let mut name = name.replace(|c: char| c.is_ascii_control() || r#"<>:"|?*"#.contains(c), "_");
    let kept = name.trim_end_matches(['.', ' ']).len();
    let cut = name.len() - kept;
    name.replace_range(kept.., &"_".repeat(cut));
    if is_device(&name) { format!("_{name}") } else { name }
}

/// Checks that a file can have this name.
///
/// # Errors
/// If the system would take it for something else, with a name that it takes.
pub fn check_name(name: &OsStr) -> io::Result<()> {
    match name.to_str().map(|name| (name, allowed(name.to_owned()))) {
        Some((name, other)) if name != other => {
            Err(io::Error::other(format!("Windows has no files of that name; choose another, like {other}")))
        }
        _ => Ok(()),
    }
}

/// Whether the system takes a file name for a device.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_port = |kind: &str| stem.strip_prefix(kind).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    ["CON", "PRN", "AUX", "NUL"].contains(&&*stem) || is_port("COM") || is_port("LPT")
}

/// A path without links in the form in which users write it: `C:\a` instead of `\\?\C:\a`, unless it is too long for other programs.
pub fn plain(path: PathBuf) -> PathBuf {
    const LONGEST: usize = 259;
    let text = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    match text {
        Some(text) if text.as_bytes().get(1) == Some(&b':') && text.len() <= LONGEST => text.into(),
        _ => path,
    }
}

/// Makes opening a pipe return at once. Pipes have no names in folders here, so nothing has to be set.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Fills `to` with the bytes at `offset`. May be called from several threads at once.
pub fn read_exact_at(file: &File, mut to: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !to.is_empty() {
        match file.seek_read(to, offset)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => {
                to = &mut to[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// Writes `bytes` at `offset`. May be called from several threads at once.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}

/// Creates a name from encoded bytes. They are WTF-8: UTF-8 in which halves of surrogate pairs may stand alone, since names are sequences of
/// 16-bit numbers here.
pub fn os_string(bytes: &[u8]) -> OsString {
    let mut wide = Vec::new();
    let mut rest = bytes;
    loop {
        let (valid, after) = match std::str::from_utf8(rest) {
            Ok(all) => (all, &[][..]),
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).unwrap_or_default(), after)
            }
        };
        wide.extend(valid.encode_utf16());
        rest = match after {
            [] => return OsString::from_wide(&wide),
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, more @ ..] => {
                wide.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                more
            }
            [_, more @ ..] => {
                wide.push(0xfffd);
                more
            }
        };
    }
}

/// Repeats `work` for at most `patience` while `is_passing` considers its error to be one that passes.
fn patiently<T>(
    patience: Duration,
    mut work: impl FnMut() -> io::Result<T>,
    is_passing: impl Fn(&io::Error) -> bool,
) -> io::Result<T> {
    let begun = Instant::now();
    let mut nap = Duration::from_millis(1);
    loop {
        match work() {
            Err(error) if is_passing(&error) && begun.elapsed() < patience => {
                thread::sleep(nap);
                nap = (nap * 2).min(LONGEST_NAP);
            }
            done => return done,
        }
    }
}

fn is_one_of(error: &io::Error, codes: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|code| codes.contains(&(code as u32)))
}

/// Whether another program has the file at `path` open in a way that forbids renaming and removing it.
fn is_held(path: &Path) -> bool {
    let opened = OpenOptions::new().access_mode(DELETE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path);
    opened.is_err_and(|error| is_one_of(&error, &[ERROR_SHARING_VIOLATION, ERROR_DELETE_PENDING]))
}

/// Opens a file, also if a file of this name is just being removed.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let passes = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_DELETE_PENDING];
    patiently(SHORT_PATIENCE, || options.open(path), |error| is_one_of(error, &passes))
}

/// Renames a file and replaces any file at `to`.
///
/// # Errors
/// [`ErrorKind::ResourceBusy`] if another program has one of the files open for longer than [`PATIENCE`].
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    // The system reports a file that is held as one that may not be replaced.
    let is_busy = |error: &io::Error| {
        is_one_of(error, &[ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE, ERROR_DELETE_PENDING])
            || is_one_of(error, &[ERROR_ACCESS_DENIED]) && (is_held(to) || is_held(from))
    };
    patiently(PATIENCE, || fs::rename(from, to), is_busy).map_err(|error| {
        if is_busy(&error) {
            let reason = "another program has the file open and keeps it from being replaced; close it there";
            return io::Error::new(ErrorKind::ResourceBusy, reason);
        }
        let is_marked = fs::metadata(to).is_ok_and(|found| found.permissions().readonly());
        if is_marked && error.kind() == ErrorKind::PermissionDenied {
            return io::Error::other("the file is marked as read-only; clear the mark, or choose another name");
        }
        error
    })
}

/// Would exchange the names of two files, which is not possible here.
///
/// # Errors
/// Always: [`ErrorKind::NotFound`] if one of the files does not exist, as on other systems.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    a.symlink_metadata().and(b.symlink_metadata())?;
    Err(ErrorKind::Unsupported.into())
}

/// Renames a file, unless the new name is in use.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if the new name is in use.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    // The standard library renames in another way, which replaces.
    fs::hard_link(from, to)?;
    // The file has its name, and whoever made it removes the other one.
    let _ = fs::remove_file(from);
    Ok(())
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    patiently(SHORT_PATIENCE, || fs::remove_file(path), |error| is_one_of(error, &[ERROR_SHARING_VIOLATION]))
}

/// Locks a file if no other process holds the lock. The lock ends when the file is closed.
pub fn lock(file: &File) -> Result<(), TryLockError> {
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: all zeros is a valid value of the struct, which outlives the call: files of the standard library are synchronous.
    let is_locked = unsafe {
        let mut at: OVERLAPPED = zeroed();
        at.Anonymous.Anonymous.Offset = LOCKED_BYTE as u32;
        at.Anonymous.Anonymous.OffsetHigh = (LOCKED_BYTE >> 32) as u32;
        LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut at)
    };
    if is_locked != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(if is_one_of(&error, &[ERROR_LOCK_VIOLATION]) { TryLockError::WouldBlock } else { TryLockError::Error(error) })
}

/// Would force the names in a folder to the disk, which programs cannot do here.
pub fn sync_folder(_: &Path) {}

/// Makes written data visible to other machines. Closing a file reports no errors of delayed writes here, so files on other machines are
/// written through. Local files stay as they are, because this takes as long as the disk.
pub fn flush(file: &File) -> io::Result<()> {
    // SAFETY: all zeros is a valid value of the struct, and the call fills at most its size.
    let is_remote = unsafe {
        let mut info: FILE_REMOTE_PROTOCOL_INFO = zeroed();
        let size = size_of::<FILE_REMOTE_PROTOCOL_INFO>() as u32;
        GetFileInformationByHandleEx(file.as_raw_handle(), FileRemoteProtocolInfo, (&raw mut info).cast(), size)
    };
    if is_remote != 0 { file.sync_data() } else { Ok(()) }
}

/// Bytes of memory of this machine.
pub fn total_bytes() -> Option<u64> {
    // SAFETY: all zeros is a valid value of the struct, which the call fills once its size is set.
    unsafe {
        let mut status: MEMORYSTATUSEX = zeroed();
        status.dwLength = size_of::<MEMORYSTATUSEX>() as u32;
        (GlobalMemoryStatusEx(&raw mut status) != 0).then_some(status.ullTotalPhys)
    }
}

/// Resident bytes of this process.
pub fn resident_bytes() -> Option<u64> {
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: all zeros is a valid value of the struct, and the call fills at most `size` bytes of it.
    unsafe {
        let mut counters: PROCESS_MEMORY_COUNTERS = zeroed();
        let is_known = K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, size) != 0;
        is_known.then_some(counters.WorkingSetSize as u64)
    }
}

/// Whether the process could have `bytes` more of address space.
pub fn has_room(bytes: usize) -> bool {
    // SAFETY: reserves and releases addresses that are not used by anything else.
    unsafe {
        let room = VirtualAlloc(std::ptr::null(), bytes, MEM_RESERVE, PAGE_NOACCESS);
        !room.is_null() && VirtualFree(room, 0, MEM_RELEASE) != 0
    }
}

/// How a user allows a process more memory.
pub const MORE_MEMORY: &str = "the limit of its job object";

/// Keeps the console's Ctrl-C from a process that is going to be started.
pub fn without_ctrl_c(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

#[cfg(test)]
mod tests;
