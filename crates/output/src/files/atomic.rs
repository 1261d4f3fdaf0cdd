//! Files that appear under their name only when they are complete.
//!
//! A file is written as `.<name>.<random>.part` in its final folder and then renamed, which is atomic within one file system. A killed
//! process leaves at most this hidden file; [`prepare`] removes it. The writing process holds a lock on its `.part` file, so other
//! processes that render into the folder can distinguish leftovers from files in use.
//!
//! If the name is a link, the file that it leads to is replaced and the link stays. Pipes and devices are never replaced: the content is
//! written to them once it is complete.

use crate::OutputError;
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, ErrorKind, Seek, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};
use tempfile::NamedTempFile;
use throng_base::{
    disk,
    files::{is_at, is_special, open_regular, os_string},
    system::check_name,
};

const SUFFIX: &str = ".part";

/// Creates or replaces the file `path` with the content that `fill` writes. After an error, `path` is unchanged and the temporary file is
/// gone. The folder must exist: if it vanished during a run, that is an error.
///
/// For speed, nothing is forced to the disk. After a power failure a file may therefore be incomplete, which
/// [`crate::FileFormat::is_complete`] detects.
///
/// # Errors
/// If `fill` fails, or if the file cannot be created or renamed.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    replace(path, |part| {
        let mut writer = BufWriter::new(disk::Writer { path: part.path(), file: part.file() });
        fill(&mut writer)?;
        writer.flush()
    })
}

/// Like [`write_atomically`], for files that are not written sequentially.
pub fn fill_atomically(path: &Path, fill: impl FnOnce(&File) -> io::Result<()>) -> Result<(), OutputError> {
    replace(path, |part| fill(part.file()))
}

/// Number of files that are being written.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Whether a file is being written that would be lost if the process ended now.
pub fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst) > 0
}

/// Counts one file in [`WRITING`] while it exists.
struct Writing;

impl Writing {
    fn begin() -> Self {
        WRITING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn replace(path: &Path, fill: impl FnOnce(&PartialFile) -> io::Result<()>) -> Result<(), OutputError> {
    let _writing = Writing::begin();
    let replace = || {
        let mut part = PartialFile::create(path)?;
        fill(&part)?;
        part.persist()
    };
    replace().map_err(|error| OutputError::File { path: path.to_owned(), error })
}

/// A file that is being written. Dropping it removes the file, unless it was persisted before.
pub struct PartialFile {
    pub(super) file: File,
    /// None once the file has its final name.
    pub(super) temporary: Option<Temporary>,
    pub(super) target: Target,
}

/// The path of a temporary file, which is removed when this is dropped. An empty path stands for no file.
pub(super) struct Temporary(pub(super) PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // A later run removes files that cannot be removed now.
            let _ = disk::remove(&self.0);
        }
    }
}

impl Temporary {
    /// Renames the file, which is then no longer removed on drop.
    pub(super) fn rename(mut self, to: &Path, file: &File) -> io::Result<()> {
        match disk::rename(&self.0, to) {
            // If a network server lost its first answer, the repeated request finds no file to rename although the rename succeeded.
            Err(error) if !is_at(file, to) => return Err(error),
            _ => self.0 = PathBuf::new(),
        }
        Ok(())
    }
}

/// The file or node that a name refers to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A file of this name, which may exist already.
    File(PathBuf),
    /// A pipe or a device, which is never replaced.
    Node(PathBuf),
}

impl Target {
    /// Resolves `path`, following links.
    ///
    /// # Errors
    /// If a file cannot have this name, or if links lead nowhere.
    pub fn of(path: &Path) -> io::Result<Self> {
        path.file_name().map_or(Ok(()), check_name)?;
        let kind = disk::symlink_metadata(path).map(|found| found.file_type());
        let is_node = match kind {
            Ok(kind) if kind.is_symlink() => is_special(path),
            Ok(kind) if !kind.is_file() && !kind.is_dir() => true,
            _ => return Ok(Self::File(path.to_owned())),
        };
        if is_node {
            return Ok(Self::Node(path.to_owned()));
        }
        let is_link = |path: &Path| disk::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if let Ok(real) = path.canonicalize() {
            return Ok(Self::File(real));
        }
        // The last link leads to a file that does not exist yet.
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            if !is_link(&path) {
                return Ok(Self::File(path));
            }
            path = folder_of(&path).join(fs::read_link(&path)?);
        }
        Err(io::Error::other("too many links lead from one to the next"))
    }
}

