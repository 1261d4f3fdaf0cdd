//! Bones, weights, poses and clips of a skin, and the glTF file that contains them.

pub mod atlas;
pub mod clip;
pub mod glb;
mod gltf;
pub mod pose;
pub mod skeleton;
pub mod vertices;
pub mod weights;
