//! The device that runs the kernels on one GPU. Three frames are in flight, each on its own stream. Uploads, kernels and downloads of different
//! frames overlap, and the end of one frame overlaps with the start of the next.

use super::{
    aovs::aov_bytes,
    blas_pool::{StaticPool, tree_bytes},
    budget::Need,
    film_filter::{FilmGpu, GpuFrame},
    kernels::KernelSets,
    lights::tree_bytes as light_bytes,
    material_tables::tables_bytes,
    memory::{Array, SparePinned},
    scene::{Plan, SceneTables},
    shutter::shutter_bytes,
    slot::{Picture, Slot, Task, elapsed, event_now},
    waves::{Cut, PathNeeds, stage_times},
};
use crate::{
    Accumulation, AccumulationState, Delivery, Device, DeviceError, DeviceFilm, FilmWanted, Frame, FrameSettings,
    OwnRays, RayCounts, RayKind, Rendered, Samples, Stop,
    adaptive::{self, Passes},
    blocks::exr_bytes,
    light::{Emitters, LightCache, LocalTree, no_local_lights},
    material_tables::{MaterialTables, PosedCache, has_panes},
    params::{display_params, film_params, frame_params, picture_params, pixel_items},
    tables::Tables,
};
use bytemuck::Zeroable;
use cust::{
    context::{Context, CurrentContext},
    device::Device as Gpu,
    error::{CudaError, CudaResult},
    event::Event,
    memory::mem_get_info,
};
use std::{collections::VecDeque, sync::Arc, thread, time::Duration};
use throng_abi::{Hit, PANES_BEYOND_BOUNCES, Params, Ray};
use throng_accel::NodeLayout;
use throng_picture::aov::{AovSet, channels::FileRows};
use throng_scene::{Material, Paths, Scene};

/// Maximum number of waves for scattering in volumes. With Russian roulette, one path in thirty thousand would need more.
const VOLUME_EVENTS: u32 = 1024;

/// Number of frames in flight. While few rays of a launch are left, another frame's work fills the GPU.
const SLOTS: usize = 3;
/// Paths or pixel samples per launch and multiprocessor. A launch takes well below 50 ms even on small GPUs.
const PATHS_PER_MULTIPROCESSOR: usize = 1 << 16;
/// Maximum bytes of queues per frame in flight for integrators that scatter paths. These need the most memory, and launches of a million paths keep a
/// GPU busy. Four times as much would render 9 % faster.
const QUEUE_BYTES: usize = 384 << 20;
/// Samples per pixel and launch in the loop schedule.
const LOOP_SAMPLES: u32 = 4;
/// Maximum number of rays per launch of [`Device::trace`].
const RAYS_PER_LAUNCH: usize = 1 << 24;
/// Pause between two checks whether a frame is finished.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

pub struct CudaDevice {
    name: String,
    scene: Option<SceneTables>,
    /// The lights inside the scene, as of the last frame.
    lights: LightCache,
    posed: PosedCache,
    pool: StaticPool,
    pub(super) slots: Vec<Slot>,
    /// Slots with frames under way, oldest first.
    under_way: VecDeque<usize>,
    /// Event at the end of the last frame.
    last: Option<Event>,
    /// Maximum number of paths or pixel samples per launch.
    paths_per_launch: usize,
    pub(super) rays: Array,
    pub(super) hits: Array,
    pub(super) kernels: KernelSets,
    /// The film denoiser, created when a frame for it is first requested.
    film: Option<Arc<FilmGpu>>,
    spare: SparePinned,
    context: Context,
}

