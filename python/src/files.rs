//! Frames that are written to files, as the command line writes them.

use crate::{
    raised,
    renderer::{AtWork, LOOK, LOST, spawn},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc::{RecvTimeoutError, sync_channel},
};
use throng::{
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

/// Writes frames, and calls `watcher` with the number of those that are written. Returns that number. Ctrl-C and exceptions of `watcher` end the work
/// after the frames that are being written.
pub fn write(py: Python<'_>, mut renderer: AtWork, options: FrameOptions, watcher: Option<Py<PyAny>>) -> PyResult<u32> {
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (stopped, mut counter) = (stop.clone(), Counter(written.clone()));
    let (send, mut done) = sync_channel(1);
    let thread = spawn(move || {
        // The receiver lives until the thread ends.
        let _ = send.send(renderer.write_with(&options, &mut counter, &stopped));
    })?;
    let watch = || {
        let count = written.load(Ordering::Relaxed);
        let told = watcher.as_ref().map_or(Ok(()), |watcher| watcher.call1(py, (count,)).map(drop));
        told.and_then(|()| py.check_signals())
    };
    let mut watched = Ok(());
    let summary = loop {
        let done = &mut done;
        match py.detach(move || done.recv_timeout(LOOK)) {
            Ok(summary) => break Some(summary),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) if watched.is_ok() => {
                watched = watch();
                stop.fetch_or(watched.is_err(), Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    // The renderer is idle once the thread has ended. A panic leaves no summary.
    let _ = py.detach(|| thread.join());
    let summary = summary.ok_or_else(|| PyRuntimeError::new_err(LOST))?;
    watched.and_then(|()| watch()).and_then(|()| Ok(summary.map_err(raised)?.frames))
}
