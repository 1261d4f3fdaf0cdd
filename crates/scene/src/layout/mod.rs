//! Meshes, their instances and assemblies, and the names of all of them.

pub mod assembly;
pub mod curves;
pub mod demand;
pub mod mesh;
pub mod names;
pub mod placement;
pub mod references;
#[doc(hidden)]
pub mod rest;
pub mod ways;
