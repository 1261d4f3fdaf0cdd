//! Devices, which execute kernels: the small trait that every device implements, and the choice among them.

mod accumulation;
mod adaptive;
mod attributes;
#[cfg(any(test, throng_cuda))]
mod blocks;
mod choice;
mod cpu;
pub mod cuda;
mod develop;
#[cfg(test)]
pub(crate) mod fake;
mod film_filter;
#[cfg(test)]
mod fog_tests;
mod folded;
mod frame;
mod frame_aovs;
mod frame_settings;
#[cfg(test)]
mod layout;
mod material_tables;
mod multi_device;
mod params;
mod pool;
mod progress;
mod region;
mod tables;
mod tiles;

use crate::{
    abi::{Hit, Ray, RayWork},
    accel::NodeLayout,
    aov::{Aov, AovImage, channels::FileBlocks},
    choice::choice,
    scene::{LostReference, Scene},
};
use bytes::Bytes;
use std::{sync::Arc, time::Duration};

pub use crate::pixels::PixelType;
pub use accumulation::{Accumulation, AccumulationState, DeviceCopy, layer_columns, layer_words};
pub use choice::{DeviceChoice, DeviceList, DeviceNameError, Opened, open, start_threads, together};
pub use cpu::{CpuDevice, Developer, FilmFilter, FilmLayers};
pub use film_filter::{ALBEDO_FLOOR, DeviceFilm, FilmRecords, FilmWanted, Filtered, HostFilm};
pub use folded::FoldedFilm;
pub use frame::{Frame, OtherPose, PosedMesh};
pub use frame_settings::FrameSettings;
pub use multi_device::MultiDevice;
pub use params::tone_code;
pub use progress::FrameProgress;
pub use region::{Region, RegionError};
pub use tiles::{TILE, TileGrid};

/// A frame that a device has finished.
pub struct Rendered {
    /// RGB, row-major, the top row first, of the type that [`FrameSettings::pixels`] asks for, in native byte order.
    pub pixels: Bytes,
    /// The AOVs that [`FrameSettings::aovs`] asks for, in the order of [`AovSet::iter`].
    pub aovs: Vec<AovImage>,
    /// Rows of files, if [`FrameSettings::file_rows`] asks for them and the device made them; then there are neither pixels nor AOVs.
    pub blocks: Option<FileBlocks>,
    /// The frame as the denoiser of films reads it, if [`FrameSettings::film_wanted`] asks for it and the device keeps it; then there are no
    /// pixels.
    pub film: Option<Arc<dyn DeviceFilm>>,
    pub rays: RayCounts,
    /// How long the device worked on it. Waiting behind other frames does not count.
    pub time: Duration,
    /// Where the time went, if the device can tell.
    pub stages: Option<StageTimes>,
}

impl Rendered {
    /// Alpha of all pixels, if it is among the AOVs.
    pub fn alpha(&self) -> Option<&[f32]> {
        self.aovs.iter().find(|image| image.aov == Aov::Alpha).map(|image| &image.values[..])
    }
}

/// The times that a GPU spent on the stages of a frame. Where frames overlap, so do these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    pub primary: Duration,
    pub bounce: Duration,
    pub shadow: Duration,
    pub shade: Duration,
    /// Starting paths, adding them up, resolving and downloading the picture.
    pub other: Duration,
}

/// How many rays of each kind a frame cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RayCounts {
    /// Rays from the camera.
    pub primary: u64,
    /// Rays that go on from a surface or in a medium.
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

/// Numbers of what ray queries visited and tested, summed over their rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub rays: u64,
    pub tlas_nodes: u64,
    pub blas_nodes: u64,
    /// Instances entered; an analytic sphere is tested then.
    pub instances: u64,
    /// Leaves of BLASes: packs of up to eight or sixteen triangles, or single ones in compressed trees.
    pub packs: u64,
    /// Triangles in these.
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

/// The rays that a frame cast, each kind in the order in which the device traced it; as many as [`RayCounts`] says.
#[derive(Clone, Debug, Default)]
pub struct OwnRays {
    pub primary: Vec<Ray>,
    /// The rays of all bounces, the first bounce's first.
    pub bounce: Vec<Ray>,
    pub shadow: Vec<Ray>,
}

choice! {
    /// The question that a query asks about each ray.
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
    /// The same error with the name of the device, where there are several.
    pub fn on(self, device: &str) -> Self {
        match self {
            Self::Failed(what) => Self::Failed(format!("{device}: {what}")),
            other => other,
        }
    }
}

