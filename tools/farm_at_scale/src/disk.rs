//! The simulated file server and its clients. Like NFS, they are slow, fail, and report outdated results.

use crate::process::Process;
use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use throng_base::{
    disk::{Operation, seam::Disk},
    sync::{lock, unpoisoned},
};

/// Speed-up of the time in which claims expire.
pub const HURRY: u32 = 40;
/// Time for which clients may report a new file as missing (5 s), and for which the server keeps the locks of lost machines (90 s).
const CACHED: Duration = Duration::from_millis(5000 / HURRY as u64);
const LEASE: Duration = Duration::from_millis(90_000 / HURRY as u64);
/// One in this number of operations fails, per kind of fault.
const RARE: usize = 400;

/// Operations and their names, in the order of their counters.
pub const OPERATIONS: [(Operation, &str); 8] = [
    (Operation::Look, "look"),
    (Operation::Create, "create"),
    (Operation::Open, "open"),
    (Operation::Lock, "lock"),
    (Operation::Flush, "flush"),
    (Operation::Rename, "rename"),
    (Operation::Remove, "remove"),
    (Operation::List, "list"),
];

pub struct Server {
    /// Folder with a separate path to the shared folder for each process.
    mounts: PathBuf,
    has_locks: bool,
    pub has_faults: AtomicBool,
    processes: RwLock<HashMap<OsString, Arc<Process>>>,
    counts: [AtomicU64; OPERATIONS.len()],
    /// Number of names returned by listings.
    pub listed: AtomicU64,
    /// Files that were recently renamed to their final names, with the host that renamed them.
    fresh: Mutex<HashMap<OsString, (usize, Instant)>>,
    /// How often each file was renamed to its final name.
    pub finished: Mutex<HashMap<OsString, u32>>,
    /// Locks of lost machines, with the times at which they expire.
    leases: Mutex<Vec<(Instant, File)>>,
    pub faults: Faults,
}

/// Numbers of injected faults.
#[derive(Default)]
pub struct Faults {
    pub failed: AtomicU64,
    /// Lost answers: the operation succeeded but reported an error.
    pub lost_answers: AtomicU64,
    pub stale_looks: AtomicU64,
    pub full: AtomicU64,
}

impl Server {
    pub fn new(mounts: PathBuf, has_locks: bool, has_faults: bool) -> Self {
        Self {
            mounts,
            has_locks,
            has_faults: AtomicBool::new(has_faults),
            processes: RwLock::default(),
            counts: Default::default(),
            listed: AtomicU64::new(0),
            fresh: Mutex::default(),
            finished: Mutex::default(),
            leases: Mutex::default(),
            faults: Faults::default(),
        }
    }

    pub fn add(&self, name: &OsStr, process: Arc<Process>) {
        unpoisoned(self.processes.write()).insert(name.to_owned(), process);
    }

    pub fn remove(&self, name: &OsStr) {
        unpoisoned(self.processes.write()).remove(name);
    }

    /// Loses a machine with all of its processes. The server keeps their locks for a while.
    pub fn lose(&self, host: usize) {
        let end = Instant::now() + LEASE;
        let processes = unpoisoned(self.processes.read());
        for process in processes.values().filter(|process| process.host == host) {
            let locks = lock(&process.locked).drain().map(|(_, file)| (end, file)).collect::<Vec<_>>();
            lock(&self.leases).extend(locks);
            process.dead.store(true, Ordering::Relaxed);
        }
    }

    /// Expires leases and recent renames.
    pub fn tick(&self) {
        let now = Instant::now();
        lock(&self.leases).retain(|(end, _)| *end > now);
        lock(&self.fresh).retain(|_, (_, made)| made.elapsed() < CACHED);
    }

