//! Runs that stop, continue, or are divided among devices and machines.

mod cache;
mod checkpoint;
mod compare;
mod denoise;
pub mod devices;
mod farm;
mod interrupt;
mod limits;
mod merge;
mod resume;
mod several;
mod stop;
