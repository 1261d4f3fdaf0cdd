//! Text STL files: a sequence of words with arbitrary line breaks. Only corners and the ends of loops are used.

use super::Welded;
use crate::{meshes::FileLocation, text};

/// Reads a file. A loop with more than three corners becomes a fan, which may be split later.
///
/// # Errors
/// The line, and a message about its fault.
pub fn read(file: &[u8], corners: &mut Welded) -> Result<(), (usize, String)> {
    let mut words = Words { rest: file, line: 1 };
    let mut polygon: Vec<u32> = Vec::new();
    while let Some(word) = words.next() {
        let line = words.line;
        let keyword = match word.as_str() {
            // Some files have `end solid` instead of `endsolid`.
            "end" => word + &words.next().unwrap_or_default(),
            _ => word,
        };
        match keyword.as_str() {
            "solid" | "endsolid" => words.skip_name(),
            "facet" => words.skip_normal(),
            "vertex" => {
                let position = words.position().map_err(|message| (line, message))?;
                polygon.push(corners.index(position, FileLocation::Line(line)));
            }
            "endloop" => {
                add(&polygon, corners).map_err(|message| (line, message))?;
                polygon.clear();
            }
            "outer" | "loop" | "endfacet" | "end" => {}
            _ => return Err((line, format!("unknown keyword `{keyword}`: expected `facet`, `vertex` or `endsolid`"))),
        }
    }
    if polygon.is_empty() {
        Ok(())
    } else {
        Err((words.line, "the file ends in the midst of a triangle: it is cut short".to_owned()))
    }
}

fn add(polygon: &[u32], corners: &mut Welded) -> Result<(), String> {
    let [first, others @ ..] = polygon else {
        return Err("the loop has no corners".to_owned());
    };
    if others.len() < 2 {
        return Err(format!("the loop has {} corners, but a triangle has 3", polygon.len()));
    }
    let triangles = &mut corners.mesh.triangles;
    let start = triangles.len() as u32;
    triangles.extend(others.windows(2).map(|pair| [*first, pair[0], pair[1]]));
    if others.len() > 2 {
        corners.mesh.polygons.push(start..triangles.len() as u32);
    }
    Ok(())
}

/// The words of a file, in lower case.
#[derive(Clone)]
struct Words<'a> {
    rest: &'a [u8],
    /// Line of the latest word.
    line: usize,
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let blank = self.rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(self.rest.len());
        self.line += text::line_ends(&self.rest[..blank]);
        let rest = &self.rest[blank..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.rest = &rest[end..];
        let word = String::from_utf8_lossy(&rest[..end]).to_ascii_lowercase();
        (!word.is_empty()).then_some(word)
    }
}

impl Words<'_> {
    /// Skips the name of a solid. It ends with its line, or before the next keyword if everything is on one line.
    fn skip_name(&mut self) {
        let line = self.line;
        loop {
            let mut ahead = self.clone();
            let word = ahead.next().filter(|_| ahead.line == line).unwrap_or_default();
            let after = ahead.clone().next().unwrap_or_default();
            match (word.as_str(), after.as_str()) {
                ("" | "solid" | "endsolid", _) | ("facet", "normal") | ("end", "solid") => return,
                _ => *self = ahead,
            }
        }
    }

    /// Skips `normal` and its numbers.
    fn skip_normal(&mut self) {
        let mut ahead = self.clone();
        if ahead.next().as_deref() == Some("normal") {
            *self = ahead;
            for _ in 0..3 {
                let mut ahead = self.clone();
                if ahead.next().is_some_and(|word| text::number(&word, f32::NAN).is_some()) {
                    *self = ahead;
                }
            }
        }
    }

    /// The numbers after `vertex`, which need not be finite.
    fn position(&mut self) -> Result<[f32; 3], String> {
        let mut position = [0.0f32; 3];
        for x in &mut position {
            let few = "too few numbers: expected `vertex x y z`";
            let word = self.next().filter(|word| !matches!(word.as_str(), "vertex" | "endloop")).ok_or(few)?;
            *x = text::number(&word, f32::NAN).ok_or_else(|| format!("`{word}` is not a number"))?;
        }
        Ok(position)
    }
}
