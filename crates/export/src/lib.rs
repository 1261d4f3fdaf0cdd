//! Export of scenes as USD stages: what throng draws becomes prims that other programs, and throng itself, draw alike.
//!
//! `convert` makes the layer from a loaded scene: `times` chooses its moments, `placing` writes instances and groups, `shapes` and `sphere` meshes,
//! `materials` their networks, `lights`, `cameras` and `settings` the rest. `files` writes it with its textures. What USD lacks is a warning.

#![warn(missing_docs)]

mod cameras;
mod convert;
mod files;
mod lights;
mod materials;
mod placing;
mod settings;
mod shapes;
mod sphere;
mod textures;
mod times;

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};
use throng_output::OutputError;
use throng_scene::Scene;
use throng_usd::{LayerFormat, StageError};

/// Choices for an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The frames that are sampled. None: all of them.
    pub frames: Option<RangeInclusive<u32>>,
    /// Exposures in stops of the frames' pictures, where the scene's exposure is measured. The stage then has fixed ones.
    pub exposures: BTreeMap<u32, f32>,
}

/// What an export wrote.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// All files, the stage first.
    pub files: Vec<PathBuf>,
    /// What USD lacks, one line each.
    pub warnings: Vec<String>,
    /// Numbers of what the stage has.
    pub counts: Counts,
}

/// Numbers of prims of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Meshes, curves and spheres.
    pub shapes: usize,
    /// Materials.
    pub materials: usize,
    /// Pictures.
    pub textures: usize,
    /// Groups that are kept once.
    pub groups: usize,
    /// Point instancers.
    pub instancers: usize,
    /// Copies that point instancers have.
    pub copies: usize,
    /// Native instances.
    pub instances: usize,
}

/// An export that failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The name is not that of a USD file.
    #[error("{}: the name does not end in .usda, .usdc, .usd or .usdz, of which one says how to write it", .0.display())]
    Name(PathBuf),
    /// The stage cannot be encoded.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A texture cannot be encoded.
    #[error("{}: the picture cannot be written: {cause}", path.display())]
    Picture {
        /// The picture.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Checks that this build can write a stage with this name.
///
/// # Errors
/// If the name is none of a USD file, or if this build cannot write USD.
pub fn check(path: &Path) -> Result<(), ExportError> {
    files::Target::of(path)?;
    throng_usd::writable(path)?;
    Ok(())
}

/// Writes a scene as the stage `path`, and its pictures into the folder `NAME_textures` beside it, or into the package for `.usdz`. Files are
/// written whole or not at all, the stage last.
///
/// # Errors
/// If the name is none of a USD file, if this build cannot write USD, or if a file cannot be written.
pub fn export(mut scene: Scene, path: &Path, options: &ExportOptions) -> Result<Exported, ExportError> {
    let target = files::Target::of(path)?;
    let times = times::Times::new(&scene, options);
    let warnings = convert::settle(&mut scene, &times);
    let converted = convert::convert(&scene, &times, &target, warnings)?;
    let files = files::write(&target, &converted.layer, converted.pictures)?;
    Ok(Exported { files, warnings: converted.warnings, counts: converted.counts })
}

/// The format of the layer in a file with this extension. None for other files.
fn format_of(path: &Path) -> Option<LayerFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "usda" => Some(LayerFormat::Text),
        "usd" | "usdc" | "usdz" => Some(LayerFormat::Binary),
        _ => None,
    }
}
