//! Help beyond clap's: the short help, tips in error messages, shell completions, manual pages and docs/flags.md.

#[cfg(test)]
mod reference;
pub mod shell;
mod short;
pub mod words;

pub use short::{Help, command};
