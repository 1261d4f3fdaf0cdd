//! The wavefront schedule: cutting a picture into chunks of paths, and the launches of a chunk. A chunk's paths go through trace and shade kernels
//! wave by wave. Then all shadow rays are traced, and the finished samples are added to the film. If paths have many waves with a shadow ray each,
//! shadow rays are also traced in between.

use super::{
    kernels::{Kernels, Shading, arguments},
    memory::{Array, Pinned},
};
use crate::{OwnRays, StageTimes, records::params::TILE_ITEMS};
use cust::{error::CudaResult, stream::Stream};
use std::{collections::VecDeque, time::Duration};
use throng_abi::{
    CUTOUT_HOLES, CUTOUT_LIGHT, Hit, Params, PathState, QueueState, Ray, RayTally, ScatterState, ShadowLight, Wavefront,
};
use throng_scene::Paths;

/// Waves between two checks whether any path is left, for pictures with many bounces. The host does not wait for a check (see [`Queues::go_on`]), but
/// the stream idles for a moment.
const WAVES_PER_CHECK: u32 = 24;

/// Samples of a pixel in one chunk if not all of a picture's paths fit into one. Neighbouring paths are then similar, and the film is read and
/// written once. More samples gain little.
const SAMPLES_TOGETHER: u32 = 64;

/// Waves of the path integrator whose shadow rays are traced together.
const WAVES_PER_SHADOWS: u32 = 6;

/// All combinations of the given items and sample numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub items: std::ops::Range<u32>,
    pub samples: std::ops::Range<u32>,
}

impl Chunk {
    pub fn item_count(&self) -> u32 {
        self.items.end - self.items.start
    }

    pub fn path_count(&self) -> u32 {
        self.item_count() * (self.samples.end - self.samples.start)
    }
}

/// How pictures are cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Wavefront schedule, with at most `paths` paths per chunk.
    Waves { paths: u32, needs: PathNeeds },
    /// Loop schedule, with at most this many items and samples per chunk.
    Loops { items: u32, samples: u32 },
}

impl Cut {
    /// All chunks of the given samples of the first `items` items. The samples of each item are in order.
    pub fn chunks(self, items: u32, samples: std::ops::Range<u32>) -> VecDeque<Chunk> {
        let count = samples.end - samples.start;
        let later = |chunk: Chunk| Chunk {
            samples: chunk.samples.start + samples.start..chunk.samples.end + samples.start,
            ..chunk
        };
        match self {
            Self::Waves { paths, .. } => chunks(items, count, paths).map(later).collect(),
            Self::Loops { items: width, samples: depth } => cut(items, count, width, depth).map(later).collect(),
        }
    }
}

/// Cuts a picture into chunks of whole tiles and at most `capacity` paths (at least 64). The samples of each item are in order.
fn chunks(items: u32, samples: u32, capacity: u32) -> impl Iterator<Item = Chunk> {
    let depth = samples.min(SAMPLES_TOGETHER).min(capacity / TILE_ITEMS).max(1);
    let widest = (capacity / depth / TILE_ITEMS * TILE_ITEMS).max(TILE_ITEMS);
    // Makes all chunks about equally large.
    let width = items.div_ceil(items.div_ceil(widest).max(1));
    let width = width.next_multiple_of(TILE_ITEMS).max(TILE_ITEMS);
    let depth = (capacity / width).clamp(1, samples);
    cut(items, samples, width, depth)
}

/// Cuts a picture into chunks of at most `width` items and `depth` samples. The samples of each item are in order.
fn cut(items: u32, samples: u32, width: u32, depth: u32) -> impl Iterator<Item = Chunk> {
    (0..samples).step_by(depth as usize).flat_map(move |begin| {
        (0..items).step_by(width as usize).map(move |first| Chunk {
            items: first..items.min(first.saturating_add(width)),
            samples: begin..samples.min(begin + depth),
        })
    })
}

/// Memory of the queues.
#[derive(Default)]
pub struct Queues {
    rays: [Array; 2],
    owners: [Array; 2],
    hits: Array,
    paths: Array,
    scatters: Array,
    shadow_rays: Array,
    shadow_lights: Array,
    shadow_previous: Array,
    shadow_blocked: Array,
    states: Array,
}

