//! Delivery of a finished picture from the GPU to the host.

use super::{
    Slot,
    work::{Outcome, Phase, RemainingWork, Task, elapsed, event_now},
};
use crate::{
    Accumulation, AccumulationState, KeptPicture, OwnRays, Plane,
    cuda::{
        aovs,
        denoise_filter::GpuFrame,
        kernels::{Kernels, arguments},
        memory::bytes_of,
        waves::GpuStage,
    },
    kept::KeptLayout,
    records::params::aim_display,
};
use bytemuck::Zeroable;
use bytes::Bytes;
use cust::{error::CudaResult, event::Event};
use std::{mem, ops::Range, sync::Arc, time::Duration};
use throng_abi::{self as abi, DenoiseLayers, ExrParams, Params, PictureParams, RayTally};
use throng_picture::aov::{Aov, AovImage, channels::FileBlocks};

/// Alignment of the parts of a picture in page-locked memory: a cache line.
const PLACE_ALIGNMENT: usize = 64;
/// Offset of a file's blocks in page-locked memory, after the tally.
const BLOCKS_PLACE: usize = 256;

/// A finished frame.
pub struct FinishedFrame {
    pub pixels: Bytes,
    pub aovs: Vec<AovImage>,
    /// Blocks of a file, instead of pixels and AOVs.
    pub blocks: Option<FileBlocks>,
    /// The frame in the form that the denoiser reads, instead of pixels and AOVs that were not requested.
    pub records: Option<GpuFrame>,
    /// The picture on the GPU, instead of pixels and AOVs.
    pub kept: Option<KeptPicture>,
    /// Number of frames whose pictures these are.
    pub frames: usize,
    pub tally: RayTally,
    pub started: Event,
    pub finished: Event,
    pub stages: Vec<(GpuStage, Duration)>,
    /// Progress of the picture. Its film stays in the slot until another frame starts.
    pub state: AccumulationState,
    /// The rays of the frame, if requested.
    pub own_rays: Option<OwnRays>,
}

impl Slot {
    /// Queues a launch that gathers the AOVs of the next items.
    pub(super) fn gather_aovs(
        &mut self,
        work: &mut RemainingWork,
        Range { start, end }: Range<u32>,
        kernels: &Kernels,
    ) -> CudaResult<Phase> {
        let next = end.min(start.saturating_add(aovs::launch_items(work.task.samples)));
        let mut params = work.params;
        params.film.tiles = std::ptr::null();
        work.marks.push((GpuStage::Other, event_now(&self.stream)?));
        let none = std::ptr::null_mut::<RayTally>();
        let kernel = if work.gathers {
            "throng_gather_variance"
        } else if params.film.exact != 0 {
            "throng_gather_exact_aovs"
        } else {
            "throng_gather_aovs"
        };
        // SAFETY: see `run_loop`.
        unsafe {
            kernels.launch_items(kernel, next - start, &self.stream, arguments![params, start, next, none])?;
        }
        work.under_way.push_back(event_now(&self.stream)?);
        Ok(Phase::Gathering(next..end))
    }

    /// Sets the sums from which the frame continues, and waits for the copy. Must be called right after starting the frame, before sampling.
    pub fn go_on_from(&mut self, film: &Accumulation) -> CudaResult<()> {
        self.stream.synchronize()?;
        self.film.write(0, bytes_of(&film.sums))?;
        self.film_half.write(0, bytes_of(&film.odd))
    }

    /// Copies the sums of the frame that was taken last to `film`, which must have their size. Sums of layers are copied only if `film` has room for
    /// them.
    pub fn read_film(&self, film: &mut Accumulation) -> CudaResult<()> {
        self.film.read(bytemuck::cast_slice_mut(&mut film.sums))?;
        if !film.layers.is_empty() {
            self.aovs.read_sums(&mut film.layers)?;
        }
        if film.odd.is_empty() {
            return Ok(());
        }
        self.film_half.read(bytemuck::cast_slice_mut(&mut film.odd))
    }

