//! The third stage: encodes and writes frames on several threads, and reports them in order.

use crate::{
    Busy, FrameNoise, FrameObserver, FrameReport, RenderError, RenderJob, Summary, milliseconds,
    posing::pose::TreeWork,
    sanity,
    sequence::window::{Complete, Traced},
};
use std::{
    collections::BTreeMap,
    mem,
    path::Path,
    sync::{Arc, Mutex, mpsc::Receiver},
    time::Instant,
};
use throng_base::{memory, sync::lock};
use throng_denoise::frames::RecordedFrame;
use throng_device::{Developer, Filtered, FrameSettings, Rendered};
use throng_output::{Pixels, draw_edges, tint};
use throng_picture::{
    aov::{Aov, AovImage, channels::pixel_bytes},
    pixels::PixelType,
};
use throng_scene::{Integrator, Shows};

/// Bytes of pixels and AOVs that the writers may hold: the greater of a fixed size and a share (1/32) of the machine's memory. A single
/// larger frame is written alone.
const BYTES_IN_MEMORY: u64 = 256 << 20;
const PART_OF_MEMORY: u64 = 32;

/// A rendered frame on its way to disk.
pub struct Finished {
    /// Index of the frame in the run, from 0 and without gaps.
    pub index: usize,
    pub complete: Complete,
}

/// Maximum number of files written at a time if several threads encode each file. Their serial parts then overlap.
const SHARED_FILES: usize = 4;
/// Maximum number of files written at a time if frames are denoised first, which uses all threads or a GPU.
const DENOISED_FILES: usize = 8;

/// Number of threads that write the frames of `job`. It is at most the number of frames, the number of threads of the CPU, and the number
/// of frames that fit into memory. It is small if each writer is helped by other threads. Idle writers sleep.
pub fn writer_count(job: &RenderJob) -> usize {
    let pixel_bytes = match &job.delivery.file_rows {
        // Compressed blocks are rarely larger than half of their contents.
        Some(rows) => pixel_bytes(&rows.channels()) / 2,
        None => job.settings.pixel_bytes() + 4 * job.settings.aovs.channels(),
    };
    let pixel_bytes = pixel_bytes + job.output.labels.pixel_bytes();
    // A frame that is being denoised also holds its neighbours, most of which it shares with the next frame.
    let (own, around) = job.denoising.as_ref().map_or((0, 0), |denoising| {
        (RecordedFrame::PIXEL_BYTES, u64::from(2 * denoising.reach) * RecordedFrame::PIXEL_BYTES)
    });
    let pixels = job.settings.film_pixels() as u64;
    let part = (memory::total_bytes().unwrap_or(0) / PART_OF_MEMORY).max(BYTES_IN_MEMORY);
    let fit = part.saturating_sub(pixels * around) / (pixels * (pixel_bytes as u64 + own)).max(1);
    let with_layers = !job.aovs.is_empty() && job.pixels == PixelType::F32 && job.delivery.file_rows.is_none();
    let most = match (with_layers, &job.denoising) {
        (true, _) => SHARED_FILES,
        (false, Some(_)) => DENOISED_FILES,
        (false, None) => usize::MAX,
    };
    usize::try_from(fit).unwrap_or(usize::MAX).min(most).min(rayon::current_num_threads()).min(job.frames.len()).max(1)
}

/// Number of threads that encode one frame. All writers together use all threads, even if few frames fit into memory.
pub fn encoder_threads(job: &RenderJob) -> usize {
    rayon::current_num_threads().div_ceil(writer_count(job))
}

/// Runs one writer, which takes frames from `finished` until the channel is closed. Returns true after an error. The writers share the
/// receiver, which is dropped when the last writer returns.
pub fn write_frames(job: &RenderJob, finished: Arc<Mutex<Receiver<Finished>>>, ledger: &Mutex<Ledger<'_>>) -> bool {
    loop {
        let next = lock(&finished).recv();
        let Ok(frame) = next else { return false };
        let index = frame.index;
        match write_frame(job, frame) {
            Ok(report) => lock(ledger).add(index, report),
            Err(error) => {
                lock(ledger).fail(index, error);
                return true;
            }
        }
    }
}

