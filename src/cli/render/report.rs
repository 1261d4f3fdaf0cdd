//! Messages of `throng render` during and after its work, for the user and for programs.

use super::together::Together;
use crate::cli::{
    Exit,
    args::warn_of_trees,
    console::plural,
    program,
    progress::{Estimate, Event, Progress, Sequence, Stats},
    resume,
};
use std::sync::Arc;
use throng_device::FrameProgress;
use throng_render::{FrameObserver, FrameReport, RenderJob, Sampled, Skipped, Summary, sanity};
use throng_settings::FramePlan;

/// Reports a run that is ended in the middle of its work because it takes too long to stop. `has_files`: whether frames have their own
/// files.
pub fn cut_short(progress: &Progress, has_files: bool) {
    let (again, resume) = way_on(has_files);
    progress.summary(&format!("ended immediately, because stopping took too long; {again}: {resume}"));
    progress.event(&Event::CutShort { resume });
}

/// Reports the progress and the result of one run.
pub struct Reporter<'a> {
    progress: Progress,
    job: &'a RenderJob,
    plan: &'a FramePlan,
    verbose: u8,
    /// Number of existing frames, including frames of earlier runs.
    done: usize,
    /// Number of blank frames in this run.
    blank: usize,
    /// Duration estimate of a sequence. None before work begins, and for single pictures.
    estimate: Option<Estimate>,
    /// The animations of which this run renders one. None if it does not render several.
    together: Option<&'a mut Together>,
}

/// Number of warnings of each kind that are shown without `-v`.
const MOST_WARNINGS: usize = 5;

impl<'a> Reporter<'a> {
    pub fn new(progress: &Progress, job: &'a RenderJob, plan: &'a FramePlan, verbose: u8) -> Self {
        let progress = progress.clone();
        Self { progress, job, plan, verbose, done: plan.skipped, blank: 0, estimate: None, together: None }
    }

    /// Reports the run as one of several animations.
    pub fn together(self, together: Option<&'a mut Together>) -> Self {
        Self { together, ..self }
    }

    /// Turns on duration estimates. `takes_draft`: whether `--preset draft` would make the sequence faster.
    pub fn estimating(self, takes_draft: bool) -> Self {
        // With several models, the duration of one model's sequence is of no interest.
        let is_told = self.together.as_ref().is_some_and(|together| together.is_estimated);
        let traced = self.job.traced_frames().len();
        let later = self.together.as_ref().map_or(0, |together| together.later(traced));
        let sequence = Sequence::of(self.job, later, takes_draft).filter(|_| !self.progress.is_of_many() && !is_told);
        Self { estimate: sequence.map(|sequence| Estimate::new(sequence, &self.progress)), ..self }
    }

    pub fn started(&mut self, device: &str) {
        let job = self.job;
        let (scene, settings) = (&job.scene, &job.settings);
        let mut warnings = [&scene.warnings[..], &scene.doubts].concat();
        warnings.extend(sanity::warnings(scene, settings, &self.plan.asked));
        self.progress.event(&Event::Started {
            scene: &scene.name,
            device,
            frames: self.plan.total(),
            skipped: self.plan.skipped,
            width: settings.width,
            height: settings.height,
            samples: settings.samples,
            warnings: &warnings,
            notes: &scene.notes,
        });
        if self.verbose > 0 || !self.progress.is_of_many() {
            for note in &scene.notes {
                let line = self.line("note", note);
                if self.is_new(&line) {
                    self.progress.note(&line);
                }
            }
        }
        self.warn(&warnings);
        if self.verbose > 1 {
            self.progress.note(&format!("device: {device}"));
            self.progress.note(&format!("settings: {:?}", self.job.told_settings()));
        }
        self.progress.start(self.plan.skipped, self.plan.total());
    }

    /// Whether the line was not reported for an earlier animation.
    fn is_new(&mut self, line: &str) -> bool {
        self.together.as_deref_mut().is_none_or(|together| together.is_new(line))
    }

