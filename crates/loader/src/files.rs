//! Reading files and limiting memory. Loaders open all files through this module.

use super::{LoadError, pieces::Pieces};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::Path,
};
use throng_base::{
    files::{open_regular, record, remember_input},
    memory,
};

/// The bytes of a regular file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes).map_err(|e| LoadError::file(path, describe(&e)))?;
    Ok(bytes)
}

/// Opens a regular file, and returns it with its length in bytes.
///
/// # Errors
/// If the file is missing, not a regular file, unreadable, or larger than the available memory, which what is made of it takes.
pub fn open(path: &Path) -> Result<(File, u64), LoadError> {
    let opened = open_regular(path);
    record(path, opened.as_ref().ok().map(|(_, length)| *length));
    let (file, length) = opened.map_err(|e| LoadError::file(path, describe(&e)))?;
    remember_input(path);
    reserve(path, "the file", length)?;
    Ok((file, length))
}

/// Opens a regular file for reading from its beginning to its end.
///
/// # Errors
/// As [`open`].
pub fn pieces(path: &Path) -> Result<Pieces<File>, LoadError> {
    open(path).map(|(file, length)| Pieces::new(file, length))
}

/// Whether there is a file or folder at `path`. A missing one is recorded, so that its creation is detected later.
pub fn exists(path: &Path) -> bool {
    let exists = path.exists();
    if !exists {
        record(path, None);
    }
    exists
}

/// The end of a sentence about a file that could not be read.
pub fn describe(e: &io::Error) -> String {
    match e.kind() {
        ErrorKind::NotFound => "no such file: check the path".to_owned(),
        ErrorKind::PermissionDenied => "permission denied: make the file readable".to_owned(),
        ErrorKind::IsADirectory => "this is a directory: name a file in it".to_owned(),
        ErrorKind::InvalidInput => e.to_string(),
        _ => format!("cannot be read: {e}"),
    }
}

/// Checks before an allocation that `bytes` are available.
///
/// # Errors
/// If `bytes` exceeds the available memory, on systems that report it.
pub fn reserve(path: &Path, what: &str, bytes: u64) -> Result<(), LoadError> {
    match fits(bytes) {
        Ok(()) => Ok(()),
        Err(lack) => Err(LoadError::file(path, format!("{what} {lack}"))),
    }
}

/// As [`reserve`], but the error is only the end of the sentence: "needs 5.0 GiB of memory, but ...".
pub fn fits(bytes: u64) -> Result<(), String> {
    match available_memory() {
        Some(free) if bytes > free => Err(format!(
            "needs {} of memory, but only {} are available",
            memory::describe(bytes),
            memory::describe(free)
        )),
        _ => Ok(()),
    }
}

/// Bytes that can be allocated without swapping; None if the system does not report them (only Linux does).
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_memory_is_refused_with_both_sizes() {
        assert_eq!(fits(1), Ok(()));
        if available_memory().is_some() {
            let lack = fits(1 << 60).err().unwrap_or_default();
            assert!(lack.starts_with("needs 1073741824 GiB of memory, but only "), "{lack}");
        }
    }
}
