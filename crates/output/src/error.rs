//! Errors of writing frames, with the likely fix.

use super::EncodeError;
use image::ImageError;
use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

/// An error whose text is complete: it has the path, the reason and a remedy. The I/O error is part of the text, so `source` does not
/// return it.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot create the folder {}: {}", .path.display(), explain_folder(.error))]
    Folder { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {}", .path.display(), explain(.error))]
    File { path: PathBuf, error: io::Error },
    #[error("cannot write {}: an earlier frame is missing", .path.display())]
    Earlier { path: PathBuf },
    #[error("cannot read {}: {error}; remove it or run without --skip-existing", .path.display())]
    ReadBack { path: PathBuf, error: ImageError },
    #[error(
        "{} has {}x{} pixels and the video {}x{}; remove it or run without --skip-existing",
        .path.display(), .found.0, .found.1, .wanted.0, .wanted.1
    )]
    OtherSize { path: PathBuf, found: (u32, u32), wanted: (u32, u32) },
    #[error(
        "{} exists, and {difference}: choose another --output, or set --mismatched to render such frames again or keep them",
        .path.display()
    )]
    Mismatched { path: PathBuf, difference: String },
    #[error("cannot write {}: it is also {other}; choose another name", .path.display())]
    Twice { path: PathBuf, other: String },
    #[error("cannot write {}: {error}", .path.display())]
    Encode { path: PathBuf, error: EncodeError },
}

impl OutputError {
    /// Advice for continuing a run of frames with `--skip-existing`, as words that follow the error. None if the error does not suggest it.
    pub fn way_on(&self) -> Option<&'static str> {
        let (Self::Folder { error, .. } | Self::File { error, .. }) = self else {
            return None;
        };
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("and continue with --skip-existing"),
            ErrorKind::NotFound => {
                Some("(deleted or renamed while rendering?); run again with --skip-existing to render what is missing")
            }
            _ => None,
        }
    }
}

/// Explains why a folder cannot be created. Folders are created before the work starts, so the parent was not deleted during the run.
fn explain_folder(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no folders can be made there; choose another place".to_owned(),
        _ => explain(error),
    }
}

/// Explains an I/O error in words, with a remedy. The text names no flag, because many commands write files.
fn explain(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied; choose a folder that you may write to",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another folder",
        ErrorKind::StorageFull => "the disk is full; free some space",
        ErrorKind::QuotaExceeded => "your disk quota is used up; free some space",
        ErrorKind::NotFound => "its folder is missing",
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder; choose another path",
        ErrorKind::IsADirectory => "a folder has that name; remove it or choose another name",
        ErrorKind::AlreadyExists => "a file has that name; remove it or choose another name",
        ErrorKind::FileTooLarge => {
            "it would be larger than files may be here (`ulimit -f`, or the file system's limit)"
        }
        ErrorKind::InvalidFilename => "the name is too long; choose a shorter one",
        _ => return error.to_string(),
    };
    known.to_owned()
}
