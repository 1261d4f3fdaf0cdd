//! The device: scenes, queries of rays, and its queue of one frame.

#[cfg(feature = "probe")]
use super::variants::BASELINE;
use super::{
    PIXEL_BATCH,
    kernels::{KernelTable, VARIANTS},
    launch::{Launch, Shining},
    variants::{COMPRESSED, chosen_kernels, kernels_named, supported},
};
use crate::{
    Accumulation, Delivery, Device, DeviceError, Frame, FrameProgress, FrameSettings, RayKind, Rendered, Samples, Stop,
    WorkCounts,
    batch::{self, Batch, Picture},
    light::LightCache,
    records::{
        material_tables::{MaterialTables, PosedCache},
        params::pixel_items,
        tables::Tables,
    },
};
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use throng_abi::{Hit, Ray, RayWork, ViewRecord};
use throng_accel::NodeLayout;
use throng_scene::Scene;

/// Rays per batch.
const RAY_BATCH: usize = 1024;
/// Bytes of a TLAS that mostly fits into caches. In larger ones, single rays would mostly wait for memory.
const CACHED_TLAS: usize = 32 << 20;
/// Portions of pixels per thread that keep all threads busy. Frames with fewer are rendered together.
const ROUNDS_PER_BATCH: u32 = 4;
/// Rays per launch when work is counted.
const COUNTED_RAYS: usize = 1 << 20;

pub struct CpuDevice {
    pub(super) kernels: &'static KernelTable,
    tables: Option<Tables>,
    lights: LightCache,
    posed: PosedCache,
    queued: Option<Queued>,
    /// Frames of the last batch that are not collected yet.
    ready: VecDeque<Rendered>,
    pub(super) progress: Arc<FrameProgress>,
    /// The sums of the last frame with shared samples. Reusing them avoids freeing and allocating this much memory for each frame.
    spare: Vec<u32>,
    /// Size in bytes of a TLAS above which single closest-hit rays are interleaved.
    cached_tlas: usize,
    /// Number of work items of a batch; none for the number that keeps all threads busy.
    batch_items: Option<u32>,
}

/// A frame or a batch that waits to be rendered.
struct Queued {
    frame: Frame,
    settings: FrameSettings,
    delivery: Delivery,
    /// The pictures of a batch; empty for a single frame.
    views: Vec<ViewRecord>,
}

impl CpuDevice {
    /// Uses the widest variant that the processor supports, or the one in `THRONG_CPU` (`baseline`, `avx2` or `avx512`).
    ///
    /// # Errors
    /// If `THRONG_CPU` names an unknown or unsupported variant.
    pub fn new() -> Result<Self, DeviceError> {
        chosen_kernels().map(Self::with_kernels)
    }

    /// Uses the named variant. Variants differ in speed and in counted traversal steps, never in results.
    pub fn with_variant(name: &str) -> Result<Self, DeviceError> {
        kernels_named(name).map(Self::with_kernels)
    }

    fn with_kernels(kernels: &'static KernelTable) -> Self {
        Self {
            kernels,
            tables: None,
            lights: LightCache::default(),
            posed: PosedCache::default(),
            queued: None,
            ready: VecDeque::new(),
            progress: Arc::default(),
            spare: Vec::new(),
            cached_tlas: CACHED_TLAS,
            batch_items: None,
        }
    }

    /// Changes the TLAS size in bytes above which single rays are interleaved. This affects speed, not results.
    pub fn with_cached_tlas(self, bytes: usize) -> Self {
        Self { cached_tlas: bytes, ..self }
    }

    /// Changes the number of pixels, counted in whole tiles, up to which frames are rendered together. This affects speed, not results.
    pub fn with_batches_of(self, pixels: u32) -> Self {
        Self { batch_items: Some(pixels), ..self }
    }

    /// Names of the kernel variants that this processor supports, in ascending order of speed.
    pub fn variants() -> Vec<&'static str> {
        VARIANTS.iter().map(|v| v.name).filter(|name| supported(name)).collect()
    }

    /// Calls `ask` with a probe that evaluates the light functions of the kernels for a frame; baseline variant only.
    #[cfg(feature = "probe")]
    pub fn probe<T>(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        ask: impl FnOnce(&mut crate::light::probe::Probe) -> T,
    ) -> Result<T, DeviceError> {
        if self.kernels.name != BASELINE {
            return Err(DeviceError::Failed(format!("only {BASELINE} has probes")));
        }
        let shining = self.shining(frame, settings);
        let mut launch = self.prepare(frame, shining)?;
        launch.apply(frame, settings);
        let mut stacks = launch.stacks();
        // SAFETY: the launch keeps the data behind its parameters alive, and the stacks have the size that its trees need.
        let mut probe = unsafe { crate::light::probe::Probe::new(&launch.params, &mut stacks.rays) };
        Ok(ask(&mut probe))
    }

    /// Builds the frame's own tables and, if lights are sampled, the tree over the lights inside the scene.
    pub(super) fn shining(&mut self, frame: &Frame, settings: &FrameSettings) -> Shining {
        let Some(tables) = self.tables.as_ref() else {
            return Shining::default();
        };
        let own = frame.tables.as_deref();
        let emitters = self.posed.emitters(&tables.emitters, own);
        let posed = own.map(|own| {
            let sky = self.posed.sky(own, tables.scene.textures.len());
            MaterialTables::new(own, emitters.weights(), sky)
        });
        if !frame.samples_lights(settings) {
            return Shining { posed, local: None };
        }
        let lights = posed.as_ref().map_or(&tables.lights, |posed| &posed.lights);
        let local = self.lights.tree(&frame.tlas, &emitters, lights, &frame.shown_shapes());
        Shining { posed, local }
    }

    fn queue(&mut self, queued: Queued) {
        let previous = self.queued.replace(queued);
        assert!(previous.is_none(), "at most queue_depth frames are under way");
    }

    pub(super) fn tables(&self) -> Result<&Tables, DeviceError> {
        self.tables.as_ref().ok_or_else(|| DeviceError::Failed("no scene is loaded".into()))
    }

    /// Creates the launch for kernels that trace a frame.
    pub(super) fn prepare<'a>(&'a self, frame: &'a Frame, shining: Shining) -> Result<Launch<'a>, DeviceError> {
        let tables = self.tables()?;
        frame.check(&tables.scene, self.node_layout(), self.builds_tlases())?;
        Ok(Launch::new(tables, frame, shining, self.cached_tlas))
    }
}

