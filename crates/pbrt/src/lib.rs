//! Reading of pbrt scene files (.pbrt, .pbrt.gz), versions 3 and 4.
//!
//! `lexer` splits files into tokens, `params` reads lists of parameters, and `build` executes directives. The result is a [`Scene`], plain
//! data without references to the files, in which instances are kept: shapes are stored once, and [`Group`]s of them are placed by
//! [`Copies`]. Version 3's names are those of version 4 in it where both mean the same.

#![warn(missing_docs)]

mod build;
mod lexer;
mod names;
mod params;
mod scene;
mod spectra;

pub use scene::*;

use std::path::{Path, PathBuf};

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", file.display(), place.map_or(String::new(), |(line, column)| format!(":{line}:{column}")))]
pub struct PbrtError {
    /// The file with the fault, which may be an included one.
    pub file: PathBuf,
    /// Line and column, counted from 1.
    pub place: Option<(usize, usize)>,
    /// The directive, the cause and a remedy.
    pub message: String,
}

/// Reads the scene in the file at `path`, with all files that it includes. Relative paths in it are relative to its folder.
///
/// # Errors
/// If a file cannot be read, or does not follow pbrt's syntax. Directives and parameters that are unknown or not supported are
/// [`Scene::warnings`].
pub fn read(path: &Path) -> Result<Scene, PbrtError> {
    build::read(path)
}
