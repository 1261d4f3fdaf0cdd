//! Materials, textures, lights and what lies between surfaces.

pub mod clay;
pub mod environment;
pub mod fog;
pub mod hair;
pub mod light;
pub mod lit;
pub mod material;
pub mod material_values;
pub mod properties;
pub mod texture;
