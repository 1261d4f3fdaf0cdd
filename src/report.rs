//! What is told about a run: of each frame to a [`FrameObserver`], and of all of them in a [`Summary`].

pub use crate::{
    device::{FrameProgress, RayCounts},
    render::{Busy, BusyShares, FilmError, FrameObserver, FrameReport, Sampled, Skipped, Summary, sanity::Blank},
};
