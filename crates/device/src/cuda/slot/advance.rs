//! The steps of a frame's work, each of which is queued once the step before it has passed.

use super::{
    Slot,
    measure::tile_count,
    work::{Phase, RemainingWork, event_now, is_past},
};
use crate::{
    cuda::{
        kernels::{KernelSets, Kernels, arguments},
        waves::{Chunk, ChunkLaunch, Cut, Queues, WaveLaunch, inside_items},
    },
    records::params::TILE_ITEMS,
};
use cust::error::CudaResult;
use std::mem;
use throng_abi::{Params, RayTally};
use throng_picture::aov::{Aov, AovSet};

/// Chunks queued ahead of the GPU: enough to keep it busy, few enough to stop quickly.
const CHUNKS_AHEAD: usize = 3;

impl Slot {
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

    fn advance(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<bool> {
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
    fn sample(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<Phase> {
        let Some(chunk) = work.chunks.pop_front() else {
            return if work.task.passes.is_adaptive() && !work.task.passes.is_over() {
                self.measure(work, kernels)
            } else {
                self.end_sampling(work, kernels)
            };
        };
        let Cut::Waves { needs, .. } = work.task.cut else {
            return self.run_loop(work, &chunk, kernels);
        };
        let inside = inside_items(&work.params, &chunk, work.task.passes.tiles());
        let gathers = work.gathers;
        let run = self.launch_waves(work, kernels, |queues, params, launch| {
            queues.start(params, needs, (chunk, inside), gathers, launch)
        })?;
        self.go_on(work, run, kernels)
    }

    /// Starts the step after the last pass. AOVs and blocks of files are computed for finished pictures only.
    pub(super) fn end_sampling(&mut self, work: &mut RemainingWork, kernels: &Kernels) -> CudaResult<Phase> {
        if !work.task.passes.is_adaptive() {
            work.task.passes.go_on(&[]);
        }
        if !work.task.passes.finish(work.task.samples) {
            work.task.aovs = AovSet::default();
            work.task.file_rows = None;
            work.task.records = None;
            work.task.keeps_picture = false;
        }
        if work.task.aovs.is_empty() || work.gathers && !work.task.aovs.contains(Aov::Variance) {
            self.finish(work, kernels)
        } else {
            Ok(Phase::Gathering(0..tile_count(&work.params) * TILE_ITEMS))
        }
    }

    /// Queues the remaining launches of a chunk, or as many as can be queued now.
    fn go_on(&mut self, work: &mut RemainingWork, mut run: ChunkLaunch, kernels: &Kernels) -> CudaResult<Phase> {
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
        work: &mut RemainingWork,
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
            own_rays: work.task.own_rays.as_mut(),
        };
        queue(&self.queues, &work.params, &mut launch)
    }

    /// Queues a chunk in the loop schedule.
    fn run_loop(&mut self, work: &mut RemainingWork, chunk: &Chunk, kernels: &Kernels) -> CudaResult<Phase> {
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
}
