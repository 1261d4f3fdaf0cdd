//! A frame in flight: its stream, and its own memory, so that frames overlap.

mod measure;
mod picture;

use super::{
    aovs::AovMemory,
    blas_pool::DeformingPool,
    exr::ExrMemory,
    film_filter::GpuFrame,
    kernels::{KernelSets, Kernels, arguments},
    lights::Lights,
    material_tables::UploadedTables,
    memory::{Array, Pinned, SparePinned, bytes_of},
    scene::SceneTables,
    shapes::{Shapes, vertex_bytes},
    shutter::ShutterUpload,
    waves::{Chunk, ChunkLaunch, Cut, Queues, Stage, WaveLaunch, inside_items},
};
use crate::{
    Accumulation, Frame, FrameSettings, OwnRays, adaptive::Passes, light::LocalTree, material_tables::MaterialTables,
    params::TILE_ITEMS, samples::DeviceCopy,
};
use cust::{
    error::CudaResult,
    event::{Event, EventFlags, EventStatus},
    stream::{Stream, StreamFlags},
};
pub use picture::Picture;
use picture::picture_bytes;
use std::{
    collections::VecDeque,
    mem,
    ops::Range,
    sync::{Arc, Weak},
    time::Duration,
};
use throng_abi::{EXACT_SUM_WORDS, ExrParams, InstanceRecord, NestLevel, Params, RayTally, Unit};
use throng_accel::Tlas;
use throng_picture::aov::{Aov, AovSet, channels::FileRows};

/// Chunks queued ahead of the GPU: enough to keep it busy, few enough to stop quickly.
const CHUNKS_AHEAD: usize = 3;

/// A place for a frame in flight. Work queued for the frame may use any of the slot's memory until the stream has passed it. So a slot accepts a
/// frame only while it is idle, that is, without work. Work ends when its last event is past, or after waiting for the stream.
pub struct Slot {
    pub stream: Stream,
    /// Page-locked copies of data being uploaded.
    staging: Pinned,
    units: Array,
    records: Array,
    /// The TLAS in `units` and `records`, so that an unchanged one is uploaded once.
    uploaded: Weak<Tlas>,
    /// Trees and shapes of a scene with deforming meshes.
    pool: DeformingPool,
    shapes: Shapes,
    /// The frame's own tables of materials and lights.
    posed_tables: UploadedTables,
    lights: Lights,
    /// Motion keys of instances, the camera and meshes over the shutter interval.
    shutter: ShutterUpload,
    aovs: AovMemory,
    exr: ExrMemory,
    film: Array,
    /// Identifier of the sums in `film` and `film_half`, if they are those of a [`Samples`](crate::Samples). Taken before the sums change.
    pub copy: Option<DeviceCopy>,
    /// Sums of half of the samples, if noise or variance is measured.
    film_half: Array,
    /// Shares of outliers, as in `DenoiseLayers`.
    outliers: Array,
    /// For adaptive sampling: the noise of all tiles, and the tiles of a pass.
    errors: Array,
    tiles: Array,
    measured: Pinned,
    pixels: Array,
    tally: Array,
    /// Page-locked memory for the picture under way.
    picture: Pinned,
    /// The pool from which `picture` is taken. It returns there after the last reader is done.
    spare: SparePinned,
    pub queues: Queues,
    lengths: Pinned,
    pub work: Option<Work>,
}

/// The work that a frame requires.
pub struct Task {
    pub cut: Cut,
    pub passes: Passes,
    /// Sample count at which the picture is finished; adaptive pictures may finish earlier. Passes may end before the picture is finished.
    pub samples: u32,
    /// AOVs to gather when the picture is finished.
    pub aovs: AovSet,
    /// Rows of a file, if the picture is to be encoded as blocks.
    pub file_rows: Option<FileRows>,
    /// Memory for the frame in the form that the film denoiser reads, and the AOVs to return in addition.
    pub film: Option<(GpuFrame, AovSet)>,
    pub started: Event,
    /// Lists to which the frame's rays are appended; wavefront schedule only.
    pub own_rays: Option<OwnRays>,
    /// Bytes of the picture's sums.
    pub film_bytes: usize,
    /// Whether the slot already holds the sums from which the frame continues.
    pub holds_film: bool,
    /// See [`FrameSettings::shares_cover`].
    pub shares_cover: bool,
}

