//! The syntax that OBJ and MTL files share: numbered lines, and names of materials.

use std::borrow::Cow;

/// Numbered lines; one that ends in a backslash goes on in the next.
pub struct Lines<'a> {
    rest: &'a [u8],
    next: usize,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, next: 1 }
    }

    fn physical(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or(&[]);
        self.next += 1;
        line.strip_suffix(b"\r").unwrap_or(line)
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
        while line.ends_with('\\') && !self.rest.is_empty() {
            let more = String::from_utf8_lossy(self.physical());
            let joined = line.to_mut();
            joined.pop();
            joined.push(' ');
            joined.push_str(&more);
        }
        Some((number, line))
    }
}

/// The material name in what follows `newmtl` or `usemtl`; never empty.
pub fn material_name(rest: &str) -> &str {
    match rest.trim() {
        "" => "unnamed",
        name => name,
    }
}
