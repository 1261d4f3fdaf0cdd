//! Reading and writing of USD stages (.usda, .usdc, .usd, .usdz).
//!
//! The crate `openusd` parses, composes and encodes layers; only `reader` and `writer` use it. What is read is a [`Stage`], plain data without
//! references to the files, in which instances are kept: shapes are stored once, and groups of them are placed by [`Item`]s. What is written is
//! a [`Layer`], plain data as well.

#![warn(missing_docs)]

mod layer;
#[cfg(feature = "reader")]
mod reader;
mod stage;
#[cfg(feature = "reader")]
mod writer;

pub use layer::*;
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

/// Whether this build can read and write USD.
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
    Err(unavailable(path, "read MaterialX"))
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn read(path: &Path, _: &StageOptions) -> Result<Stage, StageError> {
    Err(unavailable(path, "read USD"))
}

/// Checks that this build can write the file at `path`.
///
/// # Errors
/// Without the feature `reader`, always, with the way to a build that has it.
#[cfg(feature = "reader")]
pub fn writable(_: &Path) -> Result<(), StageError> {
    Ok(())
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn writable(path: &Path) -> Result<(), StageError> {
    Err(unavailable(path, "write USD"))
}

/// The bytes of a layer, for the file at `path`, which is named in errors.
///
/// # Errors
/// If a path of the layer is not valid. Without the feature `reader`, always, with the way to a build that has it.
#[cfg(feature = "reader")]
pub fn encode(path: &Path, layer: &Layer, format: LayerFormat) -> Result<Vec<u8>, StageError> {
    let encoded = throng_base::guard::guarded(|| writer::encode(layer, format), str::to_owned);
    encoded.map_err(|cause| StageError::new(path, format!("the layer cannot be written: {cause}")))
}

/// A package (.usdz) of files with their names, the root layer first, for the file at `path`, which is named in errors.
///
/// # Errors
/// If a name is not valid. Without the feature `reader`, always, with the way to a build that has it.
#[cfg(feature = "reader")]
pub fn package(path: &Path, files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, StageError> {
    writer::package(files).map_err(|cause| StageError::new(path, format!("the package cannot be written: {cause}")))
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn encode(path: &Path, _: &Layer, _: LayerFormat) -> Result<Vec<u8>, StageError> {
    Err(unavailable(path, "write USD"))
}

/// Fails, because the feature `reader` is off.
///
/// # Errors
/// Always.
#[cfg(not(feature = "reader"))]
pub fn package(path: &Path, _: &[(String, Vec<u8>)]) -> Result<Vec<u8>, StageError> {
    Err(unavailable(path, "write USD"))
}

#[cfg(not(feature = "reader"))]
fn unavailable(path: &Path, action: &str) -> StageError {
    let message = format!(
        "this build of throng cannot {action}: install a release, the image or the Python package, or build it with Rust 1.96 and \
         `cargo build --release --features usd` (before Rust 1.96 also `--ignore-rust-version`)"
    );
    StageError::new(path, message)
}
