//! Land seen from above: height fields, strips along curves, the height of meshes and distances in the XZ plane.
//!
//! All of it is plain geometry; the loader of scene files looks up names and makes errors.

mod cells;
pub mod distances;
mod grid;
pub mod ground;
mod lattice;
mod noise;
pub mod ribbon;
pub mod terrain;
