//! Progress display: a bar for the user, JSON lines for programs.

use super::remaining::Remaining;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};
use throng_base::sync::lock;
use throng_device::FrameProgress;

/// Values of `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressMode {
    /// A bar if standard error is a terminal, otherwise nothing.
    #[default]
    Auto,
    /// A bar. Shown only on a terminal.
    Bar,
    /// One JSON object per line on standard output.
    Json,
    /// Status lines of Open Job Description on standard output.
    Openjd,
    /// Only the summary.
    None,
}

/// A handle on the display. Clones share the display.
#[derive(Clone)]
pub struct Progress {
    display: Display,
    /// Whether messages other than errors are printed.
    talkative: bool,
    part: RunPart,
}

/// The part of the run that a handle shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunPart {
    All,
    /// One of several models.
    Model,
    /// One of several animations of the only model.
    Animation,
}

#[derive(Clone)]
enum Display {
    Bar(Bar),
    Json,
    Nothing,
}

impl Progress {
    /// Makes a display that stays empty until [`Progress::start`]. `quiet` suppresses everything but JSON lines.
    pub fn new(mode: ProgressMode, quiet: bool) -> Self {
        let display = match mode {
            ProgressMode::Json => Display::Json,
            ProgressMode::Openjd => Display::Bar(Bar::of(ProgressBar::hidden(), true)),
            ProgressMode::Auto | ProgressMode::Bar if !quiet && io::stderr().is_terminal() => {
                Display::Bar(Bar::of(ProgressBar::no_length(), false))
            }
            _ => Display::Nothing,
        };
        Self { display, talkative: !quiet, part: RunPart::All }
    }

    /// The display for one of several models. Models are counted by `self`; the frames of a model move the bar on to the next model.
    pub fn of_model(&self) -> Self {
        Self { part: RunPart::Model, ..self.clone() }
    }

    /// Like [`Progress::of_model`], for one of several animations of a model. If there are several models, animations are not counted.
    pub fn of_animation(&self) -> Self {
        let part = match self.part {
            RunPart::All => RunPart::Animation,
            part => part,
        };
        Self { part, ..self.clone() }
    }

    /// Whether it is the display for one of several models.
    pub fn is_of_many(&self) -> bool {
        self.part == RunPart::Model
    }

    fn is_part(&self) -> bool {
        self.part != RunPart::All
    }

    /// Shows the bar. `done` of `total` frames already exist.
    pub fn start(&self, done: usize, total: usize) {
        if let Display::Bar(bar) = &self.display {
            *bar.state().count_of(self.is_part()) = Count { done, total };
            if !self.is_part() {
                bar.show();
            }
        }
    }

    /// Shows the bar for `total` parts of a run; `noun` is "models" or "animations". Call [`Progress::advance`] after each part.
    pub fn start_parts(&self, total: usize, noun: &'static str) {
        if let Display::Bar(bar) = &self.display {
            bar.state().parts = Some(noun);
        }
        self.start(0, total);
    }

    /// Marks the start of rendering. `frame` is the device's progress counter for the current frame.
    pub fn begin(&self, frame: Option<Arc<FrameProgress>>) {
        if let Display::Bar(bar) = &self.display {
            let mut state = bar.state();
            state.frame = frame;
            let is_followed = std::mem::replace(&mut state.is_followed, true);
            drop(state);
            if !is_followed {
                bar.follow();
            }
        }
    }

    /// Counts one more frame, model or animation as done.
    pub fn advance(&self) {
        if let Display::Bar(bar) = &self.display {
            let mut state = bar.state();
            state.count_of(self.is_part()).done += 1;
            if state.parts.is_some() && !self.is_part() {
                state.of_part = Count::default();
                state.frame = None;
            }
        }
    }