/// Encodes and writes one frame. The frame is denoised first if the job has a denoiser.
///
/// # Errors
/// If the frame cannot be denoised, developed or written.
pub fn write_frame(job: &RenderJob, finished: Finished) -> Result<FrameReport, RenderError> {
    let start = Instant::now();
    let Finished { index, mut complete } = finished;
    let waited_for = job.output.expect(index);
    let noise = finish_pixels(job, &mut complete)?;
    let shows_light = job.settings.integrator.shows() == Shows::Radiance;
    let blank = shows_light.then(|| sanity::blank(&complete.traced.rendered.pixels, job.pixels)).flatten();
    let path = job.output.write(job, waited_for, &complete.traced)?;
    let Traced { number: frame, rendered, pose_time, trees, .. } = complete.traced;
    Ok(FrameReport {
        frame,
        path,
        pose_ms: milliseconds(pose_time),
        trace_ms: milliseconds(rendered.time),
        write_ms: milliseconds(start.elapsed()),
        rays: rendered.rays,
        refits: trees.followed.refits,
        rebuilds: trees.rebuilds(),
        sah_ratio: trees.followed.worst_ratio,
        follow_ms: milliseconds(trees.followed.time),
        blank,
        noise,
    })
}

/// The report of a part of a frame that was written as a film. `work` is the milliseconds of posing and the work on trees.
pub fn report_of_part(
    (frame, path): (u32, &Path),
    rendered: &Rendered,
    (pose_ms, trees): (f64, &TreeWork),
) -> FrameReport {
    FrameReport {
        frame,
        path: path.to_owned(),
        pose_ms,
        trace_ms: milliseconds(rendered.time),
        write_ms: 0.0,
        rays: rendered.rays,
        refits: trees.followed.refits,
        rebuilds: trees.rebuilds(),
        sah_ratio: trees.followed.worst_ratio,
        follow_ms: milliseconds(trees.followed.time),
        blank: None,
        noise: None,
    }
}

/// Computes the pixels and AOVs of a frame's file: denoises, develops and completes the frame. Returns the noise of a denoised frame, or
/// none if it was not estimated.
pub fn finish_pixels(job: &RenderJob, complete: &mut Complete) -> Result<Option<FrameNoise>, RenderError> {
    let Complete { traced: Traced { number, settings, rendered, .. }, around, refined } = complete;
    let mut error = None;
    if let Some(denoising) = &job.denoising {
        let sampled = refined.as_ref().map(|refined| refined.sampled);
        let denoised = match refined.take() {
            Some(refined) => Ok(refined.filtered),
            None => denoising.denoise(settings.film_size(), around, &rendered.aovs),
        };
        let Filtered { radiance, alpha, errors } =
            denoised.map_err(|source| RenderError::Denoise { frame: *number, source })?;
        // Frees the neighbours' memory before the next allocation.
        around.clear();
        replace_alpha(&mut rendered.aovs, &alpha);
        develop(job, (*number, settings), &radiance, rendered)?;
        error = FrameNoise::of(&errors, sampled);
        let [left, _] = errors;
        rendered.aovs.push(AovImage { aov: Aov::Error, values: left.into() });
    }
    self::complete(job, rendered);
    Ok(error)
}

/// Replaces the alpha of a frame by its denoised alpha. Does nothing if `alpha` is empty, as for opaque frames.
pub fn replace_alpha(aovs: &mut [AovImage], alpha: &[f32]) {
    if let Some(image) = aovs.iter_mut().find(|image| image.aov == Aov::Alpha && !alpha.is_empty()) {
        image.values = alpha.to_vec().into();
    }
}

/// Converts denoised radiance to the pixels of a frame's file. `settings` are the frame's own.
pub fn develop(
    job: &RenderJob,
    (frame, settings): (u32, &FrameSettings),
    radiance: &[f32],
    rendered: &mut Rendered,
) -> Result<(), RenderError> {
    let alpha = rendered.alpha().filter(|_| settings.transparent);
    let pixels = Developer::new().and_then(|developer| developer.develop(radiance, alpha, settings, job.pixels));
    rendered.pixels = pixels.map_err(|source| RenderError::Device { frame, source })?.into();
    Ok(())
}

