//! The lines of an OBJ file, checked and put together to lists and triangles.

use super::{
    Corner, ObjData,
    lines::{Lines, material_name},
};
use crate::loader::LoadError;
use crate::scene::NONE;
use std::{collections::HashMap, path::Path};

/// The part of a file that has been read.
#[derive(Default)]
struct Scan {
    data: ObjData,
    /// Index of each name after `usemtl`.
    materials: HashMap<String, u32>,
    /// Corners of the current face: indices from 0 of position, UV and normal; the last two may be [`NONE`].
    face: Vec<[u32; 3]>,
    ahead: Vec<Ahead>,
}

/// An index that points past what the file had so far.
struct Ahead {
    line: usize,
    list: usize,
    index: u32,
}

/// Reads a whole file; `path` is for messages.
///
/// # Errors
/// When a line is malformed, an index points nowhere or a number is not finite.
pub fn scan(path: &Path, bytes: &[u8]) -> Result<ObjData, LoadError> {
    let mut scan = Scan::default();
    let mut material = NONE;
    for (line, text) in Lines::new(bytes) {
        scan.line(line, &text, &mut material).map_err(|message| LoadError::line(path, line, message))?;
    }
    scan.check_ahead(path)?;
    scan.data.path = path.into();
    scan.data.complete();
    Ok(scan.data)
}

impl Scan {
    /// Reads a line; `material` is the index of the material of faces that follow, or [`NONE`].
    fn line(&mut self, line: usize, text: &str, material: &mut u32) -> Result<(), String> {
        let text = text.trim_start();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let words = rest.split_whitespace();
        match keyword {
            "v" => self.data.positions.push(numbers(words, "v x y z")?),
            // The second coordinate may be left out.
            "vt" => self.data.uvs.push(numbers(words.chain(["0"]), "vt u v")?),
            "vn" => self.data.normals.push(numbers(words, "vn x y z")?),
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

    /// Length so far of the three lists.
    fn counts(&self) -> [usize; 3] {
        let d = &self.data;
        [d.positions.len(), d.uvs.len(), d.normals.len()]
    }

    /// Adds the fan of a polygon.
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
        for pair in others.windows(2) {
            let corners = [*first, pair[0], pair[1]].map(|[v, vt, vn]| Corner { v, vt, vn });
            self.data.triangles.push(corners);
            self.data.triangle_materials.push(material);
        }
        Ok(())
    }

    fn check_ahead(&self, path: &Path) -> Result<(), LoadError> {
        let names = ["vertex", "texture coordinate", "normal"];
        let counts = self.counts();
        for &Ahead { line, list, index } in &self.ahead {
            let (what, count) = (names[list], counts[list]);
            if index as usize >= count {
                let number = u64::from(index) + 1;
                let message = format!("the face uses {what} {number}, but the file has {count}");
                return Err(LoadError::line(path, line, message));
            }
        }
        Ok(())
    }
}

/// Reads as many numbers as `shape` has; what follows them (w, vertex colours) is left out.
pub fn numbers<'a, const N: usize>(mut words: impl Iterator<Item = &'a str>, shape: &str) -> Result<[f32; N], String> {
    let mut values = [0.0; N];
    for x in &mut values {
        let word = words.next();
        *x = number(word.ok_or_else(|| format!("too few numbers: expected `{shape}`"))?)?;
    }
    Ok(values)
}

fn number(word: &str) -> Result<f32, String> {
    match word.parse::<f32>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("`{word}` is not finite")),
        Err(_) => Err(format!("`{word}` is not a number")),
    }
}

fn corner(word: &str, counts: [usize; 3]) -> Result<[u32; 3], String> {
    let mut indices = [NONE; 3];
    let mut parts = word.split('/');
    for ((slot, part), count) in indices.iter_mut().zip(&mut parts).zip(counts) {
        if !part.is_empty() {
            *slot = index(part, count).ok_or_else(|| {
                format!("`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn, counting from 1")
            })?;
        }
    }
    if parts.next().is_some() || indices[0] == NONE {
        return Err(format!("`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn"));
    }
    Ok(indices)
}

/// 1 is the first of the file, -1 the last one so far.
pub fn index(text: &str, count: usize) -> Option<u32> {
    let i: i64 = text.parse().ok()?;
    let from_zero = if i < 0 { i.checked_add(i64::try_from(count).ok()?)? } else { i.checked_sub(1)? };
    u32::try_from(from_zero).ok().filter(|&i| i != NONE)
}
