//! The server of files and its clients, which are slow, fail and lie, as NFS does.

use crate::process::{Process, lock};
use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use throng_base::disk::{Operation, seam::Disk};

/// How much faster than real time claims grow old.
pub const HURRY: u32 = 40;
/// Time for which clients may take a new file for missing, and locks of lost machines are held: 5 and 90 seconds.
const CACHED: Duration = Duration::from_millis(5000 / HURRY as u64);
const LEASE: Duration = Duration::from_millis(90_000 / HURRY as u64);
/// A fault happens once in so many operations of its kind.
const RARE: usize = 400;

/// Names of operations, in the order of their counters.
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
    /// Where processes have their paths to the folder.
    mounts: PathBuf,
    has_locks: bool,
    pub has_faults: AtomicBool,
    processes: RwLock<HashMap<OsString, Arc<Process>>>,
    counts: [AtomicU64; OPERATIONS.len()],
    /// Names in listings.
    pub listed: AtomicU64,
    /// Files that were renamed to their names not long ago, with the host that did it.
    fresh: Mutex<HashMap<OsString, (usize, Instant)>>,
    /// How often each file was renamed to its name.
    pub finished: Mutex<HashMap<OsString, u32>>,
    /// Locks of lost machines, with their ends.
    leases: Mutex<Vec<(Instant, File)>>,
    pub faults: Faults,
}

/// How often the disk misbehaved.
#[derive(Default)]
pub struct Faults {
    pub failed: AtomicU64,
    /// Answers that were lost: the operation was done and seemed to fail.
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
        self.processes.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), process);
    }

    pub fn remove(&self, name: &OsStr) {
        self.processes.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// A machine is lost, with all of its processes. The server notices after a while.
    pub fn lose(&self, host: usize) {
        let end = Instant::now() + LEASE;
        let processes = self.processes.read().unwrap_or_else(PoisonError::into_inner);
        for process in processes.values().filter(|process| process.host == host) {
            let locks = lock(&process.locked).drain().map(|(_, file)| (end, file)).collect::<Vec<_>>();
            lock(&self.leases).extend(locks);
            process.dead.store(true, Ordering::Relaxed);
        }
    }

    /// Ends what is over: leases, and times in which files are taken for missing.
    pub fn tick(&self) {
        let now = Instant::now();
        lock(&self.leases).retain(|(end, _)| *end > now);
        lock(&self.fresh).retain(|_, (_, made)| made.elapsed() < CACHED);
    }

    /// Operations of each kind so far.
    pub fn counts(&self) -> [u64; OPERATIONS.len()] {
        self.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    fn has_faults(&self) -> bool {
        self.has_faults.load(Ordering::Relaxed)
    }

    /// Names of the files that are new.
    pub fn fresh(&self) -> Vec<OsString> {
        lock(&self.fresh).keys().cloned().collect()
    }

    fn process(&self, path: &Path) -> Option<Arc<Process>> {
        let name = path.strip_prefix(&self.mounts).ok()?.iter().next()?;
        self.processes.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
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
        // A tenth of all machines is slow, and everybody has to wait now and then.
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

    /// Whether a client believes that a file is missing that another one has just made.
    fn is_stale(&self, process: &Process, path: &Path) -> bool {
        let fresh = lock(&self.fresh).get(path.file_name().unwrap_or_default()).copied();
        fresh.is_some_and(|(host, made)| host != process.host && made.elapsed() < CACHED) && process.random().once_in(2)
    }

    fn rarely(&self, process: &Process, counter: &AtomicU64) -> bool {
        let happens = self.has_faults() && process.random().once_in(RARE);
        counter.fetch_add(u64::from(happens), Ordering::Relaxed);
        happens
    }

    /// Sends what was written to a file.
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

/// A handle of the server, which the seam keeps.
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
            // A claim, that is; names of temporary files are made up until one is free.
            Operation::Create if is_lost && path.extension().is_some_and(|end| end == "claim") => {
                Err(ErrorKind::AlreadyExists.into())
            }
            Operation::Create if is_lost => Err(ErrorKind::TimedOut.into()),
            _ if is_lost => Err(ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    /// Nothing of what is written reaches the server before it is sent.
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

    /// Some files are missing in a listing, and some are gone.
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

/// Cuts off the end of a file, as a server does that had no power before it had written what it said it had.
pub fn cut(path: &Path, share: f64) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    OpenOptions::new().write(true).open(path)?.set_len((length as f64 * share) as u64)
}