/// Maximum number of links to follow; Linux has the same limit.
const MOST_LINKS: u32 = 40;

impl PartialFile {
    /// Creates the temporary file for `target`. The folder of `target` must exist.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = Target::of(target)?;
        let (file, temporary) = match &target {
            Target::File(path) => {
                let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
                create_part(folder_of(path), name)?
            }
            Target::Node(_) => parts(tempfile::Builder::new().disable_cleanup(true).tempfile()?),
        };
        Ok(Self { file, temporary: Some(temporary), target })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Current path of the file.
    pub fn path(&self) -> &Path {
        let (Target::File(path) | Target::Node(path)) = &self.target;
        self.temporary.as_ref().map_or(path, |temporary| &temporary.0)
    }

    /// Renames the file to its final name, replacing any existing file, or copies it to its pipe or device. Later calls do nothing.
    pub fn persist(&mut self) -> io::Result<()> {
        let Some(temporary) = self.temporary.take() else {
            return Ok(());
        };
        match &self.target {
            Target::File(path) => {
                disk::flush(&temporary.0, &self.file)?;
                temporary.rename(path, &self.file)
            }
            Target::Node(path) => {
                // Another program may have written the file by its temporary name.
                let mut content = File::open(&temporary.0)?;
                content.rewind()?;
                io::copy(&mut content, &mut open_node(path)?).map(drop)
            }
        }
    }
}

/// Opens a pipe or a device for writing; opening a pipe waits for its reader. Block devices are an error, since overwriting a disk is never
/// intended.
pub fn open_node(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if fs::metadata(path)?.file_type().is_block_device() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "this is a disk; choose the name of a file"));
        }
    }
    OpenOptions::new().write(true).open(path)
}

/// Number of attempts. Another process may remove a file that is not locked yet, because it looks like a leftover.
const TRIES: u32 = 10;

/// Creates a locked temporary file.
fn create_part(folder: &Path, name: &OsStr) -> io::Result<(File, Temporary)> {
    let mut prefix = OsString::from(".");
    prefix.push(short(name));
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).disable_cleanup(true);
    // Temporary files are private by default; frames follow the user's umask like any other file.
    let make = || builder.make_in(folder, |path| File::create_new(path)).map(parts);
    let create = || disk::create(&folder.join(name), make);
    for _ in 1..TRIES {
        let (file, temporary) = create()?;
        match disk::lock(&temporary.0, &file) {
            Ok(()) if is_at(&file, &temporary.0) => return Ok((file, temporary)),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Some network file systems do not support locks. No process removes leftovers there.
            Err(TryLockError::Error(_)) => return Ok((file, temporary)),
        }
    }
    create()
}

/// Maximum number of bytes of a name that are used in the names of its temporary files. Those are longer, and file systems allow 255 or 143
/// bytes.
const LONGEST: usize = 100;

/// A name for use in the names of temporary files: the name itself, or its hash if it is long.
pub(super) fn short(name: &OsStr) -> OsString {
    let bytes = name.as_encoded_bytes();
    if bytes.len() <= LONGEST { name.to_owned() } else { format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes)).into() }
}

/// The parts of a file that is not removed automatically. [`Temporary`] removes it.
fn parts(file: NamedTempFile) -> (File, Temporary) {
    let (file, path) = file.into_parts();
    (file, Temporary(path.to_path_buf()))
}

