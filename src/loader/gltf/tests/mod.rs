//! The loader against small files built here, damaged ones, and real ones where they are.

pub(in crate::loader) mod builder;
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
