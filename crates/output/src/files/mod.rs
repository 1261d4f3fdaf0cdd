//! Files of frames: names, destinations, complete or no files, and claims on frames.

mod atomic;
mod claim;
mod collisions;
mod destination;
mod exchange;
mod frame_files;
mod pattern;
mod placeholder;

pub use atomic::{PartialFile, fill_atomically, is_writing, prepare_folder, write_atomically};
pub use claim::{Claims, remove_stale_claim};
pub use collisions::{Planned, prepare_distinct};
pub use destination::{Destination, Stream};
pub use frame_files::FrameFiles;
pub use pattern::{Pattern, PatternError};
