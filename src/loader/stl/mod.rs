//! STL, the format of CAD programs and 3D printers: triangles by themselves, as text or in 50 bytes each. Corners at the same place
//! are one. Normals and attributes of the file are left out: many programs write zeros.

#[cfg(test)]
mod tests;

use super::{
    LoadError, files,
    indexed::Indexed,
    meshes::{MeshFormat, MeshOptions, ParsedMesh},
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

    fn parse(&self, path: &Path, options: &MeshOptions, _allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError> {
        read(path, &files::read(path)?)?.finish(path, options)
    }
}

/// Bytes before the triangles of a binary file, the last four of which count them.
const HEADER: usize = 84;
/// Bytes of a triangle of a binary file: normal, corners and two of attributes.
const TRIANGLE: usize = 50;
/// Bytes of a file that are looked at to tell text from numbers.
const GLANCE: usize = 1024;

/// Reads a whole file; `path` is for messages.
fn read(path: &Path, file: &[u8]) -> Result<Indexed, LoadError> {
    let mut corners = Welded::default();
    match is_text(file) {
        true => text(file, &mut corners).map_err(|(line, message)| LoadError::line(path, line, message))?,
        false => binary(file, &mut corners).map_err(|message| LoadError::file(path, message))?,
    }
    Ok(corners.mesh)
}

/// Whether a file is text. Some binary files begin with `solid`, too, but have the length that their count says.
fn is_text(file: &[u8]) -> bool {
    let glance = &file[..file.len().min(GLANCE)];
    let solid = glance.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let exact = count(file).is_some_and(|n| HEADER as u64 + n * TRIANGLE as u64 == file.len() as u64);
    solid && !exact && !glance.contains(&0)
}

/// The number of triangles that a binary file says to have.
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
        let corner = [at(0), at(1), at(2)];
        if !corner.as_flattened().iter().all(|x| x.is_finite()) {
            return Err(format!("at byte {}: triangle {index} (from 0) is not finite", HEADER + index * TRIANGLE));
        }
        let triangle = corner.map(|position| corners.index(position));
        corners.mesh.triangles.push(triangle);
    }
    Ok(())
}

/// Reads the lines of a file. A loop with more than three corners becomes a fan.
fn text(file: &[u8], corners: &mut Welded) -> Result<(), (usize, String)> {
    let mut polygon: Vec<u32> = Vec::new();
    let mut last = 0;
    for (line, bytes) in (1..).zip(file.split(|&b| b == b'\n')) {
        last = line;
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.split_whitespace();
        let Some(keyword) = words.next() else {
            continue;
        };
        match keyword.to_ascii_lowercase().as_str() {
            "vertex" => {
                let position = position(words).map_err(|message| (line, message))?;
                polygon.push(corners.index(position));
            }
            "endloop" => {
                let [first, others @ ..] = &polygon[..] else {
                    return Err((line, "the loop has no corners".to_owned()));
                };
                if others.len() < 2 {
                    return Err((line, format!("the loop has {} corners, but a triangle has 3", polygon.len())));
                }
                let fan = others.windows(2).map(|pair| [*first, pair[0], pair[1]]);
                corners.mesh.triangles.extend(fan);
                polygon.clear();
            }
            "solid" | "facet" | "outer" | "endfacet" | "endsolid" => {}
            _ => return Err((line, format!("`{keyword}` is not known: expected `facet`, `vertex` or `endsolid`"))),
        }
    }
    match polygon.is_empty() {
        true => Ok(()),
        false => Err((last, "the file ends in the midst of a triangle: it is cut short".to_owned())),
    }
}

fn position<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], String> {
    let mut position = [0.0f32; 3];
    for x in &mut position {
        let word = words.next().ok_or("too few numbers: expected `vertex x y z`")?;
        *x = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
        if !x.is_finite() {
            return Err(format!("`{word}` is not finite"));
        }
    }
    Ok(position)
}

/// A mesh with one vertex for each place.
#[derive(Default)]
struct Welded {
    mesh: Indexed,
    vertex_of: HashMap<[u32; 3], u32>,
}

impl Welded {
    fn index(&mut self, position: [f32; 3]) -> u32 {
        let next = self.mesh.positions.len() as u32;
        // Adding 0 makes -0 and 0 the same.
        let index = *self.vertex_of.entry(position.map(|x| (x + 0.0).to_bits())).or_insert(next);
        if index == next {
            self.mesh.positions.push(position);
        }
        index
    }
}
