//! Output of finished frames: names, encodings, and writing them so that no reader ever sees half a file.

mod atomic;
mod backdrop;
mod checkpoint;
mod claim;
mod collisions;
mod destination;
mod encoding;
mod error;
mod exif;
mod exr;
mod format;
mod frame_files;
mod in_order;
mod pattern;
mod picture;
mod png;
mod read_back;
mod sheet;
mod video;
mod web;

pub use atomic::{Part, fill_atomically, prepare_folder, write_atomically};
pub use backdrop::Backdrop;
pub use checkpoint::{CheckpointError, CheckpointIdentity, checkpoint_path, read_checkpoint, write_checkpoint};
pub use claim::{Claims, remove_stale_claim};
pub use collisions::{Planned, prepare_distinct};
pub use destination::{Destination, Stream};
pub use encoding::{ColorDepth, EncodeError, Encoding, ExrCompression};
pub use error::OutputError;
pub use format::FileFormat;
pub use frame_files::FrameFiles;
pub use in_order::{Existing, InOrder, Prepare, Sink};
pub use pattern::{Pattern, PatternError};
pub use picture::{Manifests, Metadata, Picture, Pixels, Texts};
pub use read_back::read_back;
pub use sheet::{SheetLayout, choose, open_sheet, parse_sheet};
pub use video::{VideoFormat, VideoName, VideoSettings, open_video};