impl Device for CpuDevice {
    fn describe(&self) -> String {
        let threads = self.threads();
        format!("cpu ({}, {threads} thread{})", self.kernels.name, if threads == 1 { "" } else { "s" })
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn node_layout(&self) -> NodeLayout {
        match self.kernels.width {
            _ if self.kernels.name == COMPRESSED => NodeLayout::Compressed8,
            16 => NodeLayout::Wide16,
            8 => NodeLayout::Wide8,
            _ => NodeLayout::Wide4,
        }
    }

    fn queue_depth(&self) -> usize {
        1
    }

    fn progress(&self) -> Option<Arc<FrameProgress>> {
        Some(self.progress.clone())
    }

    fn load(&mut self, scene: Arc<Scene>) -> Result<(), DeviceError> {
        scene.check_references()?;
        self.queued = None;
        self.ready.clear();
        self.lights = LightCache::default();
        self.tables = Some(Tables::new(scene));
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError> {
        self.queue(Queued { frame, settings: settings.clone(), delivery, views: Vec::new() });
        Ok(())
    }

    fn frames_per_batch(&mut self, settings: &FrameSettings, _: Delivery) -> usize {
        let busy = || PIXEL_BATCH * ROUNDS_PER_BATCH * self.threads() as u32;
        let own = pixel_items(settings).unwrap_or(u32::MAX);
        batch::frames_in(settings, self.batch_items.unwrap_or_else(busy).into(), own.into())
    }

    fn submit_batch(
        &mut self,
        frames: Vec<Frame>,
        settings: &FrameSettings,
        delivery: Delivery,
    ) -> Result<(), DeviceError> {
        let Batch { frame, settings, delivery, views } = Batch::new(frames, settings, delivery)?;
        self.queue(Queued { frame, settings, delivery, views });
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        if let Some(ready) = self.ready.pop_front() {
            return Ok(ready);
        }
        let Some(Queued { frame, settings, delivery, views }) = self.queued.take() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let spare = std::mem::take(&mut self.spare);
        let mut film = if spare.len() == Accumulation::words(&settings) {
            Accumulation::in_memory(spare, &settings)
        } else {
            Accumulation::new(&settings)
        };
        let picture = Picture { frame: &frame, settings: &settings, delivery, views: &views };
        let rendered = self.extend(picture, &mut film, settings.samples, stop);
        if settings.shares_samples() {
            self.spare = film.sums;
        }
        let (first, others) = batch::split(rendered?, views.len());
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
        self.extend(Picture { frame, settings, delivery, views: &[] }, film.host_mut()?, until, stop)
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
        let kernel = match kind {
            RayKind::Closest => self.kernels.trace_closest,
            RayKind::Any => self.kernels.trace_any,
        };
        let mut launch = self.prepare(frame, Shining::default())?;
        launch.params.tables.has_cutouts = 0;
        let mut pass = || {
            let start = Instant::now();
            // Item numbers have 32 bits, so longer lists are traced in parts.
            for (rays, hits) in rays.chunks(1 << 30).zip(hits.chunks_mut(1 << 30)) {
                launch.params.query.rays = rays.as_ptr();
                launch.params.query.hits = hits.as_mut_ptr();
                let count = rays.len() as u32;
                // SAFETY: `rays` and `hits` have `count` elements.
                unsafe { launch.run(kernel, count, RAY_BATCH as u32, &|| false) };
            }
            start.elapsed()
        };
        Ok((0..passes).map(|_| pass()).collect())
    }

    fn count_work(&mut self, frame: &Frame, kind: RayKind, rays: &[Ray]) -> Result<Option<WorkCounts>, DeviceError> {
        let kernel = match kind {
            RayKind::Closest => self.kernels.count_closest,
            RayKind::Any => self.kernels.count_any,
        };
        let mut launch = self.prepare(frame, Shining::default())?;
        launch.params.tables.has_cutouts = 0;
        let mut work = vec![RayWork::default(); rays.len().min(COUNTED_RAYS)];
        let mut counts = WorkCounts::default();
        for rays in rays.chunks(COUNTED_RAYS) {
            launch.params.query.rays = rays.as_ptr();
            launch.params.query.work = work.as_mut_ptr();
            let count = rays.len() as u32;
            // SAFETY: there are `count` rays and at least as many elements in `work`.
            unsafe { launch.run(kernel, count, RAY_BATCH as u32, &|| false) };
            counts = work[..rays.len()].iter().fold(counts, WorkCounts::with);
        }
        Ok(Some(counts))
    }
}
