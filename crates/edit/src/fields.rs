//! Sets, adds and removes fields of a struct in a text, in place.

use std::ops::Range;
use throng_loader::ron::source::{self, Items, Value};

/// A field of a struct, with the byte ranges of its name and its value.
pub struct Field<'a> {
    pub name: &'a str,
    pub start: usize,
    pub value: Range<usize>,
}

/// The struct inside a value, without an enclosing `Some(..)` or parentheses of variants.
pub fn innermost(value: &Value) -> &Value {
    match &value.items {
        Items::Plain(inner) if inner.len() == 1 => innermost(&inner[0]),
        _ => value,
    }
}

/// The name before a struct's parenthesis, without `Some`; empty if it has none.
pub fn head<'t>(text: &'t str, value: &Value) -> &'t str {
    let own = &text[value.span.clone()];
    let end = own.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(own.len());
    match (&own[..end], &value.items) {
        ("Some" | "", Items::Plain(inner)) if inner.len() == 1 => head(text, &inner[0]),
        (name, _) => name,
    }
}

/// Offset of the first byte after a struct's opening parenthesis.
fn opening(text: &str, value: &Value) -> usize {
    let own = &text[value.span.clone()];
    let name = own.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(own.len());
    (source::skip_space(text, value.span.start + name) + 1).min(value.span.end)
}

/// The fields of a struct, in the order of the text.
pub fn fields<'a>(text: &str, value: &'a Value) -> Vec<Field<'a>> {
    let inner = innermost(value);
    let Items::Keyed(entries) = &inner.items else {
        return Vec::new();
    };
    let mut end = opening(text, inner);
    let field = |(name, value): &'a (String, Value)| {
        let mut start = source::skip_space(text, end);
        if text[start..].starts_with(',') {
            start = source::skip_space(text, start + 1);
        }
        end = value.span.end;
        Field { name, start, value: value.span.clone() }
    };
    entries.iter().map(field).collect()
}

/// Returns the text of a struct with some of its fields set to new text, or removed if the new text is `None`.
///
/// Returns `None` if the text is not a struct.
pub fn with_fields(text: &str, changes: &[(&str, Option<String>)]) -> Option<String> {
    let root = Value::of_file(text)?;
    let inner = innermost(&root);
    let open = opening(text, inner);
    let own = fields(text, &root);
    let is_spread = own.first().is_some_and(|first| text[open..first.start].contains('\n'));
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (name, change) in changes {
        match (own.iter().find(|field| field.name == *name), change) {
            (Some(field), Some(value)) => edits.push((field.value.clone(), value.clone())),
            (Some(field), None) => edits.extend(removal(text, field).map(|range| (range, String::new()))),
            (None, Some(value)) => {
                let added = match own.first() {
                    Some(first) if is_spread => {
                        format!("{}{}{name}: {value},", newline(text), indent_of(text, first.start))
                    }
                    Some(_) => format!("{name}: {value}, "),
                    None if edits.is_empty() => format!("{name}: {value}"),
                    None => format!(", {name}: {value}"),
                };
                edits.push((open..open, added));
            }
            (None, None) => {}
        }
    }
    Some(spliced(text, edits))
}

/// The byte ranges of a field and its comma; the whole line if nothing else is on it.
fn removal(text: &str, field: &Field) -> impl Iterator<Item = Range<usize>> + use<> {
    let comma = source::skip_space(text, field.value.end);
    let has_comma = text[comma..].starts_with(',');
    let near = text[field.value.end..comma].trim().is_empty();
    if !has_comma || !near {
        let comma = has_comma.then_some(comma..comma + 1);
        return [Some(field.start..field.value.end), comma].into_iter().flatten();
    }
    let line = field.start - indent_before(text, field.start).len();
    let rest = text[comma + 1..].trim_start_matches([' ', '\t']);
    let mut end = text.len() - rest.len();
    let begins_line = text[..line].ends_with('\n');
    let mut start = field.start;
    if begins_line && let Some(below) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
        (start, end) = (line, text.len() - below.len());
    }
    [Some(start..end), None].into_iter().flatten()
}

/// The white space before a byte, on its line.
fn indent_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t']).len()..]
}

/// The white space at the start of a byte's line.
pub fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The line ending of a text, taken from its first line.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The text with all ranges replaced; ranges must not overlap. Insertions at one position keep their order and precede a replacement at that
/// position.
pub fn spliced(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (range, new) in &edits {
        out.push_str(&text[end..range.start]);
        out.push_str(new);
        end = range.end;
    }
    out.push_str(&text[end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, changes: &[(&str, Option<&str>)]) -> String {
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.map(str::to_owned))).collect();
        with_fields(text, &changes).unwrap()
    }

    #[test]
    fn fields_are_set_added_and_taken_away() {
        let text = "Spline(fov: 50, clear_of: \"a\", keys: [1])";
        assert_eq!(changed(text, &[("fov", Some("40"))]), "Spline(fov: 40, clear_of: \"a\", keys: [1])");
        assert_eq!(changed(text, &[("clear_of", None)]), "Spline(fov: 50, keys: [1])");
        assert_eq!(changed(text, &[("keys", None), ("up", None)]), "Spline(fov: 50, clear_of: \"a\", )");
        assert_eq!(changed(text, &[("pace", Some("x"))]), "Spline(pace: x, fov: 50, clear_of: \"a\", keys: [1])");
        assert_eq!(changed("(a: 1, b: 2)", &[("a", None), ("c", Some("3")), ("d", Some("4"))]), "(c: 3, d: 4, b: 2)");
        assert_eq!(changed("Some(X())", &[("a", Some("1")), ("b", Some("2"))]), "Some(X(a: 1, b: 2))");
        assert_eq!(changed("X /* ( */ ((a: 1))", &[("a", Some("2"))]), "X /* ( */ ((a: 2))");
    }

    #[test]
    fn what_has_a_line_of_its_own_leaves_none_behind() {
        let text = "X(\r\n    // b is\r\n    b: 1, // one\r\n    c: 2,\r\n    d: 3,\r\n)";
        let gone = changed(text, &[("c", None), ("a", Some("0"))]);
        assert_eq!(gone, "X(\r\n    a: 0,\r\n    // b is\r\n    b: 1, // one\r\n    d: 3,\r\n)");
        assert_eq!(changed(text, &[("b", None)]), "X(\r\n    // b is\r\n    // one\r\n    c: 2,\r\n    d: 3,\r\n)");
        assert_eq!(changed("X(a: 1 /* , */, b: 2)", &[("a", None)]), "X( /* , */ b: 2)");
    }
}
