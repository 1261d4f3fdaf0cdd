//! The trait that every device implements.

use super::{
    Delivery, Frame, FrameProgress, FrameSettings, OwnRays, RayKind, Rendered, Samples, WorkCounts, cuda::Unavailable,
};
use std::{sync::Arc, time::Duration};
use throng_abi::{Hit, Ray};
use throng_accel::NodeLayout;
use throng_scene::{LostReference, Scene};

/// Reason why a device could not be opened, or failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("{0}")]
    Failed(String),
    #[error("{reason}; {}", .reason.advice())]
    NoGpu {
        #[from]
        reason: Unavailable,
    },
    #[error(transparent)]
    Scene(#[from] LostReference),
    #[error("interrupted")]
    Stopped,
}

impl DeviceError {
    /// Prefixes the message of [`Self::Failed`] with the device's name, for use with several devices.
    pub fn on(self, device: &str) -> Self {
        match self {
            Self::Failed(what) => Self::Failed(format!("{device}: {what}")),
            other => other,
        }
    }
}

/// Called repeatedly during long work; returns true to stop it.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// A device that renders frames and traces rays of one scene at a time.
pub trait Device: Send {
    /// Description for users, like "cpu (avx512, 2 threads)".
    fn describe(&self) -> String;

    /// Number of CPU threads that tracing uses.
    fn threads(&self) -> usize;

    /// Node layout that [`Frame`]s must have.
    fn node_layout(&self) -> NodeLayout;

    /// Maximum number of frames that may be under way.
    fn queue_depth(&self) -> usize;

    /// Number of frames that are computed in parallel.
    fn device_count(&self) -> usize {
        1
    }

    /// Whether the device supports [`Delivery::file_rows`].
    fn makes_blocks(&self) -> bool {
        false
    }

    /// Whether the device builds TLASes that were left to it.
    fn builds_tlases(&self) -> bool {
        false
    }

    /// Whether the device supports [`Delivery::keeps_picture`].
    fn keeps_pictures(&self) -> bool {
        false
    }

    /// Whether the device fills [`Rendered::stages`].
    fn has_stages(&self) -> bool {
        false
    }

    /// Progress of the frame under way, updated while it is rendered. `None` if the device does not report progress.
    fn progress(&self) -> Option<Arc<FrameProgress>> {
        None
    }

    /// Loads `scene`, to which all later frames must belong. Frames under way from a run that ended early are discarded.
    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError>;

    /// Starts a frame; at most [`Self::queue_depth`] may be under way. The frame loop reuses a TLAS once it holds the only reference. A device that
    /// copies the TLAS drops the frame after the copy; other devices drop it when the frame is collected.
    ///
    /// # Errors
    /// If this fails, frames that were under way before can still be collected.
    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError>;

    /// Number of frames with these settings that make a batch: together they fill the device, and a single one does not. 1 if frames are rendered one
    /// by one. The scene must be loaded.
    fn frames_per_batch(&mut self, _: &FrameSettings, _: Delivery) -> usize {
        1
    }

    /// Starts frames as a batch, which counts as one frame under way until its first frame is collected. [`Self::collect`] returns each of them, in
    /// order, with pixels and AOVs, or with its kept picture: of `Delivery`, only [`Delivery::keeps_picture`] counts. Frames may be more than [`Self::frames_per_batch`].
    ///
    /// # Errors
    /// If the device has no batches, or if [`batch::can_join`](crate::batch::can_join) is false for two of the frames. Frames that were under way
    /// before can still be collected.
    fn submit_batch(&mut self, _: Vec<Frame>, _: &FrameSettings, _: Delivery) -> Result<(), DeviceError> {
        let name = self.describe();
        Err(DeviceError::Failed(format!("{name} renders frames one by one")))
    }

    /// Waits for the oldest frame under way.
    ///
    /// # Errors
    /// [`DeviceError::Stopped`] once `stop` returns true. Any error loses all frames under way. After an error other than `Stopped`, only
    /// [`Device::load`] may follow.
    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError>;

    /// Adds samples to `film` until it has `until`, and returns the resulting picture. `until` must not exceed the settings' sample count, unless the
    /// film already has that many. AOVs are returned if the picture is finished or [`Delivery::unfinished_aovs`] is set. No frame may be under
    /// way. Rays and times are those of this call. The sums stay in the device's own memory, if it has some, until [`Self::download`].
    ///
    /// Without a noise target, the caller may choose the tiles that get samples: if the film's state names tiles, samples are added to these only,
    /// and pixels and AOVs are valid for them only.
    ///
    /// # Errors
    /// If `film` does not fit the settings, or the device does not support this. After an error, the contents of `film` are undefined.
    fn add_samples(
        &mut self,
        _: &Frame,
        _: &FrameSettings,
        _: Delivery,
        _film: &mut Samples,
        _until: u32,
        _: &Stop,
    ) -> Result<Rendered, DeviceError> {
        let name = self.describe();
        Err(DeviceError::Failed(format!("{name} cannot go on with a picture")))
    }

    /// Copies the sums of `film` to host memory, unless they are there.
    ///
    /// # Errors
    /// If the device does not have the sums, because it has done other work since samples were added, or if it fails.
    fn download(&mut self, film: &mut Samples) -> Result<(), DeviceError> {
        film.host().map(drop)
    }

    /// Renders a frame and returns its rays, which take 32 bytes each. No frame may be under way. The rays are meant for [`Device::trace`] with this
    /// frame; shadow rays for [`RayKind::Any`]. Returns `None` if the device does not gather the rays of a frame in queues, because their timing
    /// would then not be comparable to [`Device::trace`]. Rays of frames with motion are not comparable either: they store a time in place of
    /// `t_min`.
    fn own_rays(&mut self, _: &Frame, _: &FrameSettings) -> Result<Option<OwnRays>, DeviceError> {
        Ok(None)
    }

    /// Traces `rays` against a posed frame into `hits` (of the same length), `passes` times. Returns the time of each pass, without copies to and
    /// from the device. No frame may be under way. `t_min` must be at least 0 and not NaN. For a miss, and for every result of [`RayKind::Any`], only
    /// `t` is meaningful; `Any` sets it to 1 for a hit and -1 otherwise. In a frame with motion, instances have their transforms at the frame's time,
    /// and deforming meshes have their shape at shutter opening.
    fn trace(
        &mut self,
        frame: &Frame,
        kind: RayKind,
        rays: &[Ray],
        hits: &mut [Hit],
        passes: u32,
    ) -> Result<Vec<Duration>, DeviceError>;

    /// Counts the traversal work of `rays`, each traced on its own. [`Device::trace`] may trace several rays through a tree together and visit less.
    /// Counting is slower than tracing. Returns `None` if the device does not count. Counts depend on the device's own trees, but not on the number
    /// of threads.
    fn count_work(&mut self, _: &Frame, _: RayKind, _rays: &[Ray]) -> Result<Option<WorkCounts>, DeviceError> {
        Ok(None)
    }
}
