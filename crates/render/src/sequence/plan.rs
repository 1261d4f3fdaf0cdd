//! The choice of the driver that renders a run.

use super::keeper::Ongoing;
use crate::RenderJob;
use std::{ops::Range, path::PathBuf, sync::atomic::AtomicBool, time::Duration};
use throng_device::Device;

/// The way in which a run renders its frames.
pub enum Driver<'a> {
    /// Posing, tracing and writing overlap, and the device's queue stays full.
    Overlapped,
    /// One frame at a time, whose unfinished samples can be kept and shown.
    Paced(Ongoing<'a>),
}

/// What a run has to do with unfinished frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Samples are kept in checkpoints.
    pub checkpoint: bool,
    /// Interval at which partial pictures are written.
    pub partial_interval: Option<Duration>,
    /// The output is a file of samples, not of pixels.
    pub is_film: bool,
    /// The run writes a single picture.
    pub is_single: bool,
}

impl<'a> Driver<'a> {
    /// The driver for a run on `device`. Frames that are kept or shown before they are finished are paced. A single picture always is, because
    /// it can then be written on request (`asked`). The exception is one device with a queue, which is fast, and faster without interruptions.
    /// Several devices share such a picture.
    pub fn of(wanted: Wanted, device: &dyn Device, asked: &'a AtomicBool) -> Self {
        let Wanted { checkpoint, partial_interval, is_film, is_single } = wanted;
        let is_slow_or_several = device.queue_depth() == 1 || device.device_count() > 1;
        if checkpoint || partial_interval.is_some() || is_film || is_single && is_slow_or_several {
            return Self::Paced(Ongoing { checkpoint, partial_interval, asked, part: None });
        }
        Self::Overlapped
    }

    /// The driver for `job`, of which only `part` is rendered, if given. Frames that get samples after denoising are paced.
    pub fn for_job(self, job: &RenderJob, part: Option<(PathBuf, Range<u32>)>, asked: &'a AtomicBool) -> Self {
        match self {
            Self::Paced(ongoing) => Self::Paced(Ongoing { part, ..ongoing }),
            Self::Overlapped if job.denoised_noise.is_some() => {
                Self::Paced(Ongoing { checkpoint: false, partial_interval: None, asked, part: None })
            }
            Self::Overlapped => Self::Overlapped,
        }
    }

    pub fn is_paced(&self) -> bool {
        matches!(self, Self::Paced(_))
    }
}