    /// Shows warnings: all with `-v`, otherwise some. Shows none if programs receive them as JSON.
    fn warn(&mut self, warnings: &[String]) {
        let mut lines: Vec<String> = warnings.iter().map(|warning| self.line("warning", warning)).collect();
        lines.retain(|line| self.is_new(line));
        if self.verbose > 0 {
            return lines.iter().for_each(|line| self.progress.note(line));
        }
        lines.iter().take(MOST_WARNINGS).for_each(|line| self.progress.summary(line));
        let more = lines.len().saturating_sub(MOST_WARNINGS);
        if more > 0 {
            let more = plural(more, "more warning");
            self.progress.summary(&format!("throng: {more}; -v shows them all"));
        }
    }

    /// A line for the user. Contains the scene's name if there are several scenes.
    fn line(&self, kind: &str, text: &str) -> String {
        if self.progress.is_of_many() {
            format!("throng: {kind}: {}: {text}", self.job.scene.name)
        } else {
            format!("throng: {kind}: {text}")
        }
    }

    /// Warns of a blank picture, up to a limit.
    fn warn_of_blank(&mut self, report: &FrameReport) {
        let Some(blank) = report.blank else { return };
        self.blank += 1;
        if self.verbose > 0 || self.blank <= MOST_WARNINGS {
            let text = format!("frame {}: the picture is {blank}", report.frame);
            self.progress.summary(&self.line("warning", &text));
        }
    }

    /// Counts the blank pictures that [`Self::warn_of_blank`] left out.
    fn count_blank(&self) {
        let more = self.blank.saturating_sub(MOST_WARNINGS);
        if more > 0 && self.verbose == 0 {
            let more = plural(more, "more frame");
            self.progress.summary(&format!("throng: warning: {more} of a single colour; -v shows them all"));
        }
    }

    /// Reports the result of a run that did not fail. [`Together`] reports the result of several animations.
    pub fn ended(&mut self, summary: &Summary) -> Exit {
        let stats = Stats::new(summary, self.plan, self.job);
        self.count_blank();
        let is_alone = !self.progress.is_of_many() && self.together.is_none();
        if let Some(together) = &mut self.together {
            together.add(summary, &stats);
        }
        // A video or a single picture that was stopped does not exist.
        let has_files = self.plan.pattern().is_some();
        if is_alone {
            warn_of_trees(&self.job.trees, |line| self.progress.note(line));
        }
        if is_alone || self.verbose > 0 {
            self.progress.summary(&describe(&stats, self.verbose, !summary.stopped || has_files));
        }
        if self.verbose > 0 && stats.frames > 0 {
            self.progress.summary(&stats.busy.to_string());
            if let Some(counts) = &stats.cached_trees {
                self.progress.summary(&format!("trees: {counts}"));
            }
        }
        if !summary.stopped {
            self.progress.event(&Event::Done(stats));
            return Exit::Done;
        }
        if is_alone {
            let finished = self.plan.skipped + summary.frames as usize;
            let finished = format!("{finished} of {} frames", self.plan.total());
            self.progress.summary(&stopped(&finished, has_files));
        }
        let resume = resume::command_line(program::arguments().iter().cloned(), has_files);
        self.progress.event(&Event::Stopped { stats, resume });
        Exit::Stopped
    }
}

impl FrameObserver for Reporter<'_> {
    fn frames_begin(&mut self, progress: Option<Arc<FrameProgress>>) {
        if let Some(estimate) = &self.estimate {
            estimate.begin(progress.clone());
        }
        self.progress.begin(progress);
    }

    fn frames_awaited(&mut self, count: usize) {
        let frames = plural(count, "frame");
        self.progress.note(&format!("throng: note: waiting for {frames} that other runs are making"));
    }

    fn frame_done(&mut self, report: &FrameReport) {
        self.done += 1;
        self.progress.advance();
        // The estimate is reported once.
        if let Some(estimate) = self.estimate.take() {
            estimate.first_frame_done();
            if let Some(together) = &mut self.together {
                together.is_estimated = true;
            }
        }
        self.progress.event(&Event::Frame { report, done: self.done, frames: self.plan.total() });
        self.warn_of_blank(report);
        if self.verbose > 0 {
            self.progress.note(&describe_frame(report, self.verbose));
        }
    }
}

