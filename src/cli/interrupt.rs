//! Signals. The first Ctrl-C or one of its relatives asks the run to stop, the second ends it; SIGUSR1 asks for a partial picture.

use super::Exit;
use crate::output::is_writing;
use anyhow::Context;
use signal_hook::{consts, flag};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether there is work that a run would finish before it ends.
static WORKING: AtomicBool = AtomicBool::new(false);

/// Whether it was SIGTERM that asked the run to stop.
static TERMINATED: AtomicBool = AtomicBool::new(false);
/// Time that a run has to stop by itself after a Ctrl-C, before it is ended. It waits for nothing longer than that but files that are
/// being written.
const PATIENCE: Duration = Duration::from_secs(4);
/// Time between two looks whether files are still being written.
const LOOK: Duration = Duration::from_millis(50);
/// Time that the last words of a run may take: what they are written to may be blocked.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The exit code of a run that was stopped and can go on.
static STOP_CODE: AtomicI32 = AtomicI32::new(Exit::Stopped as i32);

/// The exit code of a run that was stopped and can go on: [`Exit::Stopped`], or as [`install`] was told.
pub fn stop_code() -> i32 {
    STOP_CODE.load(Ordering::SeqCst)
}

/// Sets up signals before anything else. From now on a SIGUSR1 does not end the process, and a file that grows too large is a write
/// error, so that the unfinished file can be removed. Where memory is limited, running out of it is a failure like others.
pub fn prepare() {
    #[cfg(unix)]
    {
        // Without the handler, the signal keeps its default action.
        let _ = flag::register(consts::SIGUSR1, &ASKED);
        // SAFETY: `SIG_IGN` is a valid disposition.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        if memory_is_limited() {
            // The C library reports in one line that memory ran out, and then calls `abort`.
            // SAFETY: `_exit` is all that the handler does, and signal handlers may do that.
            let _ = unsafe {
                signal_hook::low_level::register(consts::SIGABRT, || signal_hook::low_level::exit(Exit::Failed as i32))
            };
        }
    }
}

/// Whether the address space of the process is limited (`ulimit -v`).
#[cfg(unix)]
fn memory_is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid place for what is read.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    is_known && limit.rlim_cur != libc::RLIM_INFINITY
}

/// The flag that SIGUSR1 sets, once [`prepare`] was called.
pub fn asked_to_show() -> &'static AtomicBool {
    &ASKED
}

/// Installs the handlers. From now on the first SIGINT, SIGTERM or SIGHUP sets the returned flag and calls `on_first`, on a thread
/// of its own. Before [`work_begins`] it also ends the process, as there is nothing to lose. A second one ends the process at once,
/// whatever it is waiting for: no frame can be torn, since frames are renamed into place. Signals that the parent process asked to
/// ignore (`nohup`) stay ignored. A run that has not stopped by itself soon after the first signal is ended as by a second one, after
/// `last_words`: a single step of its work takes too long. After a SIGTERM, which schedulers send before they kill, that is after `grace`.
/// Whatever is stopped exits with `code`.
pub fn install(
    code: u8,
    grace: Duration,
    on_first: impl FnOnce() + Send + 'static,
    last_words: impl FnOnce() + Send + 'static,
) -> anyhow::Result<Arc<AtomicBool>> {
    STOP_CODE.store(code.into(), Ordering::SeqCst);
    let stop = Arc::new(AtomicBool::new(false));
    let register = || -> io::Result<()> {
        let signals = signals();
        for &signal in &signals {
            let stop = stop.clone();
            // A single atomic step, as two signals may be handled at the same time on two threads.
            let handle = move || {
                TERMINATED.fetch_or(signal == consts::SIGTERM, Ordering::SeqCst);
                if stop.swap(true, Ordering::SeqCst) {
                    signal_hook::low_level::exit(stop_code());
                }
            };
            // SAFETY: an atomic operation and `_exit` are all that the handler does, and signal handlers may do both.
            unsafe { signal_hook::low_level::register(signal, handle)? };
        }
        call_once(&signals, grace, on_first, last_words)
    };
    register().context("cannot catch Ctrl-C")?;
    Ok(stop)
}

/// Tells that there is work to finish: from now on, the first signal no longer ends the process.
pub fn work_begins() {
    WORKING.store(true, Ordering::SeqCst);
}

/// Calls `on_first` after the first of `signals`, and ends a process that goes on for too long. Signal handlers may do next to nothing, so a
/// thread waits for them.
#[cfg(unix)]
fn call_once(
    signals: &[i32],
    grace: Duration,
    on_first: impl FnOnce() + Send + 'static,
    last_words: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    use std::{io::Read, os::unix::net::UnixStream};
    let (mut told, tell) = UnixStream::pair()?;
    for &signal in signals {
        signal_hook::low_level::pipe::register(signal, tell.try_clone()?)?;
    }
    let wait = move || {
        if told.read_exact(&mut [0]).is_ok() {
            on_first();
            if !WORKING.load(Ordering::SeqCst) {
                signal_hook::low_level::exit(stop_code());
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
            signal_hook::low_level::exit(stop_code());
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}

/// Says the last words, unless what they are written to is blocked.
#[cfg(unix)]
fn say(last_words: impl FnOnce() + Send + 'static) {
    if let Ok(saying) = thread::Builder::new().spawn(last_words) {
        let begun = Instant::now();
        while !saying.is_finished() && begun.elapsed() < LAST_WORDS {
            thread::sleep(LOOK);
        }
    }
}

#[cfg(not(unix))]
fn call_once(
    _: &[i32],
    _: Duration,
    _: impl FnOnce() + Send + 'static,
    _: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn signals() -> Vec<i32> {
    let is_ignored = |&signal: &i32| {
        // SAFETY: all zeros is a valid `sigaction`, and a null new action only reads the present one into it.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    };
    let mut signals = vec![consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
    signals.retain(|signal| !is_ignored(signal));
    signals
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![consts::SIGINT, consts::SIGTERM]
}
