//! The `instances` and `groups` sections, from placements with names to the instances of the scene.

mod bent;
mod drop;
mod instances;
mod into_scene;
mod joined;
mod nesting;
pub mod patterns;
mod placed;
pub mod placements;
pub mod random;
pub mod resolved;
mod table;

pub use into_scene::Placing;
