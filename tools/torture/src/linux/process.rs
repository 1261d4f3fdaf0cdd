//! A child process with limits, which is killed after a timeout.

use std::{
    fs::{self, File},
    io::{self, Read, Seek},
    os::unix::{
        fs::FileExt,
        process::{CommandExt, ExitStatusExt},
    },
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Limits of a process. The default has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Address space, in bytes.
    pub memory: Option<u64>,
    /// Stack of the first thread, in bytes.
    pub stack: Option<u64>,
    /// Greatest file size, in bytes.
    pub file_size: Option<u64>,
    /// Number of open files.
    pub files: Option<u64>,
    /// A signal that is ignored.
    pub ignored: Option<libc::c_int>,
    /// Whether standard input, output and error are closed.
    pub closed: [bool; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(i32),
    /// The process had to be killed.
    Stuck,
}

/// How a process ended, and the resources it used.
pub struct Ended {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// Peak memory in bytes.
    pub peak: u64,
    /// CPU time of all threads.
    pub cpu: Duration,
    /// The command line in shell syntax.
    pub line: String,
    /// The first argument.
    pub subcommand: String,
}

/// A running process. It is killed when this is dropped.
pub struct Running {
    pid: libc::pid_t,
    reaped: bool,
    stdout: File,
    stderr: File,
    line: String,
    subcommand: String,
}

impl Running {
    /// Starts a process without input and with the default signal handlers.
    pub fn start(command: &mut Command, limits: Limits) -> io::Result<Self> {
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdin(Stdio::null());
        command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        // SAFETY: `limits.apply` calls only functions that are allowed between fork and exec.
        unsafe { command.pre_exec(move || limits.apply()) };
        let line = shell_line(command, limits);
        let first = command.get_args().next().unwrap_or_default();
        let subcommand = first.to_string_lossy().into_owned();
        Ok(Self { pid: command.spawn()?.id() as libc::pid_t, reaped: false, stdout, stderr, line, subcommand })
    }

    pub fn send(&self, signal: libc::c_int) {
        // SAFETY: no pointers. The child is not reaped yet, so its process number is not reused.
        unsafe { libc::kill(self.pid, signal) };
    }

    /// Whether it has a handler for `signal`; false if the system does not report it.
    pub fn catches(&self, signal: libc::c_int) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let mask = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// Its standard output so far.
    pub fn said(&self) -> io::Result<String> {
        let mut bytes = vec![0; usize::try_from(self.stdout.metadata()?.len()).unwrap_or(0)];
        let read = self.stdout.read_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// Whether the process has ended; does not wait.
    pub fn has_ended(&self) -> bool {
        // SAFETY: all zeros is a valid `siginfo_t`, which the call fills. WNOWAIT leaves the process for `wait`.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let found = libc::waitid(libc::P_PID, self.pid as libc::id_t, &mut info, flags);
            found != 0 || info.si_pid() != 0
        }
    }

    /// Waits for the end of the process, and kills it after `patience`.
    pub fn wait(mut self, patience: Duration) -> io::Result<Ended> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(250);
        let mut stuck = false;
        let (status, usage) = loop {
            if let Some(found) = self.reap()? {
                break found;
            }
            if start.elapsed() > patience {
                stuck = true;
                self.send(libc::SIGKILL);
            }
            thread::sleep(pause);
            pause = (pause * 9 / 8).min(Duration::from_millis(5));
        };
        let end = match (stuck, status.code(), status.signal()) {
            (true, ..) => End::Stuck,
            (_, Some(code), _) => End::Code(code),
            (_, _, signal) => End::Signal(signal.unwrap_or(0)),
        };
        Ok(Ended {
            end,
            stdout: all_of(&mut self.stdout)?,
            stderr: String::from_utf8_lossy(&all_of(&mut self.stderr)?).into_owned(),
            peak: usage.ru_maxrss as u64 * 1024,
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
            line: std::mem::take(&mut self.line),
            subcommand: std::mem::take(&mut self.subcommand),
        })
    }

    fn reap(&mut self) -> io::Result<Option<(ExitStatus, libc::rusage)>> {
        let mut status = 0;
        // SAFETY: all zeros is a valid `rusage`; both pointers are to locals that outlive the call.
        let (found, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let found = libc::wait4(self.pid, &mut status, libc::WNOHANG, &mut usage);
            (found, usage)
        };
        match found {
            0 => Ok(None),
            -1 => Err(io::Error::last_os_error()),
            _ => {
                self.reaped = true;
                Ok(Some((ExitStatus::from_raw(status), usage)))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.send(libc::SIGKILL);
            // SAFETY: the status pointer may be null. The child is not reaped yet.
            unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
        }
    }
}

impl Limits {
    /// Applies the limits to this process. Called between fork and exec.
    fn apply(&self) -> io::Result<()> {
        // SAFETY: all functions called are safe between fork and exec, and pointers refer to locals. `signal` returns an error for invalid
        // numbers. All zeros is a valid signal set, which is then emptied.
        unsafe {
            for number in 1..32 {
                libc::signal(number, libc::SIG_DFL);
            }
            if let Some(number) = self.ignored {
                libc::signal(number, libc::SIG_IGN);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            for (number, closed) in self.closed.iter().enumerate() {
                if *closed {
                    libc::close(number as libc::c_int);
                }
            }
            for (resource, limit) in [
                (libc::RLIMIT_CORE, Some(0)),
                (libc::RLIMIT_STACK, self.stack),
                (libc::RLIMIT_FSIZE, self.file_size),
                (libc::RLIMIT_NOFILE, self.files),
                (libc::RLIMIT_AS, self.memory),
            ] {
                let Some(limit) = limit else { continue };
                let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
                if libc::setrlimit(resource, &limit) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    }

    /// Shell commands that set these limits.
    fn shell(&self) -> String {
        let mut text = String::new();
        let kibibytes = |limit: Option<u64>| limit.map(|bytes| bytes.div_ceil(1024));
        for (flag, limit) in [
            ("v", kibibytes(self.memory)),
            ("s", kibibytes(self.stack)),
            ("f", kibibytes(self.file_size)),
            ("n", self.files),
        ] {
            if let Some(limit) = limit {
                text += &format!("ulimit -{flag} {limit}; ");
            }
        }
        if let Some(signal) = self.ignored {
            text += &format!("trap '' {signal}; ");
        }
        text
    }
}

/// The command line in shell syntax, with its limits and folder.
fn shell_line(command: &Command, limits: Limits) -> String {
    let quoted = |text: &std::ffi::OsStr| {
        let text = text.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+#".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let mut line = limits.shell() + &quoted(command.get_program());
    for arg in command.get_args() {
        line += " ";
        line += &quoted(arg);
    }
    for (number, closed) in limits.closed.iter().enumerate() {
        if *closed {
            line += &format!(" {number}>&-");
        }
    }
    line
}

fn all_of(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}