/// Prepares the writing of `paths`, so that a bad `--output` is reported before hours of rendering. Creates missing folders, checks that
/// files can be created there, and checks that no folder has the name of a file. Also removes temporary files that a killed process left
/// for these paths; in a large folder, only the first names are searched.
///
/// # Errors
/// The first folder or file that cannot be created.
pub fn prepare(paths: &[PathBuf]) -> Result<(), OutputError> {
    let mut files = Vec::new();
    for path in paths {
        match Target::of(path) {
            Ok(Target::File(file)) => files.push(file),
            Ok(Target::Node(_)) => {}
            Err(error) => {
                let path = path.clone();
                return Err(OutputError::File { path, error });
            }
        }
    }
    for (folder, names) in group_by_folder(&files) {
        fs::create_dir_all(folder).map_err(|error| OutputError::Folder { path: folder.to_owned(), error })?;
        check_writable(folder, &names)?;
        let parts: HashSet<OsString> = names.iter().map(|name| short(name)).collect();
        remove_leftovers(folder, LISTED + LISTED_PER_FILE * names.len(), |target| parts.contains(target));
    }
    Ok(())
}

/// Prepares a folder in which [`PartialFile`] writes all files with this ending. Creates the folder, checks that files can be created there, and
/// removes temporary files that a killed process left for such files.
///
/// # Errors
/// If the folder, or a file in it, cannot be created.
pub fn prepare_folder(folder: &Path, ending: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    create_part(folder, OsStr::new(ending))?;
    remove_leftovers(folder, usize::MAX, |target| target.to_string_lossy().ends_with(ending));
    Ok(())
}

fn group_by_folder(paths: &[PathBuf]) -> BTreeMap<&Path, HashSet<&OsStr>> {
    let mut folders: BTreeMap<&Path, HashSet<&OsStr>> = BTreeMap::new();
    for path in paths {
        let names = folders.entry(folder_of(path)).or_default();
        names.extend(path.file_name());
    }
    folders
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn check_writable(folder: &Path, names: &HashSet<&OsStr>) -> Result<(), OutputError> {
    let failed = |name: &OsStr, error| OutputError::File { path: folder.join(name), error };
    for name in names {
        if disk::metadata(&folder.join(name)).is_ok_and(|found| found.is_dir()) {
            return Err(failed(name, ErrorKind::IsADirectory.into()));
        }
    }
    match names.iter().min() {
        Some(first) => create_part(folder, first).map(drop).map_err(|e| failed(first, e)),
        None => Ok(()),
    }
}

/// Number of names that are searched for leftovers: a fixed number, plus a number per file to be written. Without a limit, ten thousand
/// tasks of a farm that each list a folder of a hundred thousand frames would saturate the file server.
const LISTED: usize = 1000;
const LISTED_PER_FILE: usize = 16;

/// Removes leftovers among the first `most` names of a folder. Errors are ignored, since leftovers are harmless.
fn remove_leftovers(folder: &Path, most: usize, is_ours: impl Fn(&OsStr) -> bool) {
    for name in disk::list(folder, most).unwrap_or_default() {
        if target_of_part(&name).is_some_and(|target| is_ours(&target)) {
            remove_leftover(&folder.join(name));
        }
    }
}

/// Removes a temporary file, unless a living process holds the lock of [`create_part`].
fn remove_leftover(part: &Path) {
    if let Ok((file, _)) = open_regular(part)
        && disk::lock(part, &file).is_ok()
    {
        // The lock is still held during removal, so a process that is about to lock the file detects this.
        let _ = disk::remove(part);
    }
}

/// The name for which a temporary file was created, as returned by [`short`]: `0001.png` for `.0001.png.a1B2c3.part`.
fn target_of_part(file_name: &OsStr) -> Option<OsString> {
    let name = file_name.as_encoded_bytes();
    let inner = name.strip_prefix(b".")?.strip_suffix(SUFFIX.as_bytes())?;
    let dot = inner.iter().rposition(|&byte| byte == b'.')?;
    Some(os_string(&inner[..dot]))
}

#[cfg(test)]
mod tests;
