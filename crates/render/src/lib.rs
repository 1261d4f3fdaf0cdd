//! Rendering of frames. [`Driver`] chooses between two drivers: `overlapped` for many frames, `paced` for frames that are kept or shown before
//! they are finished. Both pose, trace, denoise and write frames with the parts below; frames in memory ([`LoadedScene`]) and comparisons of
//! devices ([`compare`]) are paced, too. The viewer has a loop of its own.

pub mod compare;
pub mod frames;
pub mod measure;
pub mod report;
pub mod sanity;

mod assemblies;
mod background;
mod busy;
mod deforming;
mod error;
mod existing;
mod exposure;
mod frame_queue;
mod frame_report;
mod in_memory;
mod job;
mod keeper;
mod kept_trees;
mod material_counts;
mod other_poses;
mod outputs;
mod overlapped;
mod paced;
mod plan;
mod pose;
mod pose_settings;
mod pose_stage;
mod prepare;
mod ray_files;
mod refine;
mod sampling;
mod slices;
mod summary;
#[cfg(test)]
mod tests;
mod tree_cache;
mod tree_source;
mod window;
mod write;

pub use background::Background;
pub use busy::{Busy, BusyShares};
pub use error::RenderError;
pub use existing::{Mismatched, SkipExisting};
pub use exposure::{AutoExposure, Measured};
use frame_queue::FrameQueue;
pub use frame_queue::Skipped;
pub use frame_report::{FilmError, FrameReport, Sampled};
pub use in_memory::LoadedScene;
pub use job::RenderJob;
pub use material_counts::MaterialCounts;
pub use other_poses::other_pose;
pub use outputs::Outputs;
pub use plan::{Driver, Wanted};
pub use pose::Poser;
pub use pose_settings::PoseSettings;
pub use ray_files::{RayError, check_rays};
pub use sampling::sampling;
pub use summary::{FrameObserver, Summary};
pub use tree_cache::{CacheError, TreeCache, TreeCounts};
pub use tree_source::TreeSource;
pub use window::film_frame;

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
        Driver::Overlapped => overlapped::run(job, device, observer, stop),
        Driver::Paced(ongoing) => paced::run(job, ongoing, device, observer, stop),
    }
}

pub(crate) fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}
