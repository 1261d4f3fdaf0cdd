//! Parses the lines of an OBJ file into lists and triangles, and validates them.

use super::{
    Corner, ObjData,
    colors::VertexColors,
    lines::{Lines, material_name},
};
use crate::{
    LoadError, files,
    geometry::{normals::unit, polygons::is_finite},
    pieces::Pieces,
    text::number as parse_number,
};
use std::{collections::HashMap, io::Read, path::Path};
use throng_scene::NONE;

/// The part of a file that has been parsed.
#[derive(Default)]
struct Scan {
    data: ObjData,
    /// Index of each name after `usemtl`.
    materials: HashMap<String, u32>,
    /// Corners of the current face: zero-based indices of position, UV and normal. UV and normal may be [`NONE`].
    face: Vec<[u32; 3]>,
    ahead: Vec<Ahead>,
    colors: VertexColors,
}

/// An index of an entry that has not been read yet.
struct Ahead {
    line: usize,
    list: usize,
    index: u32,
}

/// Placeholder for an index that no list can have.
const NOWHERE: u32 = NONE - 1;

/// Parses a file; `path` is for messages.
///
/// # Errors
/// If the file cannot be read, if a line is malformed, or if a face uses a vertex that the file does not have.
pub fn scan<R: Read>(path: &Path, file: Pieces<R>) -> Result<ObjData, LoadError> {
    let mut data = scan_polygons(path, file)?;
    data.mend_faces();
    data.complete();
    Ok(data)
}

/// As [`scan`], but polygons stay fans. [`ObjData::complete`] is still to be called.
///
/// # Errors
/// As [`scan`].
pub fn scan_polygons<R: Read>(path: &Path, file: Pieces<R>) -> Result<ObjData, LoadError> {
    let mut scan = Scan::default();
    let mut material = NONE;
    let mut lines = Lines::new(file);
    while let Some((line, text)) = lines.next().map_err(|e| LoadError::file(path, files::describe(&e)))? {
        scan.line(line, text, &mut material).map_err(|message| LoadError::line(path, line, message))?;
    }
    scan.check_ahead(path)?;
    scan.data.path = path.into();
    scan.data.colors = scan.colors.linear(scan.data.positions.len());
    Ok(scan.data)
}

impl Scan {
    /// Parses a line. `material` is the index of the material for the following faces, or [`NONE`].
    fn line(&mut self, line: usize, text: &str, material: &mut u32) -> Result<(), String> {
        let text = text.trim_start();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut words = rest.split_whitespace();
        let first = &mut self.data.first_faulty;
        match keyword {
            "v" => {
                let position = numbers(&mut words, "v x y z")?;
                note(&mut first[0], line, is_finite(&position));
                self.colors.read(self.data.positions.len(), words);
                self.data.positions.push(position);
            }
            "vt" => {
                // The second coordinate may be missing.
                let uv: [f32; 2] = numbers(words.chain(["0"]), "vt u v")?;
                note(&mut first[1], line, uv.iter().all(|x| x.is_finite()));
                self.data.uvs.push(uv);
            }
            "vn" => {
                let normal = numbers(words, "vn x y z")?;
                note(&mut first[2], line, unit(normal).is_some());
                self.data.normals.push(normal);
            }
            "f" => self.face(line, rest, *material)?,
            "p" | "l" => self.data.ignored += 1,
            "usemtl" => *material = self.material(material_name(rest)),
            "mtllib" => {
                let file = rest.trim().to_owned();
                self.data.libraries.push((line, file));
            }
            _ => {}
        }
        Ok(())
    }

    fn material(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.materials.get(name) {
            return known;
        }
        let next = self.materials.len() as u32;
        self.materials.insert(name.to_owned(), next);
        self.data.materials.push(name.to_owned());
        next
    }

    /// Current lengths of the three lists.
    fn counts(&self) -> [usize; 3] {
        let d = &self.data;
        [d.positions.len(), d.uvs.len(), d.normals.len()]
    }

