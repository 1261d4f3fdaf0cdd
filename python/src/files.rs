//! Frames that are written to files, as the command line writes them.

use crate::{
    raised,
    renderer::{LOOK, LOST, STACK},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};
use throng::{
    Renderer,
    report::{FrameObserver, FrameReport},
    settings::FrameOptions,
};

/// Counts the frames that are written.
struct Counter(Arc<AtomicUsize>);

impl FrameObserver for Counter {
    fn frame_done(&mut self, _: &FrameReport) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes frames, and calls `watcher` with the number of those that are written. Returns the renderer, and that number. Ctrl-C and exceptions of
/// `watcher` end the work after the frames that are being written.
pub fn write(
    py: Python<'_>,
    mut renderer: Renderer,
    options: FrameOptions,
    watcher: Option<Py<PyAny>>,
) -> PyResult<(Renderer, PyResult<u32>)> {
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (stopped, mut counter) = (stop.clone(), Counter(written.clone()));
    let work = move || {
        let summary = renderer.write_with(&options, &mut counter, &stopped);
        (renderer, summary)
    };
    let thread = thread::Builder::new().name("render".into()).stack_size(STACK).spawn(work);
    let thread = thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let watch = || {
        let count = written.load(Ordering::Relaxed);
        let told = watcher.as_ref().map_or(Ok(()), |watcher| watcher.call1(py, (count,)).map(drop));
        told.and_then(|()| py.check_signals())
    };
    let mut watched = Ok(());
    while !thread.is_finished() {
        py.detach(|| thread::sleep(LOOK));
        if watched.is_ok() {
            watched = watch();
            stop.fetch_or(watched.is_err(), Ordering::Relaxed);
        }
    }
    let lost = |_| PyRuntimeError::new_err(LOST);
    let (renderer, summary) = thread.join().map_err(lost)?;
    let count = watched.and_then(|()| watch()).and_then(|()| Ok(summary.map_err(raised)?.frames));
    Ok((renderer, count))
}
