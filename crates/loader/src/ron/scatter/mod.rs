//! Copies that are scattered on meshes: points, and the rules by which they are kept.

pub mod conditions;
mod poisson;
pub mod rules;
pub mod sites;
mod surfaces;

pub use sites::SurfacePoint;