impl CudaDevice {
    /// Opens the GPU `ordinal`, which must be in [`super::gpus`].
    pub fn open(ordinal: u32) -> Result<Self, DeviceError> {
        let open = || -> CudaResult<Self> {
            let gpu = Gpu::get_device(ordinal)?;
            let context = Context::new(gpu)?;
            let spare = SparePinned::default();
            let slots = (0..SLOTS).map(|_| Slot::new(spare.clone())).collect::<CudaResult<_>>()?;
            let kernels = KernelSets::load(gpu)?;
            Ok(Self {
                name: format!("cuda:{ordinal} ({})", gpu.name()?),
                scene: None,
                lights: LightCache::default(),
                posed: PosedCache::default(),
                pool: StaticPool::default(),
                slots,
                under_way: VecDeque::new(),
                last: None,
                paths_per_launch: kernels.still.multiprocessors() as usize * PATHS_PER_MULTIPROCESSOR,
                rays: Array::default(),
                hits: Array::default(),
                kernels,
                film: None,
                spare,
                context,
            })
        };
        open().map_err(|error| failed(&format!("cuda:{ordinal}"), "opening it", error))
    }

    /// Limits launches to `paths` paths, rounded up to whole tiles of 64 pixels. Frames under way keep their launches. This changes speed and memory,
    /// but no pixel, which tests verify.
    pub fn limit_paths_per_launch(&mut self, paths: u32) {
        self.paths_per_launch = paths.max(1) as usize;
    }

    /// Runs `work` with this GPU's context on the calling thread.
    fn with<T>(&mut self, what: &str, work: impl FnOnce(&mut Self) -> CudaResult<T>) -> Result<T, DeviceError> {
        CurrentContext::set_current(&self.context)
            .and_then(|()| work(self))
            .map_err(|error| failed(&self.name, what, error))
    }

    /// Like `with`, for work that queues into an idle slot. If the work fails, the slot is idle again.
    fn with_slot<T>(
        &mut self,
        slot: usize,
        what: &str,
        work: impl FnOnce(&mut Self) -> CudaResult<T>,
    ) -> Result<T, DeviceError> {
        let result = self.with(what, work);
        if result.is_err() {
            // The first error is returned; errors of the cleanup are ignored.
            let _ = self.with(what, |device| device.slots[slot].abandon());
        }
        result
    }

    fn scene(&self) -> Result<&SceneTables, DeviceError> {
        self.scene.as_ref().ok_or_else(no_scene)
    }

    /// Uploads trees that are not uploaded yet, after all work that uses the old ones. If meshes deform, each slot has its own trees instead.
    fn upload_trees(&mut self, frame: &Frame) -> Result<(), DeviceError> {
        if !frame.shapes.is_empty() || self.pool.holds(&frame.blas) {
            return Ok(());
        }
        let bytes = tree_bytes(frame);
        let free = self.with("asking for free memory", |_| mem_get_info())?.0;
        let mut need = Need::default();
        need.add("trees of meshes", bytes);
        need.check(free).map_err(|text| self.out_of_memory(&text))?;
        self.with("uploading meshes' trees", |device| {
            for slot in &device.slots {
                slot.stream.synchronize()?;
            }
            device.pool.upload(&frame.blas)
        })
    }

    fn params(&self, frame: &Frame) -> Result<Params, DeviceError> {
        let scene = self.scene()?;
        frame.check(scene.scene(), self.node_layout())?;
        let mut params = Params {
            scene: scene.params(),
            tables: scene.table_params(),
            trees: Zeroable::zeroed(),
            keys: Zeroable::zeroed(),
            local_lights: no_local_lights(),
            frame: frame_params(frame),
            picture: Zeroable::zeroed(),
            display: Zeroable::zeroed(),
            film: Zeroable::zeroed(),
            query: Zeroable::zeroed(),
            denoise: std::ptr::null(),
        };
        self.pool.apply(&mut params);
        Ok(params)
    }

    /// The frame's own tables, if any, and the emissive meshes of the frame. `None` if no scene is loaded.
    fn own_tables(&mut self, frame: &Frame) -> Option<(Option<MaterialTables>, Arc<Emitters>)> {
        let scene = self.scene.as_ref()?;
        let own = frame.tables.as_deref();
        let emitters = self.posed.emitters(scene.emitters(), own);
        let tables = own.map(|own| {
            let sky = self.posed.sky(own, scene.textures().len());
            MaterialTables::new(own, emitters.weights(), sky)
        });
        Some((tables, emitters))
    }

