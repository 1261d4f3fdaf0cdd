//! A scan of an OBJ file's lines before tobj reads it: finds the faulty line and the parts that tobj would lose.
//!
//! tobj has no line numbers, renumbers positions, guesses the UVs and normals that corners lack and panics on some
//! damaged files. It therefore reads a restatement in which all lists come first, nothing is malformed and every
//! corner is complete.

use super::lines::{Lines, material_name};
use crate::loader::LoadError;
use crate::scene::NONE;
use std::{
    collections::HashMap,
    io::{BufRead, Read},
    path::Path,
};

/// A valid OBJ file: the parts that tobj would lose, and the rest restated for it.
#[derive(Default)]
pub struct ObjScan {
    /// Every `v` in file order.
    pub positions: Vec<[f32; 3]>,
    /// Index of each name after `usemtl`, in order of first use.
    pub materials: HashMap<String, usize>,
    /// Files after `mtllib`, as written, with the line that names them.
    pub libraries: Vec<(usize, String)>,
    /// Number of `p` and `l` elements and of faces with fewer than 3 corners, all left out.
    pub ignored: usize,
    uv_count: usize,
    normal_count: usize,
    lists: String,
    faces: String,
    corners: Vec<Indices>,
    ahead: Vec<Ahead>,
}

/// Position, UV and normal of a corner, from 0; the last two may be [`NONE`].
type Indices = [u32; 3];

/// An index that points past what the file had so far.
struct Ahead {
    line: usize,
    list: usize,
    index: u32,
}

/// Checks a whole file; `path` is for messages.
///
/// # Errors
/// When a line is malformed, an index points nowhere or a number is not finite.
pub fn scan(path: &Path, bytes: &[u8]) -> Result<ObjScan, LoadError> {
    let mut scan = ObjScan::default();
    for (line, text) in Lines::new(bytes) {
        scan.line(line, &text)
            .map_err(|message| LoadError::line(path, line, message))?;
    }
    scan.check_ahead(path)?;
    Ok(scan)
}

impl ObjScan {
    /// The file for tobj: one `mtllib`, then `v`, `vt` and `vn`, then `usemtl` and `f`.
    ///
    /// Corners without a UV or normal name the last of the list, which is zero and not the file's.
    pub fn restated(&self) -> impl BufRead {
        let uv = if self.uv_count > 0 { "vt 0 0\n" } else { "" };
        let normal = if self.normal_count > 0 {
            "vn 0 0 0\n"
        } else {
            ""
        };
        let parts = ["mtllib names\n", &self.lists, uv, normal, &self.faces];
        let [head, lists, uv, normal, faces] = parts.map(str::as_bytes);
        head.chain(lists).chain(uv).chain(normal).chain(faces)
    }

    fn line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let text = text.trim_start();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let words = rest.split_whitespace();
        match keyword {
            "v" => self
                .positions
                .push(restate(words, "v x y z", &mut self.lists)?),
            "vt" => {
                // The second coordinate may be left out.
                restate::<2>(words.chain(["0"]), "vt u v", &mut self.lists)?;
                self.uv_count += 1;
            }
            "vn" => {
                restate::<3>(words, "vn x y z", &mut self.lists)?;
                self.normal_count += 1;
            }
            "f" => self.face(line, rest)?,
            "p" | "l" => self.ignored += 1,
            "usemtl" => self.use_material(material_name(rest)),
            "mtllib" => self.libraries.push((line, rest.trim().to_owned())),
            _ => {}
        }
        Ok(())
    }

    fn use_material(&mut self, name: &str) {
        let next = self.materials.len();
        self.materials.entry(name.to_owned()).or_insert(next);
        self.faces.extend(["usemtl ", name, "\n"]);
    }

    /// Length so far of the three lists.
    fn counts(&self) -> [usize; 3] {
        [self.positions.len(), self.uv_count, self.normal_count]
    }

    fn face(&mut self, line: usize, text: &str) -> Result<(), String> {
        let counts = self.counts();
        let start = self.faces.len();
        self.corners.clear();
        self.faces.push('f');
        for word in text.split_whitespace().take_while(|w| !w.starts_with('#')) {
            let corner = corner(word, counts)?;
            restate_corner(word, corner, &mut self.faces);
            self.corners.push(corner);
        }
        self.faces.push('\n');
        if self.corners.len() < 3 {
            self.faces.truncate(start);
            self.ignored += 1;
            return Ok(());
        }
        for corner in &self.corners {
            for (list, (&index, count)) in corner.iter().zip(counts).enumerate() {
                if index as usize >= count && index != NONE {
                    self.ahead.push(Ahead { line, list, index });
                }
            }
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

/// Copies as many numbers as `shape` has; what follows them (w, vertex colours) is left out.
fn restate<'a, const N: usize>(
    mut words: impl Iterator<Item = &'a str>,
    shape: &str,
    out: &mut String,
) -> Result<[f32; N], String> {
    let mut values = [0.0; N];
    out.extend(shape.split(' ').take(1));
    for x in &mut values {
        let word = words
            .next()
            .ok_or_else(|| format!("too few numbers: expected `{shape}`"))?;
        *x = number(word)?;
        out.extend([" ", word]);
    }
    out.push('\n');
    Ok(values)
}

fn number(word: &str) -> Result<f32, String> {
    match word.parse::<f32>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("`{word}` is not finite")),
        Err(_) => Err(format!("`{word}` is not a number")),
    }
}

/// Writes `word`, whose meaning is `indices`, with all three parts and counted from the start of each list.
///
/// A part that is missing becomes -1: tobj reads the faces last, so that is the zero that ends the list.
fn restate_corner(word: &str, indices: Indices, out: &mut String) {
    let parts = word.split('/').chain(["", ""]);
    for ((index, part), separator) in indices.into_iter().zip(parts).zip([' ', '/', '/']) {
        out.push(separator);
        match part {
            "" => out.push_str("-1"),
            _ if part.starts_with('-') => out.push_str(&(u64::from(index) + 1).to_string()),
            _ => out.push_str(part),
        }
    }
}

fn corner(word: &str, counts: [usize; 3]) -> Result<Indices, String> {
    let mut indices = [NONE; 3];
    let mut parts = word.split('/');
    for ((slot, part), count) in indices.iter_mut().zip(&mut parts).zip(counts) {
        if !part.is_empty() {
            *slot = index(part, count).ok_or_else(|| format!("`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn, counting from 1"))?;
        }
    }
    if parts.next().is_some() || indices[0] == NONE {
        return Err(format!(
            "`{word}` is not a face corner: write v, v/vt, v//vn or v/vt/vn"
        ));
    }
    Ok(indices)
}

/// 1 is the first of the file, -1 the last one so far.
fn index(text: &str, count: usize) -> Option<u32> {
    let i: i64 = text.parse().ok()?;
    let from_zero = if i < 0 {
        i.checked_add(i64::try_from(count).ok()?)?
    } else {
        i.checked_sub(1)?
    };
    u32::try_from(from_zero).ok().filter(|&i| i != NONE)
}
