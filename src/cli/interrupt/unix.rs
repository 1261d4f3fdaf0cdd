//! Signals of Unix. SIGUSR1 requests the unfinished picture.

use super::{ASKED, asked_to_stop, wait_on_a_thread};
use crate::cli::Exit;
use anyhow::Context;
use signal_hook::{
    consts, flag,
    low_level::{self, pipe, register},
};
use std::{
    io::{self, Read},
    os::unix::net::UnixStream,
    sync::{Arc, atomic::AtomicBool},
};

/// What cannot be requested on this system.
pub const CANNOT: Option<&str> = None;

/// Ends the process without running destructors.
pub fn exit(code: i32) -> ! {
    low_level::exit(code)
}

/// Sets up signals before anything else. Afterwards, SIGUSR1 does not end the process. A file that grows too large is a write error, so
/// that the unfinished file can be removed. If memory is limited, running out of it is an ordinary failure.
pub fn prepare() {
    // Without the handler, the signal keeps its default action.
    let _ = flag::register(consts::SIGUSR1, &ASKED);
    // SAFETY: `SIG_IGN` is a valid disposition.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    if memory_is_limited() {
        // The C library prints one line when memory runs out, and then calls `abort`. SAFETY: the handler only calls `_exit`, which
        // signal handlers may do.
        let _ = unsafe { register(consts::SIGABRT, || exit(Exit::Failed as i32)) };
    }
}

/// Whether the address space of the process is limited (`ulimit -v`).
fn memory_is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid place for the result.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    is_known && limit.rlim_cur != libc::RLIM_INFINITY
}

/// Sets `stop` at the first signal, and then calls `on_first`. Signal handlers may do very little, so a thread waits for signals.
pub fn listen(stop: &Arc<AtomicBool>, on_first: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let signals = signals();
    for &signal in &signals {
        let stop = stop.clone();
        let handle = move || asked_to_stop(&stop, signal == consts::SIGTERM);
        // SAFETY: the handler only uses atomic operations and `_exit`, which signal handlers may do.
        unsafe { register(signal, handle)? };
    }
    let (mut told, tell) = UnixStream::pair()?;
    for &signal in &signals {
        pipe::register(signal, tell.try_clone()?)?;
    }
    wait_on_a_thread(move || {
        if told.read_exact(&mut [0]).is_ok() {
            on_first();
        }
    })
}

/// The signals that stop a run, without those that the parent process ignores.
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

/// Lets signals end the process immediately, as done. For commands that cannot lose work, because files are written completely or not at all.
pub fn end_at_once() -> anyhow::Result<()> {
    for signal in [consts::SIGINT, consts::SIGTERM] {
        // SAFETY: the handler only calls `_exit`, which signal handlers may do.
        let registered = unsafe { register(signal, || exit(Exit::Done as i32)) };
        registered.context("cannot catch Ctrl-C")?;
    }
    Ok(())
}
