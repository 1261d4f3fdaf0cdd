//! Messages of `throng render` about several animations of a model: one estimate, each note once, and one line at the end.

use super::{
    models::Outcome,
    report::{describe, stopped},
};
use crate::cli::{
    Exit,
    args::warn_of_trees,
    progress::{Progress, Stats},
};
use std::collections::HashSet;
use throng_render::{Summary, TreeSource};

/// The animations of a model that one command renders one after the other.
pub struct Together {
    /// The display for all animations.
    progress: Progress,
    /// Expected number of rendered frames of each animation.
    expected: Vec<usize>,
    /// Number of animations that were begun.
    begun: usize,
    /// Whether the duration was estimated.
    pub is_estimated: bool,
    /// Lines that were reported for an animation.
    told: HashSet<String>,
    /// Totals of the finished animations.
    summary: Summary,
    /// Number of frames that existed before.
    skipped: usize,
    /// Descriptions of the output files, each once.
    outputs: Vec<String>,
}

impl Together {
    /// Shows the bar, unless `progress` is the display for one of several models. `expected`: number of frames that each animation will
    /// render.
    pub fn new(progress: &Progress, expected: Vec<usize>) -> Self {
        if !progress.is_of_many() {
            progress.start_parts(expected.len(), "animations");
        }
        Self {
            progress: progress.clone(),
            expected,
            begun: 0,
            is_estimated: false,
            told: HashSet::new(),
            summary: Summary::default(),
            skipped: 0,
            outputs: Vec::new(),
        }
    }

    /// Begins the next animation: reports its name, and returns its display.
    pub fn begin(&mut self, name: &str) -> Progress {
        self.begun += 1;
        self.progress.summary(&format!("animation {} of {}: {name}", self.begun, self.expected.len()));
        self.progress.of_animation()
    }

    /// Ends the current animation, unless it was stopped.
    pub fn end(&self) {
        if !self.progress.is_of_many() {
            self.progress.advance();
        }
    }

    /// Estimated number of traced frames of all later animations. `traced`: number of traced frames of the current animation.
    pub fn later(&self, traced: usize) -> usize {
        let (begun, later) = self.expected.split_at(self.begun.min(self.expected.len()));
        let current = begun.last().copied().unwrap_or_default().max(1);
        let later: usize = later.iter().sum();
        // Neighbours of denoised frames are traced without being expected, and `--set render.frames` overrides what was expected.
        (later as f64 / current as f64 * traced as f64).round() as usize
    }

    /// Whether `line` was not yet reported. Records it as reported.
    pub fn is_new(&mut self, line: &str) -> bool {
        self.told.insert(line.to_owned())
    }

    /// Adds the totals of a finished or stopped animation.
    pub fn add(&mut self, summary: &Summary, stats: &Stats) {
        let total = &mut self.summary;
        total.frames += summary.frames;
        total.skipped.appeared += summary.skipped.appeared;
        total.skipped.elsewhere += summary.skipped.elsewhere;
        total.elapsed += summary.elapsed;
        total.rays += summary.rays;
        total.refits += summary.refits;
        total.rebuilds += summary.rebuilds;
        total.sah_ratio = total.sah_ratio.max(summary.sah_ratio);
        self.skipped += stats.skipped;
        if !self.outputs.contains(&stats.output) {
            self.outputs.push(stats.output.clone());
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.progress.finish();
    }

    /// Reports the result of all animations. `pattern` describes their output files, if they have different ones. With several models, only
    /// `verbose` runs report the animations of each.
    pub fn ended(&self, outcome: &Outcome, trees: &TreeSource, pattern: String, verbose: u8) {
        let is_alone = !self.progress.is_of_many();
        if is_alone {
            warn_of_trees(trees, |line| self.progress.note(line));
        }
        let output = match &self.outputs[..] {
            [output] => output.clone(),
            _ => pattern,
        };
        let stats = Stats::of(&self.summary, self.skipped, trees, output);
        let is_stopped = outcome.exit == Exit::Stopped;
        if is_alone || verbose > 0 {
            self.progress.summary(&describe(&stats, verbose, !is_stopped || outcome.has_files));
        }
        if is_alone && is_stopped {
            let finished = format!("{} of {} animations", self.begun.saturating_sub(1), self.expected.len());
            self.progress.summary(&stopped(&finished, outcome.has_files));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::ProgressMode;
    use std::time::Duration;
    use throng_device::RayCounts;

    fn together(expected: &[usize]) -> Together {
        Together::new(&Progress::new(ProgressMode::None, true), expected.to_vec())
    }

    #[test]
    fn later_frames_are_those_of_animations_that_have_not_begun() {
        let mut together = together(&[8, 4, 6]);
        together.begin("Walk");
        assert_eq!(together.later(8), 10);
        // Half as many frames as expected: so it will be with the others.
        assert_eq!(together.later(4), 5);
        together.begin("Run");
        assert_eq!([together.later(4), together.later(0)], [6, 0]);
        together.begin("Jump");
        assert_eq!(together.later(6), 0);
    }

    #[test]
    fn a_line_is_new_once() {
        let mut together = together(&[1, 1]);
        assert!(together.is_new("a") && together.is_new("b") && !together.is_new("a"));
    }

    #[test]
    fn totals_are_of_all_animations() {
        let mut together = together(&[3, 2]);
        let trees = TreeSource::default();
        for (frames, output) in [(3, "sheet.png"), (2, "sheet.png")] {
            let rays = RayCounts { primary: 10, ..RayCounts::default() };
            let summary = Summary { frames, elapsed: Duration::from_secs(2), rays, ..Summary::default() };
            let stats = Stats::of(&summary, 1, &trees, output.to_owned());
            together.add(&summary, &stats);
        }
        assert_eq!(together.outputs, ["sheet.png"]);
        let stats = Stats::of(&together.summary, together.skipped, &trees, String::new());
        assert_eq!((stats.frames, stats.skipped, stats.rays), (5, 2, 20));
        assert_eq!((stats.seconds, stats.frames_per_s), (4.0, 1.25));
    }
}
