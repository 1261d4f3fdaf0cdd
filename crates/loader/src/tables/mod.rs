//! Tables of placements: transforms of many instances over time, in NPY, CSV or JSON Lines files.
//!
//! NPY files are read frame by frame while frames are rendered; a load reads a sample of their frames. Text files are parsed once.

mod matrices;
mod npy;
mod survey;
mod text;

pub use npy::{AnyHeader, parse_any};

use crate::{
    LoadError,
    budget::{self, Budget},
    extension, files,
    geometry::transform::is_invertible,
};
use glam::{Affine3, Mat3, Vec3};
use std::{path::Path, sync::Arc};
use throng_scene::{
    Ends, PlacementTable, QuaternionOrder, RowClock, RowFormat, RowPose, RowSource, TableShape, desc::UpAxis,
};

/// Choices about a table that its file does not make.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Frames per second, above 0; none for the default.
    pub fps: Option<f64>,
    /// Frames per second of the scene.
    pub scene_fps: f64,
    /// Time of frame 0, in seconds; for a file with times, the time that is added to them.
    pub start: f64,
    pub ends: Ends,
    pub order: QuaternionOrder,
    pub up: UpAxis,
}

/// A table, and the first pose of each of its instances in the frames that were read at load. None for an instance that is in none of them.
pub struct LoadedTable {
    pub table: Arc<PlacementTable>,
    pub first: Vec<Option<RowPose>>,
}

/// The content of a file, before its frames are surveyed.
struct Rows {
    frames: u32,
    instances: u32,
    format: RowFormat,
    clock: RowClock,
    source: Box<dyn RowSource>,
}

/// Reads a table by its extension: `.npy`, `.csv`, or `.jsonl` (`.ndjson`).
///
/// # Errors
/// If the file cannot be read, if it is no table, or if memory is short.
pub fn load(path: &Path, options: &TableOptions, budget: &Budget) -> Result<LoadedTable, LoadError> {
    let rows = match extension(path).as_str() {
        "npy" => npy::open(path, options, budget)?,
        "csv" => text::read(path, text::Format::Csv, options, budget)?,
        "jsonl" | "ndjson" => text::read(path, text::Format::JsonLines, options, budget)?,
        _ => {
            let message = "this is no table of placements: write one as .npy, .csv or .jsonl";
            return Err(LoadError::file(path, message));
        }
    };
    let frame = u64::from(rows.instances) * rows.format.bytes() as u64;
    // Instances, and two frames around a time in a moment and its neighbours.
    let instances = u64::from(rows.instances) * budget::INSTANCE;
    files::reserve(path, "placing the instances of this table", frame.saturating_mul(4).saturating_add(instances))?;
    // A failed read names the file, which the error of a load adds by itself.
    let named = format!("{}: ", path.display());
    rows.into_table(options.ends).map_err(|e| LoadError::file(path, e.strip_prefix(&named).unwrap_or(&e)))
}

/// The table of transforms in memory. `transforms` has those of all instances at the first time, then at the second, and so on.
///
/// # Errors
/// If times are not finite and increasing, if there are not as many transforms at each, or if no instance is there. The text is a sentence.
pub fn of_transforms(transforms: &Arc<[Affine3]>, times: &[f64]) -> Result<LoadedTable, String> {
    matrices::rows(transforms, times)?.into_table(Ends::Hold)
}

impl Rows {
    fn into_table(self, ends: Ends) -> Result<LoadedTable, String> {
        let survey = survey::survey(&self)?;
        let Self { frames, instances, format, clock, source } = self;
        let shape = TableShape { frames, instances, format, clock, ends, content: survey.content };
        Ok(LoadedTable { table: Arc::new(PlacementTable::new(shape, source)), first: survey.first })
    }
}

/// The rotation from a table's space, in which `up` is the vertical axis, to a space with Y up.
pub fn upright(up: UpAxis) -> Affine3 {
    match up {
        UpAxis::Y => Affine3::IDENTITY,
        UpAxis::Z => Affine3::from_mat3(Mat3::from_cols(Vec3::X, Vec3::NEG_Z, Vec3::Y)),
    }
}

/// The first transform of each copy. A copy that was not read is where another one is.
pub fn places(first: &[Option<RowPose>], upright: &Affine3, each: &Affine3) -> Vec<Affine3> {
    let place = |pose: &Option<RowPose>| pose.and_then(|pose| pose.placed(upright, each)).filter(is_invertible);
    let other = first.iter().find_map(place).unwrap_or(Affine3::IDENTITY);
    first.iter().map(|pose| place(pose).unwrap_or(other)).collect()
}

#[cfg(test)]
mod tests;