/// Requirements of a picture's paths: room in queues, launches and kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathNeeds {
    /// Shadow rays per path that are traced together.
    pub shadows: u32,
    /// Whether paths are scattered, with a shadow ray in each wave.
    pub scatter: bool,
    /// Maximum number of waves. Scattered paths take one step more than they bounce, to hit lights. Each scattering event in a volume also takes a
    /// wave.
    pub waves: u32,
    pub shading: Shading,
}

impl PathNeeds {
    /// The requirements of a picture with paths of kind `paths`. `lights` is the number of lights, `scattered` the kernel for scattered paths, and
    /// `more_events` the maximum number of events in volumes and at panes. Returns `None` if the wavefront schedule does not support these paths.
    pub fn new(
        paths: Paths,
        bounces: u32,
        lights: u32,
        scattered: Shading,
        more_events: u32,
        is_foggy: bool,
    ) -> Option<Self> {
        let needs = match paths {
            Paths::Scattered => {
                let waves = bounces.saturating_add(2).saturating_add(more_events);
                Self {
                    // The last wave only hits lights. In fog, a path may have one shadow ray from the fog and one from a surface per wave.
                    shadows: (waves - 1).clamp(1, WAVES_PER_SHADOWS) * if is_foggy { 2 } else { 1 },
                    scatter: true,
                    waves,
                    shading: scattered,
                }
            }
            Paths::Reflected => Self {
                shadows: 1 + lights.min(3),
                scatter: false,
                waves: bounces.saturating_add(1),
                shading: Shading::Whitted,
            },
            Paths::FirstHit { shadow_rays } => {
                Self { shadows: shadow_rays, scatter: false, waves: 1, shading: Shading::View }
            }
            Paths::Counted => return None,
        };
        Some(needs)
    }

    /// Number of ray queues: one for the current wave and, if there is one, one for the next.
    fn ray_queues(&self) -> usize {
        self.waves.min(2) as usize
    }

    /// Bytes of queues per path.
    pub fn bytes(&self) -> usize {
        let ray = size_of::<Ray>() + size_of::<u32>();
        let shadow = size_of::<Ray>() + size_of::<ShadowLight>() + size_of::<u32>();
        let (chain, scatter) = if self.scatter { (size_of::<u32>(), size_of::<ScatterState>()) } else { (0, 0) };
        let path = size_of::<Hit>() + size_of::<PathState>() + scatter;
        self.ray_queues() * ray + path + self.shadows as usize * (shadow + chain)
    }
}

/// A chunk whose launches are being queued.
pub struct ChunkLaunch {
    params: Params,
    chunk: Chunk,
    /// Number of camera rays.
    primary: u32,
    w: Wavefront,
    needs: PathNeeds,
    /// Whether AOVs are gathered from the hits of the first wave.
    gathers: bool,
    /// Whether a copy of the queue's length is under way.
    checking: bool,
}

/// Context for launching the schedule's kernels.
pub struct WaveLaunch<'a> {
    pub kernels: &'a Kernels,
    pub stream: &'a Stream,
    pub tally: *mut RayTally,
    /// Memory for copies of the queues' lengths.
    pub lengths: &'a mut Pinned,
    /// Called before the first launch of each stage.
    pub mark: &'a mut dyn FnMut(GpuStage) -> CudaResult<()>,
    /// Receives copies of the rays, if requested. This makes the host wait for each queue.
    pub own_rays: Option<&'a mut OwnRays>,
}

/// Selects the list of one kind of rays.
type OwnKind = fn(&mut OwnRays) -> &mut Vec<Ray>;

/// Parts of a frame's work on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuStage {
    Other,
    Primary,
    Bounce,
    Shadow,
    Shade,
}

/// Total time of each stage.
pub fn stage_times(stages: &[(GpuStage, Duration)]) -> StageTimes {
    let mut times = StageTimes::default();
    for (stage, time) in stages {
        *match stage {
            GpuStage::Primary => &mut times.primary,
            GpuStage::Bounce => &mut times.bounce,
            GpuStage::Shadow => &mut times.shadow,
            GpuStage::Shade => &mut times.shade,
            GpuStage::Other => &mut times.other,
        } += *time;
    }
    times
}

