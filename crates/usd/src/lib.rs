//! Reading of USD stages (.usda, .usdc, .usd, .usdz).
//!
//! The crate `openusd` parses layers and composes them; only `reader` uses it. The result is a [`Stage`], plain data without references to the
//! files, in which instances are kept: shapes are stored once, and groups of them are placed by [`Item`]s.

#![warn(missing_docs)]

#[cfg(feature = "reader")]
mod reader;
mod stage;

pub use stage::*;

use std::path::{Path, PathBuf};

/// What to read of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageOptions {
    /// Path of the prim to show, with its transform in the world. Default: all root prims.
    pub prim: Option<String>,
    /// Selected variants, which replace those of the file.
    pub variants: Vec<VariantChoice>,
    /// The purposes that are drawn in addition to `default`. The usual one is `render`.
    pub purposes: Purposes,
    /// Folders that files of the stage may be in, besides the folder of the root layer and those in it.
    pub allow: Vec<PathBuf>,
}

/// A selected variant of a prim's variant set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantChoice {
    /// Path of the prim.
    pub prim: String,
    /// Name of the variant set.
    pub set: String,
    /// Name of the variant.
    pub variant: String,
}

/// Purposes of geometry that are drawn in addition to `default` (UsdGeomImageable).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purposes {
    /// Geometry of high quality, for final pictures.
    pub render: bool,
    /// Light geometry in place of `render`.
    pub proxy: bool,
    /// Helpers, such as rigs.
    pub guide: bool,
}

impl Default for Purposes {
    fn default() -> Self {
        Self { render: true, proxy: false, guide: false }
    }
}

/// A stage that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", file.display(), place.map_or(String::new(), |(line, column)| format!(":{line}:{column}")))]
pub struct StageError {
    /// The layer, or the root layer if it concerns a prim of the composed stage.
    pub file: PathBuf,
    /// Line and column in the layer, counted from 1.
    pub place: Option<(usize, usize)>,
    /// The prim and attribute, if known, the cause and a remedy.
    pub message: String,
}

impl StageError {
    /// An error without a place.
    pub fn new(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, message: message.into() }
    }
}

/// Whether this build can read USD.
pub const AVAILABLE: bool = cfg!(feature = "reader");

/// Reads the stage whose root layer is the file at `path`.
///
/// # Errors
/// If a layer cannot be read or composed, if it is outside of the allowed folders, or if an option names nothing of the stage. Missing
/// payloads and pictures are [`Stage::warnings`]. Without the feature `reader`, always, with the way to a build that has it.
#[cfg(feature = "reader")]
pub fn read(path: &Path, options: &StageOptions) -> Result<Stage, StageError> {
    reader::read(path, options)
}

/// Reads the materials of the MaterialX document at `path`. It and its pictures must be in its folder or below, or in a folder of `allow`.
///
/// # Errors
/// If the document or one that it includes cannot be read. Missing pictures are [`Library::warnings`]. Without the feature `reader`, always,
/// with the way to a build that has it.
#[cfg(feature = "reader")]
pub fn read_materials(path: &Path, allow: &[PathBuf]) -> Result<Library, StageError> {
    reader::read_materials(path, allow)
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn read_materials(path: &Path, _: &[PathBuf]) -> Result<Library, StageError> {
    Err(unavailable(path, "MaterialX"))
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn read(path: &Path, _: &StageOptions) -> Result<Stage, StageError> {
    Err(unavailable(path, "USD"))
}

#[cfg(not(feature = "reader"))]
fn unavailable(path: &Path, format: &str) -> StageError {
    let message = format!(
        "this build of throng cannot read {format}: install a release, the image or the Python package, or build it with Rust 1.96 and \
         `cargo build --release --features usd` (before Rust 1.96 also `--ignore-rust-version`)"
    );
    StageError::new(path, message)
}
