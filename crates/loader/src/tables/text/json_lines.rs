//! JSON Lines: an object per line.

use super::{
    columns::{self, Columns, ID, NAMES, Numbers},
    rows::Collected,
};
use crate::{LoadError, text};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Map, Value, error::Category};
use std::{borrow::Cow, fmt, path::Path};
use throng_scene::desc::UpAxis;

/// Greatest whole number up to which all are exact in double precision.
const MOST_WHOLE: u64 = 1 << f64::MANTISSA_DIGITS;

/// Parses a file. The first object determines the columns.
///
/// # Errors
/// If columns are missing, or the first faulty line.
pub fn parse(path: &Path, bytes: &[u8], up: UpAxis) -> Result<Collected, LoadError> {
    let mut rest = text::without_mark(bytes);
    let mut collected: Option<Collected> = None;
    let mut line = 0;
    while !rest.is_empty() {
        let (own, after) = text::split_line(rest);
        (rest, line) = (after, line + 1);
        if own.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let at = |message: String| LoadError::line(path, line as usize, message);
        let to = match &mut collected {
            Some(collected) => collected,
            None => {
                let first: Map<String, Value> = serde_json::from_slice(own).map_err(|e| fault(path, line, &e))?;
                let names: Vec<&str> = first.keys().map(String::as_str).collect();
                collected.insert(Collected::new(Columns::of(&names).map_err(at)?, up))
            }
        };
        let cells: Cells = serde_json::from_slice(own).map_err(|e| fault(path, line, &e))?;
        row(&cells, to, line).map_err(at)?;
    }
    collected.ok_or_else(|| LoadError::file(path, "the table has no rows: write an object of JSON per line"))
}

fn row(cells: &Cells, to: &mut Collected, line: u64) -> Result<(), String> {
    let mut numbers: Numbers = [f64::NAN; NAMES.len()];
    for (column, (cell, number)) in cells.0.iter().zip(&mut numbers).enumerate() {
        let name = NAMES[column];
        match cell {
            Some(Cell::Number(own)) => *number = *own,
            Some(Cell::Text(_)) if column != ID && to.columns().has(column) => {
                return Err(format!(
                    "`{name}` is a text: write a number without quotes, or null where the object is not there"
                ));
            }
            None if to.columns().has(column) => {
                return Err(format!("`{name}` is missing, which the first line has: add it, or write null"));
            }
            _ => {}
        }
    }
    let id = match &cells.0[ID] {
        Some(Cell::Text(text)) => Cow::Borrowed(&**text),
        Some(Cell::Number(number)) => Cow::Owned(number.to_string()),
        Some(Cell::Null) | None => Cow::Borrowed(""),
    };
    to.push(line, &id, &numbers)
}

fn fault(path: &Path, line: u64, error: &serde_json::Error) -> LoadError {
    let message = match error.classify() {
        Category::Eof => "the line ends too early: write a whole object per line".to_owned(),
        _ => {
            let text = error.to_string();
            let cause = text.split(" at line ").next().unwrap_or_default();
            format!("this is no row of numbers, {cause}: correct it; NaN does not exist in JSON, write null")
        }
    };
    LoadError::place(path, (line as usize, error.column()), message)
}

/// The values of the known columns.
struct Cells<'a>([Option<Cell<'a>>; NAMES.len()]);

enum Cell<'a> {
    Null,
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Cells<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(CellsVisitor)
    }
}

struct CellsVisitor;

impl<'de> Visitor<'de> for CellsVisitor {
    type Value = Cells<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut cells = [const { None }; NAMES.len()];
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match columns::column(&key) {
                Some(column) => cells[column] = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Cells(cells))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Cell<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cell::Null)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cell::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        // Longer ids would lose digits as numbers.
        Ok(if number > MOST_WHOLE { Cell::Text(Cow::Owned(number.to_string())) } else { Cell::Number(number as f64) })
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cell::Number(number as f64))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cell::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cell::Text(Cow::Owned(text.to_owned())))
    }
}