/// The remaining work for the frame in a slot.
pub struct Work {
    params: Params,
    cut: Cut,
    passes: Passes,
    /// See [`Task::samples`].
    samples: u32,
    /// Remaining chunks of the current pass.
    chunks: VecDeque<Chunk>,
    phase: Phase,
    aovs: AovSet,
    /// Whether chunks gather the AOVs, except for the variance, which needs all samples.
    gathers: bool,
    shares_cover: bool,
    file_rows: Option<FileRows>,
    film: Option<(GpuFrame, AovSet)>,
    /// One event per queued chunk.
    under_way: VecDeque<Event>,
    started: Event,
    marks: Vec<(Stage, Event)>,
    /// The rays so far, if requested.
    own_rays: Option<OwnRays>,
}

/// The next step of a frame's work, which is queued once the step's event is past.
enum Phase {
    /// The next chunk of the pass; after the last chunk, the pass ends.
    Sampling,
    /// The rest of a partly queued chunk.
    Partly(Box<ChunkLaunch>, Event),
    /// The next pass, planned from the measured noise, if one is needed.
    Measuring(Event),
    /// AOVs of these items; after the last ones, the picture.
    Gathering(Range<u32>),
    /// The copy of a file's blocks to the host, once their offsets are available.
    Compressing(ExrParams, Event),
    /// No step is left. For blocks instead of pixels, holds their offsets and total size in bytes.
    Finished(Event, Option<(Vec<u64>, usize)>),
}

impl Phase {
    /// The event that must be past before the next step.
    fn event(&self) -> Option<&Event> {
        match self {
            Self::Sampling | Self::Gathering(_) => None,
            Self::Partly(_, event)
            | Self::Measuring(event)
            | Self::Compressing(_, event)
            | Self::Finished(event, _) => Some(event),
        }
    }
}

// SAFETY: the pointers in the parameters are GPU addresses, which are not tied to a thread.
unsafe impl Send for Work {}

impl Slot {
    pub fn new(spare: SparePinned) -> CudaResult<Self> {
        Ok(Self {
            stream: Stream::new(StreamFlags::NON_BLOCKING, None)?,
            staging: Pinned::default(),
            units: Array::default(),
            records: Array::default(),
            uploaded: Weak::new(),
            pool: DeformingPool::default(),
            shapes: Shapes::default(),
            posed_tables: UploadedTables::default(),
            lights: Lights::default(),
            shutter: ShutterUpload::default(),
            aovs: AovMemory::default(),
            exr: ExrMemory::default(),
            film: Array::default(),
            copy: None,
            film_half: Array::default(),
            outliers: Array::default(),
            errors: Array::default(),
            tiles: Array::default(),
            measured: Pinned::default(),
            pixels: Array::default(),
            tally: Array::default(),
            picture: Pinned::default(),
            spare,
            queues: Queues::default(),
            lengths: Pinned::default(),
            work: None,
        })
    }

    /// Bytes on the GPU for the shapes of deforming meshes, without their trees.
    pub fn shape_bytes(tables: &SceneTables, frame: &Frame) -> usize {
        if frame.shapes.is_empty() { 0 } else { vertex_bytes(tables, &frame.shapes) + size_of_val(tables.meshes()) }
    }

    /// Bytes on the GPU for a TLAS and for a picture.
    pub fn bytes(tlas: &Tlas, settings: &FrameSettings) -> (usize, usize) {
        let film = size_of::<u32>() * Accumulation::words(settings);
        let nested = tlas.nested.as_ref().map_or(0, |nested| nested.bytes());
        let tlas = size_of_val(&tlas.units[..]) + size_of_val(&tlas.records[..]) + nested;
        (tlas, film + settings.film_pixels() * settings.pixel_bytes())
    }

    /// Bytes allocated on the GPU by this slot.
    pub fn bytes_held(&self) -> usize {
        let own = [&self.units, &self.records, &self.film, &self.film_half, &self.pixels];
        own.iter().map(|array| array.bytes()).sum::<usize>()
            + self.queues.bytes_held()
            + self.pool.bytes_held()
            + self.shapes.bytes_held()
            + self.posed_tables.bytes_held()
            + self.lights.bytes_held()
            + self.shutter.bytes_held()
            + self.aovs.bytes_held()
            + self.exr.bytes_held()
    }

