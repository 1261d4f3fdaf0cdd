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

#![cfg_attr(not(feature = "test-seams"), warn(missing_docs))]
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports, reason = "the rest is for the command line"))]

#[allow(dead_code, reason = "some of it is for kernels, build.rs and tests")]
mod abi;
mod accel;
mod anim;
mod aov;
mod choice;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod denoise;
mod device;
mod diff;
pub mod edit;
mod error;
mod farm;
mod files;
mod film;
mod guard;
mod light;
pub mod loader;
mod math;
mod memory;
mod output;
mod pixels;
mod preview;
#[cfg(feature = "test-seams")]
mod probe;
#[cfg(test)]
#[expect(dead_code, reason = "the rest is for tests/cli")]
#[path = "../tests/process/mod.rs"]
mod process;
mod quoting;
mod render;
mod renderer;
pub mod report;
pub mod scene;
#[cfg(feature = "test-seams")]
pub mod seams;
pub mod settings;
#[cfg(test)]
mod testing;
#[cfg(feature = "view")]
mod view;

pub use device::{DeviceChoice, DeviceNameError};
pub use error::Error;
pub use glam;
pub use renderer::{Channel, Hit, Image, Ray, Renderer};
