//! Cameras of viewers: single views, paths, and their forms in scene files.

mod conversion;
mod flights;
mod path;

pub use conversion::{aspect_of, check, lens_kind, pose, view};
pub use flights::flight;
pub use path::{Flight, file_keys, own_path};
