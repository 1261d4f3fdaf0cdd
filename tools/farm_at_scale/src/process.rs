//! A simulated process of a worker. It has a path of its own to the folder, so that the disk knows who asks.

use crate::random::Random;
use std::{
    collections::HashMap,
    fs::File,
    io::{self, ErrorKind},
    panic,
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread,
};

/// The way in which a process ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is killed, and runs no destructor.
    Crash,
    /// It is told to stop.
    Preempted,
}

pub struct Process {
    pub host: usize,
    /// None: it lives on.
    pub fate: Option<Fate>,
    /// Operations on files until its fate comes.
    left: AtomicI64,
    pub dead: AtomicBool,
    pub stop: AtomicBool,
    /// Does nothing while it is set, as a process that is suspended.
    pub hung: AtomicBool,
    random: Mutex<Random>,
    /// Bytes that were written and have not reached the server, by the path of the file.
    pub unsent: Mutex<HashMap<PathBuf, Vec<u8>>>,
    /// Locked files. The server holds locks of a lost machine for a while.
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

    /// Counts half an operation, and ends the thread if the process is dead. Threads that are ending already are told of an error.
    ///
    /// # Errors
    /// If the process is dead and its destructors run, which a dead process does not do.
    pub fn step(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            match self.fate {
                Some(Fate::Crash) => self.dead.store(true, Ordering::Relaxed),
                Some(Fate::Preempted) => self.stop.store(true, Ordering::Relaxed),
                None => {}
            }
        }
        match self.dead.load(Ordering::Relaxed) {
            false => Ok(()),
            true if thread::panicking() => Err(ErrorKind::BrokenPipe.into()),
            true => panic::resume_unwind(Box::new(Crash)),
        }
    }
}

/// The payload of the panic that ends the threads of a dead process.
struct Crash;

/// Panics of threads whose process is dead are not shown. Those of scopes, which tell that one of their threads has panicked, are not either.
pub fn silence_crashes() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        if !text.contains("a scoped thread panicked") {
            usual(info);
        }
    }));
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
