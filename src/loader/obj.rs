//! Wavefront OBJ as text: positions in file order, polygons as triangle fans, materials by name.
//!
//! `tobj` is not used: it renumbers positions, guesses the normals of faces that lack them, has no line numbers and
//! panics on some damaged files. Making a renderable mesh of the result is `obj_mesh`'s work.

use super::{LoadError, files};
use crate::scene::NONE;
use std::path::{Path, PathBuf};

/// One corner of a face: indices into the file's lists, `vt` and `vn` may be [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    pub v: u32,
    pub vt: u32,
    pub vn: u32,
}

/// The content of an OBJ file. All indices are valid and all numbers finite.
#[derive(Debug, Default)]
pub struct ObjData {
    pub path: PathBuf,
    pub positions: Vec<[f32; 3]>,
    pub uvs: Vec<[f32; 2]>,
    pub normals: Vec<[f32; 3]>,
    pub triangles: Vec<[Corner; 3]>,
    /// Index into `materials` of each triangle, or [`NONE`].
    pub triangle_materials: Vec<u32>,
    /// Names after `usemtl`, each once, in order of first use.
    pub materials: Vec<String>,
    /// Files after `mtllib`, as written, with the line that names them.
    pub libraries: Vec<(usize, String)>,
    /// Number of `p` and `l` elements and of faces with fewer than 3 corners, all left out.
    pub ignored: usize,
}

/// Reads a whole OBJ file.
///
/// # Errors
/// When it cannot be read, a line is malformed, an index points nowhere or a number is not finite.
pub fn read(path: &Path) -> Result<ObjData, LoadError> {
    parse(path, &files::read(path)?)
}

/// As [`read`], from bytes; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ObjData, LoadError> {
    let mut parser = Parser {
        data: ObjData {
            path: path.into(),
            ..ObjData::default()
        },
        ..Parser::default()
    };
    for (line, text) in Lines::new(bytes) {
        parser
            .line(line, &text)
            .map_err(|message| LoadError::line(path, line, message))?;
    }
    parser.check_indices()?;
    Ok(parser.data)
}

/// Numbered lines; one that ends in a backslash goes on in the next.
pub struct Lines<'a> {
    rest: &'a [u8],
    next: usize,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            next: 1,
        }
    }

    fn physical(&mut self) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|&b| b == b'\n')
            .unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or(&[]);
        self.next += 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, std::borrow::Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let number = self.next;
        let mut line = String::from_utf8_lossy(self.physical());
        while line.ends_with('\\') && !self.rest.is_empty() {
            let more = String::from_utf8_lossy(self.physical());
            let joined = line.to_mut();
            joined.pop();
            joined.push(' ');
            joined.push_str(&more);
        }
        Some((number, line))
    }
}

#[derive(Default)]
struct Parser {
    data: ObjData,
    material: Option<u32>,
    material_of: std::collections::HashMap<String, u32>,
    lines: Vec<u32>,
    corners: Vec<Corner>,
}

