//! Collects warnings: each line once, and a bounded number of lines.

use std::{cell::RefCell, collections::HashSet};

/// Lines that are kept. Later ones are only counted.
const LIMIT: usize = 100;

/// The warnings of one reading.
#[derive(Default)]
pub struct Warnings {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    lines: Vec<String>,
    seen: HashSet<String>,
    more: u64,
}

impl Warnings {
    /// Adds a line that names the prim, the cause and the consequence.
    pub fn add(&self, line: impl Into<String>) {
        let line = line.into();
        let inner = &mut *self.inner.borrow_mut();
        if inner.seen.contains(&line) {
            return;
        }
        if inner.lines.len() < LIMIT {
            inner.seen.insert(line.clone());
            inner.lines.push(line);
        } else {
            inner.more += 1;
        }
    }

    /// Takes all lines, with a last one that counts those beyond the limit.
    pub fn take(&self) -> Vec<String> {
        let Inner { mut lines, more, .. } = std::mem::take(&mut *self.inner.borrow_mut());
        if more > 0 {
            lines.push(format!("{more} more warnings are not shown"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_once_and_their_number_is_bounded() {
        let warnings = Warnings::default();
        warnings.add("same");
        warnings.add("same");
        (0..1000).for_each(|index| warnings.add(format!("line {index}")));
        let lines = warnings.take();
        assert_eq!(lines.len(), LIMIT + 1);
        assert_eq!(lines.iter().filter(|line| *line == "same").count(), 1);
        assert_eq!(lines.last().map(String::as_str), Some("901 more warnings are not shown"));
    }
}
