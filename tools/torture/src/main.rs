//! Tries to break what the program promises: nothing is lost, torn, overwritten or stuck, whatever happens to it.
//!
//!     cargo run --release -p torture -- --seconds 3600
//!
//! What is tried depends on the seed alone; when a kill lands, on the machine, too. Cases that break a promise are kept with the command line
//! that shows them, three of a kind. Prints a line per promise, and exits with 1 if one is broken.

/// Signals, limits and disks are as Linux has them.
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
