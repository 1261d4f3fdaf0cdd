//! A shown scene: its loop runs in a thread of its own.

use crate::{Bell, Link, Source, engine::Engine, scenes::ViewerScenes, watch::Watch};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
};
use throng_base::sync::lock;
use throng_device::Device;
use throng_render::RenderError;
use throng_settings::Error;

/// A scene that is shown. Dropping it ends the loop.
pub struct Preview {
    bell: Arc<Bell>,
    arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    /// Number of the next viewer.
    next: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Preview {
    /// Loads the scene of `source` and starts the loop.
    ///
    /// # Errors
    /// If the scene cannot be loaded, if its picture settings are invalid, if the device cannot load it, or if a thread cannot be started.
    pub fn start(source: Source, device: Box<dyn Device>) -> Result<Self, Error> {
        let layout = device.node_layout();
        let (prepared, files) = source.prepare(layout);
        let mut prepared = prepared?;
        let file = prepared.file.take();
        let scenes = ViewerScenes::new(device, prepared)?;
        let bell = Arc::<Bell>::default();
        let arrived = Arc::<Mutex<Vec<Arc<Link>>>>::default();
        let watch = Watch::start(source.clone(), files, bell.clone(), layout).map_err(RenderError::Thread)?;
        let mut engine = Engine::new(source, scenes, file, watch, bell.clone(), arrived.clone());
        let thread = thread::Builder::new().name("preview".into()).spawn(move || engine.run());
        let thread = thread.map_err(RenderError::Thread)?;
        // This is the only place that sets it.
        let _ = bell.thread.set(thread.thread().clone());
        Ok(Self { bell, arrived, next: AtomicU64::new(1), thread: Some(thread) })
    }

    /// Connects a new viewer. If an earlier viewer had its `name`, it gets that viewer's unsaved changes.
    pub fn open(&self, name: Option<String>) -> Arc<Link> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let link = Arc::new(Link::new(self.bell.clone(), number, name));
        lock(&self.arrived).push(link.clone());
        self.bell.ring();
        link
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.bell.quit.store(true, Ordering::Relaxed);
        self.bell.ring();
        if let Some(thread) = self.thread.take() {
            let _: Result<(), _> = thread.join();
        }
    }
}
