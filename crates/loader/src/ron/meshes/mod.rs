//! The sections about shapes: `meshes` and `curves`, with the materials of model files.

pub mod contents;
pub mod curves;
mod displaced;
mod follow;
mod fur;
mod land;
mod model_entry;
mod shapes;
mod strands;
mod wind;
