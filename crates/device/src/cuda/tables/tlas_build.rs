//! TLASes that the GPU builds, from transforms that the host uploads.

use super::tlas::TlasUpload;
use crate::{
    Frame,
    cuda::{
        kernels::{arguments, launch},
        memory::{Array, bytes_of, is_same},
    },
    tlas_build::{
        BuildInput, DIGITS, MERGE_TILE, SORT_TILE, Supports, build_params, most_units, scratch_bytes, use_scratch,
    },
};
use cust::{
    error::CudaResult,
    event::{Event, EventFlags},
    module::Module,
    stream::{Stream, StreamWaitEventFlags},
};
use glam::Affine3;
use std::sync::{Arc, Weak};
use throng_abi::{
    InstanceKey, InstanceKind, InstanceRecord, MeshTree, PartRoot, TLAS_LEVELS, TLAS_ROUNDS, TlasBuild, Unit,
};
use throng_accel::{Blas, Place, Tlas, Unbuilt};

/// Threads per block of kernels with one thread per instance, and of kernels of a single block.
const THREADS: u32 = 256;
const LONE_THREADS: u32 = 1024;
/// Maximum number of blocks per multiprocessor of kernels that loop over their items.
const BLOCKS: u32 = 8;
/// Number of sorting passes: the bits of a place on the curve, divided by the bits of a digit.
const SORT_PASSES: u32 = 6;
/// Number of clusters from which a single block merges the rest.
const FEW_CLUSTERS: usize = 2048;

/// The kernels that build TLASes, and the number of multiprocessors of their GPU.
pub struct BuildKernels<'a> {
    pub module: &'a Module,
    pub multiprocessors: u32,
}

/// Working memory of builds, which all frames in flight use in turn.
#[derive(Default)]
pub struct TlasScratch {
    memory: Array,
    /// The end of the last build.
    last: Option<Event>,
    /// The support maps of these meshes.
    cells: Array,
    blocks: Array,
    supports: Supports,
    supported: Option<Arc<Vec<Arc<Blas>>>>,
}

impl TlasScratch {
    /// Bytes of working memory, without support maps.
    pub fn bytes_held(&self) -> usize {
        self.memory.bytes()
    }

    /// Frees the memory. No work may use it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Sets the support maps of the meshes of a frame, which are uploaded if there are others. Meshes that deform have none.
    fn support(&mut self, frame: &Frame, meshes: &mut [MeshTree], build: &mut TlasBuild) -> CudaResult<()> {
        if !frame.shapes.is_empty() {
            return Ok(());
        }
        if !self.supported.as_ref().is_some_and(|own| Arc::ptr_eq(own, &frame.blas)) {
            if let Some(last) = &self.last {
                last.synchronize()?;
            }
            self.supported = None;
            self.supports = Supports::new(&frame.blas);
            let (cells, blocks) = (bytes_of(&self.supports.cells), bytes_of(&self.supports.blocks));
            self.cells.reserve(cells.len())?;
            self.blocks.reserve(blocks.len())?;
            self.cells.write(0, cells)?;
            self.blocks.write(0, blocks)?;
            self.supported = Some(frame.blas.clone());
        }
        self.supports.apply(meshes);
        (build.cells, build.blocks) = (self.cells.at(0), self.blocks.at(0));
        Ok(())
    }

    /// Makes room for a build, which starts on `stream` after the last one.
    fn begin(&mut self, build: &mut TlasBuild, stream: &Stream) -> CudaResult<()> {
        let bytes = scratch_bytes(build.count as usize);
        if let Some(last) = self.last.take() {
            if self.memory.bytes() < bytes {
                last.synchronize()?;
            } else {
                stream.wait_event(last, StreamWaitEventFlags::DEFAULT)?;
            }
        }
        self.memory.reserve_with_room(bytes)?;
        let (state, state_bytes) = use_scratch(build, self.memory.at(0));
        self.memory.clear_range_later(state..state + state_bytes, stream)
    }

    fn end(&mut self, stream: &Stream) -> CudaResult<()> {
        let last = Event::new(EventFlags::DISABLE_TIMING)?;
        last.record(stream)?;
        self.last = Some(last);
        Ok(())
    }
}

