//! Vertices at a time: meshes that bend, and meshes with morph targets and skins.

mod bend;
mod deform;
#[cfg(test)]
mod deform_tests;
mod displace;
mod shape;
mod shape_keys;
mod skinning;
mod surface;

pub use deform::{BindPose, Deformed, deform};
pub use displace::displace;
pub use shape::{shape, shape_at, shape_of_curves};
pub use shape_keys::shape_shutter_keys;
pub use skinning::turn_mirrored;
pub use surface::{bind_tangents, refine};
