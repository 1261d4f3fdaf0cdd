//! A simulated process of a worker. Each has its own path to the folder, by which the disk identifies it.

use crate::random::Random;
use std::{
    collections::HashMap,
    fs::File,
    io::{self, ErrorKind},
    panic,
    path::PathBuf,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread,
};
use throng_base::sync::lock;

/// How a process ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is killed: no destructor runs.
    Crash,
    /// It receives a request to stop.
    Preempted,
}

pub struct Process {
    pub host: usize,
    /// None if the process is not ended early.
    pub fate: Option<Fate>,
    /// Number of file operations before it ends.
    left: AtomicI64,
    pub dead: AtomicBool,
    pub stop: AtomicBool,
    /// While set, the process is suspended.
    pub hung: AtomicBool,
    random: Mutex<Random>,
    /// Written bytes that have not reached the server, by file path.
    pub unsent: Mutex<HashMap<PathBuf, Vec<u8>>>,
    /// Locked files. The server keeps the locks of a lost machine for a while.
    pub locked: Mutex<HashMap<PathBuf, File>>,
}

impl Process {
    pub fn new(host: usize, fate: Option<(Fate, i64)>, random: Random) -> Self {
        Self {
            host,
            fate: fate.map(|(fate, _)| fate),
            left: AtomicI64::new(fate.map_or(i64::MAX, |(_, operations)| operations)),
            dead: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            hung: AtomicBool::new(false),
            random: Mutex::new(random),
            unsent: Mutex::default(),
            locked: Mutex::default(),
        }
    }

    pub fn random(&self) -> MutexGuard<'_, Random> {
        lock(&self.random)
    }

    /// Counts half an operation. Ends the thread if the process is dead.
    ///
    /// # Errors
    /// If the process is dead and the thread is already unwinding; a real dead process would run no destructors.
    pub fn step(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            match self.fate {
                Some(Fate::Crash) => self.dead.store(true, Ordering::Relaxed),
                Some(Fate::Preempted) => self.stop.store(true, Ordering::Relaxed),
                None => {}
            }
        }
        if !self.dead.load(Ordering::Relaxed) {
            Ok(())
        } else if thread::panicking() {
            Err(ErrorKind::BrokenPipe.into())
        } else {
            panic::resume_unwind(Box::new(Crash))
        }
    }
}

/// The payload of the panic that ends the threads of a dead process.
struct Crash;

/// Hides the panics of dead processes, and those of scopes that report them.
pub fn silence_crashes() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        if !text.contains("a scoped thread panicked") {
            usual(info);
        }
    }));
}
