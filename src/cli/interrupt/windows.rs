//! Events of the Windows console: Ctrl-C, Ctrl-Break, and the end of the console, the session or the system.
//!
//! The system calls handlers on a thread of their own, so they may do anything.

use super::{asked_to_stop, wait_on_a_thread};
use crate::cli::Exit;
use anyhow::Context;
use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::AtomicBool,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};
use windows_sys::{
    Win32::System::{
        Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, PHANDLER_ROUTINE, SetConsoleCtrlHandler},
        Threading::ExitProcess,
    },
    core::BOOL,
};

/// What cannot be requested on this system.
pub const CANNOT: Option<&str> = Some("no signals: use --write-partial SECONDS to see unfinished pictures");

/// Ends the process without running destructors.
pub fn exit(code: i32) -> ! {
    // SAFETY: takes no pointers.
    unsafe { ExitProcess(code as u32) }
}

/// Sets up nothing: there are no signals that would end the process.
pub fn prepare() {}

/// The flag to set at each event, and where to send the first one.
static LISTENER: OnceLock<(Arc<AtomicBool>, Sender<()>)> = OnceLock::new();

/// Sets `stop` at the first event, and then calls `on_first`. Only the first call listens.
pub fn listen(stop: &Arc<AtomicBool>, on_first: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (tell, told) = channel();
    if LISTENER.set((stop.clone(), tell)).is_err() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    wait_on_a_thread(move || {
        if told.recv().is_ok() {
            on_first();
        }
    })?;
    register(Some(stop_the_run))
}

fn register(handler: PHANDLER_ROUTINE) -> io::Result<()> {
    // SAFETY: the handler is a function, which lives as long as the process.
    match unsafe { SetConsoleCtrlHandler(handler, 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

unsafe extern "system" fn stop_the_run(event: u32) -> BOOL {
    if let Some((stop, tell)) = LISTENER.get() {
        asked_to_stop(stop, false);
        // The thread that waits has the first event and needs no other.
        let _ = tell.send(());
    }
    if event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT {
        return 1;
    }
    // After any other event, the system ends the process once this returns, or after some seconds. Meanwhile, the run stops and ends the
    // process.
    loop {
        thread::sleep(Duration::MAX);
    }
}

/// Lets events end the process immediately, as done. For commands that cannot lose work, because files are written completely or not at all.
pub fn end_at_once() -> anyhow::Result<()> {
    unsafe extern "system" fn end(_: u32) -> BOOL {
        exit(Exit::Done as i32)
    }
    register(Some(end)).context("cannot catch Ctrl-C")
}
