//! The scene and a frame's data in the memory of a GPU.

pub mod blas_pool;
pub mod lights;
pub mod material_tables;
pub mod scene;
pub mod shapes;
pub mod shutter;
pub mod tlas;
pub mod tlas_build;
pub mod views;
