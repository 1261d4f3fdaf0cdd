//! Integers that JSON represents as floats, such as `4.0` or `1e2`. JSON Schema, and therefore glTF, treats them as integers.

use std::borrow::Cow;

/// Limit up to which a 64-bit float represents every integer.
const GREATEST: f64 = 9_007_199_254_740_992.0;

/// The text with all integers written without fraction and exponent. Float members accept integers as well. Lines and columns stay the
/// same, except after numbers that become longer, such as `1e9`.
pub fn integers_as_such(text: &[u8]) -> Cow<'_, [u8]> {
    let mut changed: Vec<u8> = Vec::new();
    // The text before this position is already in `changed`.
    let mut done = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(text, at);
                if let Some(integer) = integer(&text[at..end]) {
                    changed.extend_from_slice(&text[done..at]);
                    changed.extend_from_slice(integer.as_bytes());
                    changed.resize(changed.len() + (end - at).saturating_sub(integer.len()), b' ');
                    done = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if changed.is_empty() {
        return Cow::Borrowed(text);
    }
    changed.extend_from_slice(&text[done..]);
    Cow::Owned(changed)
}

/// The position after the string whose first character is at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text[at.min(text.len())..].iter().position(|&byte| byte == b'"' || byte == b'\\') {
        match text[at + found] {
            b'"' => return at + found + 1,
            _ => at += found + 2,
        }
    }
    text.len()
}

/// The position after the number that starts at `at`.
fn end_of_number(text: &[u8], at: usize) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    at + text[at..].iter().take_while(|byte| is_part(byte)).count()
}

/// The integer that a number represents, if it is written as a float.
fn integer(number: &[u8]) -> Option<String> {
    let has_exponent = number.iter().any(|byte| matches!(byte, b'e' | b'E'));
    let mut fraction = number.iter().skip_while(|byte| **byte != b'.').skip(1).peekable();
    // Most floats are recognised by their fraction.
    if !has_exponent && (fraction.peek().is_none() || fraction.any(|byte| *byte != b'0')) {
        return None;
    }
    // Invalid JSON numbers, such as ".5" and "01.0", are left to the parser.
    serde_json::from_slice::<f64>(number).ok()?;
    let value: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    let is_integer = value.fract() == 0.0 && value.abs() <= GREATEST && !(value == 0.0 && value.is_sign_negative());
    is_integer.then(|| format!("{value:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        String::from_utf8(integers_as_such(text.as_bytes()).into_owned()).expect("UTF-8")
    }

    #[test]
    fn integers_that_are_written_as_floats_become_integers_in_place() {
        assert_eq!(written(r#"{"count": 4.0, "b": [1.50, -2.000,0.0]}"#), r#"{"count": 4  , "b": [1.50, -2    ,0  ]}"#);
        assert_eq!(written("[1e2, 4E0, 1.5e1, 1e-2, 2e9]"), "[100, 4  , 15   , 1e-2, 2000000000]");
    }

    #[test]
    fn strings_and_numbers_that_are_no_integers_stay() {
        for text in
            [r#"{"a 4.0": "4.0 \" 5.0", "b": 0.5}"#, "[-0.0, 1e300, 1., .5, 01.0, 1e400]", r#""4.0"#, "\"\\", "", "-"]
        {
            assert!(matches!(integers_as_such(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
    }
}
