//! Shared syntax of OBJ and MTL files: numbered lines, and names of materials.

use crate::text;
use std::borrow::Cow;

/// Numbered lines. A line that ends in a backslash continues on the next one, unless it is a comment.
pub struct Lines<'a> {
    rest: &'a [u8],
    next: usize,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: text::without_mark(bytes), next: 1 }
    }

    fn physical(&mut self) -> &'a [u8] {
        let (line, rest) = text::split_line(self.rest);
        self.rest = rest;
        self.next += 1;
        line
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let number = self.next;
        let mut line = String::from_utf8_lossy(self.physical());
        let is_comment = line.trim_start().starts_with('#');
        while line.ends_with('\\') && !is_comment && !self.rest.is_empty() {
            let more = String::from_utf8_lossy(self.physical());
            let joined = line.to_mut();
            joined.pop();
            joined.push(' ');
            joined.push_str(&more);
        }
        Some((number, line))
    }
}

/// The material name after `newmtl` or `usemtl`; never empty.
pub fn material_name(rest: &str) -> &str {
    match rest.trim() {
        "" => "unnamed",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_ends_of_lines_and_backslashes_are_read() {
        let lines: Vec<(usize, Cow<str>)> = Lines::new(b"\xef\xbb\xbfa\rb \\\r\nc\n# d\\\ne").collect();
        let lines: Vec<(usize, &str)> = lines.iter().map(|(line, text)| (*line, text.as_ref())).collect();
        assert_eq!(lines, [(1, "a"), (2, "b  c"), (4, "# d\\"), (5, "e")]);
    }
}
