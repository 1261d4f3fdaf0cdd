//! Watches the files of a scene on a separate thread, and loads the scene again when they change. The thread also loads scenes with unsaved
//! changes or other animations, and checks texts before they are saved.

use super::{
    link::Bell,
    scenes::{Changed, Prepared, Source},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs, io,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic::Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};
use throng_accel::NodeLayout;
use throng_base::sync::{lock, unpoisoned};
use throng_settings::Error;

/// Interval at which the files are checked.
const INTERVAL: Duration = Duration::from_millis(100);

/// The watching thread, and its orders.
pub struct Watch {
    shared: Arc<Shared>,
}

/// A result of the thread.
pub enum Done {
    /// The loaded scene of the file, or the error.
    File(Result<Prepared, Error>),
    /// The loaded scene of this viewer, or the error.
    Own(u64, Result<Prepared, Error>),
    /// The result of checking a text before it is saved.
    Checked(Result<(), Error>),
}

struct Shared {
    source: Source,
    orders: Mutex<Orders>,
    told: Condvar,
    bell: Arc<Bell>,
    layout: NodeLayout,
}

#[derive(Default)]
struct Orders {
    /// Whether to load the file even if it has not changed.
    now: bool,
    /// Texts to be checked, with the path of the file.
    checks: VecDeque<(PathBuf, String)>,
    /// Scenes to be loaded for viewers; only the latest of each viewer.
    own: BTreeMap<u64, Changed>,
    /// The viewer whose scene was loaded last; the others come first.
    last: u64,
    /// Viewers whose own scenes are no longer shown.
    gone: Vec<u64>,
    /// Whether any viewer is connected.
    is_seen: bool,
    done: Vec<Done>,
    ended: bool,
}

/// The next work of the thread.
enum WatchTask {
    File,
    Check(PathBuf, String),
    Own(u64, Changed),
    Look,
}

/// Modification time and size of a file; None if it does not exist.
type Stamp = Option<(Option<SystemTime>, u64)>;

/// The files of which scenes consist.
struct Files {
    stamps: BTreeMap<PathBuf, Stamp>,
    /// The files of the file's scene (`None`), and of each viewer's own scene.
    of: BTreeMap<Option<u64>, BTreeSet<PathBuf>>,
}

impl Watch {
    /// Starts to watch the files of a loaded scene.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(source: Source, files: Vec<PathBuf>, bell: Arc<Bell>, layout: NodeLayout) -> io::Result<Self> {
        let shared = Arc::new(Shared { source, orders: Mutex::default(), told: Condvar::new(), bell, layout });
        let watching = shared.clone();
        let mut known = Files { stamps: BTreeMap::new(), of: BTreeMap::new() };
        known.add(None, files, true);
        thread::Builder::new().name("watch".into()).spawn(move || watching.watch(known))?;
        Ok(Self { shared })
    }

    /// The results since the last call.
    pub fn take(&self) -> Vec<Done> {
        std::mem::take(&mut self.shared.orders().done)
    }

    /// Loads the file again, even if it has not changed.
    pub fn load(&self) {
        self.order(|orders| orders.now = true);
    }

    /// Loads a viewer's own scene.
    pub fn load_own(&self, viewer: u64, changed: Changed) {
        self.order(|orders| drop(orders.own.insert(viewer, changed)));
    }

    /// Stops loading and watching a viewer's own scene.
    pub fn forget(&self, viewer: u64) {
        self.order(|orders| {
            orders.own.remove(&viewer);
            orders.gone.push(viewer);
        });
    }

    /// Checks that a file at `path` with this text can be rendered.
    pub fn check(&self, path: PathBuf, text: String) {
        self.order(|orders| orders.checks.push_back((path, text)));
    }

    fn order(&self, order: impl FnOnce(&mut Orders)) {
        order(&mut self.shared.orders());
        self.shared.told.notify_all();
    }

    /// Sets whether any viewer is connected. Files are checked only in this case.
    pub fn set_seen(&self, is_seen: bool) {
        let mut orders = self.shared.orders();
        if orders.is_seen != is_seen {
            orders.is_seen = is_seen;
            self.shared.told.notify_all();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.order(|orders| orders.ended = true);
    }
}

impl Orders {
    fn is_idle(&self) -> bool {
        !self.now && !self.ended && self.checks.is_empty() && self.own.is_empty()
    }

