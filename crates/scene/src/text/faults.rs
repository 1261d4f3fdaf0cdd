//! Syntax errors of scene files: their position, and a sentence about the accepted input.
//!
//! RON reports the kind of token that it expected, for example an identifier, but not the valid ones. These are determined by parsing again
//! with an unknown name at the position of the error: the new error lists the valid names.

use super::suggest;
use super::{file::parse, source::Value};
use ron::{
    Error as E,
    error::{Position, SpannedError},
};

/// An error in a text: its byte position, and a sentence about it.
pub type Fault = (usize, String);

/// Converts the error `e` in `text`.
pub fn fault(text: &str, e: &SpannedError) -> Fault {
    let at = start_of_fault(text, e);
    (at, describe(text, at, &e.code))
}

/// Byte at which the faulty token starts. RON's spans start at the token before the fault and end after the faulty token.
fn start_of_fault(text: &str, e: &SpannedError) -> usize {
    let (from, to) = (byte_of(text, &e.span.start), byte_of(text, &e.span.end));
    match e.code {
        E::Eof | E::MissingStructField { .. } => to,
        // These faults are detected only after the value was read.
        E::InvalidValueForType { .. } if ends_with_word(text, from, to) => start_of_value(text, to),
        E::InvalidValueForType { .. } | E::Message(_) if ends_with_text(text, to) => start_of_value(text, to),
        E::IntegerOutOfBounds => start_of_value(text, last_token(text, from, to)),
        E::ExpectedComma if text.get(to..).is_some_and(|rest| rest.starts_with('.')) => start_of_value(text, to),
        _ => last_token(text, from, to),
    }
}

fn last_token(text: &str, from: usize, to: usize) -> usize {
    let token = text.get(from..to).unwrap_or("").trim_end_matches(|c: char| c.is_whitespace() || c == ',');
    let start = token.trim_end_matches(is_of_word).len();
    if start == token.len() && to < text.len() { to } else { from + start }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_.-+".contains(c)
}

/// Whether the span is empty and directly after a word.
fn ends_with_word(text: &str, from: usize, to: usize) -> bool {
    from == to && text.get(..to).unwrap_or("").trim_end().ends_with(is_of_word)
}

/// Whether a quoted text ends before `to`.
fn ends_with_text(text: &str, to: usize) -> bool {
    text.get(..to).unwrap_or("").trim_end().ends_with('"')
}

/// The start of the quoted text or word that ends before `to`.
fn start_of_value(text: &str, to: usize) -> usize {
    let before = text.get(..to).unwrap_or("").trim_end();
    match before.strip_suffix('"').and_then(|inner| inner.rfind('"')) {
        Some(quote) => quote,
        None => before.trim_end_matches(is_of_word).len(),
    }
}

fn byte_of(text: &str, p: &Position) -> usize {
    let line_start = text.split_inclusive('\n').take(p.line.saturating_sub(1)).map(str::len).sum::<usize>();
    let line = text.get(line_start..).unwrap_or("");
    line_start + line.char_indices().nth(p.col.saturating_sub(1)).map_or(line.len(), |(i, _)| i)
}

/// The message of an error, rewritten if RON's own message is not helpful.
fn describe(text: &str, at: usize, e: &E) -> String {
    let place = |outer: &Option<String>| outer.as_ref().map_or_else(String::new, |o| format!(" in {o}"));
    match e {
        E::NoSuchStructField { expected, found, outer } => {
            let hint = suggest::hint(found, expected.iter().copied(), "fields");
            format!("unknown field `{found}`{}: {hint}", place(outer))
        }
        E::NoSuchEnumVariant { expected, found, outer } => {
            let hint = suggest::hint(found, expected.iter().copied(), "choices");
            format!("unknown name `{found}`{}: {hint}", place(outer))
        }
        E::MissingStructField { field, outer } => {
            format!("`{field}` is missing{}: add it", place(outer))
        }
        E::DuplicateStructField { field, .. } => format!("`{field}` comes twice: remove one"),
        E::InvalidValueForType { expected, found } => format!("expected {expected}, not {}", found_value(found)),
        E::ExpectedDifferentLength { expected, found: 1 } => format!("expected {}, not 1 value", several(expected)),
        E::ExpectedDifferentLength { expected, found } => format!("expected {}, not {found} values", several(expected)),
        E::ExpectedIdentifier | E::InvalidIdentifier(_) | E::SuggestRawIdentifier(_) => name(text, at),
        E::ExpectedNamedStructLike(_) | E::ExpectedDifferentStructName { .. } => fields(text, at),
        E::ExpectedStructLike => parentheses(text, at),
        E::ExpectedComma if text[at..].starts_with('(') => "this name has no fields: remove the parentheses".to_owned(),
        E::ExpectedComma if number_with_fraction(text, at) => WHOLE.to_owned(),
        E::IntegerOutOfBounds => format!("expected a whole number from 0 to {}", u32::MAX),
        other => plain(other),
    }
}