    /// Adds the fan of a face.
    fn face(&mut self, line: usize, text: &str, material: u32) -> Result<(), String> {
        let counts = self.counts();
        self.face.clear();
        for word in text.split_whitespace().take_while(|w| !w.starts_with('#')) {
            self.face.push(corner(word, counts)?);
        }
        let [first, others @ ..] = &self.face[..] else {
            self.data.ignored += 1;
            return Ok(());
        };
        if others.len() < 2 {
            self.data.ignored += 1;
            return Ok(());
        }
        for corner in &self.face {
            for (list, (&index, count)) in corner.iter().zip(counts).enumerate() {
                if index as usize >= count && index != NONE {
                    self.ahead.push(Ahead { line, list, index });
                }
            }
        }
        let start = self.data.triangles.len() as u32;
        for pair in others.windows(2) {
            let corners = [*first, pair[0], pair[1]].map(|[v, vt, vn]| Corner { v, vt, vn });
            self.data.triangles.push(corners);
            self.data.triangle_materials.push(material);
        }
        if others.len() > 2 {
            self.data.polygons.push(start..self.data.triangles.len() as u32);
        }
        Ok(())
    }

    /// Checks references to later entries: missing vertices are an error, other missing attributes cause a warning.
    fn check_ahead(&mut self, path: &Path) -> Result<(), LoadError> {
        let counts = self.counts();
        let lacking =
            |list: usize| self.ahead.iter().filter(move |a| a.list == list && a.index as usize >= counts[list]);
        if let Some(&Ahead { line, index, .. }) = lacking(0).next() {
            let message = format!("the face uses vertex {}, but the file has {}", u64::from(index) + 1, counts[0]);
            return Err(LoadError::line(path, line, message));
        }
        let kinds = [(1, "texture coordinate", "get 0,0"), (2, "normal", "get one of their faces")];
        for (list, what, instead) in kinds {
            if let Some(Ahead { line, .. }) = lacking(list).next() {
                let (path, count) = (path.display(), lacking(list).count());
                let warning = format!(
                    "{path}:{line}: the face uses a {what} that the file does not have: {count} corners {instead}"
                );
                self.data.warnings.push(warning);
            }
        }
        Ok(())
    }
}

/// Records the first line that is not sound.
fn note(first: &mut Option<usize>, line: usize, is_sound: bool) {
    if !is_sound {
        first.get_or_insert(line);
    }
}

/// Parses as many numbers as `N`; they need not be finite. `shape` describes them in messages.
pub fn numbers<'a, const N: usize>(mut words: impl Iterator<Item = &'a str>, shape: &str) -> Result<[f32; N], String> {
    let mut values = [0.0; N];
    for x in &mut values {
        let word = words.next().ok_or_else(|| format!("too few numbers: expected `{shape}`"))?;
        *x = parse_number(word, f32::NAN).ok_or_else(|| format!("`{word}` is not a number"))?;
    }
    Ok(values)
}

fn corner(word: &str, counts: [usize; 3]) -> Result<[u32; 3], String> {
    let mut indices = [NONE; 3];
    let mut parts = word.split('/');
    for (list, ((slot, part), count)) in indices.iter_mut().zip(&mut parts).zip(counts).enumerate() {
        if !part.is_empty() {
            // Unlike a vertex, a missing UV or normal is acceptable.
            let nowhere = || part.parse::<i64>().ok().filter(|_| list > 0).map(|_| NOWHERE);
            *slot = index(part, count).or_else(nowhere).ok_or_else(|| {
                format!("`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn, counting from 1")
            })?;
        }
    }
    if parts.next().is_some() || indices[0] == NONE {
        return Err(format!("`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn"));
    }
    Ok(indices)
}

/// Parses an index: 1 is the first entry of the file, -1 the last one so far.
pub fn index(text: &str, count: usize) -> Option<u32> {
    let i: i64 = text.parse().ok()?;
    let from_zero = if i < 0 { i.checked_add(i64::try_from(count).ok()?)? } else { i.checked_sub(1)? };
    u32::try_from(from_zero).ok().filter(|&i| i != NONE)
}
