//! `--set key=value`: replaces or adds values in a scene file's text before it is parsed.

use super::source::{Items, Step, Value};
use super::{LoadError, suggest};
use std::borrow::Cow;

/// Replaces the value at the dotted path `key` in `text` by `value`, which is RON.
///
/// Fractions (`24000/1001`) do not need the quotes that RON requires. A path names fields (`render.samples`), map entries
/// (`materials.stone.color`) and list elements (`instances.0.count`). A missing field is added; whether it is valid is checked by the
/// parser.
///
/// # Errors
/// If `value` is not a single RON value, or if the path does not exist and cannot be added.
pub fn apply(text: &str, key: &str, value: &str) -> Result<String, LoadError> {
    let fail = |message: String| LoadError::set(key, message);
    let value = &*quoted_fraction(value);
    if !is_one_value(value) {
        return Err(fail(format!("`{value}` is not a value: write RON, with quotes around text")));
    }
    let root = Value::of_file(text).ok_or_else(|| fail("the scene file cannot be read".to_owned()))?;
    let names: Vec<&str> = key.split('.').collect();
    let mut at = &root;
    for (depth, name) in names.iter().enumerate() {
        match at.child(step(at, name)) {
            Some(inner) => at = inner,
            None => return add(text, at, &names[depth..], value, depth == 0).map_err(fail),
        }
    }
    Ok(splice(text, at.span.start, at.span.end, value))
}

fn quoted_fraction(value: &str) -> Cow<'_, str> {
    let is_whole = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match value.trim().split_once('/') {
        Some((above, below)) if is_whole(above) && is_whole(below) => format!("\"{}\"", value.trim()).into(),
        _ => value.into(),
    }
}

fn is_one_value(value: &str) -> bool {
    Value::of_file(value).is_some_and(|v| !value[v.span.clone()].starts_with("#!"))
}

fn step<'a>(at: &Value, name: &'a str) -> Step<'a> {
    match (&at.items, name.parse()) {
        (Items::Plain(_), Ok(index)) => Step::Index(index),
        _ => Step::Key(name),
    }
}

/// Adds the missing end of a path to the struct that lacks it.
fn add(text: &str, at: &Value, missing: &[&str], value: &str, top: bool) -> Result<String, String> {
    let name = missing[0];
    let unknown = || {
        let keys = at.keys();
        format!("there is no `{name}` in the scene file: {}", suggest::hint(name, keys, "names there"))
    };
    if let Items::Plain(list) = &at.items
        && list.len() != 1
    {
        return Err(format!("there is no element `{name}`: the list has {}", list.len()));
    }
    let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let nests = missing.len() == 1 || (top && missing.len() == 2 && name == "render");
    let open = innermost_struct(text, at).filter(|_| nests && identifier).ok_or_else(unknown)?;
    let field = match missing {
        [_, inner] => format!("{name}: ({inner}: {value}), "),
        _ => format!("{name}: {value}, "),
    };
    Ok(splice(text, open, open, &field))
}

/// Byte after the `(` of the struct to which a new field of `at` belongs.
fn innermost_struct(text: &str, at: &Value) -> Option<usize> {
    if let Items::Plain(list) = &at.items {
        return innermost_struct(text, list.first()?);
    }
    let own = &text[at.span.clone()];
    let head = own.find(['(', '{', '[', '"', '\''])?;
    own[head..].starts_with('(').then_some(at.span.start + head + 1)
}

fn splice(text: &str, start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, key: &str, value: &str) -> String {
        apply(text, key, value).unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn values_are_replaced_where_they_stand() {
        let text =
            "(render: (samples: 8), materials: {\"a\": Diffuse(color: (1, 1, 1))}, instances: [X(n: 1), Y(n: 2)])";
        assert!(set(text, "render.samples", "64").contains("samples: 64)"));
        assert!(set(text, "materials.a.color", "\"#ffffff\"").contains("color: \"#ffffff\")"));
        assert!(set(text, "instances.1.n", "7").contains("Y(n: 7)"));
    }

    #[test]
    fn fields_that_the_file_leaves_out_are_added() {
        assert_eq!(set("(a: X(b: 1))", "a.c", "2"), "(a: X(c: 2, b: 1))");
        assert_eq!(set("(a: 1)", "render.samples", "2"), "(render: (samples: 2), a: 1)");
        assert_eq!(set("(a: X())", "a.c", "2"), "(a: X(c: 2, ))");
        assert_eq!(set("(a: X(b: 1))", "a.b", "24000/1001"), "(a: X(b: \"24000/1001\"))");
    }

    #[test]
    fn what_cannot_be_placed_says_why() {
        let text = "(materials: {\"stone\": X(a: 1)}, instances: [X(a: 1), X(a: 2)])";
        assert!(set(text, "materials.stune.a", "1").contains("did you mean `stone`?"));
        assert!(set(text, "materials.b", "1").contains("there is no `b`"));
        assert!(set(text, "instances.2.a", "1").contains("the list has 2"));
        assert!(set(text, "instances.0.a", "1, b: 2").contains("is not a value"));
        assert!(set(text, "instances.0.a", "").contains("is not a value"));
        assert!(set(text, "instances.0.a", ")(").contains("is not a value"));
    }
}
