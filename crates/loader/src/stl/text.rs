//! Text STL files: a sequence of words with arbitrary line breaks. Only corners and the ends of loops are used.

use super::Welded;
use crate::{files, geometry::indexed::Indexed, meshes::FileLocation, pieces::Pieces, text};
use std::{
    collections::VecDeque,
    io::{self, Read},
};

/// Reads a file. A loop with more than three corners becomes a fan, which may be split later.
///
/// # Errors
/// The line, and a message about its fault.
pub fn read<R: Read>(file: Pieces<R>) -> Result<Indexed, (usize, String)> {
    let mut corners = Welded::with_capacity(0);
    let mut words = Words { file, ahead: VecDeque::new(), last: 1, line: 1, failure: None };
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
                add(&polygon, &mut corners).map_err(|message| (line, message))?;
                polygon.clear();
            }
            "outer" | "loop" | "endfacet" | "end" => {}
            _ => return Err((line, format!("unknown keyword `{keyword}`: expected `facet`, `vertex` or `endsolid`"))),
        }
    }
    match words.failure {
        Some(e) => Err((words.line, files::describe(&e))),
        None if polygon.is_empty() => Ok(corners.mesh),
        None => Err((words.line, "the file ends in the midst of a triangle: it is cut short".to_owned())),
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
struct Words<R> {
    file: Pieces<R>,
    /// Words that were read ahead, with their lines.
    ahead: VecDeque<(String, usize)>,
    /// Line of the word that was read last.
    last: usize,
    /// Line of the latest word.
    line: usize,
    /// An error of reading, which ends the words.
    failure: Option<io::Error>,
}

impl<R: Read> Iterator for Words<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let (word, line) = self.ahead.pop_front().unwrap_or_else(|| self.read());
        self.line = line;
        (!word.is_empty()).then_some(word)
    }
}

impl<R: Read> Words<R> {
    /// The next word of the file and its line. The word is empty at the end.
    fn read(&mut self) -> (String, usize) {
        match self.file.word() {
            Ok((word, lines)) => {
                self.last += lines;
                (String::from_utf8_lossy(word).to_ascii_lowercase(), self.last)
            }
            Err(e) => {
                self.failure = Some(e);
                (String::new(), self.last)
            }
        }
    }

    /// A word ahead, of which the next one has number 0, and its line.
    fn peek(&mut self, number: usize) -> (&str, usize) {
        while self.ahead.len() <= number {
            let word = self.read();
            self.ahead.push_back(word);
        }
        let (word, line) = &self.ahead[number];
        (word, *line)
    }

    /// Skips the name of a solid. It ends with its line, or before the next keyword if everything is on one line.
    fn skip_name(&mut self) {
        let line = self.line;
        loop {
            let after = self.peek(1).0.to_owned();
            let (word, at) = self.peek(0);
            match (if at == line { word } else { "" }, after.as_str()) {
                ("" | "solid" | "endsolid", _) | ("facet", "normal") | ("end", "solid") => return,
                _ => _ = self.next(),
            }
        }
    }

    /// Skips `normal` and its numbers.
    fn skip_normal(&mut self) {
        if self.peek(0).0 == "normal" {
            self.next();
            for _ in 0..3 {
                if text::number(self.peek(0).0, f32::NAN).is_some() {
                    self.next();
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
