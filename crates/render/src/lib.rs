//! Rendering of frames. [`Driver`] chooses between two drivers: `sequence::overlapped` for many frames, `sequence::paced` for frames that are
//! kept or shown before they are finished. Both pose, trace, denoise and write frames with the parts in `posing`, `sequence` and `results`.
//! Frames in memory ([`LoadedScene`]) overlap on devices with a queue and are paced on others; comparisons of devices ([`compare`]) are paced. The viewer has a loop of its own.

pub mod compare;
pub mod frame_info;
pub mod frames;
pub mod labels;
pub mod measure;
pub mod report;
pub mod sanity;

mod error;
mod exposure;
mod job;
mod posing;
mod ray_files;
mod results;
mod sequence;
#[cfg(test)]
mod tests;

pub use error::RenderError;
pub use exposure::{AutoExposure, Measured};
pub use job::RenderJob;
pub use posing::other_poses::other_pose;
pub use posing::pose::Poser;
pub use posing::pose_settings::PoseSettings;
pub use posing::tree_cache::{CacheError, TreeCache, TreeCounts};
pub use posing::tree_source::TreeSource;
pub use ray_files::{RayError, check_rays};
pub use results::background::Background;
pub use results::existing::{Mismatched, SkipExisting};
pub use results::frame_report::{FrameNoise, FrameReport, Sampled};
pub use results::material_counts::MaterialCounts;
pub use results::outputs::Outputs;
pub use results::summary::{FrameObserver, Summary};
pub use sequence::busy::{Busy, BusyShares};
use sequence::frame_queue::FrameQueue;
pub use sequence::frame_queue::Skipped;
pub use sequence::in_memory::LoadedScene;
pub use sequence::plan::{Driver, Wanted};
pub use sequence::prepare::exposures;
pub use sequence::sampling::sampling;
pub use sequence::window::recorded_frame;

use std::{sync::atomic::AtomicBool, time::Duration};
use throng_device::Device;

/// Renders and writes all frames of `job`. Files that were complete before an error, or before `stop` was set, stay on disk. Videos and
/// contact sheets appear only when they are complete.
///
/// # Errors
/// If the device fails or cannot load the scene, if a frame cannot be denoised or written, or if a thread cannot be started. A paced run also
/// fails if a checkpoint cannot be read or written, is damaged, or belongs to another picture. A run that is stopped is not an error: see
/// [`Summary::stopped`].
pub fn run(
    job: &RenderJob,
    driver: &Driver,
    device: &mut dyn Device,
    observer: &mut dyn FrameObserver,
    stop: &AtomicBool,
) -> Result<Summary, RenderError> {
    match driver {
        Driver::Overlapped => sequence::overlapped::run(job, device, observer, stop),
        Driver::Paced(ongoing) => sequence::paced::run(job, ongoing, device, observer, stop),
    }
}

pub(crate) fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}
