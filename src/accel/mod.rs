//! Acceleration structures: one BLAS per mesh, one TLAS over the instances of a frame.
//!
//! Nouns hold data (`node`, `pack`, `buffer`, `blas`, `tlas`, `support`), verbs make or change it (`build`, `group`, `split`,
//! `refit`, `validate`). `policy` chooses between refit and build, `refit_plan` shares a refit out to threads, `overlap` judges trees.
//! Each [`Quality`] has its way: `curve` finds leaves for `build`, and `collapse` makes the best of a `binary` tree, which may have
//! been through `reinsert`; `occlusion` sorts the children of its nodes for rays that look for any hit.
//!
//! `stored` puts BLASes into files and takes them from there.
//!
//! Compressed trees, for GPUs, are made from float trees: `compress`, with `slots` and `quantize` for its two steps per node;
//! `compressed_blas` and `compressed_tlas` say what their leaves are. Builders take boxes, never meshes. Devices say which
//! [`NodeLayout`] they want.

mod blas;
#[cfg(test)]
mod blas_tests;
mod buffer;
mod build;
mod compressed;
mod key_shapes;
mod node;
mod overlap;
mod pack;
mod refit;
mod stored;
mod support;
mod surface;
mod sweep;
mod tlas;
mod validate;

pub use blas::{Blas, BlasBytes, BlasShape, Quality};
pub use buffer::{Buffer, reserve_huge_pages};
pub use build::{budget::build_bytes, spatial::most_boxes};
pub use compressed::{
    blas::{PoolOffset, pool_offsets},
    quantize::SLACK,
    slots::Arrangement,
};
pub use node::{NodeArray, NodeLayout, Tree, Wide};
pub use overlap::{blas_overlap, tlas_overlap};
pub use pack::Packs;
pub use refit::policy::{Followed, REFIT_FACTOR, RefitStats, rebuild_quality};
pub use stored::TreeKey;
pub use surface::Surface;
pub use sweep::{Sweep, SweepSpan};
pub use tlas::{InstanceGroups, Tlas, TlasBuilder, TlasInput};
pub use validate::TreeError;
