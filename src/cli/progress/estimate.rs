//! Estimated duration of a sequence, or of all animations of a command: a line after the first frame, or earlier if it will take hours.

use super::{Progress, remaining::rounded};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};
use throng_base::sync::lock;
use throng_device::FrameProgress;
use throng_render::RenderJob;
use throng_scene::{Shows, ranges};

/// Duration in seconds above which a sequence is long.
const LONG: f64 = 3600.0;
/// Minimum duration in seconds that is reported.
const TOLD: f64 = 10.0;
/// Minimum time spent on the first frame, and minimum finished share of it, before a warning about a long sequence. Adaptive frames begin
/// with the samples that all pixels get.
const LEAST_TIME: Duration = Duration::from_secs(5);
const LEAST_SHARE: f64 = 0.005;
const LEAST_ADAPTIVE_SHARE: f64 = 0.05;
/// Interval between checks of the first frame.
const LOOK: Duration = Duration::from_millis(250);
/// Minimum number of samples to suggest, and minimum duration in seconds of a sequence with fewer samples.
const FEW: u32 = 4;
const SHORT: f64 = 1800.0;

/// Properties of a sequence before it is rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Number of traced frames.
    traced: usize,
    /// Expected number of traced frames of later animations of the same command.
    later: usize,
    /// Number of frames traced before the first one is written.
    first: usize,
    samples: u32,
    size: (u32, u32),
    /// Whether sampling is adaptive.
    is_adaptive: bool,
    /// Whether frames are denoised, or cannot be.
    is_clean: bool,
    /// Whether `--preset draft` would make it faster.
    takes_draft: bool,
}

impl Sequence {
    /// The sequence that `job` makes, before `later` frames of other animations. None if the command makes a single picture.
    pub fn of(job: &RenderJob, later: usize, takes_draft: bool) -> Option<Self> {
        let traced = job.traced_frames().len();
        let reach = job.denoising.as_ref().map_or(0, |denoising| denoising.reach as usize);
        let settings = &job.settings;
        (job.frames.len() + later > 1).then(|| Self {
            traced,
            later,
            first: (reach + 1).min(traced),
            samples: settings.samples,
            size: (settings.width, settings.height),
            is_adaptive: job.noise().is_some(),
            is_clean: job.denoising.is_some() || settings.integrator.shows() != Shows::Radiance,
            takes_draft,
        })
    }

    /// Estimated duration in seconds of all frames, when `done` of them took `seconds`.
    fn whole(&self, seconds: f64, done: f64) -> f64 {
        seconds / done * (self.traced + self.later) as f64
    }

    /// The line for the user when `done` of the traced frames took `seconds`. None if the time is too short for a report.
    fn line(&self, seconds: f64, done: f64) -> Option<String> {
        let whole = self.whole(seconds, done);
        let left = whole - seconds;
        let about = |seconds: f64| format!("about {}", rounded(seconds));
        match (left > LONG, left > TOLD) {
            (true, _) => Some(format!(
                "rendering takes {} more, {} per frame; -f 1 makes one picture{}, and {}",
                about(left),
                about(seconds / done),
                if self.later > 0 { " of each animation" } else { "" },
                self.advice(whole)
            )),
            (false, true) => Some(format!("{} left", about(left))),
            (false, false) => None,
        }
    }

    /// Flags that shorten a sequence of `whole` seconds.
    fn advice(&self, whole: f64) -> String {
        if self.takes_draft {
            return "--preset draft is for a quick look".to_owned();
        }
        let fewer = ((f64::from(self.samples) * SHORT / whole) as u32).clamp(FEW, *ranges::SAMPLES.end());
        if fewer < self.samples {
            let denoised = if self.is_clean { "" } else { " --denoise" };
            let time = rounded(whole * f64::from(fewer) / f64::from(self.samples));
            return format!("--samples {fewer}{denoised} takes about {time} in all");
        }
        let (width, height) = self.size;
        format!("--size {}x{} takes a quarter of the time", width.div_ceil(2), height.div_ceil(2))
    }
}

/// Reports the estimated duration of a sequence once.
#[derive(Clone)]
pub struct Estimate {
    sequence: Sequence,
    progress: Progress,
    begun: Arc<Mutex<Option<Instant>>>,
    is_told: Arc<AtomicBool>,
}

