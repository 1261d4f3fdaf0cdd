//! Where finished frames go: names, encodings, and writing them so that no reader ever sees half a file.

mod atomic;
mod checkpoint;
mod error;
mod exr;
mod format;
mod pattern;
mod png;
mod progress;

pub use atomic::{prepare, write_atomically};
pub use checkpoint::{
    CheckpointError, FilmIdentity, checkpoint_path, read_checkpoint, write_checkpoint,
};
pub use error::OutputError;
pub use format::FileFormat;
pub use pattern::{Pattern, PatternError};
pub use png::write_png;
pub use progress::{Progress, ProgressMode};
