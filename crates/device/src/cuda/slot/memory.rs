//! The memory of a frame in flight.

use super::{
    picture::picture_bytes,
    work::{Phase, RemainingWork, Task},
};
use crate::{
    Accumulation, Frame, FrameSettings,
    cuda::{
        aovs::AovMemory,
        exr::ExrMemory,
        kept::KeptPool,
        memory::{Array, Pinned, SparePinned},
        tables::{
            blas_pool::DeformingPool,
            lights::Lights,
            material_tables::UploadedTables,
            scene::SceneTables,
            shapes::{Shapes, vertex_bytes},
            shutter::ShutterUpload,
            tlas::TlasUpload,
            tlas_build::built_bytes,
            views::ViewUpload,
        },
        waves::{Chunk, Cut, Queues},
    },
    film::DeviceCopy,
};
use cust::{
    error::CudaResult,
    stream::{Stream, StreamFlags},
};
use std::{collections::VecDeque, sync::Arc};
use throng_abi::{Params, RayTally};
use throng_accel::Tlas;
use throng_picture::aov::Aov;

/// A place for a frame in flight. Work queued for the frame may use any of the slot's memory until the stream has passed it. So a slot accepts a
/// frame only while it is idle, that is, without work. Work ends when its last event is past, or after waiting for the stream.
pub struct Slot {
    pub stream: Stream,
    /// The TLAS of the frame, unless all frames share one.
    pub tlas: TlasUpload,
    /// Trees and shapes of a scene with deforming meshes.
    pub(super) pool: DeformingPool,
    pub(super) shapes: Shapes,
    /// The frame's own tables of materials and lights.
    pub(super) posed_tables: UploadedTables,
    pub(super) lights: Lights,
    /// Motion keys of instances, the camera and meshes over the shutter interval.
    pub(super) shutter: ShutterUpload,
    pub(super) views: ViewUpload,
    pub(super) aovs: AovMemory,
    pub(super) exr: ExrMemory,
    pub(super) film: Array,
    /// Identifier of the sums in `film` and `film_half`, if they are those of a [`Samples`](crate::Samples). Taken before the sums change.
    pub copy: Option<DeviceCopy>,
    /// Sums of half of the samples, if noise or variance is measured.
    pub(super) film_half: Array,
    /// Shares of outliers, as in `DenoiseLayers`.
    pub(super) outliers: Array,
    /// For adaptive sampling: the noise of all tiles, and the tiles of a pass.
    pub(super) errors: Array,
    pub(super) tiles: Array,
    pub(super) measured: Pinned,
    pub(super) pixels: Array,
    pub(super) tally: Array,
    /// Page-locked memory for the picture under way.
    pub(super) picture: Pinned,
    /// The pool from which `picture` is taken. It returns there after the last reader is done.
    pub(super) spare: SparePinned,
    /// The pool for pictures that stay on the GPU.
    pub(super) kept: Arc<KeptPool>,
    pub queues: Queues,
    pub(super) lengths: Pinned,
    pub work: Option<RemainingWork>,
}

impl Slot {
    pub fn new(spare: SparePinned, kept: Arc<KeptPool>) -> CudaResult<Self> {
        Ok(Self {
            stream: Stream::new(StreamFlags::NON_BLOCKING, None)?,
            tlas: TlasUpload::default(),
            pool: DeformingPool::default(),
            shapes: Shapes::default(),
            posed_tables: UploadedTables::default(),
            lights: Lights::default(),
            shutter: ShutterUpload::default(),
            views: ViewUpload::default(),
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
            kept,
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
        let tlas = match &tlas.unbuilt {
            Some(_) => built_bytes(tlas),
            None => size_of_val(&tlas.units[..]) + size_of_val(&tlas.records[..]) + nested,
        };
        (tlas, film + settings.film_pixels() * settings.pixel_bytes())
    }

    /// Bytes allocated on the GPU by this slot.
    pub fn bytes_held(&self) -> usize {
        let own = [&self.film, &self.film_half, &self.pixels];
        own.iter().map(|array| array.bytes()).sum::<usize>()
            + self.tlas.bytes_held()
            + self.queues.bytes_held()
            + self.pool.bytes_held()
            + self.shapes.bytes_held()
            + self.posed_tables.bytes_held()
            + self.lights.bytes_held()
            + self.shutter.bytes_held()
            + self.views.bytes_held()
            + self.aovs.bytes_held()
            + self.exr.bytes_held()
    }

    /// Accepts a frame whose TLAS is uploaded. Work starts with [`Self::pump`].
    pub fn start(&mut self, mut params: Params, task: Task) -> CudaResult<()> {
        let Task { cut, passes, samples, aovs, film_bytes, holds_film, .. } = &task;
        self.film.reserve(*film_bytes)?;
        let bytes = picture_bytes(&params);
        self.pixels.reserve(bytes)?;
        self.tally.reserve(size_of::<RayTally>())?;
        if !holds_film {
            self.film.clear_later(*film_bytes, &self.stream)?;
        }
        self.tally.clear_later(size_of::<RayTally>(), &self.stream)?;
        params.film.sums = self.film.at(0);
        if passes.is_adaptive() || aovs.contains(Aov::Variance) {
            self.prepare_half(&mut params, *holds_film)?;
        }
        if passes.is_adaptive() || passes.tiles().is_some() {
            self.prepare_measuring(&mut params)?;
        }
        params.film.pixels = self.pixels.at(0);
        let chunks = if passes.is_over() {
            VecDeque::new()
        } else {
            cut.chunks(self.aim(&mut params, passes)?, passes.samples())
        };
        let is_whole = |chunk: &Chunk| chunk.samples == (0..*samples);
        let gathers = matches!(cut, Cut::Waves { .. })
            && params.film.exact == 0
            && !passes.is_adaptive()
            && !chunks.is_empty()
            && chunks.iter().all(is_whole)
            && aovs.iter().any(|aov| aov != Aov::Variance);
        let (phase, under_way, marks) = (Phase::Sampling, VecDeque::new(), Vec::new());
        self.work = Some(RemainingWork { params, task, chunks, phase, gathers, under_way, marks });
        Ok(())
    }

    /// Discards the frame and waits for queued work.
    pub fn abandon(&mut self) -> CudaResult<()> {
        // Memory of the work may be used again as soon as it is dropped.
        let idle = self.stream.synchronize();
        self.work = None;
        self.tlas.forget();
        self.lights.clear();
        idle
    }
}