    fn next(&mut self) -> WatchTask {
        if std::mem::take(&mut self.now) {
            return WatchTask::File;
        }
        if let Some((path, text)) = self.checks.pop_front() {
            return WatchTask::Check(path, text);
        }
        let others = self.own.range(self.last.saturating_add(1)..).next();
        let Some(viewer) = others.or_else(|| self.own.first_key_value()).map(|(viewer, _)| *viewer) else {
            return WatchTask::Look;
        };
        self.last = viewer;
        self.own.remove(&viewer).map_or(WatchTask::Look, |changed| WatchTask::Own(viewer, changed))
    }
}

impl Shared {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        lock(&self.orders)
    }

    fn watch(&self, mut files: Files) {
        let mut looked = Instant::now();
        loop {
            let mut orders = self.orders();
            let wait = |orders: &mut Orders| orders.is_idle() && !orders.is_seen;
            orders = unpoisoned(self.told.wait_while(orders, wait));
            let slept = self.told.wait_timeout_while(orders, INTERVAL, |orders| orders.is_idle());
            orders = unpoisoned(slept).0;
            if orders.ended {
                return;
            }
            std::mem::take(&mut orders.gone).into_iter().for_each(|viewer| files.forget(viewer));
            // Independent of the amount of other work.
            let is_time = orders.is_seen && looked.elapsed() >= INTERVAL;
            drop(orders);
            let has_changed = is_time && files.have_changed();
            if is_time {
                looked = Instant::now();
            }
            let work = if has_changed { WatchTask::File } else { self.orders().next() };
            let done = match work {
                WatchTask::Look => continue,
                WatchTask::File => self.load_file(&mut files),
                WatchTask::Check(path, text) => Done::Checked(self.source.check(&path, &text)),
                WatchTask::Own(viewer, changed) => self.load_own(&mut files, viewer, changed),
            };
            if done.has_failed() && Self::is_being_written(&files) {
                self.orders().now = true;
                continue;
            }
            self.orders().done.push(done);
            self.bell.ring();
        }
    }

    /// Whether a file changes shortly after it could not be loaded: programs that overwrite a file empty it first. The viewers' own scenes are
    /// loaded again after the file's.
    fn is_being_written(files: &Files) -> bool {
        thread::sleep(INTERVAL);
        files.have_changed()
    }

    fn load_file(&self, files: &mut Files) -> Done {
        // A file that changes while it is read is detected at the next check, since its recorded stamp is older.
        files.look();
        let (loaded, read) = self.loading(|| self.source.prepare(self.layout));
        files.add(None, read, loaded.is_ok());
        Done::File(loaded)
    }

    fn load_own(&self, files: &mut Files, viewer: u64, changed: Changed) -> Done {
        let prepare = || self.source.prepare_changed(self.layout, changed);
        let (loaded, read) = self.loading(prepare);
        files.add(Some(viewer), read, loaded.is_ok());
        Done::Own(viewer, loaded)
    }

    fn loading<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bell.loading.store(true, Ordering::Relaxed);
        self.bell.urgent.store(true, Ordering::Relaxed);
        let done = work();
        self.bell.loading.store(false, Ordering::Relaxed);
        done
    }
}

impl Done {
    /// Whether a scene could not be loaded.
    fn has_failed(&self) -> bool {
        matches!(self, Self::File(Err(_)) | Self::Own(_, Err(_)))
    }
}

impl Files {
    /// Adds the files of a scene. If it could not be loaded, the earlier files stay, since one of them may have to be fixed.
    fn add(&mut self, whose: Option<u64>, files: Vec<PathBuf>, was_loaded: bool) {
        let of = self.of.entry(whose).or_default();
        if was_loaded {
            of.clear();
        }
        of.extend(files);
        self.keep();
    }

    fn forget(&mut self, viewer: u64) {
        self.of.remove(&Some(viewer));
        self.keep();
    }

    fn keep(&mut self) {
        let wanted: BTreeSet<&PathBuf> = self.of.values().flatten().collect();
        self.stamps.retain(|path, _| wanted.contains(path));
        for path in wanted {
            if !self.stamps.contains_key(path) {
                self.stamps.insert(path.clone(), stamp(path));
            }
        }
    }

    fn look(&mut self) {
        self.stamps.iter_mut().for_each(|(path, known)| *known = stamp(path));
    }

    fn have_changed(&self) -> bool {
        self.stamps.iter().any(|(path, known)| stamp(path) != *known)
    }
}

fn stamp(path: &PathBuf) -> Stamp {
    fs::metadata(path).ok().map(|found| (found.modified().ok(), found.len()))
}
