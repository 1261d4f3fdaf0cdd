//! Adaptive sampling on the GPU: the noise is measured after a pass, and the next pass is planned.

use super::{
    Slot,
    work::{Phase, RemainingWork, event_now},
};
use crate::{
    cuda::{
        kernels::{Kernels, arguments},
        memory::bytes_of,
        waves::GpuStage,
    },
    film::adaptive::Passes,
    records::params::TILE_ITEMS,
};
use cust::error::CudaResult;
use throng_abi::{EXACT_SUM_WORDS, Params, RayTally};

impl Slot {
    /// Makes room for the sums of half of the samples, and clears them unless `holds_film` is set.
    pub(super) fn prepare_half(&mut self, params: &mut Params, holds_film: bool) -> CudaResult<()> {
        let bytes = half_bytes(params);
        self.film_half.reserve(bytes)?;
        if !holds_film {
            self.film_half.clear_later(bytes, &self.stream)?;
        }
        params.film.half_sums = self.film_half.at(0);
        Ok(())
    }

    /// Makes room for the additional tables of adaptive sampling.
    pub(super) fn prepare_measuring(&mut self, params: &mut Params) -> CudaResult<()> {
        let tiles = tile_count(params) as usize * size_of::<u32>();
        self.errors.reserve(tiles)?;
        self.tiles.reserve(tiles)?;
        self.measured.reserve(tiles)?;
        params.film.tile_errors = self.errors.at(0);
        Ok(())
    }

    /// Queues the measurement of the noise after a pass.
    pub(super) fn measure(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<Phase> {
        let tiles = tile_count(&work.params);
        let mut params = work.params;
        params.film.tiles = std::ptr::null();
        work.marks.push((GpuStage::Other, event_now(&self.stream)?));
        let (begin, none) = (0u32, std::ptr::null_mut::<RayTally>());
        // SAFETY: see `run_loop`.
        unsafe {
            kernels.launch_items("throng_measure_tile", tiles, &self.stream, arguments![params, begin, tiles, none])?;
        }
        let bytes = tiles as usize * size_of::<f32>();
        // SAFETY: the results are read after the event that follows.
        unsafe {
            self.errors.read_later(&mut self.measured, 0, bytes, &self.stream)?;
        }
        Ok(Phase::Measuring(event_now(&self.stream)?))
    }

    /// Plans the next pass from the measured noise. If no tile needs more samples, sampling ends.
    pub(super) fn next_pass(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<Phase> {
        let bytes = tile_count(&work.params) as usize * size_of::<f32>();
        let errors: Vec<f32> = bytemuck::pod_collect_to_vec(&self.measured.bytes()[..bytes]);
        if !work.task.passes.go_on(&errors) {
            return self.end_sampling(work, kernels);
        }
        let items = self.aim(&mut work.params, &work.task.passes)?;
        work.chunks = work.task.cut.chunks(items, work.task.passes.samples());
        Ok(Phase::Sampling)
    }

    /// Queues the upload of the next pass's tiles, unless it covers all tiles. Returns the number of its items.
    pub(super) fn aim(&mut self, params: &mut Params, passes: &Passes) -> CudaResult<u32> {
        let Some(tiles) = passes.tiles() else {
            return Ok(tile_count(params) * TILE_ITEMS);
        };
        self.measured.fill(0, bytes_of(tiles));
        let bytes = size_of_val(tiles);
        // SAFETY: `measured` is next written by a measurement that follows on this stream, after the copy of the tiles.
        unsafe {
            self.tiles.write_later(0, &self.measured, 0, bytes, &self.stream)?;
        }
        params.film.tiles = self.tiles.at(0);
        Ok(tiles.len() as u32 * TILE_ITEMS)
    }
}

/// Bytes of the sums of half of the samples.
fn half_bytes(params: &Params) -> usize {
    let words = if params.film.exact != 0 { EXACT_SUM_WORDS as usize } else { 4 };
    params.film.width as usize * params.film.height as usize * words * size_of::<u32>()
}

/// Number of tiles in the whole film.
pub(super) fn tile_count(params: &Params) -> u32 {
    params.film.width.div_ceil(8) * params.film.height.div_ceil(8)
}
