//! Errors between a finished frame and its file, with the likely fix.

use super::EncodeError;
use image::ImageError;
use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

/// An error whose text names the path, the reason and a remedy, so that it can be shown alone. The I/O error is part of that
/// text and therefore not also offered as `source`.
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
        "{} exists, and {difference}: choose another --output, or say with --mismatched whether such frames are rendered again \
         or kept", .path.display()
    )]
    Mismatched { path: PathBuf, difference: String },
    #[error("cannot write {}: it is {other}, too; choose another name", .path.display())]
    Twice { path: PathBuf, other: String },
    #[error("cannot write {}: {error}", .path.display())]
    Encode { path: PathBuf, error: EncodeError },
}

/// Explains why a folder cannot be made. That is done before the work starts, so it cannot have been deleted meanwhile.
fn explain_folder(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no folders can be made there; choose another --output".to_owned(),
        _ => explain(error),
    }
}

/// Explains the reason in words, and what to do about it.
fn explain(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied; choose a folder you may write to with --output",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another folder with --output",
        ErrorKind::StorageFull => "the disk is full; free some space and continue with --skip-existing",
        ErrorKind::QuotaExceeded => "your disk quota is used up; free some space and continue with --skip-existing",
        ErrorKind::NotFound => {
            "its folder is missing (deleted or renamed while rendering?); \
             run again with --skip-existing to render what is missing"
        }
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder; choose another --output",
        ErrorKind::IsADirectory => "a folder has that name; remove it or choose another --output pattern",
        ErrorKind::AlreadyExists => "a file has that name; remove it or choose another --output pattern",
        ErrorKind::FileTooLarge => {
            "it would be larger than files may be here (`ulimit -f`, or the file system's limit)"
        }
        ErrorKind::InvalidFilename => "the name is too long; choose a shorter --output pattern",
        _ => return error.to_string(),
    };
    known.to_owned()
}
