//! The scene at a time: where the camera looks from and where every instance is.
//!
//! Everything here is a pure function of the scene and the time; nothing keeps state between frames, so any frame
//! can be rendered on its own.

mod camera;
mod catmull_rom;
mod motion;
mod order;
mod transforms;
mod turn;

pub use camera::{CameraPose, camera_at};
pub use catmull_rom::catmull_rom;
pub use order::OrderedInstances;
pub use transforms::{ordered_transforms, world_transforms};
