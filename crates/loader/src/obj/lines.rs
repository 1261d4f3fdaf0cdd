//! Shared syntax of OBJ and MTL files: numbered lines, and names of materials.

use crate::{pieces::Pieces, text};
use std::io::{self, Read};

/// Numbered lines. A line that ends in a backslash continues on the next one, unless it is a comment.
pub struct Lines<R> {
    file: Pieces<R>,
    next: usize,
    line: String,
}

impl<R: Read> Lines<R> {
    pub fn new(file: Pieces<R>) -> Self {
        Self { file, next: 1, line: String::new() }
    }

    /// The next line with its number; None at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self) -> io::Result<Option<(usize, &str)>> {
        let begin = self.file.ready(4)?;
        if begin.is_empty() {
            return Ok(None);
        }
        let number = self.next;
        if number == 1 {
            let mark = text::mark(begin);
            self.file.advance(mark);
        }
        self.line.clear();
        self.add()?;
        let is_comment = self.line.trim_start().starts_with('#');
        while self.line.ends_with('\\') && !is_comment && !self.file.ready(1)?.is_empty() {
            self.line.pop();
            self.line.push(' ');
            self.add()?;
        }
        Ok(Some((number, &self.line)))
    }

    fn add(&mut self) -> io::Result<()> {
        self.line.push_str(&String::from_utf8_lossy(self.file.line()?));
        self.next += 1;
        Ok(())
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
        let mut lines = Lines::new(Pieces::of(b"\xef\xbb\xbfa\rb \\\r\nc\n# d\\\ne"));
        for expected in [(1, "a"), (2, "b  c"), (4, "# d\\"), (5, "e")] {
            assert_eq!(lines.next().ok().flatten(), Some(expected));
        }
        assert!(lines.next().is_ok_and(|end| end.is_none()));
    }
}
