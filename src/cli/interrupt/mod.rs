//! Ctrl-C and its likes. The first request to stop stops the run, the second ends the process.
//!
//! `unix` receives signals, `windows` events of the console.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::Exit;
use anyhow::Context;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use throng_output::is_writing;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{CANNOT, end_at_once, prepare};

/// Whether the unfinished picture is requested.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether there is unfinished work that must be completed before the process ends.
static WORKING: AtomicBool = AtomicBool::new(false);
/// Whether the run was stopped by a request that allows the grace of [`install`].
static TERMINATED: AtomicBool = AtomicBool::new(false);
/// Time limit for stopping after a Ctrl-C; then the run is ended. Only files that are being written may take longer.
const PATIENCE: Duration = Duration::from_secs(4);
/// Interval between checks for files that are still being written.
const LOOK: Duration = Duration::from_millis(50);
/// Time limit for the last message of a run, because its output may be blocked.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Exit code of a stopped run that can be resumed.
static STOP_CODE: AtomicI32 = AtomicI32::new(Exit::Stopped as i32);

/// Exit code of a stopped run that can be resumed: [`Exit::Stopped`], or the code passed to [`install`].
pub fn stop_code() -> i32 {
    STOP_CODE.load(Ordering::SeqCst)
}

/// The flag that requests the unfinished picture, after [`prepare`].
pub fn asked_to_show() -> &'static AtomicBool {
    &ASKED
}

/// Listens for requests to stop: SIGINT, SIGTERM and SIGHUP on Unix; on Windows Ctrl-C, Ctrl-Break, and the end of the console, the session or the
/// system.
///
/// The first one sets the returned flag and calls `on_first` on a separate thread. Before [`work_begins`] it also
/// ends the process, because nothing can be lost. A second request ends the process immediately. No frame can be torn, because frames are
/// renamed into place. Requests that the parent process ignores (`nohup`) stay ignored.
///
/// If one step of the work takes too long, the run does not stop soon after the first request. It is then ended like by a second one,
/// after `last_words`. After SIGTERM, which schedulers send before they kill, this happens after `grace`. A stopped process exits with
/// `code`.
pub fn install(
    code: u8,
    grace: Duration,
    on_first: impl FnOnce() + Send + 'static,
    last_words: impl FnOnce() + Send + 'static,
) -> anyhow::Result<Arc<AtomicBool>> {
    STOP_CODE.store(code.into(), Ordering::SeqCst);
    let stop = Arc::new(AtomicBool::new(false));
    system::listen(&stop, move || end_in_time(grace, on_first, last_words)).context("cannot catch Ctrl-C")?;
    Ok(stop)
}

/// Marks the start of work that must be finished: afterwards, the first request to stop no longer ends the process.
pub fn work_begins() {
    WORKING.store(true, Ordering::SeqCst);
}

/// Handles a request to stop, of which the second ends the process. Only does what signal handlers may do.
fn asked_to_stop(stop: &AtomicBool, has_grace: bool) {
    TERMINATED.fetch_or(has_grace, Ordering::SeqCst);
    // A single atomic step, because two threads may handle two requests simultaneously.
    if stop.swap(true, Ordering::SeqCst) {
        system::exit(stop_code());
    }
}

/// Calls `on_first` after the first request, and ends the process if it runs too long afterwards.
fn end_in_time(grace: Duration, on_first: impl FnOnce(), last_words: impl FnOnce() + Send + 'static) {
    on_first();
    if !WORKING.load(Ordering::SeqCst) {
        system::exit(stop_code());
    }
    if TERMINATED.load(Ordering::SeqCst) {
        thread::sleep(grace);
    } else {
        thread::sleep(PATIENCE);
        while is_writing() {
            thread::sleep(LOOK);
        }
    }
    say(last_words);
    system::exit(stop_code());
}

/// Starts the thread that waits for the first request.
fn wait_on_a_thread(wait: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// Prints the last message, unless its output is blocked.
fn say(last_words: impl FnOnce() + Send + 'static) {
    if let Ok(saying) = thread::Builder::new().spawn(last_words) {
        let begun = Instant::now();
        while !saying.is_finished() && begun.elapsed() < LAST_WORDS {
            thread::sleep(LOOK);
        }
    }
}