    /// Prints a JSON line if `--progress json` is active. A closed pipe does not stop rendering.
    pub fn event(&self, event: &impl serde::Serialize) {
        if let Display::Json = self.display
            && let Ok(mut line) = serde_json::to_string(event)
        {
            line.push('\n');
            let mut out = io::stdout().lock();
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Prints a line for the user on standard error, above the bar.
    pub fn note(&self, line: &str) {
        if self.talkative {
            self.failure(line);
        }
    }

    /// Like [`Progress::note`], but prints nothing if a JSON event carries the information.
    pub fn summary(&self, line: &str) {
        if !matches!(self.display, Display::Json) {
            self.note(line);
        }
    }

    /// Prints a line about a failure. Not suppressed by `quiet`.
    pub fn failure(&self, line: &str) {
        match &self.display {
            Display::Bar(Bar { bar, .. }) => bar.suspend(|| print_line(line)),
            _ => print_line(line),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        match &self.display {
            Display::Bar(bar) if !self.is_part() => {
                bar.tell_engine(&bar.state());
                bar.bar.finish_and_clear();
            }
            _ => {}
        }
    }

    /// Reports to the farm engine why the run failed. The user gets the error elsewhere.
    pub fn tell_failure(&self, error: &str) {
        if let Display::Bar(Bar { is_for_engine: true, .. }) = &self.display {
            engine_line(&format!("openjd_fail: {error}"));
        }
    }
}

/// Prints a line. Unlike `eprintln!`, survives a closed standard error.
fn print_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a line for the farm engine that runs the program. A closed pipe does not stop rendering.
fn engine_line(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The bar on a terminal, or equivalent lines for a farm engine. The position is the finished share of all samples of all frames.
#[derive(Clone)]
struct Bar {
    bar: ProgressBar,
    is_for_engine: bool,
    state: Arc<Mutex<State>>,
}

/// Progress of the run.
#[derive(Default)]
struct State {
    /// Count of frames, or of the parts of the run if it has several.
    all: Count,
    /// Frames of the current part, if there are several.
    of_part: Count,
    /// The device's progress on the current frame.
    frame: Option<Arc<FrameProgress>>,
    /// "models" or "animations", if the run has several of them.
    parts: Option<&'static str>,
    /// Whether a thread moves the bar.
    is_followed: bool,
}

#[derive(Clone, Copy, Default)]
struct Count {
    done: usize,
    total: usize,
}

impl State {
    fn count_of(&mut self, part: bool) -> &mut Count {
        if part { &mut self.of_part } else { &mut self.all }
    }

    /// Number of finished frames or parts, plus the finished share of the current one.
    fn position(&self) -> f64 {
        let frame = self.frame.as_ref().map_or(0.0, |frame| frame.share());
        let under_way = match self.of_part {
            Count { total: 0, .. } => frame,
            Count { done, total } => ((done as f64 + frame) / total as f64).min(1.0),
        };
        (self.all.done as f64 + under_way).min(self.all.total as f64)
    }

    fn message(&self) -> String {
        format!("{}/{} {}", self.all.done, self.all.total, self.parts.unwrap_or("frames"))
    }
}

/// Number of positions of the bar.
const STEPS: u64 = 10_000;
/// Interval between reads of the device's progress.
const LOOK: Duration = Duration::from_millis(250);
/// Interval between lines for a farm engine.
const TELL: Duration = Duration::from_secs(5);

impl Bar {
    fn of(bar: ProgressBar, is_for_engine: bool) -> Self {
        Self { bar, is_for_engine, state: Arc::default() }
    }

    /// Locks the state, even if it is poisoned: panics are reported elsewhere.
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn show(&self) {
        self.bar.set_style(style());
        self.bar.set_message(self.state().message());
        self.bar.set_prefix(Remaining::default().after(Duration::ZERO, 0.0));
        self.bar.set_length(STEPS);
        self.bar.enable_steady_tick(LOOK);
    }

    /// Reports progress to the farm engine: <https://github.com/OpenJobDescription/openjd-specifications/wiki/How-Jobs-Are-Run>.
    fn tell_engine(&self, state: &State) {
        if self.is_for_engine && state.all.total > 0 {
            let percent = state.position() / state.all.total as f64 * 100.0;
            engine_line(&format!("openjd_progress: {percent:.1}\nopenjd_status: {}", state.message()));
        }
    }

    /// Moves the bar from a separate thread. If no thread can be started, the bar does not move between frames.
    fn follow(&self) {
        let this = self.clone();
        let (begun, start) = (Instant::now(), self.state().all.done as f64);
        let follow = move || {
            let (mut remaining, mut furthest) = (Remaining::default(), 0.0);
            let mut told: Option<Instant> = None;
            while !this.bar.is_finished() {
                let state = this.state();
                if told.is_none_or(|told| told.elapsed() >= TELL) {
                    this.tell_engine(&state);
                    told = Some(Instant::now());
                }
                let (message, total) = (state.message(), state.all.total as f64);
                // Keeps the position of a frame that is traced but not yet written when the next one begins.
                furthest = f64::max(furthest, state.position());
                drop(state);
                let left = remaining.after(begun.elapsed(), (furthest - start) / (total - start));
                this.bar.set_message(message);
                this.bar.set_prefix(left);
                this.bar.set_position((furthest / total * STEPS as f64) as u64);
                thread::sleep(LOOK);
            }
        };
        let _ = thread::Builder::new().name("progress".into()).spawn(follow);
    }
}

fn style() -> ProgressStyle {
    let template = "{bar:32} {percent:>3} %  {msg}  {elapsed} elapsed, {prefix}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
