//! STL, the format of CAD programs and 3D printers: independent triangles, as text (`text`) or in 50 bytes each. Corners with equal
//! positions are merged. Normals of the file are ignored, since many programs write zeros. Attributes may be colours (`colors`).

mod colors;
#[cfg(test)]
mod tests;
mod text;

use super::{
    LoadError, files,
    geometry::{
        distinct::{Distinct, bits},
        indexed::Indexed,
        polygons::is_finite,
    },
    meshes::{FileLocation, MeshFormat, MeshOptions, ParsedMesh},
    pieces::Pieces,
    text::mark,
};
use std::{
    io::{self, Read},
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
        read(path, files::pieces(path)?)?.finish(path, options)
    }
}

/// Bytes before the triangles of a binary file; the last four are the number of triangles.
const HEADER: usize = 84;
/// Bytes of a triangle in a binary file: normal, corners, and two bytes of attributes.
const TRIANGLE: usize = 50;
/// Number of bytes that are inspected to distinguish text from binary files.
const GLANCE: usize = 1024;

/// Reads a file; `path` is for messages.
fn read<R: Read>(path: &Path, mut file: Pieces<R>) -> Result<Indexed, LoadError> {
    let failed = |e: io::Error| LoadError::file(path, files::describe(&e));
    let length = file.left();
    let begin = file.ready(GLANCE).map_err(failed)?;
    let mark = mark(begin);
    if is_text(&begin[mark..], length - mark as u64) {
        file.advance(mark);
        return text::read(file).map_err(|(line, message)| LoadError::line(path, line, message));
    }
    binary(file, length).map_err(|message| LoadError::file(path, message))
}

/// Whether a file of `length` bytes is text. Some binary files also start with `solid`, but have exactly the length that their count implies.
fn is_text(begin: &[u8], length: u64) -> bool {
    let glance = &begin[..begin.len().min(GLANCE)];
    let solid = glance.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let exact = count(begin).is_some_and(|n| HEADER as u64 + n * TRIANGLE as u64 == length);
    solid && !exact && !glance.contains(&0)
}

/// The number of triangles according to a binary file's header.
fn count(file: &[u8]) -> Option<u64> {
    let bytes = file.get(HEADER - 4..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes).into())
}

fn binary<R: Read>(mut file: Pieces<R>, length: u64) -> Result<Indexed, String> {
    let failed = |e: io::Error| files::describe(&e);
    let header = file.ready(HEADER).map_err(failed)?;
    let Some(count) = count(header) else {
        return Err("not an STL file: it is too short, and does not begin with `solid`".to_owned());
    };
    let header = header[..HEADER].to_vec();
    file.advance(HEADER);
    let cut = || format!("at byte 80: {count} triangles do not fit into a file of {length} bytes: it is cut short");
    let count = usize::try_from(count).ok().filter(|&n| (n as u64 * TRIANGLE as u64) <= file.left()).ok_or_else(cut)?;
    let mut corners = Welded::with_capacity(count);
    let mut attributes = colors::Attributes::default();
    while corners.mesh.triangles.len() < count {
        let index = corners.mesh.triangles.len();
        let (triangles, _) = file.ready(TRIANGLE).map_err(failed)?.as_chunks::<TRIANGLE>();
        let triangles = &triangles[..triangles.len().min(count - index)];
        for (index, triangle) in (index..).zip(triangles) {
            let (floats, _) = triangle.as_chunks::<4>();
            let at = |corner: usize| [0, 1, 2].map(|axis| f32::from_le_bytes(floats[3 + 3 * corner + axis]));
            let place = FileLocation::Byte(HEADER + index * TRIANGLE);
            let corners_of = [0, 1, 2].map(|corner| corners.index(at(corner), place));
            corners.mesh.triangles.push(corners_of);
            attributes.add(index, u16::from_le_bytes([triangle[TRIANGLE - 2], triangle[TRIANGLE - 1]]));
        }
        if triangles.is_empty() {
            return Err(cut());
        }
        let read = triangles.len() * TRIANGLE;
        file.advance(read);
    }
    corners.mesh.face_colors = attributes.colors(&header[..HEADER - 4], count);
    Ok(corners.mesh)
}

/// A mesh with one vertex per distinct position.
struct Welded {
    mesh: Indexed,
    vertices: Distinct,
}

impl Welded {
    /// A mesh for `count` triangles, of which a closed surface has twice as many as vertices.
    fn with_capacity(count: usize) -> Self {
        let vertices = count / 2 + count / 64;
        let mut mesh = Indexed::default();
        mesh.positions.reserve_exact(vertices);
        mesh.triangles.reserve_exact(count);
        Self { mesh, vertices: Distinct::with_capacity(vertices) }
    }

    /// Index of the vertex at a position, which the file has at `place`.
    fn index(&mut self, position: [f32; 3], place: FileLocation) -> u32 {
        if !is_finite(&position) {
            self.mesh.first_not_finite.get_or_insert(place);
        }
        let positions = &mut self.mesh.positions;
        let next = positions.len() as u32;
        let index = self.vertices.index(bits(position), next, |known| bits(positions[known as usize]));
        if index == next {
            positions.push(position);
        }
        index
    }
}