impl Queues {
    /// Makes room for `paths` paths.
    pub fn reserve(&mut self, paths: u32, needs: &PathNeeds) -> CudaResult<()> {
        let paths = paths as usize;
        let shadows = paths * needs.shadows as usize;
        for queue in self.rays.iter_mut().take(needs.ray_queues()) {
            queue.reserve(paths * size_of::<Ray>())?;
        }
        for queue in self.owners.iter_mut().take(needs.ray_queues()) {
            queue.reserve(paths * size_of::<u32>())?;
        }
        self.hits.reserve(paths * size_of::<Hit>())?;
        self.paths.reserve(paths * size_of::<PathState>())?;
        if needs.scatter {
            self.scatters.reserve(paths * size_of::<ScatterState>())?;
            self.shadow_previous.reserve(shadows * size_of::<u32>())?;
        }
        self.shadow_rays.reserve(shadows * size_of::<Ray>())?;
        self.shadow_lights.reserve(shadows * size_of::<ShadowLight>())?;
        self.shadow_blocked.reserve(shadows * size_of::<u32>())?;
        self.states.reserve(state_bytes(needs.waves))
    }

    /// Bytes allocated on the GPU by the queues.
    pub fn bytes_held(&self) -> usize {
        let single = [
            &self.hits,
            &self.paths,
            &self.scatters,
            &self.shadow_rays,
            &self.shadow_lights,
            &self.shadow_previous,
            &self.shadow_blocked,
            &self.states,
        ];
        let all = self.rays.iter().chain(&self.owners).chain(single);
        all.map(Array::bytes).sum()
    }

    /// Queues the start of a chunk's paths, which must fit into the queues; [`Self::go_on`] does the rest. `params` are the picture's parameters, and
    /// `inside` is the number of the chunk's items inside the picture. If `gathers` is set, the chunk must have all samples of its items.
    pub fn start(
        &self,
        params: &Params,
        needs: PathNeeds,
        (chunk, inside): (Chunk, u32),
        gathers: bool,
        launch: &mut WaveLaunch,
    ) -> CudaResult<ChunkLaunch> {
        let mut params = *params;
        params.film.sample_begin = chunk.samples.start;
        params.film.sample_end = chunk.samples.end;
        let w = self.wavefront(&chunk, launch.tally);
        let (kernels, stream) = (launch.kernels, launch.stream);
        (launch.mark)(GpuStage::Other)?;
        self.states.clear_later(state_bytes(needs.waves), stream)?;
        // SAFETY: here and below, the arguments match the kernels in `kernel_cuda.cu`, and the arrays belong to the device, which waits for its
        // streams before it frees them.
        unsafe {
            kernels.launch_items("throng_start_paths", w.path_count, stream, arguments![params, w])?;
        }
        Ok(ChunkLaunch {
            params,
            primary: inside * (chunk.samples.end - chunk.samples.start),
            chunk,
            w,
            needs,
            gathers,
            checking: false,
        })
    }

