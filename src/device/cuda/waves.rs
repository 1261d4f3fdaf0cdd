//! The wavefront schedule: a picture in chunks of paths, and the launches of a chunk. A chunk's paths go through trace and
//! shade kernels wave by wave; then all shadow rays are traced, and the finished samples are added to the film.

use super::{
    kernels::{Kernels, arguments},
    memory::{Array, Pinned},
};
use crate::{
    abi::{Hit, Params, PathState, QueueState, Ray, RayTally, ShadowLight, Wavefront},
    device::OwnRays,
};
use cust::{error::CudaResult, stream::Stream};

/// Waves between two looks at whether any path is left, in pictures of many bounces. Nobody waits for a look (see
/// [`Queues::go_on`]), but the stream idles for a moment.
const WAVES_PER_LOOK: u32 = 24;

/// All samples `samples` of the items `items`.
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

/// Cuts a picture into chunks of at most `capacity` paths, the samples of an item in order.
pub fn chunks(items: u32, samples: u32, capacity: u32) -> impl Iterator<Item = Chunk> {
    let width = items.min(capacity).max(1);
    let depth = (capacity / width).clamp(1, samples);
    cut(items, samples, width, depth)
}

/// Cuts a picture into chunks of at most `width` items and `depth` samples, the samples of an item in order.
pub fn cut(items: u32, samples: u32, width: u32, depth: u32) -> impl Iterator<Item = Chunk> {
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
    shadow_rays: Array,
    shadow_lights: Array,
    shadow_blocked: Array,
    states: Array,
}

/// Bytes of queues that one path takes, with up to `shadows` shadow rays at its end.
pub fn bytes_per_path(shadows: u32) -> usize {
    let ray = size_of::<Ray>() + size_of::<u32>();
    let shadow = size_of::<Ray>() + size_of::<ShadowLight>() + size_of::<u32>();
    2 * ray + size_of::<Hit>() + size_of::<PathState>() + shadows as usize * shadow
}

/// A chunk whose launches are being queued.
pub struct ChunkLaunch {
    params: Params,
    chunk: Chunk,
    w: Wavefront,
    /// Whether a copy of the length of the wave's queue is under way.
    looking: bool,
}

/// What a launch of the schedule's kernels takes besides the parameters.
pub struct WaveLaunch<'a> {
    pub kernels: &'a Kernels,
    pub stream: &'a Stream,
    pub tally: *mut RayTally,
    /// For looks at the length of a queue.
    pub look: &'a mut Pinned,
    /// Told before the first launch of each stage.
    pub mark: &'a mut dyn FnMut(Stage) -> CudaResult<()>,
    /// Where copies of the rays go, if they are asked for; that takes a pause per queue.
    pub own_rays: Option<&'a mut OwnRays>,
}

/// Picks the list of a kind.
type OwnKind = fn(&mut OwnRays) -> &mut Vec<Ray>;

/// Parts of a frame's work on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Other,
    Primary,
    Bounce,
    Shadow,
    Shade,
}

impl Queues {
    /// Makes room for `paths` paths with `shadows` shadow rays each, and waves up to `bounces`.
    pub fn reserve(&mut self, paths: u32, shadows: u32, bounces: u32) -> CudaResult<()> {
        let paths = paths as usize;
        let shadows = paths * shadows as usize;
        for queue in &mut self.rays {
            queue.reserve(paths * size_of::<Ray>())?;
        }
        for queue in &mut self.owners {
            queue.reserve(paths * size_of::<u32>())?;
        }
        self.hits.reserve(paths * size_of::<Hit>())?;
        self.paths.reserve(paths * size_of::<PathState>())?;
        self.shadow_rays.reserve(shadows * size_of::<Ray>())?;
        self.shadow_lights
            .reserve(shadows * size_of::<ShadowLight>())?;
        self.shadow_blocked.reserve(shadows * size_of::<u32>())?;
        self.states.reserve(state_bytes(bounces))
    }

