//! Trees for GPUs: nodes whose children's boxes are cells of the node's grid, made from float trees (Ylitie, Karras and Laine 2017).
//!
//! `compress` makes them, with `slots` and `quantize` for its two steps per node; `blas` and `tlas` say what their leaves are.

pub mod blas;
pub mod compress;
pub mod quantize;
pub mod refit;
pub mod slots;
#[cfg(test)]
mod tests;
pub mod tlas;
pub mod validate;