impl Parser {
    fn line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let text = text.trim_start();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match keyword {
            "v" => self.data.positions.push(numbers(rest, "v x y z")?),
            "vt" => self.data.uvs.push(texture_coordinate(rest)?),
            "vn" => self.data.normals.push(numbers(rest, "vn x y z")?),
            "f" => self.face(line, rest)?,
            "p" | "l" => self.data.ignored += 1,
            "usemtl" => self.use_material(rest.trim()),
            "mtllib" => self.data.libraries.push((line, rest.trim().to_owned())),
            _ => {}
        }
        Ok(())
    }

    fn use_material(&mut self, name: &str) {
        let materials = &mut self.data.materials;
        let index = *self.material_of.entry(name.to_owned()).or_insert_with(|| {
            materials.push(name.to_owned());
            materials.len() as u32 - 1
        });
        self.material = Some(index);
    }

    fn face(&mut self, line: usize, text: &str) -> Result<(), String> {
        let counts = [
            self.data.positions.len(),
            self.data.uvs.len(),
            self.data.normals.len(),
        ];
        self.corners.clear();
        for word in text.split_whitespace().take_while(|w| !w.starts_with('#')) {
            self.corners.push(corner(word, counts)?);
        }
        if self.corners.len() < 3 {
            self.data.ignored += 1;
            return Ok(());
        }
        for pair in self.corners[1..].windows(2) {
            self.data
                .triangles
                .push([self.corners[0], pair[0], pair[1]]);
            self.data
                .triangle_materials
                .push(self.material.unwrap_or(NONE));
            self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// Indices may point forwards, so they are checked once all is read.
    fn check_indices(&self) -> Result<(), LoadError> {
        let d = &self.data;
        let lists = [
            ("vertex", d.positions.len()),
            ("texture coordinate", d.uvs.len()),
            ("normal", d.normals.len()),
        ];
        for (triangle, &line) in d.triangles.iter().zip(&self.lines) {
            for c in triangle {
                for ((what, count), index) in lists.iter().zip([c.v, c.vt, c.vn]) {
                    if index as usize >= *count && !(index == NONE && *what != "vertex") {
                        let message = format!(
                            "the face uses {what} {}, but the file has {count}",
                            u64::from(index) + 1
                        );
                        return Err(LoadError::line(&d.path, line as usize, message));
                    }
                }
            }
        }
        Ok(())
    }
}

/// `N` finite numbers; what follows them (w, vertex colours) is ignored.
fn numbers<const N: usize>(text: &str, shape: &str) -> Result<[f32; N], String> {
    let mut words = text.split_whitespace();
    let mut out = [0.0; N];
    for x in &mut out {
        let word = words
            .next()
            .ok_or_else(|| format!("too few numbers: expected `{shape}`"))?;
        *x = number(word)?;
    }
    Ok(out)
}

fn number(word: &str) -> Result<f32, String> {
    match word.parse::<f32>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("`{word}` is not finite")),
        Err(_) => Err(format!("`{word}` is not a number")),
    }
}

/// The second coordinate may be left out.
fn texture_coordinate(text: &str) -> Result<[f32; 2], String> {
    let [u] = numbers(text, "vt u v")?;
    let v = text.split_whitespace().nth(1).map_or(Ok(0.0), number)?;
    Ok([u, v])
}

fn corner(word: &str, counts: [usize; 3]) -> Result<Corner, String> {
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
    Ok(Corner {
        v: indices[0],
        vt: indices[1],
        vn: indices[2],
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_text(text: &str) -> Result<ObjData, String> {
        parse(Path::new("a.obj"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn polygons_become_fans_and_negative_indices_count_back() {
        let d = parse_text(
            "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1 # quad\nl 1 2\np 1\nf 1 2\n",
        )
        .unwrap_or_default();
        let v: Vec<_> = d.triangles.iter().map(|t| t.map(|c| c.v)).collect();
        assert_eq!(v, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(d.ignored, 3);
    }

    #[test]
    fn a_backslash_continues_the_line() {
        let d = parse_text("v 0 0 0\nv 1 0 0\nv 0 1 \\\n0\nf 1 2 \\\r\n 3\n").unwrap_or_default();
        assert_eq!(d.triangles.len(), 1);
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("v 0 0\n", "a.obj:1: too few numbers"),
            ("v 0 0 0\nv 0 zero 0\n", "a.obj:2: `zero` is not a number"),
            ("v 0 nan 0\n", "a.obj:1: `nan` is not finite"),
            ("v 0 1e39 0\n", "a.obj:1: `1e39` is not finite"),
            (
                "v 0 0 0\n\nf 1 2 3\n",
                "a.obj:3: the face uses vertex 2, but the file has 1",
            ),
            (
                "v 0 0 0\nf 1/1 1/1 1/1\n",
                "a.obj:2: the face uses texture coordinate 1, but the file has 0",
            ),
            (
                "v 0 0 0\nf 1//9223372036854775807 1 1\n",
                "a.obj:2: `1//9223372036854775807` is not a face corner",
            ),
            ("v 0 0 0\nf 1 -2 1\n", "a.obj:2: `-2` is not a face corner"),
            ("v 0 0 0\nf 0 1 1\n", "a.obj:2: `0` is not a face corner"),
            (
                "v 0 0 0\nf 1/1/1/1 1 1\n",
                "a.obj:2: `1/1/1/1` is not a face corner",
            ),
        ];
        for (text, expected) in cases {
            let e = parse_text(text).err().unwrap_or_default();
            assert!(e.starts_with(expected), "{text:?}: {e}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn mutated_files_never_panic(edits in prop::collection::vec((0usize..200, any::<u8>()), 1..8)) {
            let mut bytes = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nusemtl x\nf 1/1/1 2/1/1 -1//1\n".to_vec();
            for (at, value) in edits {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            let _ = parse(Path::new("a.obj"), &bytes);
        }
    }
}
