//! File operations: opening files without blocking, and testing whether two names refer to one file.

pub use crate::system::{os_string, read_exact_at, without_waiting};
use crate::{
    disk,
    sync::lock,
    system::{self, FileNumbers},
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

/// Opens a regular file for reading, and returns it with its length in bytes. Anything else is rejected, because a pipe could block and a device may
/// be endless.
///
/// # Errors
/// [`ErrorKind::IsADirectory`] or [`ErrorKind::InvalidInput`] for anything but a regular file, and errors of opening a file.
pub fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    // Opening a device may have side effects (a tape rewinds), so the kind is checked first.
    check_regular(&disk::metadata(path)?)?;
    // Non-blocking, in case a pipe has replaced the file since the check.
    let file = disk::open(without_waiting(OpenOptions::new().read(true)), path)?;
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata.len()))
}

/// Whether `path` still names an open file.
pub fn is_at(file: &File, path: &Path) -> bool {
    FileId::of_file(file).is_ok_and(|id| id == FileId::of(path))
}

/// Reads a regular file, up to the length that it had when it was opened.
///
/// # Errors
/// Errors of [`open_regular`] and of reading; [`ErrorKind::OutOfMemory`] if memory is short.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let (file, length) = open_regular(path)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() { Ok(()) } else { Err(io::Error::new(ErrorKind::InvalidInput, "this is not a regular file")) }
}

/// Converts a name to a single path component: separators become `_`, and so do the dots of `.` and `..`. On Windows, so do characters that
/// file names must not contain; names of devices get a `_` in front.
pub fn as_file_name(name: &str) -> String {
    match name {
        "" => "_".to_owned(),
        "." | ".." => "_".repeat(name.len()),
        _ => system::allowed(name.replace(|c| std::path::is_separator(c) || c == '\0', "_")),
    }
}

/// Whether a byte of [`std::ffi::OsStr::as_encoded_bytes`] separates the parts of a path.
pub fn is_separator(byte: u8) -> bool {
    std::path::is_separator(byte.into())
}

/// Index of the file name in a path of encoded bytes: after the last separator, or after a drive such as `C:` on Windows.
pub fn name_start(path: &[u8]) -> usize {
    let drive = if cfg!(windows) && path.get(1) == Some(&b':') { 2 } else { 0 };
    path.iter().rposition(|&byte| is_separator(byte)).map_or(drive, |separator| separator + 1)
}

/// Serializes a path as text; bytes that are not UTF-8 become U+FFFD.
pub fn serialize_lossy<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// Whether `path`, after following links, is neither a file nor a folder but a pipe, a device or a socket.
pub fn is_special(path: &Path) -> bool {
    disk::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The identity of a file, which is equal for all of its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileId {
    /// An existing file.
    Existing(FileNumbers),
    /// A file that does not exist yet: its path without links.
    Place(PathBuf),
}

impl FileId {
    /// The identity of the file at `path` after following links, or of the file that would be created there.
    pub fn of(path: &Path) -> Self {
        if let Ok(numbers) = disk::numbers(path) {
            return Self::Existing(numbers);
        }
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut rest: Vec<OsString> = Vec::new();
        for folder in absolute.ancestors() {
            if let Ok(real) = folder.canonicalize() {
                return Self::Place(rest.iter().rev().fold(real, |path, name| path.join(name)));
            }
            rest.extend(folder.file_name().map(system::compared));
        }
        Self::Place(absolute)
    }

    /// The identity of an open file, regardless of its current name.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn of_file(file: &File) -> io::Result<Self> {
        system::numbers(file).map(Self::Existing)
    }
}

/// The scenes, rays and pictures that this process has read, which must never be overwritten.
static INPUTS: Mutex<Vec<(FileId, PathBuf)>> = Mutex::new(Vec::new());

/// Records that the file at `path` is an input.
pub fn remember_input(path: &Path) {
    let input = (FileId::of(path), path.to_owned());
    let mut inputs = lock(&INPUTS);
    inputs.push(input);
}

/// All inputs of this process so far, in no particular order, with the paths from which they were read.
pub fn inputs() -> Vec<(FileId, PathBuf)> {
    let inputs = lock(&INPUTS);
    inputs.clone()
}

/// A file that was read, or whose reading failed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct InputFile {
    /// Absolute path.
    #[serde(serialize_with = "serialize_lossy")]
    pub path: PathBuf,
    /// Length in bytes; `None` if it could not be read.
    pub bytes: Option<u64>,
}

/// The files of an active recording, with their lengths.
type Recorded = Arc<Mutex<BTreeMap<PathBuf, Option<u64>>>>;

/// The active recordings.
static RECORDINGS: Mutex<Vec<Recorded>> = Mutex::new(Vec::new());
/// Number of active recordings, which is usually 0.
static RECORDING: AtomicU32 = AtomicU32::new(0);

