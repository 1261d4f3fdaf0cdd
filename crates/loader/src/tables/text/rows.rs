//! Rows of text files in memory: first in the order of the file, then by frame.

use super::columns::{Columns, Numbers};
use crate::LoadError;
use std::{collections::HashMap, path::Path};
use throng_scene::{QuaternionOrder, RowFormat, RowLayout, RowSource, desc::UpAxis};

/// Bytes per row while a file is read: its key, its values in a growing list, and its values in order.
pub const BYTES: u64 = 2 * (16 + 80) + 4 + 84;

/// Rows in the order of the file.
pub struct Collected {
    columns: Columns,
    up: UpAxis,
    /// Numbers of objects, in the order of their first rows.
    ids: HashMap<Box<str>, u32>,
    keys: Vec<RowKey>,
    values: Vec<f64>,
}

/// The frame or time of a row, its object and its line.
#[derive(Clone, Copy)]
struct RowKey {
    key: f64,
    id: u32,
    line: u32,
}

/// Rows in the order of their frames.
pub struct ByFrame {
    /// The number or time of each frame, increasing.
    pub keys: Vec<f64>,
    pub instances: u32,
    pub rows: SparseRows,
}

/// Rows of objects that are not in every frame.
#[derive(Debug)]
pub struct SparseRows {
    /// Index of the first row of each frame, and the number of rows.
    first: Vec<u32>,
    /// The object of each row.
    ids: Vec<u32>,
    values: Vec<f64>,
    /// Number of values per row.
    width: usize,
}

impl Collected {
    pub fn new(columns: Columns, up: UpAxis) -> Self {
        Self { columns, up, ids: HashMap::new(), keys: Vec::new(), values: Vec::new() }
    }

    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    pub fn has_times(&self) -> bool {
        self.columns.has_times()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it has no frame, time or id. The text is a sentence.
    pub fn push(&mut self, line: u64, id: &str, numbers: &Numbers) -> Result<(), String> {
        if id.is_empty() {
            return Err("`id` is empty: write a number or a name".to_owned());
        }
        let key = self.columns.key(numbers)?;
        let next = self.ids.len() as u32;
        let id = match self.ids.get(id) {
            Some(&known) => known,
            None => *self.ids.entry(id.into()).or_insert(next),
        };
        self.keys.push(RowKey { key, id, line: line.try_into().unwrap_or(u32::MAX) });
        self.values.extend_from_slice(&self.columns.values(numbers, self.up)[..self.width()]);
        Ok(())
    }

    fn width(&self) -> usize {
        7 + self.columns.scales()
    }

    /// Sorts the rows.
    ///
    /// # Errors
    /// If there are none, if an object has two rows in a frame, or if no object has rows in two successive frames.
    pub fn by_frame(self, path: &Path) -> Result<ByFrame, LoadError> {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        let of = |row: &u32| self.keys[*row as usize];
        order.sort_unstable_by(|a, b| {
            let (a, b) = (of(a), of(b));
            a.key.total_cmp(&b.key).then(a.id.cmp(&b.id)).then(a.line.cmp(&b.line))
        });
        self.check(path, &order)?;
        let (mut keys, mut first) = (Vec::new(), Vec::new());
        let (mut ids, mut values) = (Vec::with_capacity(order.len()), Vec::with_capacity(self.values.len()));
        let width = self.width();
        for (place, row) in (0..).zip(&order) {
            let RowKey { key, id, .. } = of(row);
            if keys.last() != Some(&key) {
                keys.push(key);
                first.push(place);
            }
            ids.push(id);
            values.extend_from_slice(&self.values[*row as usize * width..][..width]);
        }
        first.push(order.len() as u32);
        let rows = SparseRows { first, ids, values, width };
        if keys.len() > 1 && !rows.have_neighbours(self.ids.len()) {
            let which = if self.has_times() { "times" } else { "frames" };
            let message = format!(
                "no object has rows at two successive {which} of the file, so nothing would be seen: write a row of each object at \
                 all {which} at which it is there"
            );
            return Err(LoadError::file(path, message));
        }
        Ok(ByFrame { keys, instances: self.ids.len() as u32, rows })
    }

    fn check(&self, path: &Path, order: &[u32]) -> Result<(), LoadError> {
        if order.is_empty() {
            return Err(LoadError::file(path, "the table has no rows: write at least one"));
        }
        let of = |row: u32| self.keys[row as usize];
        let same = |pair: &&[u32]| (of(pair[0]).key, of(pair[0]).id) == (of(pair[1]).key, of(pair[1]).id);
        let Some(pair) = order.windows(2).find(same) else { return Ok(()) };
        let (earlier, later) = (of(pair[0]), of(pair[1]));
        let id = self.ids.iter().find(|(_, id)| **id == later.id).map_or("", |(name, _)| name);
        let which = if self.has_times() { "time" } else { "frame" };
        let message = format!("`{id}` has a row of {which} {} in line {} already: remove one", later.key, earlier.line);
        Err(LoadError::line(path, later.line as usize, message))
    }
}

impl ByFrame {
    /// The format of the rows that [`SparseRows`] returns.
    pub fn format(&self) -> RowFormat {
        let scales = self.rows.width as u32 - 7;
        let layout = RowLayout::Parts { order: QuaternionOrder::Xyzw, scales };
        RowFormat { layout, is_double: true, is_big_endian: false }
    }
}

impl SparseRows {
    fn of_frame(&self, frame: usize) -> std::ops::Range<usize> {
        self.first[frame] as usize..self.first[frame + 1] as usize
    }

    /// Whether one of `count` objects has rows in two successive frames.
    fn have_neighbours(&self, count: usize) -> bool {
        let mut last = vec![usize::MAX - 1; count];
        (0..self.first.len() - 1).any(|frame| {
            self.ids[self.of_frame(frame)]
                .iter()
                .any(|&id| std::mem::replace(&mut last[id as usize], frame) + 1 == frame)
        })
    }
}

impl RowSource for SparseRows {
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
        let bytes = self.width * size_of::<f64>();
        into.as_chunks_mut::<8>().0.fill(f64::NAN.to_le_bytes());
        for row in self.of_frame(frame as usize) {
            let start = self.ids[row] as usize * bytes;
            let values = &self.values[row * self.width..][..self.width];
            for (to, value) in into[start..start + bytes].as_chunks_mut::<8>().0.iter_mut().zip(values) {
                *to = value.to_le_bytes();
            }
        }
        Ok(())
    }
}
