//! Looks at the files of a scene, and loads it again on a thread of its own when they changed.

use super::{
    link::Bell,
    stage::{Prepared, Source},
};
use crate::{Error, accel::NodeLayout};
use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    thread,
    time::{Duration, SystemTime},
};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(100);

/// The watch over the files of a scene.
pub struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    orders: Mutex<Orders>,
    told: Condvar,
    bell: Arc<Bell>,
    layout: NodeLayout,
}

struct Orders {
    source: Source,
    /// Whether to load whatever the files are like.
    now: bool,
    /// Whether somebody looks.
    is_seen: bool,
    loaded: Option<Result<Prepared, Error>>,
    ended: bool,
}

/// A file as it looks from outside.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    path: PathBuf,
    state: Option<(Option<SystemTime>, u64)>,
}

impl Watch {
    /// Watches the files of a scene that was loaded.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn start(source: Source, files: Vec<PathBuf>, bell: Arc<Bell>, layout: NodeLayout) -> io::Result<Self> {
        let orders = Orders { source, now: false, is_seen: false, loaded: None, ended: false };
        let shared = Arc::new(Shared { orders: Mutex::new(orders), told: Condvar::new(), bell, layout });
        let watching = shared.clone();
        thread::Builder::new().name("watch".into()).spawn(move || watching.watch(files))?;
        Ok(Self { shared })
    }

    /// The scene that was loaded since the last call, or why it could not be.
    pub fn take(&self) -> Option<Result<Prepared, Error>> {
        self.shared.orders().loaded.take()
    }

    /// Loads with other options, or the same again.
    pub fn load(&self, source: Source) {
        let mut orders = self.shared.orders();
        (orders.source, orders.now) = (source, true);
        self.shared.told.notify_all();
    }

    /// Looks at the files only while somebody sees the scene.
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
        self.shared.orders().ended = true;
        self.shared.told.notify_all();
    }
}

impl Shared {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, files: Vec<PathBuf>) {
        let mut stamps = stamps(files);
        loop {
            let mut orders = self.orders();
            let wait = |orders: &mut Orders| !orders.now && !orders.ended && !orders.is_seen;
            orders = self.told.wait_while(orders, wait).unwrap_or_else(PoisonError::into_inner);
            let sleep = |orders: &mut Orders| !orders.now && !orders.ended;
            let slept = self.told.wait_timeout_while(orders, INTERVAL, sleep);
            orders = slept.unwrap_or_else(PoisonError::into_inner).0;
            if orders.ended {
                return;
            }
            let is_ordered = std::mem::take(&mut orders.now);
            let source = orders.source.clone();
            drop(orders);
            let paths = stamps.iter().map(|stamp| stamp.path.clone());
            let current = self::stamps(paths.collect());
            if !is_ordered && current == stamps {
                continue;
            }
            self.bell.loading.store(true, Ordering::Relaxed);
            self.bell.urgent.store(true, Ordering::Relaxed);
            let (loaded, files) = source.prepare(self.layout);
            self.bell.loading.store(false, Ordering::Relaxed);
            // A file that changed while it was read is seen next time, since its stamp is older.
            stamps = current;
            if loaded.is_ok() {
                stamps.retain(|stamp| files.contains(&stamp.path));
            }
            let known = |path: &PathBuf| stamps.iter().any(|stamp| stamp.path == *path);
            let new = files.into_iter().filter(|path| !known(path)).collect();
            stamps.extend(self::stamps(new));
            self.orders().loaded = Some(loaded);
            self.bell.ring();
        }
    }
}

fn stamps(paths: Vec<PathBuf>) -> Vec<Stamp> {
    let stamp = |path: PathBuf| {
        let state = fs::metadata(&path).ok().map(|found| (found.modified().ok(), found.len()));
        Stamp { path, state }
    };
    paths.into_iter().map(stamp).collect()
}
