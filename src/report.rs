//! Reports about a run: on each frame for a [`FrameObserver`], and on all frames in a [`Summary`].

#[doc(inline)]
pub use throng_device::{FrameProgress, RayCounts};
#[doc(inline)]
pub use throng_render::{
    Busy, BusyShares, FilmError, FrameObserver, FrameReport, Sampled, Skipped, Summary, sanity::Blank,
};
