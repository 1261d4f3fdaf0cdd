//! The scene at a time: the camera, the transforms of all instances, and the poses of rigs and shapes of their meshes.
//!
//! All functions are pure functions of the scene and the time. No state is kept between frames, so any frame can be rendered independently.

mod anchors;
mod bend;
mod camera;
mod clip;
mod deform;
#[cfg(test)]
mod deform_tests;
mod lens;
mod moment;
mod motion;
mod order;
mod palette;
mod rig_pose;
mod shape;
mod shape_keys;
mod shutter;
mod skinning;
mod tables;
#[cfg(test)]
mod tables_tests;
mod transforms;
mod turn;
mod turning;

pub use camera::{CameraPose, camera_at, camera_pose};
pub use deform::{BindPose, Deformed, deform};
pub use lens::lens_at;
pub use moment::Moment;
pub use order::OrderedInstances;
pub use rig_pose::RigPose;
pub use shape::{shape, shape_at};
pub use shape_keys::shape_shutter_keys;
pub use shutter::{ShutterTime, camera_shutter_keys, instance_shutter_keys};
pub use skinning::turn_mirrored;
pub use tables::{PosedTables, clay_tables, posed_tables};
pub use transforms::{
    hidden_instances, instance_world, ordered_transforms, shown_instances, shown_meshes, way_world, world_transforms,
};
