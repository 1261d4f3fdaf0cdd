//! The scene at a time: where the camera looks from, where every instance is, and what shape rigs and their meshes have.
//!
//! Everything here is a pure function of the scene and the time; nothing keeps state between frames, so any frame
//! can be rendered on its own.

mod camera;
mod catmull_rom;
mod clip;
mod deform;
#[cfg(test)]
mod deform_tests;
mod driven;
#[cfg(test)]
mod driven_tests;
mod lens;
mod moment;
mod motion;
mod order;
mod palette;
mod rig_pose;
mod shape;
mod shape_keys;
mod skinning;
mod sweep;
mod transforms;
mod turn;
mod turning;

pub use camera::{CameraPose, camera_at};
pub use catmull_rom::catmull_rom;
pub use clip::sample;
pub use deform::{BindPose, Deformed, deform};
pub use driven::{PosedLooks, looks_at};
pub use lens::PosedLens;
pub use moment::Moment;
pub use order::OrderedInstances;
pub use rig_pose::RigPose;
pub use shape::{shape, shape_at};
pub use shape_keys::sweep_shapes;
pub use sweep::{ShutterTime, sweep_camera, sweep_instances};
pub use transforms::{ordered_transforms, shown_meshes, world_transforms};
