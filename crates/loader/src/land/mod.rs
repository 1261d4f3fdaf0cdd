//! Terrain geometry: height fields, strips along curves, heights of meshes, and distances in the XZ plane.
//!
//! This module is pure geometry. The loader of scene files resolves names and reports errors.

mod cells;
pub mod distances;
mod grid;
pub mod ground;
mod lattice;
mod noise;
pub mod ribbon;
pub mod terrain;
