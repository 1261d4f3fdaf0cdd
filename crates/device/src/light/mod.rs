//! Structures from which the path integrator samples lights. Tables of the environment and of emissive meshes depend on the scene alone. A
//! tree over all lights inside the scene is built for each frame. The kernels that read them are `environment.h`, `light_tree.h` and
//! `emitters.h`.

mod alias;
mod emission;
mod emitters;
mod local;
#[cfg(feature = "probe")]
pub mod probe;
mod punctual;
mod sky;
mod tree;

pub use emission::emission_weights;
pub use emitters::{EmitterTables, Emitters, ShownShape};
pub use local::{LightCache, LocalTree, no_local_lights};
pub use punctual::{light_records, sun_count, sun_irradiance};
pub use sky::{SkyTable, gradient_fluence};
pub use tree::{LightBounds, LightLeaf, LightTree, build_light_tree};

use glam::Vec3;

/// Luminance of a linear Rec.709 colour.
pub fn luminance(c: Vec3) -> f32 {
    c.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}