    /// Queues the upload of the trees and shapes of a frame with deforming meshes. The slot must be idle.
    pub fn deform(&mut self, tables: &SceneTables, frame: &Frame, params: &mut Params) -> CudaResult<()> {
        self.pool.upload(&frame.blas, &self.stream)?;
        self.shapes.upload(tables, &frame.shapes, &self.stream)?;
        self.pool.apply(params);
        self.shapes.apply(params);
        Ok(())
    }

    /// Queues the upload of the frame's own tables of materials and lights. The slot must be idle.
    pub fn upload_tables(
        &mut self,
        scene: &SceneTables,
        tables: &MaterialTables,
        params: &mut Params,
    ) -> CudaResult<()> {
        self.posed_tables.upload(scene, tables, &self.stream)?;
        self.posed_tables.apply(params);
        Ok(())
    }

    /// Queues the upload of the tree over the lights inside the scene. The slot must be idle.
    pub fn light(&mut self, tree: &Arc<LocalTree>, params: &mut Params) -> CudaResult<()> {
        params.local_lights = self.lights.upload(tree, &self.stream)?;
        Ok(())
    }

    /// Queues the upload of motion keys if the frame has motion blur. The slot must be idle.
    pub fn upload_shutter_keys(
        &mut self,
        frame: &Frame,
        settings: &FrameSettings,
        params: &mut Params,
    ) -> CudaResult<()> {
        match params.frame.moves {
            0 => Ok(()),
            _ => self.shutter.upload(frame, settings, params, &self.stream),
        }
    }

    /// Prepares memory for the frame's AOVs, if any, and for their exact sums if `keeps_layers` is set, and queues the upload of their tables. The slot
    /// must be idle.
    pub fn prepare_aovs(
        &mut self,
        tables: &SceneTables,
        frame: &Frame,
        (settings, keeps_layers): (&FrameSettings, bool),
        params: &mut Params,
    ) -> CudaResult<()> {
        if settings.aovs.is_empty() {
            Ok(())
        } else {
            self.film.reserve(size_of::<u32>() * Accumulation::words(settings))?;
            let start = Accumulation::cover_start(settings);
            let cover = start.map(|start| self.film.at(size_of::<u32>() * start));
            self.aovs.prepare(tables, (frame, settings, keeps_layers), cover, params, &self.stream)
        }
    }

    /// Copies a TLAS to page-locked memory and queues the upload. The slot must be idle.
    pub fn upload(&mut self, tlas: &Arc<Tlas>, params: &mut Params) -> CudaResult<()> {
        let (units, records) = (bytes_of(&tlas.units), bytes_of(&tlas.records));
        // Levels, numbers, records and indices of instances follow the records. Their sizes are multiples of a word.
        let nested = tlas.nested.as_ref().map_or([&[][..]; 4], |nested| nested.parts());
        let mut starts = [records.len(); 5];
        for (part, bytes) in nested.iter().enumerate() {
            starts[part + 1] = starts[part] + bytes.len();
        }
        let behind = starts[4] - records.len();
        if self.uploaded.as_ptr() != Arc::as_ptr(tlas) || self.uploaded.strong_count() == 0 {
            self.uploaded = Weak::new();
            // Some room to grow, because the tree of a moving scene changes its size from frame to frame.
            self.units.reserve_with_room(units.len())?;
            self.records.reserve_with_room(records.len() + behind)?;
            self.staging.reserve_with_room(units.len() + records.len() + behind)?;
            self.staging.fill(0, units);
            self.staging.fill(units.len(), records);
            for (bytes, start) in nested.iter().zip(starts) {
                self.staging.fill(units.len() + start, bytes);
            }
            let (staging, stream) = (&self.staging, &self.stream);
            // SAFETY: the slot was idle, and gets no new frame before its stream has passed this (see `Slot`).
            unsafe {
                self.units.write_later(0, staging, 0, units.len(), stream)?;
                self.records.write_later(0, staging, units.len(), records.len() + behind, stream)?;
            }
            self.uploaded = Arc::downgrade(tlas);
        }
        params.trees.tlas_units = self.units.at::<Unit>(0);
        params.trees.instances = self.records.at::<InstanceRecord>(0);
        if behind > 0 {
            params.trees.levels = self.records.at::<NestLevel>(starts[0]);
            params.trees.numbers = self.records.at::<u32>(starts[1]);
            params.trees.records_of = self.records.at::<u32>(starts[2]);
            params.trees.indices = self.records.at::<u32>(starts[3]);
        }
        if let Some(nested) = &tlas.nested {
            params.trees.shares_numbers = nested.numbers.shared.into();
        }
        Ok(())
    }

