//! Values of JSON files of cameras.

use super::calibration::{self, Size};
use crate::{LoadError, files, text};
use serde_json::{Map, Value, error::Category};
use std::path::Path;

pub type Object = Map<String, Value>;

/// Bytes in memory per byte of a file, at most: short numbers and empty lists.
const EXPANSION: u64 = 24;

/// Reads and parses a file.
///
/// # Errors
/// If it cannot be read or is no JSON.
pub fn parse(path: &Path) -> Result<Value, LoadError> {
    let bytes = files::read(path)?;
    files::reserve(path, "its list of cameras", EXPANSION * bytes.len() as u64)?;
    serde_json::from_slice(text::without_mark(&bytes)).map_err(|error| {
        let message = match error.classify() {
            Category::Eof => "the file ends too early: get all of it".to_owned(),
            _ => {
                let text = error.to_string();
                let cause = text.split(" at line ").next().unwrap_or_default();
                format!("this is no JSON, {cause}: correct it; NaN, Infinity and comments do not exist in JSON")
            }
        };
        LoadError::place(path, (error.line(), error.column()), message)
    })
}

/// The number under a key; None if there is none.
///
/// # Errors
/// If the value is no number. The text is a sentence.
pub fn number(value: Option<&Value>, key: &str) -> Result<Option<f64>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_f64().map(Some).ok_or_else(|| format!("`{key}` is no number: write one without quotes"))
        }
    }
}

/// The text under a key; None if there is none.
///
/// # Errors
/// If the value is no text. The text is a sentence.
pub fn string<'a>(value: Option<&'a Value>, key: &str) -> Result<Option<&'a str>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{key}` is no text: write it in quotes")),
    }
}

/// The size of a picture, whose sides have these names; None if there is none.
///
/// # Errors
/// If only one side is there, or if one is no number or out of range. The text is a sentence.
pub fn size(sides: [Option<&Value>; 2], names: [&str; 2]) -> Result<Option<Size>, String> {
    match [number(sides[0], names[0])?, number(sides[1], names[1])?] {
        [None, None] => Ok(None),
        [Some(width), Some(height)] => calibration::size([width, height]).map(Some),
        _ => Err(format!("only one of `{}` and `{}` is there: add the other", names[0], names[1])),
    }
}

/// Rows of numbers. `name` is for messages.
///
/// # Errors
/// If the value is something else. The text is a sentence.
pub fn rows(value: &Value, name: &str) -> Result<Vec<Vec<f64>>, String> {
    let row = |row: &Value| -> Option<Vec<f64>> { row.as_array()?.iter().map(Value::as_f64).collect() };
    let rows = value.as_array().and_then(|rows| rows.iter().map(row).collect());
    rows.ok_or_else(|| {
        format!("{name} is no list of rows of numbers: write [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_the_wrong_type_are_named() {
        assert_eq!(number(None, "w"), Ok(None));
        assert_eq!(number(Some(&json!(3)), "w"), Ok(Some(3.0)));
        assert!(number(Some(&json!("3")), "w").unwrap_err().starts_with("`w` is no number"));
        assert!(string(Some(&json!(3)), "name").unwrap_err().starts_with("`name` is no text"));
        assert!(size([Some(&json!(3)), None], ["w", "h"]).unwrap_err().contains("only one of `w` and `h`"));
        for wrong in [json!(1), json!([1]), json!([[1, "a"]]), json!([[[1]]])] {
            assert!(rows(&wrong, "the matrix").is_err(), "{wrong}");
        }
    }
}
