//! Files that appear under their name only when they are complete.
//!
//! A frame is written to `.<name>.<random>.part` in the folder where it belongs and then renamed, which is atomic
//! within one file system. A process that is killed leaves at most such a hidden file; [`prepare`] removes it.
//! The process that writes a `.part` file holds a lock on it, so a second process rendering into the same folder can tell a
//! leftover from a file in use.
//!
//! Where the name is a link, the file that it leads to is replaced and the link stays. Pipes and devices are never replaced: the
//! content is written to them once it is complete.

use super::OutputError;
use crate::{
    disk,
    files::{is_at, is_special, open_regular, os_string},
};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, ErrorKind, Seek, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};
use tempfile::NamedTempFile;

const SUFFIX: &str = ".part";

/// Creates `path` with what `fill` writes, or replaces it; on any error `path` is as it was before and the temporary
/// file is gone. The folder must exist: one that vanished during a run is an error, not something to recreate.
///
/// Nothing is forced to the disk, for speed. After a power failure a file may therefore be incomplete, which
/// [`super::FileFormat::is_complete`] notices.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    replace(path, |part| {
        let mut writer = BufWriter::new(disk::Writer { path: part.path(), file: part.file() });
        fill(&mut writer)?;
        writer.flush()
    })
}

/// Like [`write_atomically`], for files that are not written from one end to the other.
pub fn fill_atomically(path: &Path, fill: impl FnOnce(&File) -> io::Result<()>) -> Result<(), OutputError> {
    replace(path, |part| fill(part.file()))
}

/// Number of files that are being written from their beginning to their end.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Whether a file is being written, so that a process that ends now would lose it.
pub fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst) > 0
}

/// Counts a file that is being written.
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

fn replace(path: &Path, fill: impl FnOnce(&Part) -> io::Result<()>) -> Result<(), OutputError> {
    let _writing = Writing::begin();
    let replace = || {
        let mut part = Part::create(path)?;
        fill(&part)?;
        part.persist()
    };
    replace().map_err(|error| OutputError::File { path: path.to_owned(), error })
}

/// A file that is being written. It is removed when it is dropped, unless it was persisted before.
pub struct Part {
    pub(super) file: File,
    /// None once it has its name.
    pub(super) temporary: Option<Temporary>,
    pub(super) target: Target,
}

/// The name of a file, which is removed when this is dropped. Empty: there is none.
pub(super) struct Temporary(pub(super) PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // A later run finds what cannot be removed.
            let _ = disk::remove(&self.0);
        }
    }
}

impl Temporary {
    /// Gives the file another name, after which it is not removed any more.
    pub(super) fn rename(mut self, to: &Path, file: &File) -> io::Result<()> {
        match disk::rename(&self.0, to) {
            // A server that is asked again, since its first answer was lost, finds no file to rename any more.
            Err(error) if !is_at(file, to) => return Err(error),
            _ => self.0 = PathBuf::new(),
        }
        Ok(())
    }
}

/// The file or node that a name leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A file of that name, which may exist.
    File(PathBuf),
    /// A pipe or a device, which stays there.
    Node(PathBuf),
}

impl Target {
    /// Finds the target of `path`, following links.
    pub fn of(path: &Path) -> io::Result<Self> {
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
        // The target of the last link does not exist yet.
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

/// Most links that are followed, as by Linux.
const MOST_LINKS: u32 = 40;

impl Part {
    /// Creates the temporary file for `target`, whose folder must exist.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = Target::of(target)?;
        let (file, temporary) = match &target {
            Target::File(path) => {
                let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
                create_part(folder_of(path), name)?
            }
            Target::Node(_) => kept(NamedTempFile::new()?)?,
        };
        Ok(Self { file, temporary: Some(temporary), target })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where the file is at the moment.
    pub fn path(&self) -> &Path {
        let (Target::File(path) | Target::Node(path)) = &self.target;
        self.temporary.as_ref().map_or(path, |temporary| &temporary.0)
    }

    /// Gives the file its name, in place of any file that has it, or writes it to its pipe or device. Later calls do nothing.
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
                // Another program may have written it, under its temporary name.
                let mut content = File::open(&temporary.0)?;
                content.rewind()?;
                io::copy(&mut content, &mut open_node(path)?).map(drop)
            }
        }
    }
}