    /// Accepts a frame whose TLAS is uploaded. Work starts with [`Self::pump`].
    pub fn start(&mut self, mut params: Params, task: Task) -> CudaResult<()> {
        let Task {
            cut,
            passes,
            samples,
            aovs,
            file_rows,
            film: denoised,
            started,
            own_rays,
            film_bytes,
            holds_film,
            shares_cover,
        } = task;
        self.film.reserve(film_bytes)?;
        let bytes = picture_bytes(&params);
        self.pixels.reserve(bytes)?;
        self.tally.reserve(size_of::<RayTally>())?;
        if !holds_film {
            self.film.clear_later(film_bytes, &self.stream)?;
        }
        self.tally.clear_later(size_of::<RayTally>(), &self.stream)?;
        params.film.sums = self.film.at(0);
        if passes.is_adaptive() || aovs.contains(Aov::Variance) {
            self.prepare_half(&mut params, holds_film)?;
        }
        if passes.is_adaptive() || passes.tiles().is_some() {
            self.prepare_measuring(&mut params)?;
        }
        params.film.pixels = self.pixels.at(0);
        let chunks = if passes.is_over() {
            VecDeque::new()
        } else {
            cut.chunks(self.aim(&mut params, &passes)?, passes.samples())
        };
        let is_whole = |chunk: &Chunk| chunk.samples == (0..samples);
        let gathers = matches!(cut, Cut::Waves { .. })
            && params.film.exact == 0
            && !passes.is_adaptive()
            && !chunks.is_empty()
            && chunks.iter().all(is_whole)
            && aovs.iter().any(|aov| aov != Aov::Variance);
        self.work = Some(Work {
            params,
            gathers,
            shares_cover,
            chunks,
            cut,
            passes,
            samples,
            phase: Phase::Sampling,
            aovs,
            file_rows,
            film: denoised,
            under_way: VecDeque::new(),
            started,
            marks: Vec::new(),
            own_rays,
        });
        Ok(())
    }

    /// Queues the work that can be queued now. Returns true when the frame is finished.
    pub fn pump(&mut self, kernels: &KernelSets) -> CudaResult<bool> {
        let Some(mut work) = self.work.take() else {
            return Ok(false);
        };
        let kernels = kernels.of(&work.params);
        let result = self.advance(&mut work, kernels);
        self.work = Some(work);
        result
    }