    /// Queues the conversion of the film to pixels, and then either their copy to page-locked memory or the compression of a file's blocks.
    pub(super) fn finish(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<Phase> {
        let mut params = work.params;
        let PictureParams { transparent, draws_edges, .. } = params.picture;
        aim_display(&mut params.film, (transparent != 0, draws_edges != 0), |aov| self.layer(work, aov));
        work.marks.push((GpuStage::Other, event_now(&self.stream)?));
        let pixels = pixel_count(&params);
        if work.task.shares_cover {
            self.launch_on_pixels("throng_gather_cover", &params, kernels)?;
        }
        if work.task.keeps_picture {
            return self.keep(work, params, kernels);
        }
        self.launch_on_pixels("throng_resolve_pixel", &params, kernels)?;
        let Some(rows) = work.task.file_rows else {
            return self.fetch(work);
        };
        let (aovs, exr) = (&self.aovs, &mut self.exr);
        let values = |aov| match aov {
            None => self.pixels.at::<f32>(0).cast_const(),
            Some(aov) => aovs.image(work.task.aovs, pixels, aov).cast_const(),
        };
        let blocks = exr.compress(&rows, (params.film.width, params.film.height), values, kernels, &self.stream)?;
        Ok(Phase::Compressing(blocks, event_now(&self.stream)?))
    }

    /// Queues a launch of a kernel on all pixels.
    fn launch_on_pixels(&self, kernel: &str, params: &Params, kernels: &Kernels) -> CudaResult<()> {
        let (begin, pixels, none) = (0u32, pixel_count(params) as u32, std::ptr::null_mut::<RayTally>());
        // SAFETY: see `run_loop`.
        unsafe { kernels.launch_items(kernel, pixels, &self.stream, arguments![*params, begin, pixels, none]) }
    }

    /// Queues the conversion of the film to radiance and display colours in memory of their own, and the copy of the AOVs to it.
    fn keep(&mut self, work: &RemainingWork, mut params: Params, kernels: &Kernels) -> CudaResult<Phase> {
        let layout = KeptLayout { aovs: work.task.aovs, pixels: pixel_count(&params) };
        let kept = self.kept.take(layout.bytes(), &self.stream)?;
        for (plane, pixel_type) in [(Plane::Radiance, abi::PIXELS_F32), (Plane::Display, abi::PIXELS_U8)] {
            params.display.pixel_type = pixel_type;
            params.film.pixels = kept.at(layout.offset(plane).unwrap_or_default());
            self.launch_on_pixels("throng_resolve_pixel", &params, kernels)?;
        }
        self.picture = self.spare.take(size_of::<RayTally>())?;
        let (picture, stream) = (&mut self.picture, &self.stream);
        // SAFETY: the AOVs are not written before the slot gets another frame, and the picture is taken after the event that follows.
        unsafe {
            let mut from = 0;
            for aov in layout.aovs.iter() {
                let bytes = aovs::image_bytes([aov].into_iter().collect(), layout.pixels);
                let to = layout.offset(Plane::Aov(aov)).unwrap_or_default();
                kept.copy_later(to, self.aovs.images(), from..from + bytes, stream)?;
                from += bytes;
            }
            self.tally.read_later(picture, 0, size_of::<RayTally>(), stream)?;
        }
        let kept = KeptPicture::new(Arc::new(kept), layout);
        Ok(Phase::Finished(event_now(stream)?, Outcome::Kept(kept)))
    }

    /// Address of an AOV's values, or null if it is not gathered.
    fn layer(&self, work: &RemainingWork, aov: Aov) -> *const f32 {
        if work.task.aovs.contains(aov) {
            self.aovs.image(work.task.aovs, pixel_count(&work.params), aov).cast_const()
        } else {
            std::ptr::null()
        }
    }

    /// Queues the copy of pixels and AOVs to page-locked memory. If the denoiser reads the frame, its records replace the pixels.
    fn fetch(&mut self, work: &RemainingWork) -> CudaResult<Phase> {
        let (place, pixels) = (PictureOffsets::of(&work.params), pixel_count(&work.params));
        let aovs = work.task.aovs;
        let wanted = work.task.records.as_ref().map_or(aovs, |(_, wanted)| *wanted);
        self.picture = self.spare.take(place.aovs + aovs::image_bytes(wanted, pixels))?;
        if let Some((records, _)) = &work.task.records {
            let layers = DenoiseLayers {
                radiance: self.pixels.at::<f32>(0).cast_const(),
                variance: self.layer(work, Aov::Variance),
                albedo: self.layer(work, Aov::Albedo),
                normal: self.layer(work, Aov::Normal),
                motion: self.layer(work, Aov::Motion),
                ..Zeroable::zeroed()
            };
            // SAFETY: the work keeps the frame alive, and the slot keeps the rest, until the stream has passed this.
            unsafe { records.record(layers, &mut self.outliers, &self.stream)? };
        }
        let (picture, stream) = (&mut self.picture, &self.stream);
        // SAFETY: the picture is taken after the event that follows.
        unsafe {
            if work.task.records.is_none() {
                self.pixels.read_later(picture, 0, picture_bytes(&work.params), stream)?;
            }
            self.tally.read_later(picture, place.tally, size_of::<RayTally>(), stream)?;
            self.aovs.read_later((aovs, wanted), pixels, (picture, place.aovs), stream)?;
        }
        Ok(Phase::Finished(event_now(&self.stream)?, Outcome::Pixels))
    }

    /// Queues the copy of blocks to page-locked memory, once their offsets are available.
    pub(super) fn deliver(&mut self, blocks: ExrParams, kernels: &Kernels) -> CudaResult<Phase> {
        let (offsets, bytes) = self.exr.places(&blocks);
        // Sizes differ from frame to frame, and allocating new memory is slow.
        self.picture = self.spare.take_with_room(BLOCKS_PLACE + bytes)?;
        let (picture, stream) = (&mut self.picture, &self.stream);
        // SAFETY: as above.
        unsafe {
            self.tally.read_later(picture, 0, size_of::<RayTally>(), stream)?;
        }
        self.exr.deliver(blocks, (picture, BLOCKS_PLACE), kernels, stream)?;
        let event = event_now(stream)?;
        Ok(Phase::Finished(event, Outcome::Blocks(offsets, bytes)))
    }

    /// Takes the frame for which [`Self::pump`] returned true.
    pub fn take(&mut self) -> CudaResult<Option<FinishedFrame>> {
        let Some(RemainingWork { params, task, phase: Phase::Finished(finished, outcome), marks, .. }) =
            self.work.take()
        else {
            return Ok(None);
        };
        let Task { started, own_rays, passes, aovs, file_rows, records, frames, .. } = task;
        let place = PictureOffsets::of(&params);
        let picture = self.spare.lend(mem::take(&mut self.picture));
        let (mut pixels, mut images, mut blocks, mut kept, mut tally) = (Bytes::new(), Vec::new(), None, None, 0);
        match outcome {
            Outcome::Pixels => {
                let wanted = records.as_ref().map_or(aovs, |(_, wanted)| *wanted);
                if records.is_none() {
                    pixels = picture.slice(..picture_bytes(&params));
                }
                images = aovs::images(wanted, pixel_count(&params), picture.slice(place.aovs..));
                tally = place.tally;
            }
            Outcome::Blocks(offsets, bytes) => {
                let bytes = picture.slice(BLOCKS_PLACE..BLOCKS_PLACE + bytes);
                blocks = file_rows.map(|rows| FileBlocks { rows, offsets, bytes });
            }
            Outcome::Kept(picture) => kept = Some(picture),
        }
        let ends = marks.iter().skip(1).map(|(_, e)| e).chain([&finished]);
        let stages = marks
            .iter()
            .zip(ends)
            .map(|((stage, begin), end)| Ok((*stage, elapsed(begin, end)?)))
            .collect::<CudaResult<_>>()?;
        Ok(Some(FinishedFrame {
            pixels,
            aovs: images,
            blocks,
            kept,
            records: records.map(|(records, _)| records),
            frames,
            tally: bytemuck::pod_read_unaligned(&picture[tally..][..size_of::<RayTally>()]),
            started,
            finished,
            stages,
            state: passes.into_state(),
            own_rays,
        }))
    }
}

/// Offsets of the parts of a picture in page-locked memory, after its pixels, aligned for floats.
pub(super) struct PictureOffsets {
    pub(super) tally: usize,
    pub(super) aovs: usize,
}

impl PictureOffsets {
    pub(super) fn of(params: &Params) -> Self {
        let tally = picture_bytes(params).next_multiple_of(PLACE_ALIGNMENT);
        Self { tally, aovs: (tally + size_of::<RayTally>()).next_multiple_of(PLACE_ALIGNMENT) }
    }
}

/// Bytes of a finished picture.
pub(super) fn picture_bytes(params: &Params) -> usize {
    let channel = match params.display.pixel_type {
        abi::PIXELS_U8 => size_of::<u8>(),
        abi::PIXELS_U16 => size_of::<u16>(),
        _ => size_of::<f32>(),
    };
    pixel_count(params) * 3 * channel
}

fn pixel_count(params: &Params) -> usize {
    params.film.width as usize * params.film.height as usize
}
