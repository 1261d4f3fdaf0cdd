//! throng renders scenes in which the same meshes appear thousands to millions of times.
//!
//! ```no_run
//! throng::Renderer::open("model.glb")?.size(1280, 720).frame(1)?.save("model.png")?;
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! [`Renderer`] is the short way; it and the command line are made of the same parts, which are public as well.
//!
//! Dependencies between the modules point one way:
//! `{cli, renderer} → settings → render → {device, anim, output} → accel → scene → math`, and `cli → view → preview → {settings, edit}`;
//! `loader` depends on `scene`, `math` and the part of `anim` that poses models; `accel` does not depend on `device`; `edit` depends on `loader`,
//! `output` and `anim`.

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
#[cfg(feature = "test-seams")]
pub mod disk;
#[cfg(not(feature = "test-seams"))]
mod disk;
pub mod edit;
mod error;
pub mod farm;
pub mod files;
pub mod film;
mod guard;
pub mod light;
pub mod loader;
pub mod math;
mod memory;
pub mod output;
pub mod pixels;
pub mod preview;
#[cfg(feature = "test-seams")]
pub mod probe;
#[cfg(test)]
#[expect(dead_code, reason = "the rest is for tests/cli")]
#[path = "../tests/process/mod.rs"]
mod process;
mod quoting;
pub mod render;
pub mod renderer;
pub mod scene;
pub mod settings;
#[cfg(test)]
mod testing;
#[cfg(feature = "view")]
pub mod view;

pub use error::Error;
pub use renderer::{Image, Renderer};