    /// Queues the upload of the frame's own data.
    fn upload(
        &mut self,
        slot: usize,
        frame: &Frame,
        tables: Option<&MaterialTables>,
        params: &mut Params,
    ) -> CudaResult<()> {
        let slot = &mut self.slots[slot];
        slot.upload(&frame.tlas, params)?;
        let Some(scene) = &self.scene else {
            return Ok(());
        };
        if let Some(tables) = tables {
            slot.upload_tables(scene, tables, params)?;
        }
        if frame.shapes.is_empty() { Ok(()) } else { slot.deform(scene, frame, params) }
    }

    /// Returns the tree over the lights inside the scene in this frame; `None` if lights are not sampled.
    fn lights(
        &mut self,
        frame: &Frame,
        tables: Option<&MaterialTables>,
        emitters: &Arc<Emitters>,
        settings: &FrameSettings,
    ) -> Option<Arc<LocalTree>> {
        let scene = self.scene.as_ref()?;
        if !frame.samples_lights(settings) {
            return None;
        }
        let lights = tables.map_or(scene.lights(), |tables| &tables.lights);
        self.lights.tree(&frame.tlas, emitters, lights, &frame.shown_shapes())
    }

    /// Memory for a frame in the form that the film denoiser reads, if it is wanted. `None` if memory is short.
    fn film_frame(
        &mut self,
        settings: &FrameSettings,
        wanted: Option<FilmWanted>,
    ) -> Result<Option<(GpuFrame, AovSet)>, DeviceError> {
        let Some(wanted) = wanted else { return Ok(None) };
        let pixels = settings.film_pixels();
        let needed = FilmGpu::frame_bytes(pixels) * wanted.frames + FilmGpu::work_bytes(pixels);
        self.with("making room for a film", |device| {
            let film = match &device.film {
                Some(film) => film.clone(),
                None if mem_get_info()?.0 / 2 < needed => return Ok(None),
                None => {
                    let (name, kernels) = (device.name.clone(), device.kernels.still.clone());
                    FilmGpu::new(name, device.context.clone(), kernels, device.spare.clone())?
                }
            };
            device.film = Some(film.clone());
            match film.frame(settings.film_size(), settings.shares_samples()) {
                Ok(frame) => Ok(Some((frame, wanted.aovs))),
                Err(CudaError::OutOfMemory) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Checks that the picture's memory is available, and decides how the picture is cut into launches. Sets `file_rows` to `None` if memory is short
    /// for them.
    fn plan(
        &mut self,
        frame: &Frame,
        (lights, tables): (Option<&LocalTree>, Option<&MaterialTables>),
        settings: &FrameSettings,
        (file_rows, keeps_layers): (&mut Option<FileRows>, bool),
    ) -> Result<Cut, DeviceError> {
        let items = pixel_items(settings)?;
        let limit = self.paths_per_launch;
        let (tlas, picture) = Slot::bytes(&frame.tlas, settings);
        let mut need = Need::default();
        need.add("instances", tlas * 9 / 8 * SLOTS);
        need.add("motion", shutter_bytes(frame) * SLOTS);
        let halves = size_of::<u32>() * Accumulation::odd_words(settings);
        need.add("pictures", (picture + halves) * SLOTS);
        let lights = lights.map_or(0, light_bytes);
        need.add("lights", lights * 9 / 8 * SLOTS);
        let aovs = aov_bytes(self.scene()?, frame, settings, keeps_layers);
        need.add("layers", aovs * SLOTS);
        if !frame.shapes.is_empty() {
            let bytes = tree_bytes(frame) * 9 / 8 + Slot::shape_bytes(self.scene()?, frame);
            need.add("meshes that deform", bytes * SLOTS);
        }
        if let Some(tables) = tables {
            need.add("materials and skies that change", tables_bytes(self.scene()?, tables) * SLOTS);
        }
        let free = self.with("asking for free memory", |device| {
            let own: usize = device.slots.iter().map(Slot::bytes_held).sum();
            Ok(mem_get_info()?.0 + own)
        })?;
        // If memory is short, the host creates the files from pixels and AOVs.
        let blocks = file_rows.map_or(0, |rows| exr_bytes(&rows, settings.film_size()));
        if need.total() + blocks * SLOTS < free / 2 {
            need.add("files", blocks * SLOTS)
        } else {
            *file_rows = None
        }
        let scene = self.scene()?;
        let (lights, lobes, has_panes) = match tables {
            Some(own) => (own.lights.len() as u32, own.lobes.len() as u32, has_panes(&own.materials, &own.lobes)),
            None => (scene.light_count(), scene.lobes_count(), scene.has_panes()),
        };
        let paths = settings.integrator.paths();
        let materials = frame.tables.as_ref().map_or(&scene.scene().materials, |tables| &tables.materials);
        let scatters = materials.iter().any(Material::has_scattering_volume);
        let volume_events = if scatters { VOLUME_EVENTS } else { 0 };
        let more_events = volume_events + if has_panes { PANES_BEYOND_BOUNCES } else { 0 };
        let is_foggy = frame.fog().is_some_and(|fog| fog.is_seen());
        let Some(needs) = PathNeeds::new(paths, settings.bounces, lights, lobes, more_events, is_foggy) else {
            need.check(free).map_err(|text| self.out_of_memory(&text))?;
            let items = (limit / LOOP_SAMPLES as usize).next_multiple_of(64).max(64);
            return Ok(Cut::Loops { items: u32::try_from(items).unwrap_or(u32::MAX), samples: LOOP_SAMPLES });
        };
        let wanted = limit.min((items as usize).saturating_mul(settings.samples as usize));
        let wanted = if needs.scatter { wanted.min((QUEUE_BYTES / needs.bytes()).max(64)) } else { wanted };
        let capacity = need.paths(free, wanted, needs.bytes(), SLOTS).map_err(|text| self.out_of_memory(&text))?;
        // Round up to whole tiles.
        let capacity = (capacity as u32).next_multiple_of(64);
        self.with("making queues for paths", |device| {
            for slot in device.slots.iter_mut().filter(|slot| slot.work.is_none()) {
                slot.queues.reserve(capacity, &needs)?;
            }
            Ok(())
        })?;
        Ok(Cut::Waves { paths: capacity, needs })
    }

    fn out_of_memory(&self, text: &str) -> DeviceError {
        DeviceError::Failed(format!("{}: {text}", self.name))
    }

    /// Starts a frame and returns its slot. If `film` is given, sampling continues from its samples up to the given number. If `own_rays` is given,
    /// the frame's rays are appended to it.
    fn start(
        &mut self,
        frame: &Frame,
        (settings, delivery): (&FrameSettings, Delivery),
        film: Option<(&Samples, u32)>,
        own_rays: Option<OwnRays>,
    ) -> Result<usize, DeviceError> {
        let Some(index) = self.slots.iter().position(|slot| slot.work.is_none()) else {
            return Err(DeviceError::Failed("too many frames are under way".into()));
        };
        self.upload_trees(frame)?;
        let mut params = self.params(frame)?;
        params.picture = picture_params(frame, settings);
        params.display = display_params(settings);
        params.film = film_params(settings);
        params.frame.moves = frame.moves().into();
        let until = film.map_or(settings.samples, |(_, until)| until);
        params.film.sample_begin = film.map_or(0, |(film, _)| film.state().first);
        params.film.sample_end = adaptive::samples_of_all(settings).min(until);
        let (tables, emitters) = self.own_tables(frame).ok_or_else(no_scene)?;
        let tables = tables.as_ref();
        let lights = self.lights(frame, tables, &emitters, settings);
        let whole = film.is_none() && own_rays.is_none();
        let mut file_rows = delivery.file_rows.filter(|_| whole);
        let film_frame = self.film_frame(settings, delivery.film_wanted.filter(|_| whole))?;
        let cut = self.plan(frame, (lights.as_deref(), tables), settings, (&mut file_rows, delivery.layer_sums))?;
        let noise = settings.noise.filter(|_| own_rays.is_none());
        let passes = match film {
            Some((film, until)) => Passes::resume(until, noise, film.state().clone()),
            None => Passes::resume(settings.samples, noise, AccumulationState::default()),
        };
        // Sums that the slot does not hold any more.
        let held = self.slots[index].copy.take();
        let sums = film.filter(|(film, _)| held.is_none() || film.copy() != held);
        let sums = sums.map(|(film, _)| film.host()).transpose()?;
        self.with_slot(index, "starting a frame", |device| {
            device.kernels.prepare(&params, frame.tlas.nested.is_some())?;
            let started = event_now(&device.slots[index].stream)?;
            device.upload(index, frame, tables, &mut params)?;
            device.slots[index].upload_shutter_keys(frame, settings, &mut params)?;
            let slot = &mut device.slots[index];
            if let Some(lights) = &lights {
                slot.light(lights, &mut params)?;
            }
            if let Some(scene) = &device.scene {
                slot.prepare_aovs(scene, frame, (settings, delivery.layer_sums), &mut params)?;
            }
            let samples = match film {
                Some((_, until)) if delivery.unfinished_aovs => until,
                _ => settings.samples,
            };
            let task = Task {
                cut,
                passes,
                samples,
                aovs: settings.aovs,
                file_rows,
                film: film_frame,
                started,
                own_rays,
                film_bytes: size_of::<u32>() * Accumulation::words(settings),
                holds_film: film.is_some() && sums.is_none(),
                shares_cover: settings.shares_cover(),
            };
            slot.start(params, task)?;
            if let Some(sums) = sums.filter(|film| !film.state.range().is_empty()) {
                slot.go_on_from(sums)?;
            }
            slot.pump(&device.kernels)?;
            device.under_way.push_back(index);
            Ok(index)
        })
    }

    /// Waits for the oldest frame under way, like [`Device::collect`].
    fn wait(&mut self, stop: &Stop) -> Result<Picture, DeviceError> {
        let Some(oldest) = self.under_way.pop_front() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let picture = self.with("rendering", |device| {
            loop {
                let mut finished = false;
                for index in std::iter::once(oldest).chain(device.under_way.iter().copied()) {
                    let done = device.slots[index].pump(&device.kernels)?;
                    finished |= done && index == oldest;
                }
                if finished {
                    break;
                }
                if stop() {
                    for slot in &mut device.slots {
                        slot.abandon()?;
                    }
                    device.under_way.clear();
                    return Ok(None);
                }
                thread::sleep(POLL_INTERVAL);
            }
            device.slots[oldest].take()
        })?;
        picture.ok_or(DeviceError::Stopped)
    }

    fn rendered(&mut self, picture: Picture) -> CudaResult<Rendered> {
        let own = elapsed(&picture.started, &picture.finished)?;
        let since_last = match &self.last {
            Some(last) => elapsed(last, &picture.finished)?,
            None => own,
        };
        self.last = Some(picture.finished);
        let tally = picture.tally;
        Ok(Rendered {
            pixels: picture.pixels,
            aovs: picture.aovs,
            blocks: picture.blocks,
            film: picture.film.map(|film| Arc::new(film) as Arc<dyn DeviceFilm>),
            rays: RayCounts { primary: tally.primary, bounce: tally.bounce, shadow: tally.shadow },
            time: own.min(since_last),
            stages: Some(stage_times(&picture.stages)),
        })
    }
}

pub(super) fn failed(name: &str, what: &str, error: CudaError) -> DeviceError {
    DeviceError::Failed(format!("{name} failed at {what}: {error}"))
}

impl Device for CudaDevice {
    fn describe(&self) -> String {
        self.name.clone()
    }

    fn threads(&self) -> usize {
        0
    }

    fn node_layout(&self) -> NodeLayout {
        NodeLayout::Compressed8
    }

    fn queue_depth(&self) -> usize {
        SLOTS
    }

    fn makes_blocks(&self) -> bool {
        true
    }

    fn has_stages(&self) -> bool {
        true
    }

    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError> {
        scene.check_references()?;
        let tables = Tables::new(scene);
        let plan = Plan::new(&tables);
        let free = self.with("making room for a scene", |device| {
            for slot in &mut device.slots {
                slot.abandon()?;
            }
            device.under_way.clear();
            device.scene = None;
            device.lights = LightCache::default();
            device.pool = StaticPool::default();
            Ok(mem_get_info()?.0)
        })?;
        let mut need = Need::default();
        need.add("meshes", plan.mesh_bytes);
        need.add("textures", plan.texture_bytes);
        need.check(free).map_err(|text| self.out_of_memory(&text))?;
        self.scene = Some(self.with("uploading the scene", |_| plan.upload(&tables))?);
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError> {
        self.start(&frame, (settings, delivery), None, None).map(drop)
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let picture = self.wait(stop)?;
        self.with("rendering", |device| device.rendered(picture))
    }

    fn add_samples(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        delivery: Delivery,
        film: &mut Samples,
        until: u32,
        stop: &Stop,
    ) -> Result<Rendered, DeviceError> {
        if !film.fits(settings) || !self.under_way.is_empty() {
            let message = "the film is of another picture, or a frame is under way";
            return Err(DeviceError::Failed(message.into()));
        }
        let slot = self.start(frame, (settings, delivery), Some((film, until)), None)?;
        let mut picture = self.wait(stop)?;
        let state = std::mem::take(&mut picture.state);
        let has_layers = delivery.layer_sums && state.has(settings.samples);
        self.slots[slot].copy = Some(film.grow_on_device(state, settings, has_layers));
        self.with("rendering", |device| device.rendered(picture))
    }

    fn download(&mut self, film: &mut Samples) -> Result<(), DeviceError> {
        film.download(|copy, host| {
            let slot = self.slots.iter().position(|slot| slot.copy == Some(copy));
            let lost = || DeviceError::Failed("the device lost the sums of a film in other work".into());
            let slot = slot.ok_or_else(lost)?;
            self.with("copying the film", |device| device.slots[slot].read_film(host))
        })
    }

    fn own_rays(&mut self, frame: &Frame, settings: &FrameSettings) -> Result<Option<OwnRays>, DeviceError> {
        if settings.integrator.paths() == Paths::Counted {
            return Ok(None);
        }
        if !self.under_way.is_empty() {
            return Err(DeviceError::Failed("a frame is under way".into()));
        }
        self.start(frame, (settings, Delivery::default()), None, Some(OwnRays::default()))?;
        Ok(self.wait(&|| false)?.own_rays)
    }

    fn trace(
        &mut self,
        frame: &Frame,
        kind: RayKind,
        rays: &[Ray],
        hits: &mut [Hit],
        passes: u32,
    ) -> Result<Vec<Duration>, DeviceError> {
        assert_eq!(rays.len(), hits.len(), "one hit per ray");
        if !self.under_way.is_empty() {
            return Err(DeviceError::Failed("a frame is under way".into()));
        }
        self.upload_trees(frame)?;
        let mut params = self.params(frame)?;
        let (tables, _) = self.own_tables(frame).ok_or_else(no_scene)?;
        let mut times = vec![Duration::ZERO; passes.max(1) as usize];
        self.with_slot(0, "tracing", |device| {
            device.kernels.prepare(&params, frame.tlas.nested.is_some())?;
            device.upload(0, frame, tables.as_ref(), &mut params)?;
            let slices = rays.chunks(RAYS_PER_LAUNCH).zip(hits.chunks_mut(RAYS_PER_LAUNCH));
            for (rays, hits) in slices {
                device.trace_slice(&params, kind == RayKind::Any, rays, hits, &mut times)?;
            }
            Ok(())
        })?;
        Ok(times)
    }
}

fn no_scene() -> DeviceError {
    DeviceError::Failed("no scene is loaded".into())
}

impl Drop for CudaDevice {
    /// The fields free their memory in this context, and no work may use it then. Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        if CurrentContext::set_current(&self.context).is_ok() {
            for slot in &mut self.slots {
                let _ = slot.abandon();
            }
        }
    }
}
