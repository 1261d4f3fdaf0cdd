//! STL, the format of CAD programs and 3D printers: independent triangles, as text (`text`) or in 50 bytes each. Corners with equal
//! positions are merged. Normals of the file are ignored, since many programs write zeros. Attributes may be colours (`colors`).

mod colors;
#[cfg(test)]
mod tests;
mod text;

use super::{
    LoadError, files,
    geometry::{indexed::Indexed, polygons::is_finite},
    meshes::{FileLocation, MeshFormat, MeshOptions, ParsedMesh},
    text::without_mark,
};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// The format of `.stl` files.
pub struct Stl;

impl MeshFormat for Stl {
    fn extension(&self) -> &'static str {
        "stl"
    }

    fn has_polygons(&self) -> bool {
        false
    }

    fn parse(&self, path: &Path, options: &MeshOptions, _allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError> {
        read(path, &files::read(path)?)?.finish(path, options)
    }
}

/// Bytes before the triangles of a binary file; the last four are the number of triangles.
const HEADER: usize = 84;
/// Bytes of a triangle in a binary file: normal, corners, and two bytes of attributes.
const TRIANGLE: usize = 50;
/// Number of bytes that are inspected to distinguish text from binary files.
const GLANCE: usize = 1024;

/// Reads a file; `path` is for messages.
fn read(path: &Path, file: &[u8]) -> Result<Indexed, LoadError> {
    let mut corners = Welded::default();
    if is_text(without_mark(file)) {
        text::read(without_mark(file), &mut corners).map_err(|(line, message)| LoadError::line(path, line, message))?
    } else {
        binary(file, &mut corners).map_err(|message| LoadError::file(path, message))?
    }
    Ok(corners.mesh)
}

/// Whether a file is text. Some binary files also start with `solid`, but have exactly the length that their count implies.
fn is_text(file: &[u8]) -> bool {
    let glance = &file[..file.len().min(GLANCE)];
    let solid = glance.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let exact = count(file).is_some_and(|n| HEADER as u64 + n * TRIANGLE as u64 == file.len() as u64);
    solid && !exact && !glance.contains(&0)
}

/// The number of triangles according to a binary file's header.
fn count(file: &[u8]) -> Option<u64> {
    let bytes = file.get(HEADER - 4..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes).into())
}

fn binary(file: &[u8], corners: &mut Welded) -> Result<(), String> {
    let Some(count) = count(file) else {
        return Err("not an STL file: it is too short, and does not begin with `solid`".to_owned());
    };
    let (triangles, _) = file[HEADER..].as_chunks::<TRIANGLE>();
    let Some(triangles) = usize::try_from(count).ok().and_then(|count| triangles.get(..count)) else {
        let bytes = file.len();
        return Err(format!("at byte 80: {count} triangles do not fit into a file of {bytes} bytes: it is cut short"));
    };
    for (index, triangle) in triangles.iter().enumerate() {
        let (floats, _) = triangle.as_chunks::<4>();
        let at = |corner: usize| [0, 1, 2].map(|axis| f32::from_le_bytes(floats[3 + 3 * corner + axis]));
        let place = FileLocation::Byte(HEADER + index * TRIANGLE);
        let triangle = [0, 1, 2].map(|corner| corners.index(at(corner), place));
        corners.mesh.triangles.push(triangle);
    }
    corners.mesh.face_colors = colors::of_triangles(&file[..HEADER - 4], triangles);
    Ok(())
}

/// A mesh with one vertex per distinct position.
#[derive(Default)]
struct Welded {
    mesh: Indexed,
    vertex_of: HashMap<[u32; 3], u32>,
}

impl Welded {
    /// Index of the vertex at a position, which the file has at `place`.
    fn index(&mut self, position: [f32; 3], place: FileLocation) -> u32 {
        if !is_finite(&position) {
            self.mesh.first_not_finite.get_or_insert(place);
        }
        let next = self.mesh.positions.len() as u32;
        // Adding 0 turns -0 into 0.
        let index = *self.vertex_of.entry(position.map(|x| (x + 0.0).to_bits())).or_insert(next);
        if index == next {
            self.mesh.positions.push(position);
        }
        index
    }
}
