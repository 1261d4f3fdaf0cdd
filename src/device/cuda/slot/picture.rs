//! The way of a finished picture from the GPU to whoever reads it.

use super::{Slot, Work, elapsed, event_now};
use crate::{
    abi::{self, Params, RayTally},
    device::{
        Accumulation, AccumulationState, OwnRays,
        cuda::{
            kernels::{Kernels, arguments},
            layers,
            memory::bytes_of,
            waves::Stage,
        },
    },
    layers::LayerImage,
};
use bytes::Bytes;
use cust::{error::CudaResult, event::Event};
use std::{mem, ops::Range, time::Duration};

/// What parts of a picture in page-locked memory start at a multiple of: lines of the cache.
const PLACE_ALIGNMENT: usize = 64;

/// A finished frame.
pub struct Picture {
    pub pixels: Bytes,
    pub layers: Vec<LayerImage>,
    pub tally: RayTally,
    pub started: Event,
    pub finished: Event,
    pub stages: Vec<(Stage, Duration)>,
    /// How far its film is, which stays in the slot until another frame starts.
    pub state: AccumulationState,
    /// If they were asked for.
    pub own_rays: Option<OwnRays>,
}

impl Slot {
    /// Queues a launch that gathers layers of the next items.
    pub(super) fn gather_layers(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<()> {
        let Range { start, end } = work.layer_items;
        let next = end.min(start.saturating_add(layers::launch_items(work.samples)));
        work.layer_items.start = next;
        let params = Params {
            tiles: std::ptr::null(),
            ..work.params
        };
        work.marks.push((Stage::Other, event_now(&self.stream)?));
        let none = std::ptr::null_mut::<RayTally>();
        // SAFETY: see `run_loop`.
        unsafe {
            kernels.launch_items(
                "throng_gather_layers",
                next - start,
                &self.stream,
                arguments![params, start, next, none],
            )?;
        }
        work.under_way.push_back(event_now(&self.stream)?);
        Ok(())
    }

    /// Lets the frame that was just started go on from `film`. Waits for the copy; nothing was sampled yet.
    pub fn go_on_from(&mut self, film: &Accumulation) -> CudaResult<()> {
        self.stream.synchronize()?;
        self.film.write(0, bytes_of(&film.sums))?;
        self.film_half.write(0, bytes_of(&film.odd))
    }

    /// Copies the sums of the frame that was taken last to `film`, which has their size.
    pub fn read_film(&self, film: &mut Accumulation) -> CudaResult<()> {
        self.film.read(bytemuck::cast_slice_mut(&mut film.sums))?;
        if film.odd.is_empty() {
            return Ok(());
        }
        self.film_half.read(bytemuck::cast_slice_mut(&mut film.odd))
    }

    /// Queues the way from the film to page-locked memory.
    pub(super) fn finish(&mut self, work: &mut Work, kernels: &Kernels) -> CudaResult<Event> {
        let params = work.params;
        let pixels = params.width * params.height;
        work.marks.push((Stage::Other, event_now(&self.stream)?));
        let (begin, none) = (0u32, std::ptr::null_mut::<RayTally>());
        // SAFETY: see `run_loop`.
        unsafe {
            kernels.launch_items(
                "throng_resolve_pixel",
                pixels,
                &self.stream,
                arguments![params, begin, pixels, none],
            )?;
        }
        let place = PicturePlace::of(&params);
        let (picture, stream) = (&mut self.picture, &self.stream);
        self.pixels
            .read_later(picture, 0, picture_bytes(&params), stream)?;
        self.tally
            .read_later(picture, place.tally, size_of::<RayTally>(), stream)?;
        self.layers.read_later(
            work.layers,
            pixels as usize,
            (picture, place.layers),
            stream,
        )?;
        event_now(&self.stream)
    }

    /// The frame that [`Self::pump`] called finished.
    pub fn take(&mut self) -> CudaResult<Option<Picture>> {
        let Some(Work {
            params,
            started,
            finished: Some(finished),
            marks,
            own_rays,
            passes,
            layers,
            ..
        }) = self.work.take()
        else {
            return Ok(None);
        };
        let place = PicturePlace::of(&params);
        let picture = self.spare.lend(mem::take(&mut self.picture));
        let ends = marks.iter().skip(1).map(|(_, e)| e).chain([&finished]);
        let stages = marks
            .iter()
            .zip(ends)
            .map(|((stage, begin), end)| Ok((*stage, elapsed(begin, end)?)))
            .collect::<CudaResult<_>>()?;
        Ok(Some(Picture {
            pixels: picture.slice(..picture_bytes(&params)),
            layers: layers::images(
                layers,
                params.width as usize * params.height as usize,
                picture.slice(place.layers..),
            ),
            tally: bytemuck::pod_read_unaligned(&picture[place.tally..][..size_of::<RayTally>()]),
            started,
            finished,
            stages,
            state: passes.into_state(),
            own_rays,
        }))
    }
}

/// Where what a picture consists of lies in page-locked memory, behind its pixels: where floats may lie.
pub(super) struct PicturePlace {
    pub(super) tally: usize,
    pub(super) layers: usize,
}

impl PicturePlace {
    pub(super) fn of(params: &Params) -> Self {
        let tally = picture_bytes(params).next_multiple_of(PLACE_ALIGNMENT);
        Self {
            tally,
            layers: (tally + size_of::<RayTally>()).next_multiple_of(PLACE_ALIGNMENT),
        }
    }
}

/// Bytes of a finished picture.
pub(super) fn picture_bytes(params: &Params) -> usize {
    let channel = match params.pixel_type {
        abi::PIXELS_U8 => size_of::<u8>(),
        abi::PIXELS_U16 => size_of::<u16>(),
        _ => size_of::<f32>(),
    };
    params.width as usize * params.height as usize * 3 * channel
}