impl Estimate {
    pub fn new(sequence: Sequence, progress: &Progress) -> Self {
        Self { sequence, progress: progress.clone(), begun: Arc::default(), is_told: Arc::default() }
    }

    /// Starts the clock. `frame` is the progress of the current frame: with it, long sequences are reported before their first frame is
    /// done.
    pub fn begin(&self, frame: Option<Arc<FrameProgress>>) {
        let mut begun = lock(&self.begun);
        if begun.is_some() {
            return;
        }
        let begun = *begun.insert(Instant::now());
        if let Some(frame) = frame {
            let (this, still) = (self.clone(), Arc::downgrade(&self.is_told));
            // If no thread can be started, the line comes after the first frame.
            let watch = move || {
                // The run, which holds the other handle, may end earlier.
                while still.strong_count() > 1 && !this.is_told.load(Relaxed) && !this.foresees(begun, frame.share()) {
                    thread::sleep(LOOK);
                }
            };
            let _ = thread::Builder::new().name("estimate".into()).spawn(watch);
        }
    }

    /// Call this when the first frame is done.
    pub fn first_frame_done(&self) {
        let begun = *lock(&self.begun);
        if let Some(begun) = begun {
            self.tell(self.sequence.line(begun.elapsed().as_secs_f64(), self.sequence.first as f64));
        }
    }

    /// Reports a long sequence once `share` of the first frame is done. Returns whether the estimate is certain enough.
    fn foresees(&self, begun: Instant, share: f64) -> bool {
        let elapsed = begun.elapsed();
        let least_share = if self.sequence.is_adaptive { LEAST_ADAPTIVE_SHARE } else { LEAST_SHARE };
        if elapsed < LEAST_TIME || share < least_share {
            return false;
        }
        let seconds = elapsed.as_secs_f64();
        let is_long = self.sequence.whole(seconds, share) - seconds > LONG;
        if is_long {
            self.tell(self.sequence.line(seconds, share));
        }
        true
    }

    fn tell(&self, line: Option<String>) {
        if let Some(line) = line.filter(|_| !self.is_told.swap(true, Relaxed)) {
            self.progress.summary(&format!("throng: note: {line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence() -> Sequence {
        Sequence {
            traced: 240,
            later: 0,
            first: 1,
            samples: 256,
            size: (1280, 720),
            is_adaptive: false,
            is_clean: false,
            takes_draft: false,
        }
    }

    #[test]
    fn short_sequences_are_not_told_of_and_others_by_the_time_that_is_left() {
        assert_eq!(sequence().line(0.01, 1.0), None);
        assert_eq!(sequence().line(1.0, 1.0).unwrap(), "about 4 min left");
        // Four neighbours were traced before the first denoised frame was done.
        assert_eq!(sequence().line(5.0, 5.0).unwrap(), "about 4 min left");
        // Later animations count.
        assert_eq!(Sequence { traced: 8, later: 16, ..sequence() }.line(10.0, 1.0).unwrap(), "about 4 min left");
    }

    #[test]
    fn long_sequences_come_with_flags_that_make_them_short() {
        let line = sequence().line(275.0, 1.0).unwrap();
        assert_eq!(
            line,
            "rendering takes about 18 h 16 min more, about 5 min per frame; -f 1 makes one picture, and \
             --samples 6 --denoise takes about 26 min in all"
        );
        let several = Sequence { traced: 40, later: 200, ..sequence() }.line(275.0, 1.0).unwrap();
        assert_eq!(several, line.replace("one picture,", "one picture of each animation,"));
        let advice = |sequence: Sequence| sequence.advice(66_000.0);
        assert_eq!(advice(Sequence { takes_draft: true, ..sequence() }), "--preset draft is for a quick look");
        let clean = advice(Sequence { is_clean: true, samples: 64, ..sequence() });
        assert_eq!(clean, "--samples 4 takes about 1 h 9 min in all");
        let coarse = advice(Sequence { samples: 4, ..sequence() });
        assert_eq!(coarse, "--size 640x360 takes a quarter of the time");
    }
}