/// Composites a frame over its background, draws wireframe edges if they have a colour, and removes AOVs that were not requested.
pub fn complete(job: &RenderJob, rendered: &mut Rendered) {
    let alpha = rendered.alpha();
    let under = job.background.as_ref().zip(alpha);
    let edges = rendered.aovs.iter().find(|image| image.aov == Aov::Wireframe);
    let edges = job.wireframe_color.zip(edges);
    if under.is_some() || edges.is_some() {
        let mut pixels = Pixels::from_bytes(job.pixels, &rendered.pixels);
        if let Some((background, alpha)) = under {
            // In wireframe pictures, surfaces also have the colour of the paper.
            if let (Integrator::Wireframe, Some(paper)) = (job.settings.integrator, background.backdrop.color()) {
                tint(&mut pixels, paper);
            }
            background.backdrop.lay_under(&mut pixels, alpha);
        }
        if let Some((color, edges)) = edges {
            let alpha = alpha.filter(|_| job.is_transparent());
            draw_edges(&mut pixels, &edges.values[..], alpha, color.to_array());
        }
        rendered.pixels = pixels.into_native_bytes().into();
    }
    rendered.aovs.retain(|image| job.aovs.contains(image.aov));
}

/// Record of the written frames. Reports them to the observer in order, whichever writer finishes first.
pub struct Ledger<'a> {
    observer: &'a mut dyn FrameObserver,
    summary: Summary,
    next: usize,
    /// Reports of frames that were written before an earlier frame.
    early: BTreeMap<usize, FrameReport>,
    /// The error of the earliest frame that failed, with the frame's index.
    error: Option<(usize, RenderError)>,
}

impl<'a> Ledger<'a> {
    pub fn new(observer: &'a mut dyn FrameObserver, busy: Busy) -> Self {
        Self { observer, summary: Summary { busy, ..Summary::default() }, next: 0, early: BTreeMap::new(), error: None }
    }

    fn add(&mut self, index: usize, report: FrameReport) {
        self.early.insert(index, report);
        while let Some(report) = self.early.remove(&self.next) {
            self.next += 1;
            self.tell(&report);
        }
    }

    /// Reports that only `count` frames of other runs are left.
    pub fn awaited(&mut self, count: usize) {
        self.observer.frames_awaited(count);
    }

    fn fail(&mut self, index: usize, error: RenderError) {
        if self.error.as_ref().is_none_or(|&(first, _)| index < first) {
            self.error = Some((index, error));
        }
    }

    fn tell(&mut self, report: &FrameReport) {
        self.summary.add(report);
        self.observer.frame_done(report);
    }

    /// Ends the record after the last writer. Frames after a failed one are reported now, since their files exist.
    ///
    /// # Errors
    /// The error of the earliest frame that failed.
    pub fn close(mut self) -> Result<Summary, RenderError> {
        for report in mem::take(&mut self.early).into_values() {
            self.tell(&report);
        }
        match self.error {
            Some((_, error)) => Err(error),
            None => Ok(self.summary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use throng_device::RayCounts;
    use throng_output::OutputError;

    struct Numbers(Vec<u32>);

    impl FrameObserver for Numbers {
        fn frame_done(&mut self, report: &FrameReport) {
            self.0.push(report.frame);
        }
    }

    fn report(frame: u32) -> FrameReport {
        FrameReport {
            frame,
            path: "a.png".into(),
            pose_ms: 1.0,
            trace_ms: 2.0,
            write_ms: 4.0,
            rays: RayCounts::default(),
            refits: 0,
            rebuilds: 1,
            sah_ratio: 0.0,
            follow_ms: 0.0,
            blank: None,
            noise: None,
        }
    }

    fn error(path: &str) -> RenderError {
        RenderError::Output(OutputError::File { path: path.into(), error: ErrorKind::StorageFull.into() })
    }

    #[test]
    fn frames_are_told_in_order() {
        let mut numbers = Numbers(Vec::new());
        let mut ledger = Ledger::new(&mut numbers, Busy::default());
        for index in [2, 0, 3, 1, 4] {
            ledger.add(index, report(10 * index as u32));
        }
        let summary = ledger.close().unwrap();
        assert_eq!((summary.frames, summary.rebuilds), (5, 5));
        let busy = summary.busy;
        assert_eq!((busy.pose_ms, busy.device_ms, busy.write_ms), (5.0, 10.0, 20.0));
        assert_eq!(numbers.0, [0, 10, 20, 30, 40]);
    }

    #[test]
    fn the_first_error_is_reported_and_later_frames_are_told() {
        let mut numbers = Numbers(Vec::new());
        let mut ledger = Ledger::new(&mut numbers, Busy::default());
        ledger.add(3, report(3));
        ledger.fail(2, error("2.png"));
        ledger.fail(1, error("1.png"));
        ledger.add(0, report(0));
        let text = ledger.close().unwrap_err().to_string();
        assert!(text.contains("1.png"), "{text}");
        assert_eq!(numbers.0, [0, 3]);
    }
}
