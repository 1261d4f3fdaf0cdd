//! Converts a parsed scene file to a `Scene`. Each section has a module.

mod camera;
mod checked;
mod convert;
pub mod file;
mod material;
mod meshes;
mod model_sets;
mod motions;
mod names;
pub mod placing;
mod scatter;
mod script;
mod settings;
mod surroundings;

pub use camera::pace_of;
pub use convert::{build, load};
pub use model_sets::ModelSets;
pub use throng_scene::text::{keys, overrides, source};
