//! The CPU device: the kernels as compiled by the host compiler, in the widest variant that this processor supports, on rayon's threads. Other
//! devices are tested against it.

use super::{
    Accumulation, Delivery, Device, DeviceError, Frame, FrameProgress, FrameSettings, RayCounts, RayKind, Rendered,
    Samples, Stop, WorkCounts,
    adaptive::{self, Passes},
    material_tables::{MaterialTables, PosedCache},
    params::{TILE_ITEMS, pixel_items},
    tables::Tables,
};
use crate::light::LightCache;
use launch::{Launch, Shining};
use std::{
    ptr::{null, null_mut},
    sync::Arc,
    time::{Duration, Instant},
};
use throng_abi::{Hit, Params, Ray, RayWork, Thread};
use throng_accel::NodeLayout;
use throng_picture::{aov::Aov, pixels::Floats};
use throng_scene::Scene;

/// A kernel: processes items `begin..end` on the calling thread.
type Kernel = unsafe extern "C" fn(*const Params, u32, u32, *mut Thread);

mod developer;
mod film_filter;
mod gathering;
mod join;
mod launch;
mod variants;
mod watch;

pub use developer::Developer;
pub use film_filter::{FilmFilter, FilmLayers};

#[allow(dead_code, reason = "some kernels are launched on GPUs alone")]
mod kernels {
    use super::{Kernel, Params, Thread};
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
use kernels::{KernelTable, VARIANTS};
#[cfg(feature = "probe")]
use variants::BASELINE;
use variants::{chosen_kernels, kernels_named, supported};

/// Items of `render_pixel` per batch: four 8×8 tiles.
const PIXEL_BATCH: u32 = 256;
/// Pixels of `resolve_pixel` per batch.
const RESOLVE_BATCH: u32 = 1 << 14;
/// Samples per pixel between two checks for a stop.
const SAMPLE_SLICE: usize = 16;
/// Tiles of `measure_tile` per batch.
const TILE_BATCH: u32 = 64;
/// Rays per batch.
const RAY_BATCH: usize = 1024;
/// Bytes of a TLAS that mostly fits into caches. In larger ones, single rays would mostly wait for memory.
const CACHED_TLAS: usize = 32 << 20;
/// Rays per launch when work is counted.
const COUNTED_RAYS: usize = 1 << 20;
/// The variant that traverses the GPU's trees with the GPU's algorithm on the CPU. It is slow and serves for comparison only.
pub const COMPRESSED: &str = "compressed";

pub struct CpuDevice {
    kernels: &'static KernelTable,
    tables: Option<Tables>,
    lights: LightCache,
    posed: PosedCache,
    queued: Option<(Frame, FrameSettings, Delivery)>,
    progress: Arc<FrameProgress>,
    /// The sums of the last frame with shared samples. Reusing them avoids freeing and allocating this much memory for each frame.
    spare: Vec<u32>,
    /// Size in bytes of a TLAS above which single closest-hit rays are interleaved.
    cached_tlas: usize,
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
            progress: Arc::default(),
            spare: Vec::new(),
            cached_tlas: CACHED_TLAS,
        }
    }

    /// Changes the TLAS size in bytes above which single rays are interleaved. This affects speed, not results.
    pub fn with_cached_tlas(self, bytes: usize) -> Self {
        Self { cached_tlas: bytes, ..self }
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
    fn shining(&mut self, frame: &Frame, settings: &FrameSettings) -> Shining {
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

    fn tables(&self) -> Result<&Tables, DeviceError> {
        self.tables.as_ref().ok_or_else(|| DeviceError::Failed("no scene is loaded".into()))
    }

    /// Creates the launch for kernels that trace a frame.
    fn prepare<'a>(&'a self, frame: &'a Frame, shining: Shining) -> Result<Launch<'a>, DeviceError> {
        let tables = self.tables()?;
        frame.check(&tables.scene, self.node_layout())?;
        Ok(Launch::new(tables, frame, shining, self.cached_tlas))
    }

    /// Adds `samples` of the first `items` items to the film.
    ///
    /// # Safety
    /// The launch must be for a picture with at least `items` items and point to a film of its size. If only some tiles are sampled, it must point to
    /// the list of their numbers.
    unsafe fn sample(
        &self,
        launch: &mut Launch<'_>,
        samples: std::ops::Range<u32>,
        items: u32,
        stop: &Stop,
    ) -> RayCounts {
        let mut rays = RayCounts::default();
        // Small ranges of samples, so that a stop does not wait for all samples of the first pixels.
        for begin in samples.clone().step_by(SAMPLE_SLICE) {
            let end = samples.end.min(begin + SAMPLE_SLICE as u32);
            launch.params.film.sample_begin = begin;
            launch.params.film.sample_end = end;
            let progress = &*self.progress;
            let begun = || progress.add(u64::from(PIXEL_BATCH) * u64::from(end - begin));
            let kernel = if launch.params.film.aovs.is_null() {
                self.kernels.render_pixel
            } else {
                self.kernels.render_with_aovs
            };
            // SAFETY: guaranteed by the caller; each item writes only to its own pixel of film and AOVs.
            rays += unsafe { launch.run_counted(kernel, items, PIXEL_BATCH, &begun, stop) };
            if stop() {
                break;
            }
        }
        rays
    }

    /// As [`Device::add_samples`].
    fn extend(
        &mut self,
        frame: &Frame,
        (settings, delivery): (&FrameSettings, Delivery),
        film: &mut Accumulation,
        until: u32,
        stop: &Stop,
    ) -> Result<Rendered, DeviceError> {
        if !film.fits(settings) {
            return Err(DeviceError::Failed("the film is of another picture".into()));
        }
        let start = Instant::now();
        let shining = self.shining(frame, settings);
        let mut launch = self.prepare(frame, shining)?;
        launch.apply(frame, settings);
        let pixel_count = settings.film_pixels();
        let tile_count = pixel_items(settings)? / TILE_ITEMS;
        // Floats for every pixel type, so that the memory is aligned for all of them.
        let mut pixels = vec![0f32; (pixel_count * settings.pixel_bytes()).div_ceil(4)];
        launch.params.film.sums = film.sums.as_mut_ptr();
        launch.params.film.pixels = pixels.as_mut_ptr().cast();
        if !film.odd.is_empty() {
            launch.params.film.half_sums = film.odd.as_mut_ptr();
        }
        film.layers.clear();
        let state = std::mem::take(&mut film.state);
        let first = state.first;
        let mut passes = Passes::resume(until, settings.noise, state);
        let measured = if passes.is_adaptive() { tile_count } else { 0 };
        let mut errors = vec![0f32; measured as usize];
        if passes.is_adaptive() {
            launch.params.film.tile_errors = errors.as_mut_ptr();
        }
        let samples = |per_pixel: u32| u64::from(tile_count * TILE_ITEMS) * u64::from(per_pixel.saturating_sub(first));
        // If a pixel gets all its samples in one launch, AOVs are gathered from the hits of the picture's own rays.
        let is_last = until >= settings.samples || delivery.unfinished_aovs;
        let at_once = first == passes.samples().start && is_last && until - first <= SAMPLE_SLICE as u32;
        let mut along = if at_once && !passes.is_adaptive() && !settings.open_ended && !settings.aovs.is_empty() {
            Some(self.gathering(frame, settings, None)?)
        } else {
            None
        };
        let cover = Accumulation::cover_start(settings).map(|start| launch.params.film.sums.wrapping_add(start).cast());
        if let (Some(along), Some(cover)) = (&mut along, cover) {
            along.record.cover = cover;
        }
        // If samples are shared, a pixel's variance is known only after its neighbours are finished.
        let late = along.as_mut().filter(|_| settings.shares_samples());
        let variance = late.map_or(null_mut(), |along| std::mem::replace(&mut along.record.variance, null_mut()));
        launch.params.film.aovs = along.as_ref().map_or(null(), |along| &raw const *along.record);
        let mut rays = RayCounts::default();
        while !passes.is_over() {
            let tiles = passes.tiles().map(<[u32]>::to_vec);
            launch.params.film.tiles = tiles.as_ref().map_or(null(), |tiles| tiles.as_ptr());
            let count = tiles.as_ref().map_or(tile_count, |tiles| tiles.len() as u32);
            self.progress.begin(samples(passes.samples().start), samples(settings.samples));
            // SAFETY: the film and the tiles fit the settings.
            rays += unsafe { self.sample(&mut launch, passes.samples(), count * TILE_ITEMS, stop) };
            if stop() {
                return Err(DeviceError::Stopped);
            }
            launch.params.film.tiles = null();
            if passes.is_adaptive() {
                let kernel = self.kernels.measure_tile;
                // SAFETY: the film and its odd half have the picture's size, and there is one error per tile.
                unsafe { launch.run(kernel, tile_count, TILE_BATCH, &|| false) };
            }
            passes.go_on(&errors);
        }
        film.state = passes.into_state();
        if film.is_done(settings) {
            self.progress.end()
        } else {
            self.progress.begin(samples(film.state.samples), samples(settings.samples))
        }
        if let Some(along) = along.as_mut().filter(|_| !variance.is_null()) {
            along.record.variance = variance;
            launch.params.film.aovs = &raw const *along.record;
            // SAFETY: as for the samples.
            unsafe { launch.run(self.kernels.gather_variance, tile_count * TILE_ITEMS, PIXEL_BATCH, stop) };
        }
        if let Some(along) = &along {
            // SAFETY: as for the samples.
            unsafe { self.finish_cover(&mut launch, along, pixel_count as u32) };
        }
        launch.params.film.aovs = null();
        let aovs = match along {
            Some(along) => along.into_images(),
            None if settings.aovs.is_empty() || !(film.is_done(settings) || delivery.unfinished_aovs) => Vec::new(),
            None => {
                launch.params.film.sample_begin = first;
                launch.params.film.sample_end = adaptive::samples_of_all(settings).min(film.state.samples);
                let layers = delivery.layer_sums.then_some(&mut film.layers);
                let mut gathering = self.gathering(frame, settings, layers)?;
                gathering.record.cover = cover.unwrap_or(null_mut());
                // If the caller chose the tiles, only they have changed.
                let given = film.state.tiles.as_ref().filter(|_| settings.noise.is_none());
                launch.params.film.tiles = given.map_or(null(), |tiles| tiles.as_ptr());
                let items = given.map_or(tile_count, |tiles| tiles.len() as u32) * TILE_ITEMS;
                // SAFETY: the film and the tiles fit the settings.
                unsafe {
                    self.gather_aovs(&mut launch, &gathering, settings, items, stop);
                    self.finish_cover(&mut launch, &gathering, pixel_count as u32);
                }
                launch.params.film.tiles = null();
                gathering.into_images()
            }
        };
        let values = |aov| aovs.iter().find(|image| image.aov == aov).map_or(null(), |image| image.values.as_ptr());
        launch.params.film.shadow = values(Aov::Shadow);
        if settings.wireframe.is_some() {
            launch.params.film.wireframe = values(Aov::Wireframe);
        }
        if settings.transparent {
            launch.params.film.alpha = values(Aov::Alpha);
        }
        let kernel = self.kernels.resolve_pixel;
        // SAFETY: film, alpha and pixels have `pixel_count` pixels.
        unsafe { launch.run(kernel, pixel_count as u32, RESOLVE_BATCH, &|| false) };
        if stop() {
            return Err(DeviceError::Stopped);
        }
        let bytes = pixel_count * settings.pixel_bytes();
        Ok(Rendered {
            pixels: Floats::from(pixels).into_bytes().slice(..bytes),
            aovs,
            blocks: None,
            film: None,
            rays,
            time: start.elapsed(),
            stages: None,
        })
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
        self.lights = LightCache::default();
        self.tables = Some(Tables::new(scene));
        Ok(())
    }

    fn submit(&mut self, frame: Frame, settings: &FrameSettings, delivery: Delivery) -> Result<(), DeviceError> {
        let previous = self.queued.replace((frame, settings.clone(), delivery));
        assert!(previous.is_none(), "at most queue_depth frames are under way");
        Ok(())
    }

    fn collect(&mut self, stop: &Stop) -> Result<Rendered, DeviceError> {
        let Some((frame, settings, delivery)) = self.queued.take() else {
            return Err(DeviceError::Failed("no frame is under way".into()));
        };
        let spare = std::mem::take(&mut self.spare);
        let mut film = if spare.len() == Accumulation::words(&settings) {
            Accumulation::in_memory(spare, &settings)
        } else {
            Accumulation::new(&settings)
        };
        let rendered = self.extend(&frame, (&settings, delivery), &mut film, settings.samples, stop);
        if settings.shares_samples() {
            self.spare = film.sums;
        }
        rendered
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
        self.extend(frame, (settings, delivery), film.host_mut()?, until, stop)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;

    #[test]
    fn every_compiled_kernel_lays_out_the_border_structs_as_rust_does() {
        for variant in VARIANTS {
            let mut count = 0;
            // SAFETY: returns a static table and its length; uses no instruction beyond the baseline.
            let found = unsafe { std::slice::from_raw_parts((variant.layout)(&mut count), count as usize) };
            let expected = layout::expected(variant.width);
            assert_eq!(found, expected, "variant {}", variant.name);
        }
    }
}