fn describe_frame(report: &FrameReport, verbose: u8) -> String {
    let mut line = format!(
        "frame {}: pose {:.1} ms, trace {:.1} ms, write {:.1} ms",
        report.frame, report.pose_ms, report.trace_ms, report.write_ms
    );
    if let Some(noise) = report.noise {
        line += &format!("; noise {:.4}, denoised {:.4}", noise.before, noise.left);
        if let Some(Sampled { samples, noisy }) = noise.sampled {
            line += &format!("; {samples:.1} samples per pixel, {:.1} % above the target", 100.0 * noisy);
        }
    }
    if verbose > 1 {
        let rays = &report.rays;
        line += &format!(
            "; rays: {} primary, {} bounce, {} shadow; {}, {}",
            rays.primary,
            rays.bounce,
            rays.shadow,
            plural(report.refits as usize, "refit"),
            plural(report.rebuilds as usize, "tree rebuild"),
        );
        if report.sah_ratio > 0.0 {
            line += &format!("; meshes followed in {:.1} ms, SAH ratio {:.2}", report.follow_ms, report.sah_ratio);
        }
    }
    line
}

/// The line about a run that was stopped after `finished`, for example "2 of 3 frames". `has_files`: whether frames have their own files.
pub(super) fn stopped(finished: &str, has_files: bool) -> String {
    let (again, resume) = way_on(has_files);
    format!("stopped after {finished}; {again}: {resume}")
}

/// What a stopped run tells to do, and the command line for it.
fn way_on(has_files: bool) -> (&'static str, String) {
    let again = if has_files { "resume with" } else { "start again with" };
    (again, resume::command_line(program::arguments().iter().cloned(), has_files))
}

/// Describes what a run made; `exists`: and where that is.
pub(super) fn describe(stats: &Stats, verbose: u8, exists: bool) -> String {
    let skipped = plural(stats.skipped, "frame");
    if stats.frames == 0 && stats.skipped > 0 {
        return format!("nothing rendered: {skipped} existed already in {}", stats.output);
    }
    let mut line = format!(
        "{} in {}: {:.2} frames/s, {:.2} Mrays/s",
        plural(stats.frames as usize, "frame"),
        duration(stats.seconds),
        stats.frames_per_s,
        stats.mrays_per_s,
    );
    if verbose > 0 {
        let refits = plural(stats.refits as usize, "refit");
        let rebuilds = plural(stats.rebuilds as usize, "tree rebuild");
        line += &format!("; {refits}, {rebuilds}");
    }
    if stats.skipped > 0 {
        line += &format!("; {skipped} existed already");
    }
    let Skipped { appeared, elsewhere } = stats.left;
    if appeared > 0 {
        let frames = plural(appeared as usize, "frame");
        line += &format!("; {frames} made by other runs");
    }
    if elsewhere > 0 {
        let frames = plural(elsewhere as usize, "frame");
        line += &format!("; {frames} still in progress in other runs");
    }
    if exists {
        line += &format!("; see {}", stats.output);
    }
    line
}

fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes} min {seconds} s"),
        _ => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!(duration(0.04), "0.0 s");
        assert_eq!(duration(59.94), "59.9 s");
        assert_eq!(duration(192.4), "3 min 12 s");
        assert_eq!(duration(7325.0), "2 h 2 min");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(plural(1, "frame"), "1 frame");
        assert_eq!(plural(0, "frame"), "0 frames");
    }
}
