//! Copies that are scattered on meshes: points, and the rules by which they are kept.

mod poisson;
mod rules;
pub mod sites;
mod surfaces;

pub use sites::SurfacePoint;
