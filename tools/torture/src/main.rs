//! A torture test of the program's promises: no file is lost, torn or overwritten, and no run hangs.
//!
//!     cargo run --release -p torture -- --seconds 3600
//!
//! The attempts depend only on the seed; the timing of kills also depends on the machine. Up to three cases of each fault are stored, with
//! the command lines that reproduce them. Prints a line per promise, and exits with 1 if one is broken.

/// Signals, limits and mounts are specific to Linux.
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<std::process::ExitCode> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("torture needs Linux");
    std::process::ExitCode::FAILURE
}
