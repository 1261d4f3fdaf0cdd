//! Reads many vertices or triangles of a binary file at once, if all have the same size.

use super::{
    BLANK, Fault, Row, column_of,
    header::{Element, Kind, Number},
    is_list, value,
    values::Values,
};
use rayon::prelude::*;
use std::io::Read;

/// Number of vertices or faces that are read at once.
pub const TOGETHER: usize = 1 << 13;
/// Maximum size of one of them in bytes.
const LARGEST: usize = 1 << 8;

/// The layout of vertices without lists.
pub struct VertexRows {
    size: usize,
    /// Offset, type and column of each value that is used.
    used: Vec<(usize, Number, usize)>,
}

impl VertexRows {
    /// None if vertices have lists, or are unusually large.
    pub fn of(element: &Element) -> Option<Self> {
        let (mut size, mut used) = (0, Vec::new());
        for property in &element.properties {
            let Kind::Scalar(number) = property.kind else { return None };
            used.extend(column_of(property).map(|column| (size, number, column)));
            size += number.size();
        }
        (size <= LARGEST).then_some(Self { size, used })
    }

    /// Reads up to `most` vertices, and returns their number: 0 in a text file and at the end of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read<R: Read>(
        &self,
        most: usize,
        values: &mut Values<R>,
        add: &mut impl FnMut(Row, crate::meshes::FileLocation),
    ) -> Result<usize, Fault> {
        let is_big = values.is_big();
        let of = |bytes: &[u8]| {
            let mut row = BLANK;
            for &(at, number, column) in &self.used {
                row[column] = value(number.value(&bytes[at..], is_big), number, column);
            }
            row
        };
        let rows: Vec<Row> = values.rows(most.min(TOGETHER), self.size)?.par_chunks_exact(self.size).map(of).collect();
        for &row in &rows {
            values.advance(self.size);
            add(row, values.place());
        }
        Ok(rows.len())
    }
}

/// The layout of faces with three corners.
pub struct TriangleRows {
    size: usize,
    /// Offset of the list, and the types of its length and its items.
    list: (usize, Number, Number),
}

impl TriangleRows {
    /// None if faces have other lists than their corners, or are unusually large.
    pub fn of(element: &Element) -> Option<Self> {
        let (mut size, mut list) = (0, None);
        for property in &element.properties {
            size += match property.kind {
                Kind::Scalar(number) => number.size(),
                Kind::List { count, item } if is_list(property) && list.is_none() => {
                    list = Some((size, count, item));
                    count.size() + 3 * item.size()
                }
                Kind::List { .. } => return None,
            };
        }
        (size <= LARGEST).then_some(Self { size, list: list? })
    }

    /// Reads up to `most` faces, and returns their number: 0 if one of them is no triangle or has an index that is not below `vertices`, in a text
    /// file, and at the end of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read<R: Read>(
        &self,
        (most, vertices): (usize, usize),
        values: &mut Values<R>,
        triangles: &mut Vec<[u32; 3]>,
    ) -> Result<usize, Fault> {
        let (is_big, before) = (values.is_big(), triangles.len());
        let (at, count, item) = self.list;
        let triangle = |bytes: &[u8]| {
            let list = &bytes[at + count.size()..];
            let corners = [0, 1, 2].map(|corner| item.value(&list[corner * item.size()..], is_big));
            let is_known = |&index: &f64| index >= 0.0 && index < vertices as f64 && index.fract() == 0.0;
            let is_triangle = count.value(&bytes[at..], is_big) == 3.0 && corners.iter().all(is_known);
            if is_triangle { corners.map(|index| index as u32) } else { [u32::MAX; 3] }
        };
        let rows = values.rows(most.min(TOGETHER), self.size)?;
        triangles.par_extend(rows.par_chunks_exact(self.size).map(triangle));
        if triangles[before..].contains(&[u32::MAX; 3]) {
            triangles.truncate(before);
        }
        let read = triangles.len() - before;
        values.advance(read * self.size);
        Ok(read)
    }
}
