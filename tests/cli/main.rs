//! Black-box tests of the `throng` program: every subcommand, flag, exit code and error message.

mod bare_models;
mod cache;
mod checkpoint;
mod common;
mod compare;
mod devices;
mod errors;
mod film;
mod films;
mod flags;
mod hostile;
mod inputs;
mod interrupt;
mod limits;
mod mattes;
mod models;
mod render;
mod reports;
mod resume;