/// Runs `work`, and returns its result with every file that loaders read during the call or failed to read, each once and ordered by path. Files that
/// other threads load at that time are included.
pub fn recording<T>(work: impl FnOnce() -> T) -> (T, Vec<InputFile>) {
    /// Ends the recording when dropped, even if `work` panics.
    struct Guard(Recorded);
    impl Drop for Guard {
        fn drop(&mut self) {
            lock(&RECORDINGS).retain(|other| !Arc::ptr_eq(other, &self.0));
            RECORDING.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let recorded = Recorded::default();
    lock(&RECORDINGS).push(recorded.clone());
    RECORDING.fetch_add(1, Ordering::Relaxed);
    let guard = Guard(recorded.clone());
    let result = work();
    drop(guard);
    let files = std::mem::take(&mut *lock(&recorded));
    (result, files.into_iter().map(|(path, bytes)| InputFile { path, bytes }).collect())
}

/// Adds a file to all active recordings; `bytes` is its length, or `None` if it cannot be read.
pub fn record(path: &Path, bytes: Option<u64>) {
    if RECORDING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let path = plain(path);
    for recorded in lock(&RECORDINGS).iter() {
        let mut files = lock(recorded);
        let known = files.entry(path.clone()).or_insert(bytes);
        *known = bytes.or(*known);
    }
}

/// The absolute path of a file, without links and dots in its existing folders. If the file itself is a link, its name is kept.
fn plain(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent().and_then(|folder| folder.canonicalize().ok()), absolute.file_name()) {
        (Some(folder), Some(name)) => system::plain(folder).join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn regular_files_are_read_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_regular(&path).unwrap(), b"text");
        assert_eq!(open_regular(&path).unwrap().1, 4);
        let kind = |path: &Path| open_regular(path).unwrap_err().kind();
        assert_eq!(kind(dir.path()), ErrorKind::IsADirectory);
        assert_eq!(kind(&dir.path().join("gone")), ErrorKind::NotFound);
        #[cfg(unix)]
        {
            let link = dir.path().join("zero");
            std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
            assert_eq!(kind(&link), ErrorKind::InvalidInput);
            assert!(is_special(&link) && !is_special(&path) && !is_special(dir.path()));
        }
    }

    #[test]
    fn names_stay_in_their_folder() {
        for (name, file) in [
            ("..", "__"),
            (".", "_"),
            ("", "_"),
            ("a/../b", "a_.._b"),
            ("/etc", "_etc"),
            ("...a", "...a"),
            ("a.b", "a.b"),
        ] {
            assert_eq!(as_file_name(name), file);
        }
    }

    #[test]
    fn a_name_begins_after_the_last_separator() {
        let name = |path: &'static str| &path[name_start(path.as_bytes())..];
        assert_eq!(["a.png", "b/a.png", "/a", "b/"].map(name), ["a.png", "a.png", "a", ""]);
        let on_windows = if cfg!(windows) { ["a.png", "a.png"] } else { [r"C:.png", "C:a.png"] };
        assert_eq!([r"C:.png", "C:a.png"].map(name), on_windows);
    }

    #[test]
    fn recordings_have_what_was_read_and_what_was_missed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = system::plain(dir.path().canonicalize().unwrap());
        let (read, missing) = (folder.join("a"), folder.join("b"));
        record(&read, Some(9));
        let ((), files) = recording(|| {
            record(&folder.join(".").join("a"), Some(4));
            record(&read, None);
            record(&missing, None);
        });
        let ours: Vec<_> = files.into_iter().filter(|file| file.path.starts_with(&folder)).collect();
        let expected = [InputFile { path: read, bytes: Some(4) }, InputFile { path: missing, bytes: None }];
        assert_eq!(ours, expected);
    }

    #[test]
    fn a_file_has_one_identity_whatever_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("a"), "").unwrap();
        fs::hard_link(at("a"), at("b")).unwrap();
        for name in ["b", "folder/../a"] {
            assert_eq!(FileId::of(&at(name)), FileId::of(&at("a")), "{name}");
        }
        assert_ne!(FileId::of(&at("a")), FileId::of(&at("folder")));
        assert_ne!(FileId::of(&at("folder/x/new")), FileId::of(&at("folder/new")));
    }

    #[test]
    fn an_open_file_is_told_from_another_that_took_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
        fs::write(&a, "").unwrap();
        let file = File::open(&a).unwrap();
        assert!(is_at(&file, &a));
        fs::rename(&a, &b).unwrap();
        fs::write(&a, "").unwrap();
        assert!(is_at(&file, &b) && !is_at(&file, &a));
        assert!(!is_at(&file, &dir.path().join("gone")));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_one_identity() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("a"), "").unwrap();
        std::os::unix::fs::symlink("../a", at("folder/c")).unwrap();
        std::os::unix::fs::symlink("folder", at("same")).unwrap();
        for name in ["folder/c", "same/c"] {
            assert_eq!(FileId::of(&at(name)), FileId::of(&at("a")), "{name}");
        }
        let new = FileId::of(&at("folder/x/new"));
        assert_eq!(FileId::of(&at("same/x/new")), new);
        assert_ne!(FileId::of(&at("same/new")), new);
    }
}
