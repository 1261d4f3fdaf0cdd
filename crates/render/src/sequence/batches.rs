//! The plan of batches: the frames of a run that are posed one after the other, so that a device can render them together.
//!
//! A batch has consecutive frames of one moment, so one pose serves all of them. Whether devices can render posed frames together is decided by
//! `throng_device::batch::can_join`, because it depends on what kernels read. Denoised frames are not in batches, because
//! their neighbours may be, and neither are frames with labels, which are traced between pictures.

use crate::RenderJob;
use throng_device::Device;

/// Maximum number of frames in a batch if runs share a folder. Each claim keeps a file open, and other runs wait for the frames.
const MOST_CLAIMED: usize = 64;

/// The division of a run's frames into batches.
pub struct Batches<'a> {
    job: &'a RenderJob,
    /// Maximum number of frames in a batch.
    most: usize,
}

impl<'a> Batches<'a> {
    /// Batches of `job` on a device that has loaded its scene.
    pub fn of(job: &'a RenderJob, device: &mut dyn Device) -> Self {
        let has_labels = !job.output.labels.list().is_empty();
        let is_alone = job.denoising.is_some() || has_labels || job.frames.len() < 2;
        let most = if is_alone { 1 } else { device.frames_per_batch(&job.settings, job.delivery) };
        Self { job, most: if job.output.claims.is_some() { most.min(MOST_CLAIMED) } else { most } }
    }

    /// Whether `next` is in the batch that begins with frame `first` and has `count` frames so far.
    pub fn has_room(&self, (first, count): (u32, usize), next: u32) -> bool {
        count < self.most && self.is_one_moment(first, next)
    }

    /// Number of times that the moment changes from one frame to the next, plus one.
    pub fn moments(&self) -> usize {
        let frames: Vec<u32> = self.job.traced_frames().into_iter().collect();
        1 + frames.windows(2).filter(|pair| !self.is_one_moment(pair[0], pair[1])).count()
    }

    /// Whether the scene is the same in both frames, except for the camera.
    fn is_one_moment(&self, a: u32, b: u32) -> bool {
        !self.job.scene.is_animated() || self.job.time_of(a) == self.job.time_of(b)
    }
}
