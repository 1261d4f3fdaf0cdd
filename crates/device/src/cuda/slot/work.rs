//! The work that a frame requires, and the steps in which it is queued.

use crate::{
    KeptPicture, OwnRays,
    cuda::{
        denoise_filter::GpuFrame,
        waves::{Chunk, ChunkLaunch, Cut, GpuStage},
    },
    film::adaptive::Passes,
};
use cust::{
    error::CudaResult,
    event::{Event, EventFlags, EventStatus},
    stream::Stream,
};
use std::{collections::VecDeque, ops::Range, time::Duration};
use throng_abi::{ExrParams, Params};
use throng_picture::aov::{AovSet, channels::FileRows};

/// The work that a frame requires.
pub struct Task {
    pub cut: Cut,
    pub passes: Passes,
    /// Sample count at which the picture is finished; adaptive pictures may finish earlier. Passes may end before the picture is finished.
    pub samples: u32,
    /// AOVs to gather when the picture is finished.
    pub aovs: AovSet,
    /// Rows of a file, if the picture is to be encoded as blocks.
    pub file_rows: Option<FileRows>,
    /// Memory for the frame in the form that the denoiser reads, and the AOVs to return in addition.
    pub records: Option<(GpuFrame, AovSet)>,
    /// Whether the picture stays on the GPU.
    pub keeps_picture: bool,
    pub started: Event,
    /// Lists to which the frame's rays are appended; wavefront schedule only.
    pub own_rays: Option<OwnRays>,
    /// Number of frames whose pictures are on the film.
    pub frames: usize,
    /// Bytes of the picture's sums.
    pub film_bytes: usize,
    /// Whether the slot already holds the sums from which the frame continues.
    pub holds_film: bool,
    /// See [`FrameSettings::shares_cover`](crate::FrameSettings::shares_cover).
    pub shares_cover: bool,
}

/// The remaining work for the frame in a slot.
pub struct RemainingWork {
    pub(super) params: Params,
    /// As it was accepted. AOVs, rows and records are cleared if the passes end before the picture is finished.
    pub(super) task: Task,
    /// Remaining chunks of the current pass.
    pub(super) chunks: VecDeque<Chunk>,
    pub(super) phase: Phase,
    /// Whether chunks gather the AOVs, except for the variance, which needs all samples.
    pub(super) gathers: bool,
    /// One event per queued chunk.
    pub(super) under_way: VecDeque<Event>,
    pub(super) marks: Vec<(GpuStage, Event)>,
}

/// The next step of a frame's work, which is queued once the step's event is past.
pub(super) enum Phase {
    /// The next chunk of the pass; after the last chunk, the pass ends.
    Sampling,
    /// The rest of a partly queued chunk.
    Partly(Box<ChunkLaunch>, Event),
    /// The next pass, planned from the measured noise, if one is needed.
    Measuring(Event),
    /// AOVs of these items; after the last ones, the picture.
    Gathering(Range<u32>),
    /// The copy of a file's blocks to the host, once their offsets are available.
    Compressing(ExrParams, Event),
    /// No step is left.
    Finished(Event, Outcome),
}

/// The form of a finished picture.
pub(super) enum Outcome {
    /// Pixels and AOVs in page-locked memory.
    Pixels,
    /// Blocks of a file in page-locked memory: their offsets and total size in bytes.
    Blocks(Vec<u64>, usize),
    /// A picture on the GPU.
    Kept(KeptPicture),
}

impl Phase {
    /// The event that must be past before the next step.
    pub(super) fn event(&self) -> Option<&Event> {
        match self {
            Self::Sampling | Self::Gathering(_) => None,
            Self::Partly(_, event)
            | Self::Measuring(event)
            | Self::Compressing(_, event)
            | Self::Finished(event, _) => Some(event),
        }
    }
}

// SAFETY: the pointers in the parameters are GPU addresses, which are not tied to a thread.
unsafe impl Send for RemainingWork {}

/// Records an event at the end of the queued work.
pub fn event_now(stream: &Stream) -> CudaResult<Event> {
    let event = Event::new(EventFlags::DEFAULT)?;
    event.record(stream)?;
    Ok(event)
}

/// Time between two events; zero if `end` came first.
pub fn elapsed(begin: &Event, end: &Event) -> CudaResult<Duration> {
    let milliseconds = end.elapsed_time_f32(begin)?;
    Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) * 1e-3))
}

/// Whether all work before an event is finished.
pub(super) fn is_past(event: &Event) -> CudaResult<bool> {
    Ok(matches!(event.query()?, EventStatus::Ready))
}