/// Opens a pipe or a device to write to it; a pipe waits for its reader. Refuses disks, since nobody means to overwrite one.
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

/// Number of tries: other processes may take a file that is not locked yet for a leftover, and remove it.
const TRIES: u32 = 10;

/// Creates a locked temporary file.
fn create_part(folder: &Path, name: &OsStr) -> io::Result<(File, Temporary)> {
    let mut prefix = OsString::from(".");
    prefix.push(short(name));
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // Temporary files are private by default; frames follow the user's umask like any other file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let create = || disk::create(&folder.join(name), || kept(builder.tempfile_in(folder)?));
    for _ in 1..TRIES {
        let (file, temporary) = create()?;
        match disk::lock(&temporary.0, &file) {
            Ok(()) if is_at(&file, &temporary.0) => return Ok((file, temporary)),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Some network file systems have no locks. There no process removes leftovers.
            Err(TryLockError::Error(_)) => return Ok((file, temporary)),
        }
    }
    create()
}

/// Most bytes of a name that names of its temporary files contain: these have more, and file systems allow 255, or 143.
const LONGEST: usize = 100;

/// A name for use in the names of temporary files; for long names, a hash of it.
pub(super) fn short(name: &OsStr) -> OsString {
    let bytes = name.as_encoded_bytes();
    match bytes.len() <= LONGEST {
        true => name.to_owned(),
        false => format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes)).into(),
    }
}

/// Takes over the removal of a temporary file.
fn kept(file: NamedTempFile) -> io::Result<(File, Temporary)> {
    let (file, path) = file.into_parts();
    Ok((file, Temporary(path.keep()?)))
}

/// Makes the folders of `paths`, checks that files can be created there and that no folder is in the way of a file,
/// and removes temporary files that a killed process left for these paths, as far as they are among the first names of a large
/// folder. Called once before the work starts, so that a bad `--output` is reported before hours of rendering.
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

/// Makes a folder whose files with this ending are all written by [`Part`], checks that files can be created there, and removes
/// temporary files that a killed process left for any of them.
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

/// Names that are looked at for leftovers, in all and for each file to be written. Where ten thousand tasks of a farm each list a folder of a
/// hundred thousand frames, its server does nothing else.
const LISTED: usize = 1000;
const LISTED_PER_FILE: usize = 16;

/// Removes leftovers among the first `most` names of a folder. They are harmless, so those that cannot be listed or removed are left alone.
fn remove_leftovers(folder: &Path, most: usize, is_ours: impl Fn(&OsStr) -> bool) {
    for name in disk::list(folder, most).unwrap_or_default() {
        if target_of_part(&name).is_some_and(|target| is_ours(&target)) {
            remove_leftover(&folder.join(name));
        }
    }
}

/// Removes a temporary file unless a living process holds the lock that [`create_part`] takes.
fn remove_leftover(part: &Path) {
    if let Ok((file, _)) = open_regular(part)
        && disk::lock(part, &file).is_ok()
    {
        // The file is still locked, so that any process that was about to lock it notices.
        let _ = disk::remove(part);
    }
}

/// The name for which a temporary file was made, as [`short`] has it: `0001.png` for `.0001.png.a1B2c3.part`.
fn target_of_part(file_name: &OsStr) -> Option<OsString> {
    let name = file_name.as_encoded_bytes();
    let inner = name.strip_prefix(b".")?.strip_suffix(SUFFIX.as_bytes())?;
    let dot = inner.iter().rposition(|&byte| byte == b'.')?;
    Some(os_string(&inner[..dot]))
}

#[cfg(test)]
mod tests;
