//! Rules for every run of the program: limits on time and memory, one of four exit codes, and at most one line of errors.

use super::process::{End, Ended};
use std::time::Duration;

/// Resource limits of a run.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// CPU time of all threads. Waiting runs are killed after a multiple of it.
    pub cpu: Duration,
    pub memory: u64,
    /// Whether a run may fail because memory is exhausted, if it reports this.
    pub may_run_out: bool,
}

impl Bounds {
    /// Limits for work of any size.
    pub fn of_any_work() -> Self {
        Self { cpu: Duration::MAX, memory: u64::MAX, may_run_out: true }
    }

    /// Time limit of a run on a busy machine.
    pub fn patience(&self) -> Duration {
        self.cpu * 12
    }

    /// Describes a fault of a finished run, if there is one.
    pub fn fault(&self, ended: &Ended) -> Option<String> {
        bad_end(ended).or_else(|| bad_words(ended)).or_else(|| self.excess(ended))
    }

    fn excess(&self, ended: &Ended) -> Option<String> {
        if ended.cpu > self.cpu {
            return Some(format!("takes more than {} s", self.cpu.as_secs()));
        }
        if ended.peak > self.memory {
            return Some(format!("takes more than {} MiB", self.memory >> 20));
        }
        let ran_out = !self.may_run_out && ended.stderr.contains("out of memory");
        ran_out.then(|| format!("asks for more memory than there is: {}", ended.stderr.trim()))
    }
}

fn bad_end(ended: &Ended) -> Option<String> {
    let last = ended.stderr.lines().last().unwrap_or_default();
    match ended.end {
        End::Stuck => Some("does not end".to_owned()),
        End::Signal(signal) => Some(format!("is ended by signal {signal}: {last}")),
        End::Code(0 | 1 | 2 | 75) => None,
        End::Code(code) => Some(format!("exits with {code}: {last}")),
    }
}

fn bad_words(ended: &Ended) -> Option<String> {
    let lines = || ended.stderr.lines();
    let is_bug = |line: &&str| line.contains("panicked") || line.contains("internal error");
    if let Some(line) = lines().find(is_bug) {
        return Some(line.to_owned());
    }
    let errors = lines().filter(|l| l.starts_with("throng: error: ")).count();
    let is = |name: &str| ended.subcommand == name;
    match ended.end {
        // Tips and the usage text follow the error.
        End::Code(2) if errors == 1 => return None,
        End::Code(1 | 2) if errors == 0 && !is("diff") => {
            return Some("fails without an error".to_owned());
        }
        End::Code(0) if errors > 0 => return Some("succeeds with an error".to_owned()),
        // `check` reports all errors of a file.
        _ if errors > 1 && !is("check") => return Some("tells two errors".to_owned()),
        _ => {}
    }
    let other = lines().find(|line| !line.starts_with("throng: "))?;
    Some(format!("says more than a line: {other}"))
}
