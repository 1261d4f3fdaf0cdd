//! Claims: files that mark frames as being rendered, so that runs which share a folder divide the frames among them.
//!
//! The run that first creates `.0001.png.claim` and locks it renders the frame. Creating a file that must not exist is atomic, on NFS as
//! well. The file is locked while its process lives, and is rewritten periodically. Any run may take over a stale claim. A claim is stale
//! in two cases:
//!
//! - It is not locked, and it names this host or none.
//! - It has not been rewritten for a long time, by the clock of the file system, because its machine is gone or its process hangs.
//!
//! On file systems without locks, or with separate locks per host, two runs may take over a claim at the same moment. Both then render the
//! frame, with bit-identical results.

use super::atomic::short;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, Weak,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use throng_base::{
    disk,
    files::{is_at, without_waiting},
    sync::lock,
};

const SUFFIX: &str = ".claim";
/// Interval at which claims are rewritten, and age above which a claim is stale.
const RENEWAL: Duration = Duration::from_secs(30);
const STALE: Duration = Duration::from_secs(300);
/// Number of attempts. Other runs may take over or release a claim while it is checked.
const TRIES: u32 = 5;
/// Maximum number of bytes of a claim that are read. Claims of this program are shorter.
const LONGEST: u64 = 4096;

/// The content of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Owner {
    host: String,
    process: u32,
    /// Seconds since 1970 by the owner's clock; informative only.
    time: u64,
}

impl Owner {
    /// This process, as the owner of the claim at this path.
    fn this_process(claim: &Path) -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        Self { host: disk::host(claim), process: process::id(), time: time.map_or(0, |time| time.as_secs()) }
    }
}

/// The files that this process has claimed. Dropping it releases them.
#[derive(Debug, Default)]
pub struct Claims {
    held: Arc<Held>,
    /// Dropping the sender ends the thread that rewrites claims.
    renewing: Mutex<Option<Sender<()>>>,
}

#[derive(Debug, Default)]
struct Held(Mutex<HashMap<PathBuf, File>>);

impl Held {
    fn renew(&self) {
        for (claim, file) in lock(&self.0).iter() {
            // A claim that cannot be written eventually looks stale to other runs, which is harmless.
            let _ = write_owner(claim, file).and_then(|()| disk::flush(claim, file));
        }
    }
}

impl Claims {
    /// Claims the future file at `path`. Returns false if another process has claimed it.
    ///
    /// # Errors
    /// If the claim cannot be created.
    pub fn take(&self, path: &Path) -> io::Result<bool> {
        let claim = claim_path(path);
        for _ in 0..TRIES {
            match take(&claim)? {
                Taken::Ours(file) => {
                    self.start_renewing(disk::time(&claim, RENEWAL));
                    lock(&self.held.0).insert(claim, file);
                    return Ok(true);
                }
                Taken::Others => return Ok(false),
                Taken::Changed => {}
            }
        }
        Ok(false)
    }

    /// Releases the claim on a file that is written, or that will not be written.
    pub fn release(&self, path: &Path) {
        let claim = claim_path(path);
        if let Some(file) = lock(&self.held.0).remove(&claim) {
            remove(&claim, file);
        }
    }

    fn start_renewing(&self, interval: Duration) {
        let mut renewing = lock(&self.renewing);
        if renewing.is_some() {
            return;
        }
        let (end, ended) = channel();
        let held = Arc::downgrade(&self.held);
        let renew = move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                Weak::upgrade(&held).iter().for_each(|held| held.renew());
            }
        };
        // Without this thread, claims of slow frames look stale to other machines.
        let _ = thread::Builder::new().name("claims".into()).spawn(renew);
        *renewing = Some(end);
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        for (claim, file) in lock(&self.held.0).drain() {
            remove(&claim, file);
        }
    }
}

/// Removes the claim that a killed process left for an existing file.
pub fn remove_stale_claim(path: &Path) {
    let claim = claim_path(path);
    if disk::metadata(&claim).is_ok()
        && let Ok(Taken::Ours(file)) = take(&claim)
    {
        remove(&claim, file);
    }
}

/// Removes a claim, unless another run has taken it over. The lock is released only after the removal, so that no process can take over a
/// removed file.
fn remove(claim: &Path, file: File) {
    if is_at(&file, claim) {
        // A claim that cannot be removed becomes stale.
        let _ = disk::remove(claim);
    }
    drop(file);
}

/// Path of the claim for a file: `.0001.png.claim` for `0001.png`. Long names are shortened.
fn claim_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(short(path.file_name().unwrap_or_default()));
    name.push(SUFFIX);
    path.with_file_name(name)
}

enum Taken {
    Ours(File),
    /// Another process owns the claim.
    Others,
    /// The claim was created or removed during the check.
    Changed,
}

fn take(claim: &Path) -> io::Result<Taken> {
    let new = match disk::create_new(claim) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
        // On Windows, a removed claim has its name until its last owner closes it, and cannot be opened.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && claim.symlink_metadata().is_ok() => {
            return Ok(Taken::Others);
        }
        Err(error) => return Err(error),
    };
    let is_new = new.is_some();
    match take_over(claim, new) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::StaleNetworkFileHandle) => {
            Ok(Taken::Changed)
        }
        Err(error) => {
            if is_new {
                let _ = disk::remove(claim);
            }
            Err(error)
        }
        taken => taken,
    }
}

