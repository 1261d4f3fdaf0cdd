//! Curves, flights along them, and values over time.

pub mod above;
pub mod catmull_rom;
#[doc(hidden)]
pub mod curve;
pub mod flight;
pub mod track;
