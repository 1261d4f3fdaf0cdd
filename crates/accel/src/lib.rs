//! Acceleration structures: one BLAS per mesh, one TLAS over the instances of a frame.
//!
//! Modules named by nouns hold data (`node`, `pack`, `buffer`, `blas`, `tlas`, `support`); modules named by verbs create or change it. Builders take
//! boxes, never meshes.
//!
//! - `build` builds trees, in one way per [`Quality`]: `curve` finds the leaves of fast trees; `collapse` makes a wide tree from a `binary` one,
//!   which `reinsert` may have improved; `occlusion` sorts children for any-hit rays.
//! - `refit` updates trees of moving geometry: `plan` divides the work among threads, `policy` chooses between refit and build.
//! - `compressed` trees, for GPUs, are made from float trees. Devices choose the [`NodeLayout`].
//! - `still` joins the tree over what moves in a frame to trees over what stands still.
//! - `nested` appends the trees of assemblies to the world's tree.
//! - `stored` writes BLASes to files and reads them back; `overlap` measures the quality of trees, and `validate` checks them.

mod blas;
#[cfg(test)]
mod blas_tests;
mod buffer;
mod build;
mod compressed;
mod curves;
mod key_shapes;
mod nested;
mod node;
mod overlap;
mod pack;
mod refit;
mod shutter;
mod still;
mod stored;
mod support;
mod surface;
mod tlas;
mod validate;

pub use blas::{Blas, BlasShape, Quality};
pub use buffer::{Buffer, reserve_huge_pages};
pub use build::{
    budget::{build_bytes, build_bytes_in_parts, curve_build_bytes},
    spatial::most_boxes,
};
pub use compressed::{
    blas::{CompressedLeaves, PoolOffset, pool_offsets},
    quantize::SLACK,
    tlas::mesh_trees,
};
pub use curves::shape_of;
pub use nested::{AssemblyTree, Nested};
pub use node::{NodeArray, NodeLayout, Tree, Wide};
pub use overlap::{blas_overlap, tlas_overlap};
pub use pack::Packs;
pub use refit::policy::{Followed, REFIT_FACTOR, RefitStats, rebuild_quality};
pub use still::{Place, StillTree};
pub use stored::TreeKey;
#[cfg(feature = "forging")]
pub use stored::forging;
pub use surface::{Geometry, Strands, Surface};
pub use tlas::{InstanceGroups, Tlas, TlasBuilder, TlasInput, Unbuilt};
pub use validate::TreeError;