const WHOLE: &str = "expected a whole number, such as 8";

/// The message of an error that does not depend on the position.
fn plain(e: &E) -> String {
    let words = match e {
        E::Eof => "the file ends too early: close every bracket and quote",
        E::ExceededRecursionLimit => "too many brackets in one another: use `groups`",
        E::ExpectedComma => "expected `,`: check the value before it",
        E::ExpectedStructLikeEnd => "expected `,` or `)`: check the value before this one, or remove it",
        E::ExpectedFloat => "expected a number, such as 1.5",
        E::ExpectedInteger => WHOLE,
        E::ExpectedBoolean => "expected true or false",
        E::ExpectedString => "expected text in quotes, such as \"name\"",
        E::ExpectedArray => "expected a list: [.., ..]",
        E::ExpectedMap => "expected names with values: {\"name\": .., ..}",
        E::TrailingCharacters => "something follows the end of the scene: remove it",
        other => return lower_first(&other.to_string()),
    };
    words.to_owned()
}

fn lower_first(s: &str) -> String {
    let mut chars = s.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// Simplifies serde's description of a value, for example ``the unsigned integer `3` ``.
fn found_value(found: &str) -> &str {
    match found {
        "a unit value" => "a word without quotes",
        "a sequence" => "a list",
        "a map" => "fields",
        other => other.find(['`', '"']).map_or(other, |quote| &other[quote..]),
    }
}

/// Simplifies serde's description of several values, for example `a tuple of size 3`.
fn several(expected: &str) -> String {
    let of_serde = ["a tuple of ", "an array of ", "tuple "].iter().any(|start| expected.starts_with(start));
    let count = expected.split(' ').find_map(|word| word.parse::<usize>().ok()).filter(|_| of_serde);
    match count {
        Some(count) => {
            let names = ["a", "b", "c", "d"];
            format!("{count} values in parentheses: ({})", names[..count.min(names.len())].join(", "))
        }
        None => expected.to_owned(),
    }
}

fn number_with_fraction(text: &str, at: usize) -> bool {
    let rest = text[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    rest.len() < text.len() - at && rest.starts_with('.')
}

/// A word that is not a valid name in scene files.
const UNKNOWN: &str = "unknown_";

/// The error that results from replacing the value at `at` by `with`.
fn with(text: &str, at: usize, with: &str) -> Option<E> {
    let end = Value::at(text, at)?.span.end;
    let changed = [&text[..at], with, &text[end..]].concat();
    parse(&changed).err().map(|e| e.code)
}

/// A sentence with the names that are valid at `at`: of choices or of fields.
fn name(text: &str, at: usize) -> String {
    let found = Value::at(text, at).map_or("", |value| &text[value.span]).trim_matches('"');
    match with(text, at, UNKNOWN) {
        Some(E::NoSuchEnumVariant { expected, .. }) if expected.contains(&found) => {
            format!("expected a name without quotes: write {found}")
        }
        Some(E::NoSuchEnumVariant { expected, .. }) => {
            let hint = suggest::hint(found, expected.iter().copied(), "choices");
            format!("expected a name without quotes: {hint}")
        }
        Some(E::NoSuchStructField { expected, .. }) => {
            let list = suggest::list(expected.iter().copied(), "fields");
            format!("expected fields by name, as in `field: value`: {list}")
        }
        _ => "expected a name without quotes".to_owned(),
    }
}

/// A sentence with the fields of the struct at `at`.
fn fields(text: &str, at: usize) -> String {
    let list = match with(text, at, &format!("({UNKNOWN}: 0)")) {
        Some(E::NoSuchStructField { expected, .. }) => {
            format!(": {}", suggest::list(expected.iter().copied(), "fields"))
        }
        _ => String::new(),
    };
    format!("expected fields in parentheses, as in `(field: value)`{list}")
}

/// A sentence about the expected content of the parentheses at `at`: the fields of the name before it, or several values.
fn parentheses(text: &str, at: usize) -> String {
    let named = text[..at].trim_end().ends_with(is_of_word);
    match with(text, at, "()").filter(|_| !named) {
        Some(E::ExpectedDifferentLength { expected, .. }) => format!("expected {}", several(&expected)),
        _ => "expected `(`: write the name with its fields, as in `Name(field: value)`".to_owned(),
    }
}
