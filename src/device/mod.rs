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
mod frame_aovs;
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
    abi::{Hit, NESTED_STACK, Ray, RayWork},
    accel::{Blas, NodeLayout, Tlas},
    anim::{CameraPose, Deformed, PosedTables},
    aov::{
        Aov, AovImage, AovSet,
        channels::{FileBlocks, FileRows},
    },
    choice::choice,
    film::FilmSettings,
    light::ShownShape,
    math::{Aabb, affine_from_rows},
    scene::{Fog, Integrator, Layering, LostReference, PixelFilter, RenderDefaults, Scene, Shutter, ToneMap},
};
use bytes::Bytes;
use glam::Affine3;
use std::{sync::Arc, time::Duration};

pub use crate::pixels::PixelType;
pub use accumulation::{Accumulation, AccumulationState, DeviceCopy, layer_columns, layer_words};
pub use choice::{DeviceChoice, DeviceList, DeviceNameError, Opened, open, start_threads, together};
pub use cpu::{CpuDevice, Developer, FilmFilter, FilmLayers};
pub use film_filter::{ALBEDO_FLOOR, DeviceFilm, FilmRecords, FilmWanted, Filtered, HostFilm};
pub use multi_device::MultiDevice;
pub use params::tone_code;
pub use progress::FrameProgress;
pub use region::{Region, RegionError};
pub use tiles::{TILE, TileGrid};

/// Settings of a frame's picture, the same for all frames of a run.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FrameSettings {
    /// Size of the whole picture.
    pub width: u32,
    pub height: u32,
    /// The part of the picture that is rendered; none for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    pub samples: u32,
    pub bounces: u32,
    pub seed: u32,
    /// Gives all frames the same noise.
    pub lock_seed: bool,
    pub integrator: Integrator,
    /// In stops.
    pub exposure: f32,
    pub tone_map: ToneMap,
    pub film: FilmSettings,
    /// Leaves out light that rough surfaces scatter more than once, and so some energy.
    pub single_scatter: bool,
    pub layering: Layering,
    /// Noise at which a part of the picture is done before it has all samples; `None` if every part gets all.
    pub noise: Option<f32>,
    /// Limit of the radiance that a light adds after the first bounce; `None` if nothing is cut off.
    pub clamp_indirect: Option<f32>,
    /// Makes samples independent of how many there will be, so that a picture can get more later, and their sums exact, so that these are the
    /// same in whatever order and by whichever devices samples are added. Costs a little of the evenness of noise among neighbours.
    pub open_ended: bool,
    pub pixels: PixelType,
    /// Leaves out the environment where the camera sees it. Where alpha is among the AOVs, display colours are divided by it; floats
    /// never are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transparent: bool,
    /// Draws the edges of triangles, so many pixels wide, if [`Aov::Wireframe`] is among the AOVs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wireframe: Option<f32>,
    /// The AOVs that frames have besides the picture.
    pub aovs: AovSet,
    /// Gathers AOVs of unfinished pictures, too. Not serialized, because it changes no finished picture.
    #[serde(skip)]
    pub unfinished_aovs: bool,
    /// Keeps the exact sums that AOVs of a finished picture are made of ([`Accumulation::layers`]), so that they can be joined with those of
    /// other samples. Takes an open end. Not serialized, because it changes no picture.
    #[serde(skip)]
    pub layer_sums: bool,
    /// Asks for the rows of files, compressed, instead of pixels and AOVs. Devices that do not make them or have too little
    /// memory return pixels and AOVs. Not serialized, because it changes how a file is made and not what it shows.
    #[serde(skip)]
    pub file_rows: Option<FileRows>,
    /// Asks for the frame as the denoiser of films reads it, instead of pixels and of AOVs that are not wanted besides. Takes floats as
    /// pixels, more than one sample and the AOVs that the denoiser needs. Devices that keep no such frames or have too little memory return
    /// pixels and all AOVs. Not serialized, because it changes no picture.
    #[serde(skip)]
    pub film_wanted: Option<FilmWanted>,
    /// When the shutter is open; `None` for no motion blur. Frames are posed by it, and devices find all that they need in frames.
    pub shutter: Option<Shutter>,
}

impl From<&RenderDefaults> for FrameSettings {
    /// The settings that a scene asks for, of pictures of 8 bits.
    fn from(scene: &RenderDefaults) -> Self {
        Self {
            width: scene.width,
            height: scene.height,
            region: None,
            samples: scene.samples,
            bounces: scene.bounces,
            seed: scene.seed,
            lock_seed: false,
            integrator: scene.integrator,
            exposure: scene.exposure,
            tone_map: scene.tone_map,
            film: scene.into(),
            single_scatter: false,
            layering: Layering::default(),
            noise: scene.noise,
            clamp_indirect: scene.clamp_indirect,
            open_ended: false,
            pixels: PixelType::U8,
            transparent: false,
            wireframe: None,
            aovs: AovSet::default(),
            unfinished_aovs: false,
            layer_sums: false,
            file_rows: None,
            film_wanted: None,
            shutter: scene.shutter.filter(Shutter::is_open),
        }
    }
}

