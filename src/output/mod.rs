//! Where finished frames go: names, encodings, and writing them so that no reader ever sees half a file.

mod atomic;
pub mod deflate;
mod encoding;
mod error;
mod exr;
mod format;
mod pattern;
mod picture;
mod png;
mod progress;
mod web;

pub use atomic::{prepare, write_atomically};
pub use encoding::{ColorDepth, EncodeError, Encoding, ExrCompression};
pub use error::OutputError;
pub use format::FileFormat;
pub use pattern::{Pattern, PatternError};
pub use picture::{Manifests, Metadata, Picture, PixelKind, Pixels};
pub use progress::{Progress, ProgressMode};
