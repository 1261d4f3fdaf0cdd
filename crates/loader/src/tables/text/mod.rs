//! Tables in text files: rows with named columns, one per object and time, in any order.

mod columns;
mod csv;
mod json_lines;
mod rows;

use super::{Rows, TableOptions};
use crate::{LoadError, budget::Budget, files};
use rows::Collected;
use std::path::Path;
use throng_scene::RowClock;

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values separated by commas, semicolons or tabs, with the names in the first line.
    Csv,
    /// An object of JSON per line.
    JsonLines,
}

/// Reads a file. In memory, a row takes up to 92 bytes.
///
/// # Errors
/// If the file cannot be read, if a row is faulty, or if memory is short.
pub fn read(path: &Path, format: Format, options: &TableOptions, budget: &Budget) -> Result<Rows, LoadError> {
    let bytes = files::read(path)?;
    let lacks = |lack: String| LoadError::file(path, format!("this table {lack}"));
    budget.hold(path, bytes.len() as u64).map_err(lacks)?;
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    budget.take(lines.saturating_mul(rows::BYTES)).map_err(lacks)?;
    let collected = match format {
        Format::Csv => csv::parse(path, &bytes, options.up)?,
        Format::JsonLines => json_lines::parse(path, &bytes, options.up)?,
    };
    drop(bytes);
    finish(path, collected, options)
}

fn finish(path: &Path, collected: Collected, options: &TableOptions) -> Result<Rows, LoadError> {
    let has_times = collected.has_times();
    if has_times && options.fps.is_some() {
        return Err(LoadError::file(path, "the file has times, which `fps` cannot change: remove `fps`"));
    }
    let by_frame = collected.by_frame(path)?;
    let fps = if has_times { 1.0 } else { options.fps.unwrap_or(options.scene_fps) };
    let times = by_frame.keys.iter().map(|key| options.start + key / fps).collect();
    let (frames, instances, format) = (by_frame.keys.len() as u32, by_frame.instances, by_frame.format());
    Ok(Rows { frames, instances, format, clock: RowClock::Times(times), source: Box::new(by_frame.rows) })
}