    /// Bytes on the GPU that the queues have already.
    pub fn bytes_held(&self) -> usize {
        let single = [
            &self.hits,
            &self.paths,
            &self.shadow_rays,
            &self.shadow_lights,
            &self.shadow_blocked,
            &self.states,
        ];
        let all = self.rays.iter().chain(&self.owners).chain(single);
        all.map(Array::bytes).sum()
    }

    /// Queues the start of a chunk's paths. `params` are the picture's; the paths must fit. [`Self::go_on`] does the rest.
    pub fn start(
        &self,
        params: &Params,
        chunk: Chunk,
        launch: &mut WaveLaunch,
    ) -> CudaResult<ChunkLaunch> {
        let params = Params {
            sample_begin: chunk.samples.start,
            sample_end: chunk.samples.end,
            ..*params
        };
        let w = self.wavefront(&chunk, launch.tally);
        let (kernels, stream) = (launch.kernels, launch.stream);
        (launch.mark)(Stage::Other)?;
        self.states
            .clear_later(state_bytes(params.bounces), stream)?;
        // SAFETY: here and below, the arguments are those of the kernels in `kernel_cuda.cu`, and the arrays live in the
        // device until its streams have come to rest.
        unsafe {
            kernels.launch_items(
                "throng_start_paths",
                w.path_count,
                stream,
                arguments![params, w],
            )?;
        }
        Ok(ChunkLaunch {
            params,
            chunk,
            w,
            looking: false,
        })
    }

