//! Acceleration structures: one BLAS per mesh, one TLAS over the instances of a frame.
//!
//! Nouns hold data (`node`, `buffer`, `blas`, `tlas`, `support`), verbs make or change it (`build`, `split`, `refit`,
//! `validate`). Builders take boxes, never meshes. Devices say which [`NodeLayout`] they want.

mod blas;
mod buffer;
mod build;
mod node;
mod refit;
mod split;
mod support;
mod tlas;
mod validate;

pub use blas::{Blas, BlasShape, Quality, corners};
pub use buffer::{Buffer, reserve_huge_pages};
pub use node::{NodeArray, NodeLayout, Tree, Wide};
pub use tlas::{Tlas, TlasBuilder, TlasInput};
pub use validate::TreeError;
