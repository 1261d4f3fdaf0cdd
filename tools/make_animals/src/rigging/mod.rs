//! Bones, weights, poses and clips for a skin, and the glTF file that all of it goes into.

pub mod atlas;
pub mod clip;
pub mod glb;
mod gltf;
pub mod pose;
pub mod skeleton;
pub mod vertices;
pub mod weights;
