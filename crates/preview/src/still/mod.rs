//! Stills: pictures that become files.

mod queue;
mod rendering;

pub use queue::Stills;
pub use rendering::Still;
