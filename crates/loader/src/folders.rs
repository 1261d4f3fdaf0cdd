//! The files that a model may refer to: files in its own folder and in folders that the user allowed, after links and dots in names are
//! resolved.

use std::{
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};
use throng_base::{files::record, system::plain};

/// The folders from which a model's files may be read.
#[derive(Debug, Default)]
pub struct Folders {
    /// The model's own folder, absolute and without links. None for a model in memory.
    home: Option<PathBuf>,
    allowed: Vec<PathBuf>,
}

/// Reason why a file is not read, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("leads out of the model's folder: move the file there, or allow it with --allow-dir DIR")]
    Outside,
    #[error("does not exist: check the path")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

impl Folders {
    /// Creates the list of folders. Missing folders in `allow` are ignored.
    pub fn new(home: Option<&Path>, allow: &[PathBuf]) -> Self {
        let real = |p: &Path| p.canonicalize().ok().map(plain);
        let here = Path::new(".");
        let home = home.map(|h| if h.as_os_str().is_empty() { here } else { h });
        Self { home: home.and_then(real), allowed: allow.iter().filter_map(|p| real(p)).collect() }
    }

    /// The folders for a model in `file`.
    pub fn of(file: &Path, allow: &[PathBuf]) -> Self {
        Self::new(Some(file.parent().unwrap_or(Path::new(""))), allow)
    }

    /// The model's own folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Resolves `path`, including links.
    ///
    /// # Errors
    /// If the file does not exist or is in none of the folders. The second error takes precedence.
    pub fn find(&self, path: &Path) -> Result<PathBuf, Refusal> {
        match path.canonicalize().map(plain) {
            Ok(path) => self.check(&path).map(|()| path),
            Err(e) => {
                let absolute = std::path::absolute(path).map_err(Refusal::Unreadable)?;
                self.check(&without_dots(&absolute))?;
                record(path, None);
                Err(match e.kind() {
                    ErrorKind::NotFound => Refusal::Missing,
                    _ => Refusal::Unreadable(e),
                })
            }
        }
    }

    fn check(&self, path: &Path) -> Result<(), Refusal> {
        let mut folders = self.home.iter().chain(&self.allowed);
        if folders.any(|folder| path.starts_with(folder)) { Ok(()) } else { Err(Refusal::Outside) }
    }
}

/// Resolves `.` and `..` by name only, for paths that do not exist.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}