/// Bytes of units and records of a TLAS that is built on the GPU.
pub fn built_bytes(tlas: &Tlas) -> usize {
    let build = build_params(tlas);
    let count = build.count as usize;
    (build.first_unit as usize + most_units(count)) * size_of::<Unit>()
        + (build.first_record as usize + count) * size_of::<InstanceRecord>()
}

/// What a slot remembers between the upload of instances and the build, and between builds.
#[derive(Default)]
pub struct Building {
    /// What instances have in common: meshes, and the roots of other trees.
    tables: Array,
    /// The kinds in the records.
    kinds: Weak<Vec<InstanceKind>>,
    /// A build whose input is uploaded.
    ready: Option<TlasBuild>,
}

// SAFETY: the addresses are those of memory on the GPU, which every thread may use in its context.
unsafe impl Send for Building {}

impl Building {
    /// Bytes allocated on the GPU.
    pub fn bytes_held(&self) -> usize {
        self.tables.bytes()
    }

    /// To be called when records change otherwise.
    pub fn forget(&mut self) {
        (self.kinds, self.ready) = (Weak::new(), None);
    }
}

impl TlasUpload {
    /// Queues the upload of the instances of a TLAS for [`Self::build`].
    pub(super) fn upload_instances(
        &mut self,
        (frame, unbuilt): (&Frame, &Unbuilt),
        scratch: &mut TlasScratch,
        stream: &Stream,
    ) -> CudaResult<()> {
        let tlas = &frame.tlas;
        let mut build = build_params(tlas);
        let count = build.count as usize;
        let (first_unit, first_record) = (build.first_unit as usize, build.first_record as usize);
        let (held, kinds) = (std::mem::take(&mut self.still), std::mem::take(&mut self.building.kinds));
        self.uploaded = Weak::new();
        let room = self.bytes_held();
        self.units.reserve_with_room((first_unit + most_units(count)) * size_of::<Unit>())?;
        self.records.reserve_with_room((first_record + count) * size_of::<InstanceRecord>())?;
        let keeps = room == self.bytes_held();
        let kept = tlas.still.iter().zip(&held).take_while(|(still, held)| keeps && is_same(held, still)).count();
        let has_kinds = keeps && kept == tlas.still.len() && kept == held.len() && is_same(&kinds, &unbuilt.kinds);
        let mut input = BuildInput::new(tlas, &frame.blas);
        scratch.support(frame, &mut input.meshes, &mut build)?;
        let mut copies: Vec<(&Array, usize, &[u8])> = Vec::new();
        for (index, tree) in tlas.still.iter().enumerate().skip(kept) {
            let start = if index == 0 { Place::FIRST } else { tlas.still[index - 1].end() };
            let (units, records) = tree.contents();
            copies.push((&self.units, start.units * size_of::<Unit>(), bytes_of(units)));
            copies.push((&self.records, start.records * size_of::<InstanceRecord>(), bytes_of(records)));
        }
        // The input of a step is where the results of later ones will be.
        let transforms = first_unit * size_of::<Unit>();
        let kinds = transforms + count * size_of::<Affine3>();
        let ranges = kinds + count * size_of::<InstanceKind>();
        copies.push((&self.units, transforms, bytes_of(&unbuilt.world_from_object)));
        build.transforms = self.units.at(transforms);
        if !has_kinds {
            copies.push((&self.units, kinds, bytes_of(&unbuilt.kinds)));
            build.kinds = self.units.at(kinds);
        }
        if !input.ranges.is_empty() {
            copies.push((&self.units, ranges, bytes_of(&input.ranges)));
            build.ranges = self.units.at(ranges);
        }
        let others = size_of_val(&input.meshes[..]).next_multiple_of(align_of::<PartRoot>());
        self.building.tables.reserve_with_room(others + size_of_val(&input.others[..]))?;
        let tables = &self.building.tables;
        copies.push((tables, 0, bytes_of(&input.meshes)));
        copies.push((tables, others, bytes_of(&input.others)));
        build.meshes = tables.at(0);
        if !input.others.is_empty() {
            build.others = tables.at(others);
        }
        self.staging.send(&copies, stream)?;
        (build.records, build.units) = (self.records.at(0), self.units.at(0));
        self.building.ready = Some(build);
        self.building.kinds = Arc::downgrade(&unbuilt.kinds);
        self.uploaded = Arc::downgrade(tlas);
        self.still = tlas.still.iter().map(Arc::downgrade).collect();
        Ok(())
    }

