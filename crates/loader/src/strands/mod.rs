//! Files of strands: point caches in NumPy's formats, Cem Yuksel's .hair format, and lines of OBJ files.

mod arrays;
mod cache;
mod hair;
#[cfg(test)]
mod tests;
mod zip;

use crate::{LoadError, budget::Budget, extension, files, obj::polylines};
use std::path::Path;
use throng_usd::{Interpolation, Primvar};

/// The extensions of files of strands.
pub const EXTENSIONS: [&str; 4] = ["npz", "npy", "hair", "obj"];

/// Bytes that reading takes from the budget per byte of a file: an array of half floats, and deflated arrays, become larger.
const READING: u64 = 4;

/// Strands as in their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strands {
    /// Positions of all points at each frame, one strand after the other. At least one frame; all have as many points.
    pub frames: Vec<Vec<[f32; 3]>>,
    /// Number of points of each strand. Their sum is the number of points.
    pub counts: Vec<u32>,
    /// Diameters per point, per strand or for all.
    pub widths: Option<Primvar<f32>>,
    /// Texture coordinates, likewise.
    pub uvs: Option<Primvar<[f32; 2]>>,
    /// Linear colours, likewise.
    pub colors: Option<Primvar<[f32; 3]>>,
    /// Opacities, likewise.
    pub opacities: Option<Primvar<f32>>,
    /// Seconds of each frame, ascending, if the file has them.
    pub times: Option<Vec<f64>>,
}

impl Strands {
    /// Number of points of a frame.
    pub fn points(&self) -> usize {
        self.frames.first().map_or(0, Vec::len)
    }
}

/// Values of a file as a primvar. `None` unless there is one for each point, for each strand, or for all.
fn primvar<T>(values: Vec<T>, points: usize, strands: usize) -> Option<Primvar<T>> {
    let interpolation = match values.len() {
        count if count == points => Interpolation::Vertex,
        count if count == strands => Interpolation::Uniform,
        1 => Interpolation::Constant,
        _ => return None,
    };
    Some(Primvar { interpolation, values, indices: Vec::new() })
}

/// Reads a file by its extension, which is one of [`EXTENSIONS`].
///
/// # Errors
/// If the file cannot be read, if it is damaged, if it has no strands, or if memory does not suffice.
pub fn read(path: &Path, budget: &Budget) -> Result<Strands, LoadError> {
    let fail = |message: String| LoadError::file(path, message);
    let extension = extension(path);
    if extension == "obj" {
        return lines(path);
    }
    let bytes = files::read(path)?;
    budget.hold(path, bytes.len() as u64).map_err(|lack| fail(format!("the file {lack}")))?;
    let take = |size: u64| budget.take(size).map_err(|lack| format!("its content {lack}"));
    take((bytes.len() as u64).saturating_mul(READING)).map_err(fail)?;
    let strands = match extension.as_str() {
        "hair" => hair::parse(&bytes),
        "npy" => cache::of_array(&bytes),
        _ => cache::of_archive(&bytes, &take),
    };
    let strands = strands.map_err(fail)?;
    if strands.points() == 0 {
        return Err(fail("there are no strands in it: export curves with points".to_owned()));
    }
    Ok(strands)
}

/// The `l` elements of an OBJ file.
fn lines(path: &Path) -> Result<Strands, LoadError> {
    let lines = polylines::polylines(path)?;
    if lines.is_empty() {
        return Err(LoadError::file(path, "there are no lines (`l`) in it: export curves or edges"));
    }
    Ok(Strands {
        counts: lines.iter().map(|line| line.points.len() as u32).collect(),
        frames: vec![lines.iter().flat_map(|line| line.points.iter().map(|point| point.to_array())).collect()],
        ..Strands::default()
    })
}
