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
    /// Whether it only follows from another one, at what this refers to.
    follows: bool,
}

/// A [`Fault`] at `path`.
pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault {
        path: path.into(),
        message: message.into(),
        follows: false,
    }
}

impl Fault {
    /// This fault is the consequence of one that is known already: a check does not tell it.
    pub fn following(self) -> Self {
        Self {
            follows: true,
            ..self
        }
    }

    /// `path: message`.
    pub fn line(&self) -> String {
        if self.path.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.path, self.message)
        }
    }
}

/// What to do about faults: a load ends at the first one, a check goes on without what is faulty.
pub struct Faults(Option<Mutex<Vec<Fault>>>);

impl Faults {
    pub fn end_the_load() -> Self {
        Self(None)
    }

    pub fn are_collected() -> Self {
        Self(Some(Mutex::default()))
    }

    /// In a check, takes a fault down and returns `None`.
    ///
    /// # Errors
    /// In a load, the fault itself.
    pub fn keep<T>(&self, result: Result<T, Fault>) -> Result<Option<T>, Fault> {
        match (result, &self.0) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(fault), None) => Err(fault),
            (Err(fault), Some(found)) => {
                if let (false, Ok(mut found)) = (fault.follows, found.lock()) {
                    found.push(fault);
                }
                Ok(None)
            }
        }
    }

    /// Those of a check as lines, each once and in order.
    pub fn into_lines(self) -> Vec<String> {
        let found = self.0.and_then(|found| found.into_inner().ok());
        in_order(found.iter().flatten().map(Fault::line).collect(), "errors")
    }
}

/// What was repaired or ignored. Threads add in any order; the result is sorted.
#[derive(Default)]
pub struct Warnings(Mutex<Vec<String>>);

/// A file with a mistake in every node must not fill the screen.
const MOST_LINES: usize = 100;

fn in_order(mut lines: Vec<String>, what: &str) -> Vec<String> {
    lines.sort();
    lines.dedup();
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(format!("and {more} more {what}"));
    }
    lines
}

impl Warnings {
    pub fn add(&self, path: &str, message: impl AsRef<str>) {
        if let Ok(mut lines) = self.0.lock() {
            lines.push(format!("{path}: {}", message.as_ref()));
        }
    }

    pub fn into_lines(self) -> Vec<String> {
        in_order(self.0.into_inner().unwrap_or_default(), "warnings")
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
    fn a_check_collects_faults_but_for_those_that_follow_from_others() {
        let faults = Faults::are_collected();
        assert!(faults.keep(Ok(1)).is_ok_and(|kept| kept == Some(1)));
        for fault in [
            fault("/b", "odd"),
            fault("/a", "odd"),
            fault("/c", "no data").following(),
        ] {
            assert!(
                faults
                    .keep::<()>(Err(fault))
                    .is_ok_and(|kept| kept.is_none())
            );
        }
        assert_eq!(faults.into_lines(), ["/a: odd", "/b: odd"]);
        let load = Faults::end_the_load();
        assert!(load.keep::<()>(Err(fault("/a", "odd"))).is_err());
    }

    #[test]
    fn warnings_come_in_order_once_and_not_in_thousands() {
        let warnings = Warnings::default();
        for i in (0..300).rev() {
            warnings.add(&format!("/nodes/{:03}", i / 2), "odd");
        }
        let lines = warnings.into_lines();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines[1], "/nodes/001: odd");
        assert_eq!(lines[MOST_LINES], "and 50 more warnings");
    }
}
