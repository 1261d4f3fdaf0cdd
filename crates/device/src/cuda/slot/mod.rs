//! A frame in flight: its stream, and its own memory, so that frames overlap.

mod advance;
mod measure;
mod memory;
mod picture;
mod upload;
mod work;

pub use memory::Slot;
pub use picture::FinishedFrame;
pub use work::{Task, elapsed, event_now};
