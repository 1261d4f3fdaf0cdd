//! throng renders scenes in which the same meshes appear thousands to millions of times.
//!
//! Dependencies between the modules point one way:
//! `cli → settings → render → {device, anim, output} → accel → scene → math`;
//! `loader` depends on `scene`, `math` and the part of `anim` that poses models; `accel` does not depend on `device`.

pub mod abi;
pub mod accel;
pub mod anim;
pub mod aov;
pub mod choice;
#[cfg(feature = "cli")]
pub mod cli;
pub mod denoise;
pub mod device;
pub mod diff;
pub mod files;
pub mod film;
mod guard;
pub mod light;
pub mod loader;
pub mod math;
mod memory;
pub mod output;
pub mod pixels;
#[cfg(feature = "test-seams")]
pub mod probe;
#[cfg(test)]
#[expect(dead_code, reason = "the rest is for tests/cli")]
#[path = "../tests/process/mod.rs"]
mod process;
pub mod render;
pub mod scene;
#[cfg(feature = "cli")]
pub mod settings;
#[cfg(test)]
mod testing;