/// Locks an existing claim: a stale claim, or the claim that this process just created (`new`). A claim whose process died before writing
/// to it has no owner.
///
/// # Errors
/// If the claim cannot be read or written, or no longer exists.
fn take_over(claim: &Path, new: Option<File>) -> io::Result<Taken> {
    let is_new = new.is_some();
    if let Some(new) = new {
        // NFS shows written data to other clients when the file is closed, which happens here.
        write_owner(claim, &new)?;
    }
    let file = disk::open(without_waiting(OpenOptions::new().read(true).write(true)), claim)?;
    let is_locked = match lock_file(claim, &file) {
        Ok(()) => true,
        // Without locks, the existence of the file has to suffice.
        Err(TryLockError::Error(_)) if is_new => return Ok(Taken::Ours(file)),
        Err(TryLockError::Error(_) | TryLockError::WouldBlock) => false,
    };
    let is_free = is_locked && read_owner(&file).is_none_or(|owner| owner.host == disk::host(claim));
    if !is_free && age(claim, &file)? < disk::time(claim, STALE) {
        return Ok(Taken::Others);
    }
    // The last owner may have removed the claim since it was opened here, or another run may have taken it over.
    if !is_at(&file, claim) {
        return Ok(Taken::Changed);
    }
    if !is_locked {
        // If several runs remove the claim, one of them creates the new one.
        disk::remove(claim)?;
        return Ok(Taken::Changed);
    }
    write_owner(claim, &file)?;
    Ok(Taken::Ours(file))
}

/// Locks a claim. A process that checks a claim locks it for a moment, so one attempt is not enough.
fn lock_file(claim: &Path, file: &File) -> Result<(), TryLockError> {
    for _ in 0..TRIES {
        match disk::lock(claim, file) {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            other => return other,
        }
    }
    Err(TryLockError::WouldBlock)
}

fn read_owner(mut file: &File) -> Option<Owner> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn write_owner(claim: &Path, mut file: &File) -> io::Result<()> {
    let text = serde_json::to_vec(&Owner::this_process(claim))?;
    file.rewind()?;
    file.write_all(&text)?;
    file.set_len(text.len() as u64)
}

/// Time since a claim was last written, by the clock of its file system. The clock is read from a new file.
fn age(claim: &Path, file: &File) -> io::Result<Duration> {
    let folder = claim.parent().filter(|folder| *folder != Path::new(""));
    let now = disk::create_unnamed(folder.unwrap_or(Path::new(".")))?;
    now.metadata()?
        .modified()?
        .duration_since(file.metadata()?.modified()?)
        // The claim was written after the new file.
        .or(Ok(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn host() -> String {
        disk::host(Path::new(""))
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_claimed_once_until_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0001.png");
        let (first, second) = (Claims::default(), Claims::default());
        assert!(first.take(&path).unwrap());
        assert!(!second.take(&path).unwrap());
        let text = fs::read(dir.path().join(".0001.png.claim")).unwrap();
        let owner: Owner = serde_json::from_slice(&text).unwrap();
        assert_eq!((owner.host, owner.process), (host(), process::id()));
        first.release(&path);
        assert_eq!(names(dir.path()), 0);
        assert!(second.take(&path).unwrap());
        drop(second);
        assert_eq!(names(dir.path()), 0);
    }

    /// Creates a claim that no process owns.
    fn left_behind(path: &Path, host: String, age: Duration) {
        let claim = claim_path(path);
        let owner = Owner { host, ..Owner::this_process(&claim) };
        fs::write(&claim, serde_json::to_vec(&owner).unwrap()).unwrap();
        let file = File::options().write(true).open(&claim).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn claims_of_dead_processes_are_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0001.png");
        for (host, age, free) in [
            (host(), Duration::ZERO, true),
            ("another".to_owned(), STALE / 2, false),
            ("another".to_owned(), STALE * 2, true),
        ] {
            left_behind(&path, host, age);
            assert_eq!(Claims::default().take(&path).unwrap(), free, "{age:?}");
        }
        // The process died before it wrote anything.
        fs::write(claim_path(&path), "").unwrap();
        assert!(Claims::default().take(&path).unwrap());
        left_behind(&path, host(), Duration::ZERO);
        remove_stale_claim(&path);
        assert_eq!(names(dir.path()), 0);
    }

    #[test]
    fn what_a_hung_process_has_claimed_is_taken_over_and_left_alone_when_it_wakes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0001.png");
        let [hung, second, third] = [(); 3].map(|()| Claims::default());
        assert!(hung.take(&path).unwrap());
        let claim = File::options().write(true).open(claim_path(&path)).unwrap();
        claim.set_modified(SystemTime::now() - STALE).unwrap();
        assert!(second.take(&path).unwrap());
        hung.release(&path);
        assert!(!third.take(&path).unwrap());
        drop(second);
        assert_eq!(names(dir.path()), 0);
    }

    #[test]
    fn many_who_want_a_stale_claim_divide_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..50).map(|i| dir.path().join(i.to_string())).collect();
        for path in &paths {
            left_behind(path, host(), Duration::ZERO);
        }
        let claims: Vec<Claims> = (0..8).map(|_| Claims::default()).collect();
        let taken: usize = thread::scope(|scope| {
            let takers = claims
                .iter()
                .map(|claims| scope.spawn(|| paths.iter().filter(|path| claims.take(path).unwrap()).count()));
            let takers: Vec<_> = takers.collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        assert_eq!(taken, paths.len());
    }
}
