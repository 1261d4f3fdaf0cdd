//! Tests of the loader with small generated files, damaged files, and real files if available.

#[doc(hidden)]
pub mod builder;
mod check;
mod compression;
mod damage;
pub mod environment;
mod external;
mod geometry;
mod materials;
pub mod pointers;
mod pose_reference;
mod poses;
mod scenes;
mod shared;
mod tangents;