    /// Queues the build of a TLAS whose instances were uploaded, if it is not built yet. `keys`: the motion keys of instances on the GPU.
    pub fn build(
        &mut self,
        (scratch, builder): (&mut TlasScratch, BuildKernels<'_>),
        keys: *const InstanceKey,
        stream: &Stream,
    ) -> CudaResult<()> {
        let Some(mut build) = self.building.ready.take() else { return Ok(()) };
        if keys.is_null() && !build.ranges.is_null() {
            // A picture of the same frame with motion blur needs another tree.
            build.ranges = std::ptr::null();
            self.uploaded = Weak::new();
        }
        build.keys = keys;
        scratch.begin(&mut build, stream)?;
        let launches = Launches { build, builder, stream };
        launches.place_and_sort()?;
        launches.merge()?;
        launches.collapse()?;
        scratch.end(stream)
    }
}

/// The launches of a build.
struct Launches<'a> {
    build: TlasBuild,
    builder: BuildKernels<'a>,
    stream: &'a Stream,
}

impl Launches<'_> {
    /// Launches a kernel with a number besides the build's parameters.
    fn launch(&self, name: &str, blocks: u32, threads: u32, number: u32) -> CudaResult<()> {
        let build = self.build;
        // SAFETY: the arguments match the kernels, and the memory belongs to the slot and the device, which outlive queued work.
        unsafe { launch(self.builder.module, name, blocks, threads, self.stream, arguments![build, number]) }
    }

    /// Launches a kernel whose threads loop over at most `items`.
    fn launch_loop(&self, name: &str, items: usize, number: u32) -> CudaResult<()> {
        let blocks = items.div_ceil(THREADS as usize).min((BLOCKS * self.builder.multiprocessors) as usize);
        self.launch(name, blocks as u32, THREADS, number)
    }

    fn launch_each(&self, name: &str) -> CudaResult<()> {
        self.launch(name, self.build.count.div_ceil(THREADS), THREADS, 0)
    }

    fn launch_alone(&self, name: &str, number: u32) -> CudaResult<()> {
        self.launch(name, 1, LONE_THREADS, number)
    }

    fn place_and_sort(&self) -> CudaResult<()> {
        self.launch_loop("throng_tlas_place", self.build.count as usize, 0)?;
        self.launch_each("throng_tlas_find_places")?;
        let tiles = (self.build.count as usize).div_ceil(SORT_TILE) as u32;
        for pass in 0..SORT_PASSES {
            self.launch("throng_tlas_count_digits", tiles, THREADS, pass)?;
            self.launch("throng_tlas_add_digits", DIGITS as u32, THREADS, tiles)?;
            self.launch("throng_tlas_sort", tiles, THREADS, pass)?;
        }
        Ok(())
    }

    fn merge(&self) -> CudaResult<()> {
        self.launch_each("throng_tlas_start_merging")?;
        // A round leaves fewer than four fifths of the clusters, as a rule.
        let (mut left, mut rounds) = (self.build.count as usize, 0);
        while left > FEW_CLUSTERS && rounds + 1 < TLAS_ROUNDS {
            let items = left.next_multiple_of(MERGE_TILE);
            self.launch_loop("throng_tlas_find_nearest", items, rounds)?;
            self.launch_loop("throng_tlas_count_merges", items, rounds)?;
            self.launch_alone("throng_tlas_add_merges", rounds)?;
            self.launch_loop("throng_tlas_merge", items, rounds)?;
            (left, rounds) = (left * 4 / 5, rounds + 1);
        }
        self.launch_alone("throng_tlas_merge_rest", rounds)
    }

    fn collapse(&self) -> CudaResult<()> {
        let count = self.build.count as usize;
        let (mut nodes, mut level) = (1, 0);
        // Nodes are rarely full, so that there are some more levels than of full ones.
        let full = (count as f64).log(8.0).ceil() as u32;
        while level < (full + 3).min(TLAS_LEVELS) {
            self.launch_loop("throng_tlas_collapse", nodes, level)?;
            (nodes, level) = ((nodes * 8).min(count * 4 / 7 + 1), level + 1);
        }
        self.launch_alone("throng_tlas_collapse_rest", level)?;
        self.launch_each("throng_tlas_write_instances")?;
        self.launch("throng_tlas_join", 1, 1, 0)
    }
}
