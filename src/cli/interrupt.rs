//! Signal handling. The first SIGINT, SIGTERM or SIGHUP stops the run, the second ends it; SIGUSR1 requests a partial picture.

use super::Exit;
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
use throng_output::is_writing;

static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether there is unfinished work that must be completed before the process ends.
static WORKING: AtomicBool = AtomicBool::new(false);

/// Whether the run was stopped by SIGTERM.
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

/// Sets up signals before anything else. Afterwards, SIGUSR1 does not end the process. A file that grows too large is a write error, so
/// that the unfinished file can be removed. If memory is limited, running out of it is an ordinary failure.
pub fn prepare() {
    #[cfg(unix)]
    {
        // Without the handler, the signal keeps its default action.
        let _ = flag::register(consts::SIGUSR1, &ASKED);
        // SAFETY: `SIG_IGN` is a valid disposition.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        if memory_is_limited() {
            // The C library prints one line when memory runs out, and then calls `abort`. SAFETY: the handler only calls `_exit`, which
            // signal handlers may do.
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
    // SAFETY: `limit` is a valid place for the result.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    is_known && limit.rlim_cur != libc::RLIM_INFINITY
}

/// The flag set by SIGUSR1, after [`prepare`].
pub fn asked_to_show() -> &'static AtomicBool {
    &ASKED
}

/// Installs the signal handlers.
///
/// The first SIGINT, SIGTERM or SIGHUP sets the returned flag and calls `on_first` on a separate thread. Before [`work_begins`] it also
/// ends the process, because nothing can be lost. A second signal ends the process immediately. No frame can be torn, because frames are
/// renamed into place. Signals that the parent process ignores (`nohup`) stay ignored.
///
/// If one step of the work takes too long, the run does not stop soon after the first signal. It is then ended like by a second signal,
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
    let register = || -> io::Result<()> {
        let signals = signals();
        for &signal in &signals {
            let stop = stop.clone();
            // A single atomic step, because two threads may handle two signals simultaneously.
            let handle = move || {
                TERMINATED.fetch_or(signal == consts::SIGTERM, Ordering::SeqCst);
                if stop.swap(true, Ordering::SeqCst) {
                    signal_hook::low_level::exit(stop_code());
                }
            };
            // SAFETY: the handler only uses an atomic operation and `_exit`, which signal handlers may do.
            unsafe { signal_hook::low_level::register(signal, handle)? };
        }
        call_once(&signals, grace, on_first, last_words)
    };
    register().context("cannot catch Ctrl-C")?;
    Ok(stop)
}

/// Marks the start of work that must be finished: afterwards, the first signal no longer ends the process.
pub fn work_begins() {
    WORKING.store(true, Ordering::SeqCst);
}

/// Calls `on_first` after the first of `signals`, and ends the process if it runs too long afterwards. Signal handlers may do very little,
/// so a thread waits for signals.
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

/// Prints the last message, unless its output is blocked.
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
        // SAFETY: all zeros is a valid `sigaction`, and with a null new action the call only stores the current one in it.
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
