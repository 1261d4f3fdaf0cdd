//! Scene files on the disk.

use crate::{LoadError, files};
use std::path::Path;
pub use throng_scene::text::file::*;
use throng_scene::text::source;

/// Reads the text of a scene file.
///
/// # Errors
/// If it cannot be read or is not UTF-8.
pub fn open(path: &Path) -> Result<Source, LoadError> {
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|e| not_utf8(path, e.as_bytes(), e.utf8_error().valid_up_to()))?;
    Ok(Source { path: path.into(), text, ..Source::default() })
}

fn not_utf8(path: &Path, bytes: &[u8], valid: usize) -> LoadError {
    let valid = String::from_utf8_lossy(&bytes[..valid]);
    let at = source::line_and_column(&valid, valid.len());
    LoadError::place(path, at, "this is not text: save the file as UTF-8")
}
