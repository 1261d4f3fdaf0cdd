//! Devices, which execute kernels: the trait that every device implements, and the choice of a device.

mod accumulation;
mod adaptive;
mod attributes;
#[cfg(any(throng_cuda, feature = "probe"))]
pub mod blocks;
mod choice;
mod cpu;
pub mod cuda;
mod delivery;
mod develop;
#[cfg(any(test, feature = "probe"))]
pub mod fake;
mod film_filter;
#[cfg(test)]
mod fog_tests;
mod folded;
mod frame;
mod frame_aovs;
mod frame_settings;
#[cfg(test)]
mod layout;
pub mod light;
mod material_tables;
mod multi_device;
mod params;
mod pool;
#[cfg(feature = "probe")]
pub mod probe;
mod progress;
mod region;
mod samples;
mod tables;
mod tiles;

use bytes::Bytes;
use std::{sync::Arc, time::Duration};
use throng_abi::{Hit, Ray, RayWork};
use throng_accel::NodeLayout;
use throng_base::choice::choice;
use throng_picture::aov::{Aov, AovImage, channels::FileBlocks};
use throng_scene::{LostReference, Scene};

pub use accumulation::{Accumulation, AccumulationState, layer_columns, layer_words};
pub use choice::{DeviceChoice, DeviceList, DeviceNameError, Opened, open, start_threads, together};
pub use cpu::{CpuDevice, Developer, FilmFilter, FilmLayers};
pub use delivery::Delivery;
pub use film_filter::{ALBEDO_FLOOR, DeviceFilm, FilmRecords, FilmWanted, Filtered, HostFilm};
pub use folded::FoldedFilm;
pub use frame::{Frame, OtherPose, PosedMesh};
pub use frame_settings::FrameSettings;
pub use multi_device::MultiDevice;
pub use params::tone_code;
pub use progress::FrameProgress;
pub use region::{Region, RegionError};
pub use samples::Samples;
pub use throng_picture::pixels::PixelType;
pub use tiles::{TILE, TileGrid};

/// The result of rendering a frame.
pub struct Rendered {
    /// RGB, row-major, the top row first, of type [`FrameSettings::pixels`], in native byte order.
    pub pixels: Bytes,
    /// The AOVs of [`FrameSettings::aovs`], in the order of [`AovSet::iter`].
    pub aovs: Vec<AovImage>,
    /// Rows of files, if [`Delivery::file_rows`] is set and the device made them. `pixels` and `aovs` are empty then.
    pub blocks: Option<FileBlocks>,
    /// The frame for the film denoiser, if [`Delivery::film_wanted`] is set and the device keeps it. `pixels` is empty then.
    pub film: Option<Arc<dyn DeviceFilm>>,
    pub rays: RayCounts,
    /// Time that the device worked on the frame, without waiting behind other frames.
    pub time: Duration,
    /// Times of the stages, if the device measures them.
    pub stages: Option<StageTimes>,
}

impl Rendered {
    /// Alpha of all pixels, or `None` if it is not among the AOVs.
    pub fn alpha(&self) -> Option<&[f32]> {
        self.aovs.iter().find(|image| image.aov == Aov::Alpha).map(|image| &image.values[..])
    }
}

/// Times that a GPU spent on the stages of a frame. They overlap if frames overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    pub primary: Duration,
    pub bounce: Duration,
    pub shadow: Duration,
    pub shade: Duration,
    /// Starting paths, accumulating their radiance, resolving and downloading the picture.
    pub other: Duration,
}

/// Number of rays of each kind in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RayCounts {
    /// Rays from the camera.
    pub primary: u64,
    /// Rays that continue from a surface or in a medium.
    pub bounce: u64,
    /// Rays to lights.
    pub shadow: u64,
}

impl RayCounts {
    /// All rays.
    pub fn total(&self) -> u64 {
        self.primary + self.bounce + self.shadow
    }
}

impl std::ops::AddAssign for RayCounts {
    fn add_assign(&mut self, other: Self) {
        self.primary += other.primary;
        self.bounce += other.bounce;
        self.shadow += other.shadow;
    }
}

/// Traversal work of ray queries, summed over their rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub rays: u64,
    pub tlas_nodes: u64,
    pub blas_nodes: u64,
    /// Instances entered. Analytic spheres are tested on entry.
    pub instances: u64,
    /// Leaves of BLASes: packs of up to eight or sixteen triangles, or single triangles in compressed trees.
    pub packs: u64,
    /// Triangles in these leaves.
    pub triangles: u64,
}

impl WorkCounts {
    /// Adds the counts of one ray.
    #[must_use]
    fn with(self, ray: &RayWork) -> Self {
        Self {
            rays: self.rays + 1,
            tlas_nodes: self.tlas_nodes + u64::from(ray.tlas_nodes),
            blas_nodes: self.blas_nodes + u64::from(ray.blas_nodes),
            instances: self.instances + u64::from(ray.instances),
            packs: self.packs + u64::from(ray.packs),
            triangles: self.triangles + u64::from(ray.triangles),
        }
    }
}

/// The rays of a frame, each kind in the order in which the device traced it. Their numbers match [`RayCounts`].
#[derive(Clone, Debug, Default)]
pub struct OwnRays {
    pub primary: Vec<Ray>,
    /// The rays of all bounces, ordered by bounce.
    pub bounce: Vec<Ray>,
    pub shadow: Vec<Ray>,
}

choice! {
    /// The result that a ray query computes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RayKind {
        /// The closest hit.
        Closest = "closest",
        /// Whether there is any hit.
        Any = "any",
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("{0}")]
    Failed(String),
    #[error("{reason}; {}", .reason.advice())]
    NoGpu {
        #[from]
        reason: cuda::Unavailable,
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