    /// Queues a chunk's launches up to the next look at whether any path is left, and returns whether these were all.
    /// Else this is to be called again once the stream has passed them; nothing else may be queued before.
    pub fn go_on(&self, run: &mut ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<bool> {
        while run.w.wave <= run.params.bounces {
            let wave = run.w.wave;
            if std::mem::take(&mut run.looking) {
                if looked_up(launch.look, 1 + wave) == 0 {
                    break;
                }
            } else if wave > 0 && wave.is_multiple_of(WAVES_PER_LOOK) {
                (launch.mark)(Stage::Other)?;
                self.look_later(1 + wave, launch)?;
                run.looking = true;
                return Ok(false);
            }
            self.trace_wave(&run.params, &run.w, launch)?;
            run.w.wave += 1;
        }
        self.finish(run, launch)?;
        Ok(true)
    }

    /// Traces and shades a wave.
    fn trace_wave(
        &self,
        params: &Params,
        w: &Wavefront,
        launch: &mut WaveLaunch,
    ) -> CudaResult<()> {
        let (kernels, stream, wave) = (launch.kernels, launch.stream, w.wave);
        let queue = self.state(wave);
        let rays = w.rays[wave as usize % 2];
        let (stage, own): (_, OwnKind) = match wave {
            0 => (Stage::Primary, |own| &mut own.primary),
            _ => (Stage::Bounce, |own| &mut own.bounce),
        };
        (launch.mark)(stage)?;
        // SAFETY: see `start`.
        unsafe {
            kernels.launch_trace(false, stream, arguments![*params, rays, w.hits, queue])?;
            self.copy_rays(1 + wave, &self.rays[wave as usize % 2], own, launch)?;
            (launch.mark)(Stage::Shade)?;
            kernels.launch_shade(w.path_count, stream, arguments![*params, *w])
        }
    }

    /// Queues the shadow rays, the way to the film and the tally of a chunk whose waves are all queued.
    fn finish(&self, run: &ChunkLaunch, launch: &mut WaveLaunch) -> CudaResult<()> {
        let ChunkLaunch {
            params, chunk, w, ..
        } = run;
        let (kernels, stream) = (launch.kernels, launch.stream);
        let items = chunk.item_count();
        let primary = inside_items(params, chunk) * (chunk.samples.end - chunk.samples.start);
        (launch.mark)(Stage::Shadow)?;
        // SAFETY: see `start`.
        unsafe {
            let queue = self.states.at::<QueueState>(0);
            kernels.launch_trace(
                true,
                stream,
                arguments![*params, w.shadow_rays, w.shadow_blocked, queue],
            )?;
            self.copy_rays(0, &self.shadow_rays, |own| &mut own.shadow, launch)?;
            (launch.mark)(Stage::Other)?;
            kernels.launch_items(
                "throng_finish_items",
                items,
                stream,
                arguments![*params, *w, items],
            )?;
            kernels.launch(
                "throng_tally_queues",
                1,
                1,
                stream,
                arguments![*w, w.wave, primary],
            )
        }
    }

    /// Adds the rays of queue `index` to those of their kind, where they are asked for. They stay in place until the
    /// next wave is shaded. Rays without extent belong to paths over the edge of the picture and are left out.
    fn copy_rays(
        &self,
        index: u32,
        rays: &Array,
        own: OwnKind,
        launch: &mut WaveLaunch,
    ) -> CudaResult<()> {
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

    /// Waits, and returns how many rays queue `index` has: that of shadow rays is the first, those of the waves follow.
    fn length(&self, index: u32, launch: &mut WaveLaunch) -> CudaResult<u32> {
        self.look_later(index, launch)?;
        launch.stream.synchronize()?;
        Ok(looked_up(launch.look, index))
    }

    /// Queues a copy of the queues' lengths up to that of queue `index`.
    fn look_later(&self, index: u32, launch: &mut WaveLaunch) -> CudaResult<()> {
        let bytes = (index as usize + 1) * size_of::<QueueState>();
        launch.look.reserve(bytes)?;
        self.states.read_later(launch.look, 0, bytes, launch.stream)
    }

    /// The queue of a wave's rays; that of shadow rays comes before all of them.
    fn state(&self, wave: u32) -> *mut QueueState {
        self.states
            .at((1 + wave as usize) * size_of::<QueueState>())
    }

    fn wavefront(&self, chunk: &Chunk, tally: *mut RayTally) -> Wavefront {
        Wavefront {
            rays: [self.rays[0].at(0), self.rays[1].at(0)],
            owners: [self.owners[0].at(0), self.owners[1].at(0)],
            hits: self.hits.at(0),
            paths: self.paths.at(0),
            shadow_rays: self.shadow_rays.at(0),
            shadow_lights: self.shadow_lights.at(0),
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

/// The length of queue `index` in a copy that is complete.
fn looked_up(look: &Pinned, index: u32) -> u32 {
    let begin = index as usize * size_of::<QueueState>();
    let state = &look.bytes()[begin..begin + size_of::<QueueState>()];
    bytemuck::pod_read_unaligned::<QueueState>(state).length
}

/// The shadow rays' queue, those of waves 0 to `bounces`, and one that the last wave finds empty.
fn state_bytes(bounces: u32) -> usize {
    (bounces as usize + 3) * size_of::<QueueState>()
}

/// How many of the chunk's items are inside of the picture.
fn inside_items(params: &Params, chunk: &Chunk) -> u32 {
    let tiles_x = params.width.div_ceil(8);
    let inside_tile = |tile: u32| {
        let side = |tile: u32, size: u32| size.saturating_sub(tile * 8).min(8);
        side(tile % tiles_x, params.width) * side(tile / tiles_x, params.height)
    };
    (chunk.items.start / 64..chunk.items.end.div_ceil(64))
        .map(inside_tile)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_sample_of_every_item_once_and_in_order() {
        for (items, samples, capacity) in [
            (64, 1, 64),
            (640, 5, 64),
            (640, 5, 1280),
            (640, 7, 1 << 20),
            (128, 100, 300),
        ] {
            let mut next = vec![0; items as usize];
            for chunk in chunks(items, samples, capacity) {
                assert!(chunk.path_count() <= capacity, "{chunk:?}");
                for item in chunk.items.clone() {
                    assert_eq!(next[item as usize], chunk.samples.start, "{chunk:?}");
                    next[item as usize] = chunk.samples.end;
                }
            }
            assert!(
                next.iter().all(|&end| end == samples),
                "{items} {samples} {capacity}"
            );
        }
    }
}
