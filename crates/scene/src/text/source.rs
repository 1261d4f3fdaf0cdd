//! A scanner that finds the span of every value in a scene file's text.
//!
//! It is used to determine the line and column of an error, and for `--set`. Values are validated by serde, not here.

use std::{fmt, ops::Range};
use throng_base::guard::guarded;

/// The byte order mark, which some Windows editors write at the start of a text. It is ignored.
pub const BOM: char = '\u{feff}';

/// Maximum depth of nested values. RON itself has a lower limit.
const MAX_DEPTH: usize = 200;

/// A step from a value to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A field of a struct or an entry of a map.
    Key(&'a str),
    /// An element of a list or tuple.
    Index(usize),
}

/// The path to a value, as a linked list on the stack. The innermost step is first.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Option<Step<'a>>,
}

impl<'a> Place<'a> {
    /// The whole file.
    pub const ROOT: Place<'static> = Place { parent: None, step: None };

    /// The field or entry `key` of this value.
    pub fn key(&'a self, key: &'a str) -> Self {
        Self { parent: Some(self), step: Some(Step::Key(key)) }
    }

    /// Element `index` of this value.
    pub fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Some(Step::Index(index)) }
    }

    /// The steps from the root.
    pub fn steps(&self) -> Vec<Step<'a>> {
        let mut steps = self.parent.map_or_else(Vec::new, |p| p.steps());
        steps.extend(self.step);
        steps
    }
}

/// Writes the path from the root, for example `instances.0.material`.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let steps = self.steps().into_iter().map(|step| match step {
            Step::Key(key) => key.to_owned(),
            Step::Index(index) => index.to_string(),
        });
        f.write_str(&steps.collect::<Vec<_>>().join("."))
    }
}

/// The span of a value, and the values in it.
#[derive(Debug)]
pub struct Value {
    /// Byte range of the whole value.
    pub span: Range<usize>,
    pub items: Items,
}

/// The content of a value's brackets.
#[derive(Debug)]
pub enum Items {
    /// Not a container, or `()`.
    None,
    /// Fields of a struct, entries of a map.
    Keyed(Vec<(String, Value)>),
    /// Elements of a list or tuple, or the content of a newtype variant.
    Plain(Vec<Value>),
    /// Elements and fields, which only [`super::keys`] can have.
    Mixed(Vec<Value>, Vec<(String, Value)>),
}

impl Value {
    /// Scans a whole file; `None` if its brackets are not balanced.
    pub fn of_file(text: &str) -> Option<Self> {
        let mut s = Scanner { text, at: if text.starts_with(BOM) { BOM.len_utf8() } else { 0 } };
        s.skip_attributes()?;
        let value = s.value(0)?;
        s.skip_space();
        (s.at == text.len()).then_some(value)
    }

    /// Scans the value that starts at a byte; `None` if its brackets are not balanced.
    pub fn at(text: &str, at: usize) -> Option<Self> {
        text.is_char_boundary(at).then_some(Scanner { text, at })?.value(0)
    }

    /// The value at one step. Enum variants around a struct are skipped.
    pub fn child(&self, step: Step) -> Option<&Self> {
        match (&self.items, step) {
            (Items::Keyed(all), Step::Key(key)) => all.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            (Items::Plain(all), Step::Key(_)) if all.len() == 1 => all[0].child(step),
            (Items::Plain(all), Step::Index(i)) => all.get(i),
            _ => None,
        }
    }

    /// The names that are valid as [`Step::Key`] here.
    pub fn keys(&self) -> Vec<&str> {
        match &self.items {
            Items::Keyed(all) => all.iter().map(|(k, _)| k.as_str()).collect(),
            Items::Plain(all) if all.len() == 1 => all[0].keys(),
            _ => Vec::new(),
        }
    }
}

/// The first byte from `at` that is neither white space nor in a comment.
pub fn skip_space(text: &str, at: usize) -> usize {
    let mut scanner = Scanner { text, at };
    scanner.skip_space();
    scanner.at
}

/// Line and column of the value at `place`, or of the innermost existing value around it.
pub fn position_of(text: &str, place: &Place) -> (usize, usize) {
    let Some(root) = Value::of_file(text) else {
        return (1, 1);
    };
    let mut value = &root;
    for step in place.steps() {
        match value.child(step) {
            Some(inner) => value = inner,
            None => break,
        }
    }
    line_and_column(text, value.span.start)
}

