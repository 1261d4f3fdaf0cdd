//! `throng diff`, of two pictures or two sequences.

mod command;
mod sequences;

pub use command::DiffArgs;
