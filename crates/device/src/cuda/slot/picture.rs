//! Delivery of a finished picture from the GPU to the host.

use super::{Phase, Slot, Work, elapsed, event_now};
use crate::{
    Accumulation, AccumulationState, OwnRays,
    cuda::{
        aovs,
        film_filter::GpuFrame,
        kernels::{Kernels, arguments},
        memory::bytes_of,
        waves::Stage,
    },
};
use bytemuck::Zeroable;
use bytes::Bytes;
use cust::{error::CudaResult, event::Event};
use std::{mem, ops::Range, time::Duration};
use throng_abi::{self as abi, DenoiseLayers, ExrParams, Params, RayTally};
use throng_picture::aov::{Aov, AovImage, channels::FileBlocks};

/// Alignment of the parts of a picture in page-locked memory: a cache line.
const PLACE_ALIGNMENT: usize = 64;
/// Offset of a file's blocks in page-locked memory, after the tally.
const BLOCKS_PLACE: usize = 256;

/// A finished frame.
pub struct Picture {
    pub pixels: Bytes,
    pub aovs: Vec<AovImage>,
    /// Blocks of a file, instead of pixels and AOVs.
    pub blocks: Option<FileBlocks>,
    /// The frame in the form that the film denoiser reads, instead of pixels and AOVs that were not requested.
    pub film: Option<GpuFrame>,
    pub tally: RayTally,
    pub started: Event,
    pub finished: Event,
    pub stages: Vec<(Stage, Duration)>,
    /// Progress of the picture. Its film stays in the slot until another frame starts.
    pub state: AccumulationState,
    /// The rays of the frame, if requested.
    pub own_rays: Option<OwnRays>,
}

impl Slot {
    /// Queues a launch that gathers the AOVs of the next items.
    pub(super) fn gather_aovs(
        &mut self,
        work: &mut Work,
        Range { start, end }: Range<u32>,
        kernels: &Kernels,
    ) -> CudaResult<Phase> {
        let next = end.min(start.saturating_add(aovs::launch_items(work.samples)));
        let mut params = work.params;
        params.film.tiles = std::ptr::null();
        work.marks.push((Stage::Other, event_now(&self.stream)?));
        let none = std::ptr::null_mut::<RayTally>();
        // SAFETY: see `run_loop`.
        unsafe {
            kernels.launch_items(
                match work.gathers {
                    true => "throng_gather_variance",
                    false if params.film.exact != 0 => "throng_gather_exact_aovs",
                    false => "throng_gather_aovs",
                },
                next - start,
                &self.stream,
                arguments![params, start, next, none],
            )?;
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
    pub(super) fn finish(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<Phase> {
        let mut params = work.params;
        let pixels = params.film.width * params.film.height;
        let values = |aov| {
            if work.aovs.contains(aov) {
                self.aovs.image(work.aovs, pixels as usize, aov).cast_const()
            } else {
                std::ptr::null()
            }
        };
        params.film.shadow = values(Aov::Shadow);
        if params.picture.draws_edges != 0 {
            params.film.wireframe = values(Aov::Wireframe);
        }
        if params.picture.transparent != 0 {
            params.film.alpha = values(Aov::Alpha);
        }
        work.marks.push((Stage::Other, event_now(&self.stream)?));
        let (begin, none) = (0u32, std::ptr::null_mut::<RayTally>());
        // SAFETY: see `run_loop`.
        unsafe {
            if work.shares_cover {
                kernels.launch_items(
                    "throng_gather_cover",
                    pixels,
                    &self.stream,
                    arguments![params, begin, pixels, none],
                )?;
            }
            kernels.launch_items(
                "throng_resolve_pixel",
                pixels,
                &self.stream,
                arguments![params, begin, pixels, none],
            )?;
        }
        if let Some(rows) = work.file_rows {
            let (aovs, pixels) = (work.aovs, pixels as usize);
            let values = |aov| match aov {
                None => self.pixels.at::<f32>(0).cast_const(),
                Some(aov) => self.aovs.image(aovs, pixels, aov).cast_const(),
            };
            let size = (params.film.width, params.film.height);
            let blocks = self.exr.compress(&rows, size, values, kernels, &self.stream)?;
            return Ok(Phase::Compressing(blocks, event_now(&self.stream)?));
        }
        let place = PicturePlace::of(&params);
        let wanted = work.film.as_ref().map_or(work.aovs, |(_, aovs)| *aovs);
        let aov_bytes = aovs::image_bytes(wanted, pixels as usize);
        self.picture = self.spare.take(place.aovs + aov_bytes)?;
        if let Some((film, _)) = &work.film {
            let layers = DenoiseLayers {
                radiance: self.pixels.at::<f32>(0).cast_const(),
                variance: values(Aov::Variance),
                albedo: values(Aov::Albedo),
                normal: values(Aov::Normal),
                motion: values(Aov::Motion),
                ..Zeroable::zeroed()
            };
            // SAFETY: the work keeps the frame alive, and the slot keeps the rest, until the stream has passed this.
            unsafe { film.record(layers, &mut self.outliers, &self.stream)? };
        }
        let (picture, stream) = (&mut self.picture, &self.stream);
        // SAFETY: the picture is taken after the event that follows.
        unsafe {
            if work.film.is_none() {
                self.pixels.read_later(picture, 0, picture_bytes(&params), stream)?;
            }
            self.tally.read_later(picture, place.tally, size_of::<RayTally>(), stream)?;
            self.aovs.read_later((work.aovs, wanted), pixels as usize, (picture, place.aovs), stream)?;
        }
        Ok(Phase::Finished(event_now(&self.stream)?, None))
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
        Ok(Phase::Finished(event, Some((offsets, bytes))))
    }

    /// Takes the frame for which [`Self::pump`] returned true.
    pub fn take(&mut self) -> CudaResult<Option<Picture>> {
        let Some(Work {
            params,
            started,
            phase: Phase::Finished(finished, delivered),
            marks,
            own_rays,
            passes,
            aovs,
            file_rows,
            film,
            ..
        }) = self.work.take()
        else {
            return Ok(None);
        };
        let place = PicturePlace::of(&params);
        let picture = self.spare.lend(mem::take(&mut self.picture));
        let blocks = file_rows.zip(delivered).map(|(rows, (offsets, bytes))| FileBlocks {
            rows,
            offsets,
            bytes: picture.slice(BLOCKS_PLACE..BLOCKS_PLACE + bytes),
        });
        let (pixels, aovs, tally) = match blocks {
            Some(_) => (Bytes::new(), Vec::new(), 0),
            None => (
                if film.is_some() { Bytes::new() } else { picture.slice(..picture_bytes(&params)) },
                aovs::images(
                    film.as_ref().map_or(aovs, |(_, wanted)| *wanted),
                    params.film.width as usize * params.film.height as usize,
                    picture.slice(place.aovs..),
                ),
                place.tally,
            ),
        };
        let ends = marks.iter().skip(1).map(|(_, e)| e).chain([&finished]);
        let stages = marks
            .iter()
            .zip(ends)
            .map(|((stage, begin), end)| Ok((*stage, elapsed(begin, end)?)))
            .collect::<CudaResult<_>>()?;
        Ok(Some(Picture {
            pixels,
            aovs,
            blocks,
            film: film.map(|(film, _)| film),
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
pub(super) struct PicturePlace {
    pub(super) tally: usize,
    pub(super) aovs: usize,
}

impl PicturePlace {
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
    params.film.width as usize * params.film.height as usize * 3 * channel
}