    fn advance(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<bool> {
        if let Some(event) = work.phase.event()
            && !is_past(event)?
        {
            return Ok(false);
        }
        while let Some(event) = work.under_way.front() {
            if !is_past(event)? {
                break;
            }
            work.under_way.pop_front();
        }
        while work.under_way.len() < CHUNKS_AHEAD {
            work.phase = match mem::replace(&mut work.phase, Phase::Sampling) {
                Phase::Sampling => self.sample(work, kernels)?,
                Phase::Partly(run, _) => self.go_on(work, *run, kernels)?,
                Phase::Measuring(_) => self.next_pass(work, kernels)?,
                Phase::Gathering(items) if items.is_empty() => self.finish(work, kernels)?,
                Phase::Gathering(items) => self.gather_aovs(work, items, kernels)?,
                Phase::Compressing(blocks, _) => self.deliver(blocks, kernels)?,
                finished @ Phase::Finished(..) => {
                    work.phase = finished;
                    return Ok(true);
                }
            };
            if work.phase.event().is_some() {
                break;
            }
        }
        Ok(false)
    }

    /// Queues the next chunk of the pass, or ends the pass.
    fn sample(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<Phase> {
        let Some(chunk) = work.chunks.pop_front() else {
            return if work.passes.is_adaptive() && !work.passes.is_over() {
                self.measure(work, kernels)
            } else {
                self.end_sampling(work, kernels)
            };
        };
        let Cut::Waves { needs, .. } = work.cut else {
            return self.run_loop(work, &chunk, kernels);
        };
        let inside = inside_items(&work.params, &chunk, work.passes.tiles());
        let gathers = work.gathers;
        let run = self.launch_waves(work, kernels, |queues, params, launch| {
            queues.start(params, needs, (chunk, inside), gathers, launch)
        })?;
        self.go_on(work, run, kernels)
    }

    /// Starts the step after the last pass. AOVs and blocks of files are computed for finished pictures only.
    fn end_sampling(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<Phase> {
        if !work.passes.is_adaptive() {
            work.passes.go_on(&[]);
        }
        if !work.passes.finish(work.samples) {
            work.aovs = AovSet::default();
            work.file_rows = None;
            work.film = None;
        }
        if work.aovs.is_empty() || work.gathers && !work.aovs.contains(Aov::Variance) {
            self.finish(work, kernels)
        } else {
            Ok(Phase::Gathering(0..tile_count(&work.params) * TILE_ITEMS))
        }
    }

    /// Queues the remaining launches of a chunk, or as many as can be queued now.
    fn go_on(&mut self, work: &mut Work, mut run: ChunkLaunch, kernels: &Kernels) -> CudaResult<Phase> {
        let all = self.launch_waves(work, kernels, |queues, _, launch| queues.go_on(&mut run, launch))?;
        let event = event_now(&self.stream)?;
        if !all {
            return Ok(Phase::Partly(Box::new(run), event));
        }
        work.under_way.push_back(event);
        Ok(Phase::Sampling)
    }

    /// Calls `queue` with the picture's parameters and the context for launching waves.
    fn launch_waves<T>(
        &mut self,
        work: &mut Work,
        kernels: &Kernels,
        queue: impl FnOnce(&Queues, &Params, &mut WaveLaunch) -> CudaResult<T>,
    ) -> CudaResult<T> {
        let (stream, marks) = (&self.stream, &mut work.marks);
        let mut mark = |stage| {
            marks.push((stage, event_now(stream)?));
            Ok(())
        };
        let mut launch = WaveLaunch {
            kernels,
            stream,
            tally: self.tally.at(0),
            lengths: &mut self.lengths,
            mark: &mut mark,
            own_rays: work.own_rays.as_mut(),
        };
        queue(&self.queues, &work.params, &mut launch)
    }

    /// Queues a chunk in the loop schedule.
    fn run_loop(&mut self, work: &mut Work, chunk: &Chunk, kernels: &Kernels) -> CudaResult<Phase> {
        let mut params = work.params;
        params.film.sample_begin = chunk.samples.start;
        params.film.sample_end = chunk.samples.end;
        let (begin, end) = (chunk.items.start, chunk.items.end);
        let tally = self.tally.at::<RayTally>(0);
        // SAFETY: the arguments match the kernel, and its memory belongs to this slot and the scene, which outlive the work.
        unsafe {
            kernels.launch_items(
                "throng_render_pixel",
                end - begin,
                &self.stream,
                arguments![params, begin, end, tally],
            )?;
        }
        work.under_way.push_back(event_now(&self.stream)?);
        Ok(Phase::Sampling)
    }

    /// Discards the frame and waits for queued work.
    pub fn abandon(&mut self) -> CudaResult<()> {
        self.work = None;
        self.uploaded = Weak::new();
        self.lights.clear();
        self.stream.synchronize()
    }
}

/// Bytes of the sums of half of the samples.
fn half_bytes(params: &Params) -> usize {
    let words = if params.film.exact != 0 { EXACT_SUM_WORDS as usize } else { 4 };
    params.film.width as usize * params.film.height as usize * words * size_of::<u32>()
}

/// Number of tiles in the whole film.
fn tile_count(params: &Params) -> u32 {
    params.film.width.div_ceil(8) * params.film.height.div_ceil(8)
}

/// Records an event at the end of the queued work.
pub fn event_now(stream: &Stream) -> CudaResult<Event> {
    let event = Event::new(EventFlags::DEFAULT)?;
    event.record(stream)?;
    Ok(event)
}

fn is_past(event: &Event) -> CudaResult<bool> {
    Ok(matches!(event.query()?, EventStatus::Ready))
}

/// Time between two events; zero if `end` came first.
pub fn elapsed(begin: &Event, end: &Event) -> CudaResult<Duration> {
    let milliseconds = end.elapsed_time_f32(begin)?;
    Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) * 1e-3))
}
