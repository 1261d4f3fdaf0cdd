//! Frames at their moments: poses of instances and meshes, and the trees of each frame.

pub mod assemblies;
pub mod deforming;
pub mod divided;
pub mod kept_trees;
pub mod left;
pub mod other_poses;
pub mod pose;
pub mod pose_settings;
pub mod pose_stage;
pub mod tree_cache;
pub mod tree_source;