    /// Number of operations of each kind so far.
    pub fn counts(&self) -> [u64; OPERATIONS.len()] {
        self.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    fn has_faults(&self) -> bool {
        self.has_faults.load(Ordering::Relaxed)
    }

    /// Names of recently finished files.
    pub fn fresh(&self) -> Vec<OsString> {
        lock(&self.fresh).keys().cloned().collect()
    }

    fn process(&self, path: &Path) -> Option<Arc<Process>> {
        let name = path.strip_prefix(&self.mounts).ok()?.iter().next()?;
        unpoisoned(self.processes.read()).get(name).cloned()
    }

    fn count(&self, operation: Operation) {
        for ((of, _), count) in OPERATIONS.iter().zip(&self.counts) {
            count.fetch_add(u64::from(*of == operation), Ordering::Relaxed);
        }
    }

    fn wait(&self, process: &Process) {
        if !self.has_faults() {
            return;
        }
        // A tenth of all machines is slow, and one in a thousand operations takes 20 ms.
        let micros = {
            let mut random = process.random();
            match random.below(1000) {
                0 => 20_000,
                _ if process.host.is_multiple_of(10) => random.next() % 2000,
                _ => 0,
            }
        };
        if micros > 0 {
            thread::sleep(Duration::from_micros(micros));
        }
    }

    /// Whether a client's cache reports a file as missing that another client has just created.
    fn is_stale(&self, process: &Process, path: &Path) -> bool {
        let fresh = lock(&self.fresh).get(path.file_name().unwrap_or_default()).copied();
        fresh.is_some_and(|(host, made)| host != process.host && made.elapsed() < CACHED) && process.random().once_in(2)
    }

    fn rarely(&self, process: &Process, counter: &AtomicU64) -> bool {
        let happens = self.has_faults() && process.random().once_in(RARE);
        counter.fetch_add(u64::from(happens), Ordering::Relaxed);
        happens
    }

    /// Sends written data to the file.
    fn send(&self, process: &Process, path: &Path) -> io::Result<()> {
        let Some(bytes) = lock(&process.unsent).remove(path) else {
            return Ok(());
        };
        if self.rarely(process, &self.faults.full) {
            return Err(ErrorKind::StorageFull.into());
        }
        OpenOptions::new().append(true).open(path)?.write_all(&bytes)
    }
}

/// A handle of the server, owned by the seam.
pub struct Client(pub Arc<Server>);

impl Disk for Client {
    fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.0.mounts)
    }

    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let server = &self.0;
        let Some(process) = server.process(path) else {
            return Ok(());
        };
        process.step()?;
        server.count(operation);
        server.wait(&process);
        match operation {
            Operation::Look | Operation::Open if server.has_faults() && server.is_stale(&process, path) => {
                server.faults.stale_looks.fetch_add(1, Ordering::Relaxed);
                Err(ErrorKind::NotFound.into())
            }
            Operation::Open | Operation::Create | Operation::Rename
                if server.rarely(&process, &server.faults.failed) =>
            {
                let is_open = operation == Operation::Open;
                Err(if is_open { ErrorKind::StaleNetworkFileHandle } else { ErrorKind::TimedOut }.into())
            }
            Operation::Flush => server.send(&process, path),
            Operation::Remove => {
                lock(&process.locked).remove(path);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn after(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let server = &self.0;
        let Some(process) = server.process(path) else {
            return Ok(());
        };
        if operation == Operation::Rename
            && let Some(name) = path.file_name()
        {
            lock(&server.fresh).insert(name.to_owned(), (process.host, Instant::now()));
            *lock(&server.finished).entry(name.to_owned()).or_default() += 1;
        }
        process.step()?;
        let is_lost = matches!(operation, Operation::Rename | Operation::Create | Operation::Remove)
            && server.rarely(&process, &server.faults.lost_answers);
        match operation {
            // Only claims: names of temporary files are retried until one is free.
            Operation::Create if is_lost && path.extension().is_some_and(|end| end == "claim") => {
                Err(ErrorKind::AlreadyExists.into())
            }
            Operation::Create if is_lost => Err(ErrorKind::TimedOut.into()),
            _ if is_lost => Err(ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    /// Buffers the data. They reach the server when they are sent.
    fn write(&self, path: &Path, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let Some(process) = self.0.process(path) else {
            let mut file = file;
            return file.write(bytes);
        };
        process.step()?;
        lock(&process.unsent).entry(path.to_owned()).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn lock(&self, path: &Path, file: &File) -> Result<(), TryLockError> {
        let server = &self.0;
        if !server.has_locks {
            return Err(TryLockError::Error(ErrorKind::Unsupported.into()));
        }
        file.try_lock()?;
        if let (Some(process), Ok(copy)) = (server.process(path), file.try_clone()) {
            lock(&process.locked).insert(path.to_owned(), copy);
        }
        Ok(())
    }

    /// Listings lack some files and contain one that no longer exists.
    fn list(&self, folder: &Path, names: &mut Vec<OsString>) {
        self.0.listed.fetch_add(names.len() as u64, Ordering::Relaxed);
        if let Some(process) = self.0.process(folder).filter(|_| self.0.has_faults()) {
            let mut random = process.random();
            names.retain(|_| !random.once_in(10));
            names.push(".000001.png.gone00.part".into());
        }
    }

    fn host(&self, path: &Path) -> String {
        let Some(process) = self.0.process(path) else {
            return "gone".into();
        };
        while process.hung.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        format!("host{}", process.host)
    }

    fn hurry(&self, time: Duration) -> Duration {
        time / HURRY
    }
}

/// Truncates a file, like a server that lost power before it had written the data that it acknowledged.
pub fn cut(path: &Path, share: f64) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    OpenOptions::new().write(true).open(path)?.set_len((length as f64 * share) as u64)
}
