//! Comma-separated values.

use super::{
    columns::{self, Columns, ID, NAMES},
    rows::Collected,
};
use crate::{LoadError, text};
use csv::{ByteRecord, ErrorKind, ReaderBuilder, Trim};
use std::path::Path;
use throng_scene::desc::UpAxis;

/// Separators, of which a file uses the one that is most frequent in its first line.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Parses a file.
///
/// # Errors
/// If columns are missing, or the first faulty row, with its line.
pub fn parse(path: &Path, bytes: &[u8], up: UpAxis) -> Result<Collected, LoadError> {
    let bytes = text::without_mark(bytes);
    let (names, _) = text::split_line(bytes);
    let frequency = |separator: &u8| names.iter().filter(|byte| *byte == separator).count();
    // Of equally frequent ones, the first.
    let separator = SEPARATORS.into_iter().rev().max_by_key(frequency).unwrap_or(b',');
    let mut reader = ReaderBuilder::new().delimiter(separator).trim(Trim::All).from_reader(bytes);
    let at = |line: u64, message: String| LoadError::line(path, line as usize, message);
    let names = reader.headers().map_err(|e| fault(path, &e))?.clone();
    let names: Vec<&str> = names.iter().collect();
    let known: Vec<Option<usize>> = names.iter().map(|name| columns::column(name)).collect();
    let mut collected = Collected::new(Columns::of(&names).map_err(|message| at(1, message))?, up);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|e| fault(path, &e))? {
        let line = record.position().map_or(0, csv::Position::line);
        row(&record, &known, &mut collected, line).map_err(|message| at(line, message))?;
    }
    Ok(collected)
}

fn row(record: &ByteRecord, known: &[Option<usize>], to: &mut Collected, line: u64) -> Result<(), String> {
    let (mut numbers, mut id) = ([f64::NAN; NAMES.len()], "".into());
    for (value, column) in record.iter().zip(known) {
        match *column {
            None => {}
            Some(ID) => id = String::from_utf8_lossy(value),
            Some(column) => numbers[column] = number(value, NAMES[column])?,
        }
    }
    to.push(line, &id, &numbers)
}

/// A number; NaN if it is left out.
fn number(value: &[u8], name: &str) -> Result<f64, String> {
    let word = String::from_utf8_lossy(value);
    if word.is_empty() {
        return Ok(f64::NAN);
    }
    text::number(&word, f64::NAN).ok_or_else(|| {
        let word: String = word.chars().take(40).collect();
        format!("`{name}` is `{word}`, which is no number: write one, or nothing where the object is not there")
    })
}

fn fault(path: &Path, error: &csv::Error) -> LoadError {
    let line = error.position().map_or(1, csv::Position::line) as usize;
    let message = match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} values, and the first line {expected_len} names: write one value per name")
        }
        ErrorKind::Utf8 { .. } => "the names of the columns are no text: save the file as UTF-8".to_owned(),
        _ => format!("this is no table: {error}"),
    };
    LoadError::line(path, line, message)
}