/// One frame, posed: everything about it that changes from frame to frame. [`Poser`](crate::render::Poser)s make them.
///
/// Kernels follow the references between a frame and its scene without checking them. So frames can't be put together
/// elsewhere, and devices take only frames of the scene that they have loaded.
#[derive(Clone)]
pub struct Frame {
    pub(crate) scene: Arc<Scene>,
    pub(crate) number: u32,
    pub(crate) camera: CameraPose,
    pub(crate) tlas: Arc<Tlas>,
    /// The tree of each mesh of the scene: the same list as long as none of them deforms.
    pub(crate) blas: Arc<Vec<Arc<Blas>>>,
    /// The meshes that deform, each once.
    pub(crate) shapes: Vec<PosedMesh>,
    /// The tables of materials, maps and lights, where these are not the scene's.
    pub(crate) tables: Option<Arc<PosedTables>>,
    /// The camera at even steps while the shutter is open; empty if it stands still, or without motion blur.
    pub(crate) camera_keys: Vec<CameraPose>,
    /// The scene one frame earlier, one frame later and at the time of this frame, if AOVs show motion. Without motion blur, the last
    /// has nothing but the camera.
    pub(crate) others: Option<Arc<[OtherPose; 3]>>,
}

/// The pose of the scene in another frame.
#[derive(Clone)]
pub struct OtherPose {
    pub camera: CameraPose,
    /// World transforms of all instances, in the order of the scene; empty if nothing but the camera ever moves.
    pub transforms: Vec<Affine3>,
    /// The mesh that each instance shows; empty if these never change.
    pub shown: Vec<u32>,
    /// The meshes that deform, each once.
    pub shapes: Vec<PosedMesh>,
}

impl OtherPose {
    /// That of a scene in which nothing but the camera ever moves.
    pub fn of_camera(camera: CameraPose) -> Self {
        Self { camera, transforms: Vec::new(), shown: Vec::new(), shapes: Vec::new() }
    }
}

impl Frame {
    /// Number of the frame, from 1.
    #[cfg(feature = "test-seams")]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Makes a frame in which nothing moves from given trees.
    ///
    /// # Safety
    /// `blas` has a tree for each mesh of the scene, over its triangles, and `tlas` is the latest that was built over these, from the
    /// scene's instances.
    #[cfg(feature = "test-seams")]
    pub unsafe fn of_trees(scene: Arc<Scene>, camera: CameraPose, blas: Vec<Arc<Blas>>, tlas: Tlas) -> Self {
        Self {
            scene,
            number: 1,
            camera,
            tlas: Arc::new(tlas),
            blas: Arc::new(blas),
            shapes: Vec::new(),
            tables: None,
            camera_keys: Vec::new(),
            others: None,
        }
    }

    /// The camera in the world.
    pub fn camera(&self) -> CameraPose {
        self.camera.moved(self.tlas.origin)
    }

    /// The same frame through another camera in the world, which stands still.
    pub fn seen_by(&self, camera: CameraPose) -> Self {
        let camera = camera.moved(-self.tlas.origin);
        let other = |pose: &OtherPose| OtherPose { camera, ..pose.clone() };
        let others = self.others.as_ref().map(|others| Arc::new(others.each_ref().map(other)));
        Self { camera, camera_keys: Vec::new(), others, ..self.clone() }
    }

    /// The fog of the frame.
    fn fog(&self) -> Option<Fog> {
        let fog = match &self.tables {
            Some(own) => own.fog.as_ref(),
            None => self.scene.fog.as_ref(),
        };
        fog.map(|fog| fog.lifted(-self.tlas.origin.y))
    }

    /// # Errors
    /// If the frame is not one of `scene`, or its trees do not have this `layout`.
    fn check(&self, scene: &Arc<Scene>, layout: NodeLayout) -> Result<(), DeviceError> {
        let levels = self.tlas.tree.depth + self.blas.iter().map(|blas| blas.depth()).max().unwrap_or(0);
        if layout == NodeLayout::Compressed8 && self.tlas.nested.is_some() && levels > NESTED_STACK {
            let message = format!(
                "trees within trees have {levels} levels in all, and {NESTED_STACK} fit: write `nest: false` at some groups"
            );
            return Err(DeviceError::Failed(message));
        }
        if Arc::ptr_eq(&self.scene, scene) && self.tlas.tree.layout == layout {
            return Ok(());
        }
        let message = "the frame is of another scene than was loaded, or has trees for other devices";
        Err(DeviceError::Failed(message.into()))
    }