/// Called again and again during long work to ask whether to give up.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// Something that renders frames and traces rays of one scene at a time.
pub trait Device: Send {
    /// Description for people, like "cpu (avx512, 2 threads)".
    fn describe(&self) -> String;

    /// Number of CPU threads that tracing uses.
    fn threads(&self) -> usize;

    /// Layout of the nodes that [`Frame`]s must have.
    fn node_layout(&self) -> NodeLayout;

    /// Number of frames that may be submitted before one is collected.
    fn queue_depth(&self) -> usize;

    /// Number of frames that can be worked on at the same moment.
    fn device_count(&self) -> usize {
        1
    }

    /// Whether it makes what [`FrameSettings::file_rows`] asks for.
    fn makes_blocks(&self) -> bool {
        false
    }

    /// Whether [`Rendered::stages`] tells where the time went.
    fn has_stages(&self) -> bool {
        false
    }

    /// How far it is with the frame under way, counted while it works. None if it cannot tell.
    fn progress(&self) -> Option<Arc<FrameProgress>> {
        None
    }

    /// Makes `scene` the one that frames refer to. Frames under way, of a run that ended early, are forgotten.
    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError>;

    /// Starts a frame; at most `queue_depth` may be under way. The frame loop fills a TLAS again as soon as nobody else
    /// holds it: a device that copies the TLAS lets go of the frame after the copy, others do when it is collected.
    /// If this fails, the frames under way before can still be collected.
    fn submit(&mut self, frame: Frame, settings: &FrameSettings) -> Result<(), DeviceError>;

    /// Waits for the oldest frame under way. Once `stop` says so, gives up on it with [`DeviceError::Stopped`].
    /// An error loses all frames under way. After any but `Stopped`, only [`Device::load`] may follow.
    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError>;

    /// Adds samples to `film` until it has `until` of them, which is at most what `settings` ask for or what it has already, and
    /// returns the resulting picture, with AOVs if it is finished
    /// or the settings ask for them all the same; no frame may be under way. `film` has to fit the settings;
    /// after an error its contents are undefined. Rays and times are those of this call.
    ///
    /// Where the settings have no target of noise, the tiles that get samples may be chosen from outside: if the film's state names some, it
    /// is theirs, and pixels and AOVs are made of these tiles alone. What they are elsewhere is undefined.
    fn add_samples(
        &mut self,
        _: &Frame,
        _: &FrameSettings,
        _film: &mut Accumulation,
        _until: u32,
        _: &Stop,
    ) -> Result<Rendered, DeviceError> {
        let name = self.describe();
        Err(DeviceError::Failed(format!("{name} cannot go on with a picture")))
    }

    /// Renders a frame for the rays that it casts, which take 32 bytes each; no frame may be under way. They are to be traced
    /// with [`Device::trace`] against the same frame, shadow rays with [`RayKind::Any`]. `None` if the device does not gather
    /// the rays of such frames in queues, which makes them comparable to the rays of [`Device::trace`]. The rays of frames that
    /// move are not comparable: they have times in place of `t_min`.
    fn own_rays(&mut self, _: &Frame, _: &FrameSettings) -> Result<Option<OwnRays>, DeviceError> {
        Ok(None)
    }

    /// Traces `rays` against a posed frame into `hits` (of the same length), `passes` times, and returns the time that each
    /// pass took, without copies to and from the device; no frame may be under way. No ray's `t_min` may be negative or NaN.
    /// Only `t` is meaningful in a miss, and in any result for [`RayKind::Any`] (1 for a hit and -1 otherwise). In a frame that
    /// moves, instances stand as at its own time, and meshes that deform have the shape of the opening.
    fn trace(
        &mut self,
        frame: &Frame,
        kind: RayKind,
        rays: &[Ray],
        hits: &mut [Hit],
        passes: u32,
    ) -> Result<Vec<Duration>, DeviceError>;

    /// Counts what these rays visit and test if each goes alone; [`Device::trace`] may take several through a tree together, and
    /// visit less. It takes longer than tracing them. `None` if the device does not count. The counts are those of the device's own
    /// trees, and do not depend on the number of threads.
    fn count_work(&mut self, _: &Frame, _: RayKind, _rays: &[Ray]) -> Result<Option<WorkCounts>, DeviceError> {
        Ok(None)
    }
}
