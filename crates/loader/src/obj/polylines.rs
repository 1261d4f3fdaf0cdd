//! The `l` elements of an OBJ file.

use super::{
    lines::Lines,
    scan::{index, numbers},
};
use crate::{LoadError, files, geometry::polygons::is_finite};
use glam::Vec3;
use std::path::Path;

/// A line of an OBJ file.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyline {
    /// The last names after `o` and `g` before the line; empty if there are none.
    pub names: [String; 2],
    pub points: Vec<Vec3>,
}

/// Reads the polylines of a file. Elements that start where the previous one ends, in one object and group, form one polyline.
///
/// # Errors
/// If the file cannot be read, or if a line is malformed or uses a vertex that the file does not have.
pub fn polylines(path: &Path) -> Result<Vec<Polyline>, LoadError> {
    let (mut lines, mut scan) = (Lines::new(files::pieces(path)?), Scan::default());
    while let Some((line, text)) = lines.next().map_err(|e| LoadError::file(path, files::describe(&e)))? {
        scan.line(line, text.trim_start()).map_err(|message| LoadError::line(path, line, message))?;
    }
    scan.elements.into_iter().map(|element| element.resolve(path, &scan.positions)).collect()
}

#[derive(Default)]
struct Scan {
    positions: Vec<[f32; 3]>,
    names: [String; 2],
    elements: Vec<Element>,
}

/// Indices of a polyline's vertices, from 0, and the line of the file where it starts.
struct Element {
    line: usize,
    names: [String; 2],
    vertices: Vec<u32>,
}

impl Scan {
    fn line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match keyword {
            "v" => self.positions.push(numbers(rest.split_whitespace(), "v x y z")?),
            "o" => self.names = [rest.trim().to_owned(), String::new()],
            "g" => rest.trim().clone_into(&mut self.names[1]),
            "l" => self.element(line, rest)?,
            _ => {}
        }
        Ok(())
    }

    fn element(&mut self, line: usize, text: &str) -> Result<(), String> {
        let mut vertices = Vec::new();
        for word in text.split_whitespace().take_while(|w| !w.starts_with('#')) {
            let vertex = word.split('/').next().and_then(|v| index(v, self.positions.len()));
            vertices.push(vertex.ok_or_else(|| format!("`{word}` is not a vertex of a line: write v or v/vt"))?);
        }
        let Some(first) = vertices.first() else {
            return Ok(());
        };
        match self.elements.last_mut() {
            Some(last) if last.names == self.names && last.vertices.last() == Some(first) => {
                last.vertices.extend(&vertices[1..]);
            }
            _ => self.elements.push(Element { line, names: self.names.clone(), vertices }),
        }
        Ok(())
    }
}

impl Element {
    fn resolve(self, path: &Path, positions: &[[f32; 3]]) -> Result<Polyline, LoadError> {
        let point = |&v: &u32| {
            let number = u64::from(v) + 1;
            let fail = |message: String| Err(LoadError::line(path, self.line, message));
            match positions.get(v as usize) {
                Some(point) if is_finite(point) => Ok(Vec3::from(*point)),
                Some(_) => fail(format!("a line uses vertex {number}, which is not finite")),
                None => fail(format!("a line uses vertex {number}, but the file has {}", positions.len())),
            }
        };
        let points = self.vertices.iter().map(point).collect::<Result<_, _>>()?;
        Ok(Polyline { names: self.names, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Polyline>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.obj");
        std::fs::write(&path, text).unwrap();
        polylines(&path).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn elements_that_follow_each_other_are_one_line() {
        let text = "o rail\nv 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 2/1 -1\nl 1 3\no road\nl 3 1";
        let lines = read(text).unwrap();
        let ends: Vec<(&str, usize)> = lines.iter().map(|l| (l.names[0].as_str(), l.points.len())).collect();
        assert_eq!(ends, [("rail", 3), ("rail", 2), ("road", 2)]);
        assert_eq!(lines[0].points, [Vec3::ZERO, Vec3::X, Vec3::X * 2.0]);
    }

    #[test]
    fn lines_with_wrong_vertices_are_refused() {
        assert_eq!(read("v 0 0 0\nl 1 2").unwrap_err(), "a line uses vertex 2, but the file has 1");
        assert_eq!(read("v 0 0 nan\nv 0 0 0\nl 1 2").unwrap_err(), "a line uses vertex 1, which is not finite");
        assert_eq!(read("v 0 0 nan\nv 0 0 0\nv 1 0 0\nl 2 3").unwrap().len(), 1);
        assert_eq!(read("l 1 x").unwrap_err(), "`x` is not a vertex of a line: write v or v/vt");
    }
}