    /// The instance that was hit, of the scene.
    pub fn index_of(&self, hit: &Hit) -> u32 {
        self.tlas.nested.as_ref().map_or(hit.instance, |nested| nested.indices[hit.record as usize])
    }

    /// The instances that lead to what was hit, from the outermost one in: indices of the scene.
    pub fn way_to(&self, hit: &Hit) -> Vec<u32> {
        match &self.tlas.nested {
            Some(nested) => self.scene.way_to(hit.instance, self.index_of(hit), &nested.numbers),
            None => vec![hit.instance],
        }
    }

    /// The transforms of what was hit, from its own space to the world and back.
    pub fn placement(&self, hit: &Hit) -> (Affine3, Affine3) {
        let way = match &self.tlas.nested {
            Some(nested) => self.way_to(hit).iter().map(|&index| nested.records_of[index as usize]).collect(),
            None => vec![hit.record],
        };
        let placements = way.iter().filter_map(|&record| self.tlas.records.get(record as usize));
        let both = placements.map(|r| {
            let (out, mut back) = (affine_from_rows(&r.world_from_object), affine_from_rows(&r.object_from_world));
            if self.tlas.nested.is_some() {
                // The column holds the place.
                back.translation = -(back.matrix3 * out.translation);
            }
            (out, back)
        });
        both.reduce(|(out, back), (own, own_back)| (out * own, own_back * back)).unwrap_or_default()
    }

    /// Whether anything moves while the shutter is open, so that rays have times of their own.
    pub fn moves(&self) -> bool {
        !self.camera_keys.is_empty()
            || !self.tlas.shutter.is_empty()
            || self.blas.iter().any(|blas| blas.segments() > 0)
    }

    /// Whether lights are sampled for pictures with these settings: by the integrator, or for the shadows on catchers.
    fn samples_lights(&self, settings: &FrameSettings) -> bool {
        let shadows = settings.aovs.contains(Aov::Alpha) || settings.aovs.contains(Aov::Shadow);
        settings.integrator.samples_lights() || shadows && self.scene.catches_shadows()
    }

    /// The meshes that deform, for the lights that they may be.
    fn shown_shapes(&self) -> Vec<ShownShape<'_>> {
        self.shapes.iter().map(PosedMesh::shown).collect()
    }
}

/// A mesh that deforms, in a frame.
#[derive(Clone)]
pub struct PosedMesh {
    /// Index into [`Scene::meshes`], which has its triangles and everything that does not change.
    pub mesh: u32,
    /// Its shape in the frame or, if it deforms while the shutter is open, at the opening.
    pub shape: Arc<Deformed>,
    /// Its shapes at even steps up to the closing of the shutter; empty if it does not deform meanwhile.
    pub later: Vec<Arc<Deformed>>,
}

impl PosedMesh {
    fn shown(&self) -> ShownShape<'_> {
        let later = self.later.iter().map(|shape| shape.bounds);
        ShownShape { mesh: self.mesh, positions: &self.shape.positions, reaches: later.fold(Aabb::EMPTY, Aabb::union) }
    }

    /// All shapes, the first one first.
    fn keys(&self) -> impl Iterator<Item = &Deformed> {
        std::iter::once(&*self.shape).chain(self.later.iter().map(|shape| &**shape))
    }
}

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

impl FrameSettings {
    /// Width and height of what is rendered: the picture, or a region of it.
    pub fn film_size(&self) -> (u32, u32) {
        self.region.map_or((self.width, self.height), |region| (region.width, region.height))
    }

    /// Number of pixels that are rendered.
    pub fn film_pixels(&self) -> usize {
        let (width, height) = self.film_size();
        width as usize * height as usize
    }

    /// Whether samples count in all pixels that they are near ([`PixelFilter::Shared`]). That takes all of a picture at once, and layers that
    /// tell how much of a pixel something covers would not fit to it.
    pub fn shares_samples(&self) -> bool {
        const COVERAGE: [Aov; 5] = [Aov::Alpha, Aov::Shadow, Aov::Instance, Aov::Material, Aov::Wireframe];
        let is_whole = self.region.is_none() && !self.open_ended && self.noise.is_none();
        self.film.filter == PixelFilter::Shared && is_whole && !COVERAGE.iter().any(|&aov| self.aovs.contains(aov))
    }

    /// The filter that pixels come to have: where samples cannot be shared, the Gaussian that is like it.
    pub fn filter(&self) -> PixelFilter {
        match self.film.filter {
            PixelFilter::Shared if !self.shares_samples() => PixelFilter::Gaussian,
            filter => filter,
        }
    }

    /// Bytes of a finished pixel.
    pub fn pixel_bytes(&self) -> usize {
        3 * self.pixels.bytes()
    }
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
