//! Reading files and limiting memory. Loaders open all files through this module.

use super::LoadError;
use std::{
    fs,
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
/// If the file is missing, not a regular file, unreadable, or larger than the available memory.
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let fail = |e: std::io::Error| LoadError::file(path, describe(&e));
    let opened = open_regular(path);
    record(path, opened.as_ref().ok().map(|(_, length)| *length));
    let (file, length) = opened.map_err(fail)?;
    remember_input(path);
    reserve(path, "the file", length)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
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
