//! Where finished frames go: names, encodings, and writing them so that no reader ever sees half a file.

mod atomic;
mod error;
mod exr;
mod format;
mod pattern;
mod png;
mod progress;

pub use atomic::{prepare, write_atomically};
pub use error::OutputError;
pub use format::FileFormat;
pub use pattern::{Pattern, PatternError};
pub use png::write_png;
pub use progress::{Progress, ProgressMode};
