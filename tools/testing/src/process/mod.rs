//! Processes started by tests. Each ends with its test, and every wait has a timeout.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Seek},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Timeout that only a failing test reaches, even on slow machines.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command for `program` without input and with default signal handlers, even if this process ignores or blocks signals (as under
/// `nohup`).
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: all functions called are allowed between fork and exec. `signal` returns an error for invalid numbers. All zeros is a
        // valid signal set, which is then emptied.
        unsafe {
            command.pre_exec(|| {
                for number in 1..32 {
                    libc::signal(number, libc::SIG_DFL);
                }
                let mut none: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
                Ok(())
            })
        };
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        // Events of the console go to groups of processes.
        command.creation_flags(windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP);
    }
    command
}

/// Creates a named pipe.
#[cfg(unix)]
pub fn make_pipe(path: &std::path::Path) {
    assert!(output(command("mkfifo").arg(path)).status.success());
}

/// Runs a command to its end.
pub fn output(command: &mut Command) -> Output {
    Process::start(command).finish()
}

/// A running process, which is killed when this is dropped. Its output goes to files, so that it never blocks.
pub struct Process {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Process {
    pub fn start(command: &mut Command) -> Self {
        let stdout = tempfile::tempfile().unwrap();
        let mut process = Self::start_with_stdout(command, stdout.try_clone().unwrap());
        process.stdout = stdout;
        process
    }

    /// Starts with the given standard output; [`Self::finish`] then returns an empty one.
    pub fn start_with_stdout(command: &mut Command, stdout: impl Into<Stdio>) -> Self {
        let stderr = tempfile::tempfile().unwrap();
        let files = command.stdout(stdout).stderr(stderr.try_clone().unwrap());
        Self { child: files.spawn().unwrap(), stdout: tempfile::tempfile().unwrap(), stderr }
    }

    #[cfg(unix)]
    pub fn send(&self, signal: libc::c_int) {
        // SAFETY: no pointers. The child is not reaped yet, so its process number is not reused.
        let sent = unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        assert_eq!(sent, 0);
    }

    /// Stops the process as a user does on the terminal.
    pub fn interrupt(&self) {
        #[cfg(unix)]
        self.send(libc::SIGINT);
        #[cfg(windows)]
        {
            use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
            // SAFETY: takes no pointers. The child is not reaped yet, so its process number is not reused.
            let sent = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, self.child.id()) };
            assert_ne!(sent, 0, "{}", std::io::Error::last_os_error());
        }
    }

    /// Waits until the process has a handler for the signal.
    #[cfg(target_os = "linux")]
    pub fn wait_for_handler(&self, signal: libc::c_int) {
        wait_until("a handler", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
            let status = status.unwrap_or_default();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
        });
    }

    /// Kills the process.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until the process ends by itself.
    pub fn finish(mut self) -> Output {
        let mut status = None;
        wait_until("the end of a process", || {
            status = self.has_ended();
            status.is_some()
        });
        Output { status: status.unwrap(), stdout: all_of(&mut self.stdout), stderr: all_of(&mut self.stderr) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls are harmless if the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn all_of(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Polls until `done` returns true. Panics after a timeout.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
