//! The device that runs the kernels on one GPU. Three frames are in flight, each on its own stream. Uploads, kernels and downloads of different
//! frames overlap, and the end of one frame overlaps with the start of the next.

use super::{
    budget::Need,
    denoise_filter::GpuDenoiser,
    kept::KeptPool,
    kernels::KernelSets,
    memory::{Array, OtherContext, SparePinned},
    slot::{FinishedFrame, Slot, elapsed},
    tables::{
        blas_pool::StaticPool,
        scene::{SceneTables, TableLayout},
        tlas::TlasUpload,
        tlas_build::TlasScratch,
    },
    waves::stage_times,
};
use crate::{
    Delivery, Device, DeviceError, DeviceRecords, Frame, FrameSettings, OwnRays, RayCounts, RayKind, Rendered, Samples,
    Stop,
    batch::{self, Batch, Picture},
    light::LightCache,
    records::{material_tables::PosedCache, tables::Tables},
};
use cust::{
    context::Context,
    device::Device as Gpu,
    error::{CudaError, CudaResult},
    event::Event,
    memory::mem_get_info,
};
use std::{
    collections::VecDeque,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use throng_abi::{Hit, Ray};
use throng_accel::NodeLayout;
use throng_scene::{Paths, Scene};

/// Number of frames in flight. While few rays of a launch are left, another frame's work fills the GPU.
pub(super) const SLOTS: usize = 3;
/// Paths or pixel samples per launch and multiprocessor. A launch takes well below 50 ms even on small GPUs.
const PATHS_PER_MULTIPROCESSOR: usize = 1 << 16;
/// Maximum number of rays per launch of [`Device::trace`].
const RAYS_PER_LAUNCH: usize = 1 << 24;
/// Pause between two checks whether a frame is finished. The system makes it twice as long.
const POLL_INTERVAL: Duration = Duration::from_micros(50);
/// Time of a wait without pauses: a small frame waits for the host at several steps, and pauses would take a tenth of its time.
const BUSY_WAIT: Duration = Duration::from_millis(1);

pub struct CudaDevice {
    pub(super) name: String,
    pub(super) scene: Option<SceneTables>,
    /// The lights inside the scene, as of the last frame.
    pub(super) lights: LightCache,
    pub(super) posed: PosedCache,
    pub(super) pool: StaticPool,
    /// The TLAS that all frames of a large scene share in which nothing moves.
    pub(super) shared_tlas: TlasUpload,
    pub(super) tlas_scratch: TlasScratch,
    pub(super) slots: Vec<Slot>,
    /// Slots with frames under way, oldest first.
    pub(super) under_way: VecDeque<usize>,
    /// Frames of the last batch that are not collected yet.
    ready: VecDeque<Rendered>,
    /// Event at the end of the last frame.
    last: Option<Event>,
    /// Maximum number of paths or pixel samples per launch.
    pub(super) paths_per_launch: usize,
    pub(super) rays: Array,
    pub(super) hits: Array,
    pub(super) kernels: KernelSets,
    /// The denoiser, created when a frame for it is first requested.
    pub(super) denoiser: Option<Arc<GpuDenoiser>>,
    pub(super) spare: SparePinned,
    pub(super) kept: Arc<KeptPool>,
    pub(super) context: Context,
    /// Set when the device is dropped, and dropped last.
    before: Option<OtherContext>,
}

impl CudaDevice {
    /// Opens the GPU `ordinal`, which must be in [`super::gpus`].
    pub fn open(ordinal: u32) -> Result<Self, DeviceError> {
        let open = || -> CudaResult<Self> {
            let gpu = Gpu::get_device(ordinal)?;
            // A new context is current.
            let _before = OtherContext::remember();
            let context = Context::new(gpu)?;
            let spare = SparePinned::new(context.clone());
            let name = format!("cuda:{ordinal} ({})", gpu.name()?);
            let kernels = KernelSets::load(gpu)?;
            let kept = KeptPool::new(name.clone(), ordinal, context.clone(), kernels.still.clone())?;
            let slot = |_| Slot::new(spare.clone(), kept.clone());
            let slots = (0..SLOTS).map(slot).collect::<CudaResult<_>>()?;
            Ok(Self {
                name,
                scene: None,
                lights: LightCache::default(),
                posed: PosedCache::default(),
                pool: StaticPool::default(),
                shared_tlas: TlasUpload::default(),
                tlas_scratch: TlasScratch::default(),
                slots,
                under_way: VecDeque::new(),
                ready: VecDeque::new(),
                last: None,
                paths_per_launch: kernels.still.multiprocessors() as usize * PATHS_PER_MULTIPROCESSOR,
                rays: Array::default(),
                hits: Array::default(),
                kernels,
                denoiser: None,
                spare,
                kept,
                context,
                before: None,
            })
        };
        open().map_err(|error| failed(&format!("cuda:{ordinal}"), "opening it", error))
    }

    /// Limits launches to `paths` paths, rounded up to whole tiles of 64 pixels. Frames under way keep their launches. This changes speed and memory,
    /// but no pixel, which tests verify.
    pub fn limit_paths_per_launch(&mut self, paths: u32) {
        self.paths_per_launch = paths.max(1) as usize;
    }

    /// Runs `work` with this GPU's context on the calling thread, which has its own context again afterwards.
    pub(super) fn with<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Self) -> CudaResult<T>,
    ) -> Result<T, DeviceError> {
        let done = OtherContext::replace(&self.context).and_then(|_before| work(self));
        done.map_err(|error| failed(&self.name, what, error))
    }

    /// Like `with`, for work that queues into an idle slot. If the work fails, the slot is idle again.
    pub(super) fn with_slot<T>(
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

    pub(super) fn scene(&self) -> Result<&SceneTables, DeviceError> {
        self.scene.as_ref().ok_or_else(no_scene)
    }

    pub(super) fn out_of_memory(&self, text: &str) -> DeviceError {
        DeviceError::Failed(format!("{}: {text}", self.name))
    }

    /// Waits for the oldest frame under way, like [`Device::collect`].
    fn wait(&mut self, stop: &Stop) -> Result<FinishedFrame, DeviceError> {
        let Some(oldest) = self.under_way.pop_front() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let begun = Instant::now();
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
                if begun.elapsed() < BUSY_WAIT {
                    thread::yield_now();
                } else {
                    thread::sleep(POLL_INTERVAL);
                }
            }
            device.slots[oldest].take()
        })?;
        picture.ok_or(DeviceError::Stopped)
    }

    fn rendered(&mut self, picture: FinishedFrame) -> CudaResult<Rendered> {
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
            records: picture.records.map(|records| Arc::new(records) as Arc<dyn DeviceRecords>),
            kept: picture.kept,
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

    fn keeps_pictures(&self) -> bool {
        true
    }

    fn builds_tlases(&self) -> bool {
        true
    }

    fn has_stages(&self) -> bool {
        true
    }

    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError> {
        scene.check_references()?;
        let tables = Tables::new(scene);
        let layout = TableLayout::new(&tables);
        let free = self.with("making room for a scene", |device| {
            for slot in &mut device.slots {
                slot.abandon()?;
            }
            device.under_way.clear();
            device.ready.clear();
            device.scene = None;
            device.shared_tlas.clear();
            device.tlas_scratch.clear();
            device.lights = LightCache::default();
            device.pool = StaticPool::default();
            Ok(mem_get_info()?.0)
        })?;
        let mut need = Need::default();
        need.add("meshes", layout.mesh_bytes);
        need.add("textures", layout.texture_bytes);
        need.check(free).map_err(|text| self.out_of_memory(&text))?;
        self.scene = Some(self.with("uploading the scene", |_| layout.upload(&tables))?);
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError> {
        self.start(Picture { frame: &frame, settings, delivery, views: &[] }, None, None).map(drop)
    }

    /// 1 if the device fails, because the next frame then reports the error.
    fn frames_per_batch(&mut self, settings: &FrameSettings, delivery: Delivery) -> usize {
        self.batch_frames(settings, delivery).unwrap_or(1)
    }

    fn submit_batch(
        &mut self,
        frames: Vec<Frame>,
        settings: &FrameSettings,
        delivery: Delivery,
    ) -> Result<(), DeviceError> {
        let Batch { frame, settings, delivery, views } = Batch::new(frames, settings, delivery)?;
        let picture = Picture { frame: &frame, settings: &settings, delivery, views: &views };
        self.start(picture, None, None).map(drop)
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        if let Some(ready) = self.ready.pop_front() {
            return Ok(ready);
        }
        let picture = self.wait(stop)?;
        let frames = picture.frames;
        let rendered = self.with("rendering", |device| device.rendered(picture))?;
        let (first, others) = batch::split(rendered, frames);
        self.ready = others;
        Ok(first)
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
        let picture = Picture { frame, settings, delivery, views: &[] };
        let slot = self.start(picture, Some((film, until)), None)?;
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
        let picture = Picture { frame, settings, delivery: Delivery::default(), views: &[] };
        self.start(picture, None, Some(OwnRays::default()))?;
        let picture = self.wait(&|| false)?;
        // The rest of the picture is dropped in the GPU's context.
        self.with("rendering", |_| Ok(picture.own_rays))
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
            device.kernels.prepare(&params, &frame.tlas)?;
            device.upload(0, frame, tables.as_ref(), &mut params)?;
            device.build_tlas(0, &params)?;
            let slices = rays.chunks(RAYS_PER_LAUNCH).zip(hits.chunks_mut(RAYS_PER_LAUNCH));
            for (rays, hits) in slices {
                device.trace_slice(&params, kind == RayKind::Any, rays, hits, &mut times)?;
            }
            Ok(())
        })?;
        Ok(times)
    }
}

pub(super) fn no_scene() -> DeviceError {
    DeviceError::Failed("no scene is loaded".into())
}

impl Drop for CudaDevice {
    /// The fields free their memory in this context, and no work may use it then. Errors are ignored because they cannot be returned.
    fn drop(&mut self) {
        self.before = OtherContext::replace(&self.context).ok();
        if self.before.is_some() {
            for slot in &mut self.slots {
                let _ = slot.abandon();
            }
        }
    }
}
