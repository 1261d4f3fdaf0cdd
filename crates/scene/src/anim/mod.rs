//! The scene at a time: the camera, the transforms of all instances, and the poses of rigs and shapes of their meshes.
//!
//! All functions are pure functions of the scene and the time. No state is kept between frames, so any frame can be rendered independently.

mod anchors;
mod camera;
mod clip;
mod lens;
mod moment;
mod motion;
mod moves;
mod order;
mod palette;
mod posed_rows;
mod rig_pose;
mod shutter;
mod tables;
#[cfg(test)]
mod tables_tests;
mod transforms;
mod turn;
mod turning;
mod vertices;

pub use camera::{CameraPose, camera_at, camera_of_frame, camera_pose, view_pose};
pub use lens::{PosedLens, lens_at};
pub use moment::Moment;
pub use moves::{TimeSpan, has_rests, moving_instances};
pub use order::OrderedInstances;
pub use rig_pose::RigPose;
pub use shutter::{ShutterTime, camera_shutter_keys, instance_shutter_keys};
pub use tables::{PosedTables, clay_tables, posed_tables};
pub use transforms::{
    hidden_instances, instance_world, ordered_transforms, shown_instances, shown_meshes, way_world, world_transforms,
};
pub use vertices::{
    BindPose, Deformed, bind_tangents, deform, displace, refine, shape, shape_at, shape_of_curves, shape_shutter_keys,
    turn_mirrored,
};
