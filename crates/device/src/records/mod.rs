//! Parameters and tables in the layout that kernels read, for all devices.

pub mod attributes;
mod block_encoder;
pub mod frame_aovs;
#[cfg(test)]
pub mod layout;
pub mod material_tables;
pub mod mips;
pub mod params;
#[cfg(any(feature = "cuda", test))]
pub mod pieces;
pub mod pool;
pub mod tables;
