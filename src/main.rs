//! The program: an allocator that reports failure in one line, and [`throng::cli::run`].

use std::process::ExitCode;
use throng::cli::OneLineOnFailure;

#[global_allocator]
static ALLOCATOR: OneLineOnFailure = OneLineOnFailure;

fn main() -> ExitCode {
    throng::cli::run()
}
