//! Ctrl-C and its relatives: the first asks the run to stop, the second ends it.

use super::Exit;
use anyhow::Context;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// From now on the first SIGINT, SIGTERM or SIGHUP sets the returned flag and calls `on_first`. A second one ends
/// the process at once: no frame can be torn, since frames are renamed into place. Signals that the parent process
/// asked to ignore (`nohup`) stay ignored.
pub fn install(on_first: impl Fn() + Send + 'static) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let ignored = ignored_signals();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            exit_at_once(Exit::Stopped);
        }
        on_first();
    })
    .context("cannot catch Ctrl-C")?;
    ignore_again(&ignored);
    Ok(stop)
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on SIGUSR1 sets the returned flag, instead of ending the process.
pub fn asked_to_show() -> &'static AtomicBool {
    #[cfg(unix)]
    {
        extern "C" fn ask(_: libc::c_int) {
            ASKED.store(true, Ordering::Relaxed);
        }
        let handler = ask as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler does nothing but to store to an atomic, which signals may interrupt.
        unsafe { libc::signal(libc::SIGUSR1, handler) };
    }
    &ASKED
}

fn exit_at_once(exit: Exit) -> ! {
    // SAFETY: `_exit` takes no pointers. `exit` would run destructors of globals that other threads are using.
    unsafe { libc::_exit(exit as i32) }
}

#[cfg(unix)]
fn ignored_signals() -> Vec<libc::c_int> {
    let is_ignored = |&signal: &libc::c_int| {
        // SAFETY: all zeros is a valid `sigaction`, and a null new action only reads the present one into it.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        }
    };
    let mut signals = vec![libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    signals.retain(is_ignored);
    signals
}

#[cfg(unix)]
fn ignore_again(signals: &[libc::c_int]) {
    for &signal in signals {
        // SAFETY: `SIG_IGN` is a valid disposition, and the signal number is one of the three above.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[cfg(not(unix))]
fn ignored_signals() -> Vec<libc::c_int> {
    Vec::new()
}

#[cfg(not(unix))]
fn ignore_again(_signals: &[libc::c_int]) {}
