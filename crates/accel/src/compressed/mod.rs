//! Trees for GPUs, built from float trees: the boxes of a node's children are stored in cells of the node's grid (Ylitie, Karras and Laine 2017).
//!
//! `compress` creates the trees; `slots` and `quantize` are its two steps per node. `blas` and `tlas` define the leaves, and `patch` those of triangles.

pub mod blas;
pub mod compress;
pub mod patch;
pub mod quantize;
pub mod refit;
pub mod slots;
#[cfg(test)]
mod tests;
pub mod tlas;
pub mod validate;
pub mod walk;
