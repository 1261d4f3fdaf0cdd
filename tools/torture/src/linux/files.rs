//! Reads the files of a folder and compares them with expected ones.

use super::decode;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};
use xxhash_rust::xxh3::xxh3_128;

/// Size and hash of a file's content. The content itself is not stored, because starting a process takes longer the more memory this one
/// has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub bytes: usize,
    hash: u128,
}

/// Files by path relative to the folder.
pub type Files = BTreeMap<PathBuf, Content>;

impl Content {
    pub fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), hash: xxh3_128(bytes) }
    }
}

/// All regular files of a folder and its subfolders. Files that vanish during the scan are left out.
pub fn read_files(folder: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(of) = folders.pop() {
        for entry in fs::read_dir(&of)? {
            let path = entry?.path();
            let Ok(kind) = fs::symlink_metadata(&path) else {
                continue;
            };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && let Ok(bytes) = fs::read(&path)
            {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                files.insert(name, Content::of(&bytes));
            }
        }
    }
    Ok(files)
}

/// Finds a file with a final name that is neither its final version nor a complete file of its kind.
pub fn torn(folder: &Path, reference: &Files) -> io::Result<Option<String>> {
    for (name, content) in read_files(folder)? {
        let file_name = name.file_name().unwrap_or_default();
        let hidden = file_name.as_encoded_bytes().starts_with(b".");
        if hidden || reference.get(&name) == Some(&content) {
            continue;
        }
        if let Some(fault) = decode::fault(&name, &fs::read(folder.join(&name))?) {
            return Ok(Some(format!("a torn file: {}: {fault}", kind_of(&name))));
        }
    }
    Ok(None)
}

/// The first file that is missing, unexpected or different. Files that contain times only need to exist.
pub fn difference(folder: &Path, reference: &Files) -> io::Result<Option<String>> {
    let found = read_files(folder)?;
    let missing = |name: &&PathBuf| !found.contains_key(*name) && !is_of_cache(name);
    if let Some(name) = reference.keys().find(missing) {
        return Ok(Some(format!("a file is missing: {}", kind_of(name))));
    }
    let other = found.iter().find_map(|(name, content)| {
        let what = match reference.get(name) {
            None if is_of_cache(name) => return None,
            None => "a file is left over",
            Some(expected) if expected == content || tells_times(name) => return None,
            Some(_) => "a file has other bytes",
        };
        Some(format!("{what}: {}", kind_of(name)))
    });
    Ok(other)
}

/// Files of the tree cache. They remain for later runs, and unfinished ones remain for a minute, because another run may be about to finish
/// them.
fn is_of_cache(name: &Path) -> bool {
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".blas") || name.starts_with('.') && name.contains(".blas.")
}

fn tells_times(name: &Path) -> bool {
    name.extension().is_some_and(|e| e == "json" || e == "md")
}

/// The name with its digits replaced by `#`.
fn kind_of(name: &Path) -> String {
    let digits = |c: char| if c.is_ascii_digit() { '#' } else { c };
    name.display().to_string().chars().map(digits).collect()
}
