//! throng renders scenes in which the same meshes appear thousands to millions of times.
//!
//! ```no_run
//! throng::Renderer::open("model.glb")?.size(1280, 720).frame(1)?.save("model.png")?;
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! # From a scene to a picture
//!
//! A file or a description becomes a [`Scene`]. A [`Renderer`] keeps the scene on a device. Its frames become an [`Image`] in memory, or files:
//!
//! ```text
//! scene.ron, model.glb, .obj, ...  ─ loader::load ─┐
//! scene::desc::SceneFile, in code  ─ loader::build ┴→ Scene → Renderer ┬ frame, radiance  → Image
//!                                                                      ├ write            → files, videos; FrameObserver
//!                                                                      └ trace, occluded  → Hit
//! ```
//!
//! - **Start** with [`Renderer::open`], which accepts every input of the command line, with equal defaults: a model stands in a studio, with a camera
//!   that shows all of it. Data are loaded when they are needed, and kept from frame to frame.
//! - **Build a scene in code** as a [`SceneFile`](scene::desc::SceneFile), which is the scene file format as types: parse the fixed parts, push the
//!   computed parts, and pass it to [`Renderer::from_desc`]. Its meshes may be triangles in memory.
//! - **Read or change a loaded scene**: [`Scene`] is plain data, whose parts refer to each other by index. [`Renderer::from_scene`] checks the
//!   indices.
//! - **Trace rays** against any frame with [`Renderer::trace`] and [`Renderer::occluded`], on the CPU or a GPU.
//! - **Write pictures and videos** with [`Renderer::write`] and [`Renderer::write_with`], and observe progress with a
//!   [`FrameObserver`](report::FrameObserver).
//! - **Set all other options** with [`Renderer::with`]: all flags of `throng render` are fields of [`PictureOptions`](settings::PictureOptions).
//!   [`DeviceChoice`] selects the device, for [`Renderer::device`].
//! - **Edit scene files** that people have written with [`edit`], which keeps every other byte.
//!
//! `examples/in_code.rs`, `own_rays.rs` and `frames.rs` are short programs for three of these.
//!
//! # Spaces and units
//!
//! World space is right-handed, and Y is up. Cameras look along their -Z axis. Lengths are in scene units (metres for glTF files), and times are in
//! seconds. Frames count from 1, or from the scene's `first_frame`. Colours are linear Rec.709, and radiance is in the scene's own unit. Angles are
//! in degrees in descriptions and options, and in radians in a [`Scene`]. Triangles are counter-clockwise seen from their front. Rows of pictures
//! begin at the top. Vectors, rotations and matrices are types of [`glam`].
//!
//! # Errors
//!
//! An [`Error`] is an enum of causes, and its text is one line that names the file, the object and a remedy. No file can make the library panic. If
//! loading continues despite a problem, [`Scene::warnings`] has a line about it; the library prints nothing.
//!
//! ```
//! let error = throng::Renderer::open("no/such/model.glb").err().unwrap();
//! assert!(matches!(error, throng::Error::Load(_)));
//! assert_eq!(error.to_string(), "no/such/model.glb: no such file: check the path");
//! ```
//!
//! # Features
//!
//! None is required. `cuda` adds NVIDIA GPUs: the program also starts without a driver, and [`DeviceChoice::Auto`] uses GPUs if there are any. `ktx2`
//! reads Basis Universal in KTX 2 files. `cli` is the program `throng`, which libraries do not need. All three are on by default. `docs/library.md`
//! describes the entry for `Cargo.toml`.
//!
//! # Stability
//!
//! Everything documented here is meant for use; everything else is private. For one version, pictures are bit-identical for any number of threads and
//! frames, and for all devices of one kind. Other versions may produce different pictures, and may change the types.

#![warn(missing_docs)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
mod farm;
mod renderer;
pub mod report;

/// The vectors, rotations and matrices of public types.
pub use glam;
pub use renderer::{Channel, GpuImage, Hit, Image, LayeredImage, Ray, Renderer};
#[doc(inline)]
pub use throng_device::{DeviceChoice, DeviceNameError, FrameProgress};
#[doc(inline)]
pub use throng_edit as edit;
#[doc(inline)]
pub use throng_loader as loader;
#[doc(inline)]
pub use throng_scene as scene;
#[doc(inline)]
pub use throng_scene::Scene;
#[doc(inline)]
pub use throng_settings as settings;
#[doc(inline)]
pub use throng_settings::Error;

/// Compiles the examples of docs/library.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
