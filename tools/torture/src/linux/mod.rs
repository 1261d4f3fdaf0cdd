//! A campaign of attacks on the program, and what attacks need.

mod attacks;
mod campaign;
mod command;
mod decode;
mod files;
mod jobs;
mod mounts;
mod nodes;
mod page;
mod process;
mod promise;
mod random;
mod scene;
mod seal;
mod verdict;

pub use command::main;
