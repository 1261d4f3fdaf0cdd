//! What all parts of throng share and none owns.
//!
//! Nothing here depends on scenes, pictures or kernels.

pub mod choice;
pub mod css;
pub mod disk;
pub mod files;
#[cfg(feature = "cli")]
pub mod flags;
pub mod guard;
pub mod math;
pub mod memory;
pub mod quoting;
pub mod sync;
pub mod system;
