//! `throng diff`, of two pictures or two sequences.

mod command;
mod films;

pub use command::DiffArgs;
