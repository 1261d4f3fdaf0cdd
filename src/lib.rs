//! throng renders scenes in which the same meshes appear thousands to millions of times.
//!
//! ```no_run
//! throng::Renderer::open("model.glb")?.size(1280, 720).frame(1)?.save("model.png")?;
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! # The way of a picture
//!
//! A file or a description becomes a [`Scene`], a [`Renderer`] keeps the scene on a device, and frames of it become an [`Image`] in memory or
//! files:
//!
//! ```text
//! scene.ron, model.glb, .obj, ...  ─ loader::load ─┐
//! scene::desc::SceneFile, in code  ─ loader::build ┴→ Scene → Renderer ┬ frame, radiance  → Image
//!                                                                      ├ write            → files, videos; FrameObserver
//!                                                                      └ trace, occluded  → Hit
//! ```
//!
//! - **Start** with [`Renderer::open`], which takes whatever the command line does, with the same defaults: a model stands in a studio, and has a
//!   camera that shows all of it. Nothing is loaded before it is needed, and what was loaded is kept from frame to frame.
//! - **Build a scene in code** as a [`SceneFile`](scene::desc::SceneFile), which is the scene file format as types: parse what is fixed, push what
//!   is computed, and give it to [`Renderer::from_desc`]. Its meshes may be triangles in memory.
//! - **Read or change a loaded scene**: [`Scene`] is plain data, in which things refer to each other by index.
//!   [`Renderer::from_scene`] checks the indices.
//! - **Trace rays of your own** against any frame with [`Renderer::trace`] and [`Renderer::occluded`], on the CPU or a GPU.
//! - **Make films** with [`Renderer::write`] and [`Renderer::write_with`], and watch them being made with a
//!   [`FrameObserver`](report::FrameObserver).
//! - **Choose** what has no method of its own by [`Renderer::with`]: all flags of `throng render` are fields of
//!   [`PictureOptions`](settings::PictureOptions). [`DeviceChoice`] is the device, for [`Renderer::device`].
//! - **Change scene files** that people have written with [`edit`], which keeps every other byte.
//!
//! `examples/in_code.rs`, `own_rays.rs` and `frames.rs` are short programs for three of these.
//!
//! # Spaces and units
//!
//! World space is right-handed, and Y is up. Cameras look along their -Z axis. Lengths are in scene units (metres for glTF files), times in
//! seconds, and frames count from 1 or from their scene's `first_frame`. Colours are linear Rec.709, and radiance has no unit but its scene's.
//! Angles are in degrees in descriptions and options, and in radians in a [`Scene`]. Triangles are counter-clockwise seen from their front. Rows of pictures begin at the
//! top. Vectors, rotations and matrices are those of [`glam`].
//!
//! # Errors
//!
//! An [`Error`] is an enum by what is wrong, and its text is one line that names the file, the thing and what to do. No file can make
//! the library panic. Where loading goes on all the same, [`Scene::warnings`] has a line for it; the library prints nothing.
//!
//! # Features
//!
//! None is needed. `cuda` brings NVIDIA GPUs: the program starts without a driver, too, and
//! [`DeviceChoice::Auto`] takes them where there are some. `ktx2` reads Basis Universal in KTX 2 files. `cli` is the program
//! `throng`, and libraries do without. With the default ones, all three are on. See `docs/library.md` for what belongs in `Cargo.toml`.
//!
//! # Stability
//!
//! What is documented here is meant to be used, and what is not is private. Pictures of a version are the same to the bit for any number of
//! threads and frames, and of devices of one kind; another version may make others, and the types may change with it.

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
mod css;
mod denoise;
mod device;
mod diff;
mod disk;
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
mod merge;
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
/// The vectors, rotations and matrices of public types.
pub use glam;
pub use renderer::{Channel, Hit, Image, Ray, Renderer};
pub use scene::Scene;

/// The examples of docs/library.md compile.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
