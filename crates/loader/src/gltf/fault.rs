//! Errors and warnings about a file: each has a JSON pointer and one sentence.

use crate::budget::Budget;
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

/// Reason why the file, or the part of it at `path`, cannot be loaded.
#[derive(Clone, Debug)]
pub struct Fault {
    /// A JSON pointer such as `/meshes/0/primitives/2`; empty for the file as a whole.
    pub path: String,
    pub message: String,
    /// Whether this is only the consequence of another fault, in a part to which this one refers.
    follows: bool,
}

/// A [`Fault`] at `path`.
pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault { path: path.into(), message: message.into(), follows: false }
}

impl Fault {
    /// Marks this fault as the consequence of a reported one, so that a check does not report it.
    pub fn following(self) -> Self {
        Self { follows: true, ..self }
    }

    /// Formats the fault as `path: message`.
    pub fn line(&self) -> String {
        if self.path.is_empty() { self.message.clone() } else { format!("{}: {}", self.path, self.message) }
    }
}

/// Handling of faults: a load ends at the first one, a check continues without the faulty part.
pub struct Faults<'a>(Option<Found<'a>>);

/// The faults of a check.
struct Found<'a> {
    faults: Mutex<Vec<Fault>>,
    /// If this is exceeded, the check also ends, since nothing else would fit.
    budget: &'a Budget,
    ended: AtomicBool,
}

impl<'a> Faults<'a> {
    pub fn end_the_load() -> Self {
        Self(None)
    }

    pub fn are_collected(budget: &'a Budget) -> Self {
        Self(Some(Found { faults: Mutex::default(), budget, ended: AtomicBool::new(false) }))
    }

    /// In a check, records a fault and returns `None`.
    ///
    /// # Errors
    /// In a load, the fault itself. In a check, only a fault that ends it.
    pub fn keep<T>(&self, result: Result<T, Fault>) -> Result<Option<T>, Fault> {
        match (result, &self.0) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(fault), None) => Err(fault),
            (Err(fault), Some(found)) => found.take(fault).map(|()| None),
        }
    }

    /// The faults of a check as lines, in order and without repetitions.
    pub fn into_lines(self) -> Vec<String> {
        let found = self.0.and_then(|found| found.faults.into_inner().ok());
        in_order(found.iter().flatten().map(Fault::line).collect(), "errors")
    }
}

impl Found<'_> {
    fn take(&self, fault: Fault) -> Result<(), Fault> {
        let ends = self.budget.is_exceeded();
        let is_known = fault.follows || (ends && self.ended.swap(true, Ordering::Relaxed));
        if let (false, Ok(mut faults)) = (is_known, self.faults.lock()) {
            faults.push(fault);
        }
        if ends { Err(self::fault("", "the check has ended").following()) } else { Ok(()) }
    }
}

/// Warnings about replaced or omitted data. Threads may add them in any order; the result is sorted.
#[derive(Default)]
pub struct Warnings(Mutex<Vec<String>>);

/// Maximum number of lines of errors or warnings, so that a file with a fault in every node does not fill the screen.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_collects_faults_but_for_those_that_follow_from_others() {
        let budget = Budget::new(None);
        let faults = Faults::are_collected(&budget);
        assert!(faults.keep(Ok(1)).is_ok_and(|kept| kept == Some(1)));
        for fault in [fault("/b", "odd"), fault("/a", "odd"), fault("/c", "no data").following()] {
            assert!(faults.keep::<()>(Err(fault)).is_ok_and(|kept| kept.is_none()));
        }
        assert_eq!(faults.into_lines(), ["/a: odd", "/b: odd"]);
        let load = Faults::end_the_load();
        assert!(load.keep::<()>(Err(fault("/a", "odd"))).is_err());
    }

    #[test]
    fn a_check_ends_where_the_budget_does() {
        let budget = Budget::new(Some(10));
        let faults = Faults::are_collected(&budget);
        assert!(faults.keep::<()>(Err(fault("/a", "odd"))).is_ok());
        for path in ["/b", "/c"] {
            let lack = budget.take(20).err().unwrap_or_default();
            assert!(faults.keep::<()>(Err(fault(path, lack))).is_err());
        }
        let lines = faults.into_lines();
        assert_eq!((lines.len(), &lines[1][..8]), (2, "/b: need"));
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
