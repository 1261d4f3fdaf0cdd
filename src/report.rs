//! Reports about a run: on each frame for a [`FrameObserver`], and on all frames in a [`Summary`].
//!
//! ```
//! use throng::{
//!     Renderer,
//!     report::{FrameObserver, FrameReport},
//!     settings::{Destination, FrameOptions},
//! };
//! use std::sync::atomic::AtomicBool;
//!
//! struct Lines;
//!
//! impl FrameObserver for Lines {
//!     fn frame_done(&mut self, report: &FrameReport) {
//!         println!("{} took {:.0} ms", report.path.display(), report.trace_ms);
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let frames = FrameOptions {
//!     output: Some(Destination::parse(folder.path().join("{model}_##.png"))?),
//!     frames: Some("1-72:36".parse()?),
//!     ..FrameOptions::default()
//! };
//! let mut renderer = Renderer::open("assets/link.obj")?.size(64, 64).samples(1);
//! let summary = renderer.write_with(&frames, &mut Lines, &AtomicBool::new(false))?;
//! assert_eq!(summary.frames, 2);
//! assert!(folder.path().join("link_37.png").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(inline)]
pub use throng_device::{FrameProgress, RayCounts};
#[doc(inline)]
pub use throng_render::{
    Busy, BusyShares, FrameNoise, FrameObserver, FrameReport, Sampled, Skipped, Summary, sanity::Blank,
};
