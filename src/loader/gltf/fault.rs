//! What is wrong and where: a JSON pointer into the file and one sentence. And the memory that one load may take.

use super::super::files;
use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

/// A reason why the file cannot be loaded.
#[derive(Debug)]
pub struct Fault {
    /// A JSON pointer such as `/meshes/0/primitives/2`, or empty for the file as a whole.
    pub path: String,
    pub message: String,
}

/// A [`Fault`] at `path`.
pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault {
        path: path.into(),
        message: message.into(),
    }
}

impl Fault {
    /// `path: message`.
    pub fn line(&self) -> String {
        if self.path.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.path, self.message)
        }
    }
}

/// What was repaired or ignored. Threads add in any order; the result is sorted.
#[derive(Default)]
pub struct Warnings(Mutex<Vec<String>>);

/// A file with a mistake in every node must not fill the screen.
const MOST_WARNINGS: usize = 100;

impl Warnings {
    pub fn add(&self, path: &str, message: impl AsRef<str>) {
        if let Ok(mut lines) = self.0.lock() {
            lines.push(format!("{path}: {}", message.as_ref()));
        }
    }

    pub fn into_lines(self) -> Vec<String> {
        let mut lines = self.0.into_inner().unwrap_or_default();
        lines.sort();
        lines.dedup();
        let more = lines.len().saturating_sub(MOST_WARNINGS);
        if more > 0 {
            lines.truncate(MOST_WARNINGS);
            lines.push(format!("and {more} more warnings"));
        }
        lines
    }
}

/// How much memory a load may take in all. Everything whose size the file decides is taken from it before it is
/// allocated, so that a giant `count` is refused however small the file.
pub struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl Budget {
    /// `limit` in bytes, or what the system has left.
    pub fn new(limit: Option<u64>) -> Self {
        let limit = limit.or_else(files::available_memory).unwrap_or(u64::MAX);
        Self {
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// # Errors
    /// The end of a sentence about the thing: "needs 5.0 GiB of memory, but only ...".
    pub fn take(&self, bytes: u64) -> Result<(), String> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        let left = self.limit.saturating_sub(before);
        if bytes <= left {
            return Ok(());
        }
        self.give_back(bytes);
        Err(format!(
            "needs {} of memory, but only {} are left",
            files::size(bytes),
            files::size(left)
        ))
    }

    /// As [`Budget::take`], for `count` values of `size` bytes.
    pub fn take_array(&self, count: usize, size: usize) -> Result<(), String> {
        self.take((count as u64).saturating_mul(size as u64))
    }

    /// Bytes that can still be taken.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// For what was freed again.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_refuses_what_exceeds_it_and_goes_on() {
        let budget = Budget::new(Some(100));
        assert_eq!(budget.take(60), Ok(()));
        assert!(budget.take(60).is_err());
        assert!(budget.take_array(usize::MAX, 16).is_err());
        assert_eq!(budget.take(40), Ok(()));
        budget.give_back(40);
        assert_eq!(budget.take_array(10, 4), Ok(()));
    }

    #[test]
    fn warnings_come_in_order_once_and_not_in_thousands() {
        let warnings = Warnings::default();
        for i in (0..300).rev() {
            warnings.add(&format!("/nodes/{:03}", i / 2), "odd");
        }
        let lines = warnings.into_lines();
        assert_eq!(lines.len(), MOST_WARNINGS + 1);
        assert_eq!(lines[1], "/nodes/001: odd");
        assert_eq!(lines[MOST_WARNINGS], "and 50 more warnings");
    }
}
