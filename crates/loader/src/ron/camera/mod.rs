//! The `camera`, `cameras` and `cuts` sections.

mod cameras;
mod clearance;
mod lens;

pub use cameras::{all, convert, one, pace_of};
