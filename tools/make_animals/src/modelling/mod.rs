//! Modelling with solids: signed distances, blended and meshed.

pub mod mesher;
mod quadric;
mod remesh;
pub mod sdf;
pub mod solid;
pub mod spine;