/// Line and column of a byte, both counted from 1; the column in characters.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let before = text.get(line_start..before.len()).map_or(&before[line_start..], |line| {
        line.strip_prefix(BOM).filter(|_| line_start == 0).unwrap_or(line).as_bytes()
    });
    let column = 1 + before.iter().filter(|&&b| b & 0xc0 != 0x80).count();
    (line, column)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || "\u{200e}\u{200f}".contains(c));
            let skipped = rest.len() - trimmed.len();
            let comment = comment_length(trimmed);
            if skipped + comment == 0 {
                return;
            }
            self.at += skipped + comment;
        }
    }

    /// Skips `#![enable(..)]` lines.
    fn skip_attributes(&mut self) -> Option<()> {
        self.skip_space();
        while self.rest().starts_with("#!") {
            self.at += self.rest().find(']')? + 1;
            self.skip_space();
        }
        Some(())
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_space();
        let start = self.at;
        let items = match self.rest().chars().next()? {
            '[' => self.container('[', ']', depth)?,
            '{' => self.container('{', '}', depth)?,
            '(' => self.container('(', ')', depth)?,
            _ => self.named_or_leaf(depth)?,
        };
        Some(Value { span: start..self.at, items })
    }

    /// A string, a number, or an identifier that may be followed by brackets.
    fn named_or_leaf(&mut self, depth: usize) -> Option<Items> {
        self.at += leaf_length(self.rest())?;
        let end = self.at;
        self.skip_space();
        if self.rest().starts_with('(') {
            return self.container('(', ')', depth);
        }
        self.at = end;
        Some(Items::None)
    }

    fn container(&mut self, open: char, close: char, depth: usize) -> Option<Items> {
        self.eat(open);
        let (mut keyed, mut plain) = (Vec::new(), Vec::new());
        loop {
            self.skip_space();
            if self.eat(close) {
                break;
            }
            let first = self.value(depth + 1)?;
            self.skip_space();
            if open != '[' && self.eat(':') {
                keyed.push((self.key_text(&first), self.value(depth + 1)?));
            } else {
                plain.push(first);
            }
            self.skip_space();
            if !self.eat(',') && !self.rest().starts_with(close) {
                return None;
            }
        }
        Some(match (keyed.is_empty(), plain.is_empty()) {
            (false, false) => Items::Mixed(plain, keyed),
            (false, true) => Items::Keyed(keyed),
            (true, false) => Items::Plain(plain),
            (true, true) => Items::None,
        })
    }

    /// A key without its quotes. RON decodes escapes.
    fn key_text(&self, value: &Value) -> String {
        let text = &self.text[value.span.clone()];
        let plain = || text.strip_prefix("r#").unwrap_or(text).to_owned();
        if text.contains('"') {
            let read = guarded(|| ron::from_str(text).ok().ok_or(()), |_| ());
            read.unwrap_or_else(|()| plain())
        } else {
            plain()
        }
    }
}

fn comment_length(s: &str) -> usize {
    if s.starts_with("//") {
        return s.find('\n').unwrap_or(s.len());
    }
    if !s.starts_with("/*") {
        return 0;
    }
    let (mut depth, mut at) = (0usize, 0);
    while at < s.len() {
        match s.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    s.len()
}

fn leaf_length(s: &str) -> Option<usize> {
    let bytes = s.as_bytes();
    let prefix = usize::from(bytes.first() == Some(&b'b'));
    match bytes.get(prefix)? {
        b'"' => Some(prefix + quoted_length(&bytes[prefix..], b'"')?),
        b'\'' => Some(prefix + quoted_length(&bytes[prefix..], b'\'')?),
        b'r' if raw_hashes(&bytes[prefix + 1..]).is_some() => raw_length(s, prefix + 1),
        _ => {
            let end = |c: char| c.is_whitespace() || "()[]{},:\"'/".contains(c);
            s.find(end).or(Some(s.len())).filter(|&n| n > 0)
        }
    }
}

fn quoted_length(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn raw_hashes(bytes: &[u8]) -> Option<usize> {
    let hashes = bytes.iter().take_while(|&&b| b == b'#').count();
    (bytes.get(hashes) == Some(&b'"')).then_some(hashes)
}

fn raw_length(s: &str, hashes_at: usize) -> Option<usize> {
    let hashes = raw_hashes(&s.as_bytes()[hashes_at..])?;
    let open = hashes_at + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(open + s[open..].find(&close)? + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#![enable(implicit_some)]\n// scene\n(\n  render: (size: (960, 540)), /* a /* b */ */\n  \
        environment: SunSky((turbidity: 3)),\n  meshes: { \"a b\": Obj(file: r#\"x\"y\"#), \"é\": Sphere },\n  \
        instances: [ Single(of: \"a\"), Single(of: 'x') ],\n)\n";

    fn at(place: &Place) -> (usize, usize) {
        position_of(TEXT, place)
    }

    #[test]
    fn values_are_found_through_variants_maps_and_comments() {
        let root = Place::ROOT;
        let instances = root.key("instances");
        assert_eq!(at(&root.key("render").key("size").index(1)), (4, 24));
        assert_eq!(at(&root.key("environment").key("turbidity")), (5, 35));
        assert_eq!(at(&root.key("meshes").key("a b").key("file")), (6, 30));
        assert_eq!(at(&instances.index(1).key("of")), (7, 44));
    }

    #[test]
    fn a_missing_value_points_at_what_should_have_it() {
        let root = Place::ROOT;
        assert_eq!(at(&root.key("instances").index(0).key("material").key("x")), (7, 16));
        assert_eq!(position_of("((", &root), (1, 1));
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("é\nüb", 5), (2, 2));
    }
}
