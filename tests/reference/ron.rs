//! A RON reader that keeps names and positions, to extract excerpts from examples and to validate scenes against the schema. It accepts
//! more than throng does.

use std::ops::Range;

/// A value of a scene file.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Range<usize>,
    /// The word before the brackets, or the word alone.
    pub name: Option<String>,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub enum Content {
    /// Only a name.
    Word,
    Number(f64),
    Text(String),
    /// `(a, b)` or `[a, b]`, and the fields after a list, as in `keys([..], ends: loop)`.
    Items(Vec<Node>, Vec<(String, Node)>),
    /// `(a: 1)`.
    Fields(Vec<(String, Node)>),
    /// `{ "a": 1 }`.
    Map(Vec<(String, Node)>),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

pub fn read(text: &str) -> Node {
    Reader { text, at: 0 }.value()
}

impl Node {
    pub fn entries(&self) -> &[(String, Self)] {
        match &self.content {
            Content::Fields(entries) | Content::Map(entries) | Content::Items(_, entries) => entries,
            _ => &[],
        }
    }

    /// The span of the first nested value that has `name` before its brackets or is the field `name`.
    pub fn find(&self, name: &str) -> Option<Range<usize>> {
        if self.name.as_deref() == Some(name) {
            return Some(self.span.clone());
        }
        if let Content::Items(items, _) = &self.content
            && let Some(found) = items.iter().find_map(|item| item.find(name))
        {
            return Some(found);
        }
        let fields = matches!(self.content, Content::Fields(_));
        self.entries().iter().find_map(|(key, value)| {
            if fields && key == name { Some(value.span.start..value.span.end) } else { value.find(name) }
        })
    }
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len())
            } else {
                return;
            }
        }
    }

    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len_utf8() } else { 0 };
        found
    }

    fn word(&mut self) -> String {
        let is_end = |c: char| !(c.is_alphanumeric() || "_.+-".contains(c));
        let word = self.rest()[..self.rest().find(is_end).unwrap_or(self.rest().len())].to_owned();
        self.at += word.len();
        word
    }

    fn text(&mut self) -> Option<String> {
        if !self.take('"') {
            return None;
        }
        let end = self.rest().find('"').expect("a quote that closes the text");
        let text = self.rest()[..end].to_owned();
        self.at += end + 1;
        Some(text)
    }

    fn value(&mut self) -> Node {
        self.skip_space();
        let start = self.at;
        let (mut name, content) = (None, self.text().map(Content::Text));
        let content = content.unwrap_or_else(|| {
            let word = self.word();
            match word.parse() {
                Ok(number) if !word.is_empty() => Content::Number(number),
                _ => {
                    name = Some(word).filter(|word| !word.is_empty());
                    self.brackets(name.is_some())
                }
            }
        });
        Node { span: start..self.at, name, content }
    }

    fn brackets(&mut self, named: bool) -> Content {
        if self.take('(') {
            let (items, fields) = self.inside(')');
            return if items.is_empty() { Content::Fields(fields) } else { Content::Items(items, fields) };
        }
        if named {
            return Content::Word;
        }
        if self.take('[') {
            let (items, fields) = self.inside(']');
            return Content::Items(items, fields);
        }
        assert!(self.take('{'), "a value was expected at: {}", self.rest().chars().take(40).collect::<String>());
        Content::Map(self.inside('}').1)
    }

    fn inside(&mut self, close: char) -> (Vec<Node>, Vec<(String, Node)>) {
        let (mut items, mut fields) = (Vec::new(), Vec::new());
        while !self.take(close) {
            match self.key() {
                Some(key) => fields.push((key, self.value())),
                None => items.push(self.value()),
            }
            self.take(',');
        }
        (items, fields)
    }

    /// Reads a key with its colon, if there is one.
    fn key(&mut self) -> Option<String> {
        self.skip_space();
        let start = self.at;
        let key = match self.text() {
            Some(text) => text,
            None => self.word(),
        };
        if !key.is_empty() && self.take(':') {
            return Some(key);
        }
        self.at = start;
        None
    }
}
