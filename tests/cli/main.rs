//! Black-box tests of the `throng` program: every subcommand, flag, exit code and error message.

mod common;
mod diff;
#[cfg(unix)]
mod documentation;
mod errors;
mod help;
mod loading;
mod pictures;
mod render;
mod reports;
mod runs;
mod viewer;

use throng_testing::process;