    /// Queues a chunk's launches up to the next check whether any path is left. Returns whether these were all. If not, it must be called again once
    /// the stream has passed them, and no other work may be queued before.
    pub fn go_on(&self, run: &mut ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<bool> {
        while run.w.wave < run.needs.waves {
            let wave = run.w.wave;
            if std::mem::take(&mut run.checking) {
                if length_in(launch.lengths, 1 + wave) == 0 {
                    break;
                }
            } else if wave > 0 && wave.is_multiple_of(WAVES_PER_CHECK) {
                (launch.mark)(GpuStage::Other)?;
                self.read_length_later(1 + wave, launch)?;
                run.checking = true;
                return Ok(false);
            }
            self.trace_wave(run, launch)?;
            run.w.wave += 1;
            if run.needs.scatter && run.w.wave.is_multiple_of(WAVES_PER_SHADOWS) {
                self.trace_shadows(run, launch)?;
                self.gather_shadows(run, launch)?;
            }
        }
        self.finish(run, launch)?;
        Ok(true)
    }

    /// Traces and shades a wave.
    fn trace_wave(&self, run: &ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<()> {
        let ChunkLaunch { params, w, .. } = run;
        let (kernels, stream, wave) = (launch.kernels, launch.stream, w.wave);
        let queue = self.state(wave);
        let rays = w.rays[wave as usize % 2];
        let (stage, own): (_, OwnKind) = match wave {
            0 => (GpuStage::Primary, |own| &mut own.primary),
            _ => (GpuStage::Bounce, |own| &mut own.bounce),
        };
        (launch.mark)(stage)?;
        // SAFETY: see `start`.
        unsafe {
            let cutouts = params.tables.has_cutouts != 0;
            kernels.launch_trace(false, cutouts, stream, arguments![*params, rays, w.hits, queue])?;
            self.copy_rays(1 + wave, &self.rays[wave as usize % 2], own, launch)?;
            (launch.mark)(GpuStage::Shade)?;
            if run.gathers && wave == 0 {
                let items = run.chunk.item_count();
                kernels.launch_items("throng_gather_wave", items, stream, arguments![*params, *w, items])?;
            }
            kernels.launch_shade(run.needs.shading, w.path_count, stream, arguments![*params, *w])
        }
    }

    /// Queues the shadow rays, the accumulation on the film and the tally of a chunk whose waves are all queued.
    fn finish(&self, run: &ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<()> {
        let ChunkLaunch { params, chunk, primary, w, .. } = run;
        let (kernels, stream) = (launch.kernels, launch.stream);
        let items = chunk.item_count();
        self.trace_shadows(run, launch)?;
        // SAFETY: see `start`.
        unsafe {
            kernels.launch_items("throng_finish_items", items, stream, arguments![*params, *w, items])?;
            kernels.launch("throng_tally_queues", 1, 1, stream, arguments![*w, w.wave, *primary])
        }
    }

    /// Traces the queued shadow rays and empties their queue; their results stay in place.
    fn trace_shadows(&self, run: &ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<()> {
        let ChunkLaunch { params, w, .. } = run;
        let (kernels, stream) = (launch.kernels, launch.stream);
        let queue = self.states.at::<QueueState>(0);
        (launch.mark)(GpuStage::Shadow)?;
        // SAFETY: see `start`.
        unsafe {
            kernels.launch_trace(
                true,
                params.tables.has_cutouts & (CUTOUT_HOLES | CUTOUT_LIGHT) != 0,
                stream,
                arguments![*params, w.shadow_rays, w.shadow_blocked, queue],
            )?;
            self.copy_rays(0, &self.shadow_rays, |own| &mut own.shadow, launch)?;
            if run.needs.scatter && params.tables.has_panes != 0 {
                let most = w.path_count.saturating_mul(run.needs.shadows);
                kernels.launch_items("throng_light_through_panes", most, stream, arguments![*params, *w])?;
            }
            (launch.mark)(GpuStage::Other)?;
            kernels.launch("throng_tally_shadows", 1, 1, stream, arguments![*w])
        }
    }

    /// Adds the light of shadow rays to their paths.
    fn gather_shadows(&self, run: &ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<()> {
        let ChunkLaunch { params, w, .. } = run;
        // SAFETY: see `start`.
        unsafe {
            launch.kernels.launch_items("throng_gather_shadows", w.path_count, launch.stream, arguments![*params, *w])
        }
    }

    /// Appends the rays of queue `index` to their list, if requested. The rays stay in place until the next wave is shaded. Rays with a negative
    /// `t_max` belong to paths outside the picture and are skipped.
    fn copy_rays(&self, index: u32, rays: &Array, own: OwnKind, launch: &mut WaveLaunch) -> CudaResult<()> {
        if launch.own_rays.is_none() {
            return Ok(());
        }
        let mut queued = vec![Ray::default(); self.length(index, launch)? as usize];
        if queued.is_empty() {
            return Ok(());
        }
        rays.read(bytemuck::cast_slice_mut(&mut queued))?;
        if let Some(own_rays) = &mut launch.own_rays {
            own(own_rays).extend(queued.iter().filter(|ray| ray.t_max >= 0.0));
        }
        Ok(())
    }

    /// Waits, and returns the number of rays in queue `index`. Queue 0 has the shadow rays; the queues of the waves follow.
    fn length(&self, index: u32, launch: &mut WaveLaunch) -> CudaResult<u32> {
        self.read_length_later(index, launch)?;
        launch.stream.synchronize()?;
        Ok(length_in(launch.lengths, index))
    }

    /// Queues a copy of the lengths of queues 0 to `index`.
    fn read_length_later(&self, index: u32, launch: &mut WaveLaunch) -> CudaResult<()> {
        let bytes = (index as usize + 1) * size_of::<QueueState>();
        launch.lengths.reserve(bytes)?;
        // SAFETY: the copy is neither read nor repeated before the stream has passed it (see `go_on` and `length`).
        unsafe { self.states.read_later(launch.lengths, 0, bytes, launch.stream) }
    }

    /// The state of a wave's queue. Queue 0 holds shadow rays, so the queue of wave 0 is the second one.
    fn state(&self, wave: u32) -> *mut QueueState {
        self.states.at((1 + wave as usize) * size_of::<QueueState>())
    }

    fn wavefront(&self, chunk: &Chunk, tally: *mut RayTally) -> Wavefront {
        Wavefront {
            rays: [self.rays[0].at(0), self.rays[1].at(0)],
            owners: [self.owners[0].at(0), self.owners[1].at(0)],
            hits: self.hits.at(0),
            paths: self.paths.at(0),
            scatters: self.scatters.at(0),
            shadow_rays: self.shadow_rays.at(0),
            shadow_lights: self.shadow_lights.at(0),
            shadow_previous: self.shadow_previous.at(0),
            shadow_blocked: self.shadow_blocked.at(0),
            queues: self.states.at(0),
            tally,
            first_item: chunk.items.start,
            path_count: chunk.path_count(),
            wave: 0,
            reserved: 0,
        }
    }
}

/// The length of queue `index` in a finished copy.
fn length_in(lengths: &Pinned, index: u32) -> u32 {
    let begin = index as usize * size_of::<QueueState>();
    let state = &lengths.bytes()[begin..begin + size_of::<QueueState>()];
    bytemuck::pod_read_unaligned::<QueueState>(state).length
}

/// Bytes of the states of all queues: shadow rays, all waves, and one queue that stays empty after the last wave.
fn state_bytes(waves: u32) -> usize {
    (waves as usize + 2) * size_of::<QueueState>()
}

/// Number of the chunk's items inside the picture. `tiles` are the sampled tiles, or `None` for all.
pub fn inside_items(params: &Params, chunk: &Chunk, tiles: Option<&[u32]>) -> u32 {
    let tiles_x = params.film.width.div_ceil(8);
    let inside_tile = |tile: u32| {
        let side = |tile: u32, size: u32| size.saturating_sub(tile * 8).min(8);
        side(tile % tiles_x, params.film.width) * side(tile / tiles_x, params.film.height)
    };
    (chunk.items.start / 64..chunk.items.end.div_ceil(64))
        .map(|tile| tiles.map_or(tile, |tiles| tiles[tile as usize]))
        .map(inside_tile)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_sample_of_every_item_once_and_in_order() {
        for (items, samples, capacity) in
            [(64, 1, 64), (640, 5, 64), (640, 5, 1280), (640, 7, 1 << 20), (128, 100, 300), (640, 300, 1 << 14)]
        {
            let mut next = vec![0; items as usize];
            for chunk in chunks(items, samples, capacity) {
                assert!(chunk.path_count() <= capacity, "{chunk:?}");
                assert!(chunk.items.start.is_multiple_of(TILE_ITEMS), "{chunk:?}");
                for item in chunk.items.clone() {
                    assert_eq!(next[item as usize], chunk.samples.start, "{chunk:?}");
                    next[item as usize] = chunk.samples.end;
                }
            }
            assert!(next.iter().all(|&end| end == samples), "{items} {samples} {capacity}");
        }
    }
}
