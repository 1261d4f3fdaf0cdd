//! Replaces a scene file by new text. Owner, permissions and all names are kept, and concurrent changes are not lost.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, ErrorKind, Seek, Write},
    path::Path,
};
use throng_base::{files::read_regular, system};
use throng_output::{OutputError, PartialFile};
use xxhash_rust::xxh3::xxh3_128;

/// A hash of the file at `path`; `None` if it does not exist.
///
/// # Errors
/// Errors of reading the file.
pub fn hash_of(path: &Path) -> io::Result<Option<u128>> {
    match read_regular(path) {
        Ok(bytes) => Ok(Some(xxh3_128(&bytes))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the file at `path` must not be written.
pub fn is_read_only(path: &Path) -> bool {
    let marked = fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    let opened = OpenOptions::new().write(true).open(path);
    marked
        || opened
            .is_err_and(|error| [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem].contains(&error.kind()))
}

/// Replaces the file at `path` by `text` if its hash still equals `expected`; `None` means that no file exists. Returns whether it was replaced.
///
/// A new file takes its place, with the old owner and permissions. If the file has other names, or if its owner cannot be set on another file, it is
/// overwritten in place, after a complete copy of the text was written next to it.
///
/// # Errors
/// Errors of writing.
pub fn replace(path: &Path, text: &str, expected: Option<u128>) -> Result<bool, OutputError> {
    let replaced = try_to_replace(path, text.as_bytes(), expected);
    replaced.map_err(|error| OutputError::File { path: path.to_owned(), error })
}

fn try_to_replace(path: &Path, text: &[u8], expected: Option<u128>) -> io::Result<bool> {
    let found = fs::metadata(path).ok();
    let mut part = match PartialFile::create(path) {
        // The folder is not writable, but the file may be.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && found.is_some() => {
            return write_in_place(path, text, expected);
        }
        made => made?,
    };
    let mut file = part.file();
    file.write_all(text)?;
    let keeps_all = match &found {
        Some(found) => !system::has_other_names(path) && take_over(file, found).is_ok(),
        None => true,
    };
    if !keeps_all {
        file.sync_all()?;
        return write_in_place(path, text, expected);
    }
    part.persist_in_place_of(|path| match path {
        Some(path) => hash_of(path).is_ok_and(|found| found.is_some() && found == expected),
        None => expected.is_none(),
    })
}

/// Sets the owner and the permissions of a new file to those of another.
fn take_over(file: &File, of: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (of.uid(), of.gid()) {
            fchown(file, Some(of.uid()), Some(of.gid()))?;
        }
    }
    file.set_permissions(of.permissions())
}

fn write_in_place(path: &Path, text: &[u8], expected: Option<u128>) -> io::Result<bool> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let before = read_regular(path)?;
    if Some(xxh3_128(&before)) != expected {
        return Ok(false);
    }
    let mut write = |bytes: &[u8]| {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    if let Err(error) = write(text) {
        // Restore the old contents; even a full disk has room for them.
        write(&before)?;
        return Err(error);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn file(text: &str) -> (TempDir, PathBuf, Option<u128>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        fs::write(&path, text).unwrap();
        (folder, path, Some(xxh3_128(text.as_bytes())))
    }

    fn names(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn a_change_at_the_last_moment_is_not_lost() {
        let (folder, path, expected) = file("one");
        let mut part = PartialFile::create(&path).unwrap();
        part.file().write_all(b"two").unwrap();
        // Another program writes after the file was checked.
        fs::write(&path, "edited").unwrap();
        let is_expected = |path: Option<&Path>| hash_of(path.unwrap()).unwrap() == expected;
        assert!(!part.persist_in_place_of(is_expected).unwrap());
        drop(part);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(&folder)), ("edited", 1));
        assert!(!replace(&path, "two", expected).unwrap() && !replace(&path, "two", None).unwrap());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(&folder)), ("edited", 1));
        assert!(replace(&path, "two", Some(xxh3_128(b"edited"))).unwrap());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(&folder)), ("two", 1));
        fs::remove_file(&path).unwrap();
        assert!(!replace(&path, "two", expected).unwrap() && !path.exists());
        assert!(replace(&path, "three", None).unwrap() && path.exists());
    }

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let (folder, path, expected) = file("a long first text");
        let other = folder.path().join("b.ron");
        fs::hard_link(&path, &other).unwrap();
        assert!(replace(&path, "two", expected).unwrap());
        assert_eq!((fs::read_to_string(&other).unwrap().as_str(), names(&folder)), ("two", 2));
        assert!(!replace(&path, "three", expected).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn a_file_that_is_marked_read_only_is_told_apart() {
        let (_folder, path, _) = file("one");
        assert!(!is_read_only(&path));
        let mut marked = fs::metadata(&path).unwrap().permissions();
        marked.set_readonly(true);
        fs::set_permissions(&path, marked).unwrap();
        assert!(is_read_only(&path));
        assert!(!is_read_only(Path::new("/nowhere/at/all")));
    }
}
