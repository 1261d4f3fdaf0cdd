//! Display of a run's progress: a bar for people, lines of JSON for programs.

use super::remaining::Remaining;
use crate::device::FrameProgress;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressMode {
    /// A bar if standard error is a terminal, else nothing.
    #[default]
    Auto,
    /// A bar; without a terminal there is no place for one.
    Bar,
    /// One JSON object per line on standard output.
    Json,
    /// Nothing but the summary.
    None,
}

/// A handle on the display, which clones share.
#[derive(Clone)]
pub struct Progress {
    display: Display,
    /// Whether people want to read anything but errors.
    talkative: bool,
}

#[derive(Clone)]
enum Display {
    Bar(Bar),
    Json,
    Nothing,
}

impl Progress {
    /// Makes a display that shows nothing before [`Progress::start`]. `quiet` silences everything but the JSON lines.
    pub fn new(mode: ProgressMode, quiet: bool) -> Self {
        let display = match mode {
            ProgressMode::Json => Display::Json,
            ProgressMode::Auto | ProgressMode::Bar if !quiet && io::stderr().is_terminal() => {
                Display::Bar(Bar { bar: ProgressBar::no_length(), done: Arc::default(), total: Arc::default() })
            }
            _ => Display::Nothing,
        };
        Self { display, talkative: !quiet }
    }

    /// Shows the bar; `done` of `total` frames exist already.
    pub fn start(&self, done: usize, total: usize) {
        if let Display::Bar(bar) = &self.display {
            bar.start(done, total);
        }
    }

    /// Tells that frames are rendered from now on, and where the device counts how far it is with each.
    pub fn begin(&self, frame: Option<Arc<FrameProgress>>) {
        if let Display::Bar(bar) = &self.display {
            bar.follow(frame);
        }
    }

    /// Counts one more frame as done.
    pub fn advance(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.done.fetch_add(1, Relaxed);
        }
    }

    /// Prints a JSON line if programs are watching. A reader that went away does not stop the rendering.
    pub fn event(&self, event: &impl serde::Serialize) {
        if let Display::Json = self.display
            && let Ok(mut line) = serde_json::to_string(event)
        {
            line.push('\n');
            let mut out = io::stdout().lock();
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Prints a line for people on standard error, above the bar.
    pub fn note(&self, line: &str) {
        match &self.display {
            Display::Bar(Bar { bar, .. }) => bar.suspend(|| print_line(line)),
            _ if self.talkative => print_line(line),
            _ => {}
        }
    }

    /// Like [`Progress::note`], but not when an event tells programs the same.
    pub fn summary(&self, line: &str) {
        if !matches!(self.display, Display::Json) {
            self.note(line);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Display::Bar(Bar { bar, .. }) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// Unlike `eprintln!`, survives a closed standard error.
fn print_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The bar on a terminal, whose position is the share of all samples of all frames.
#[derive(Clone)]
struct Bar {
    bar: ProgressBar,
    /// Number of frames that exist.
    done: Arc<AtomicUsize>,
    total: Arc<AtomicUsize>,
}

/// Positions of the bar.
const STEPS: u64 = 10_000;
/// Time between two looks at how far the device is.
const LOOK: Duration = Duration::from_millis(250);

impl Bar {
    fn start(&self, done: usize, total: usize) {
        self.done.store(done, Relaxed);
        self.total.store(total, Relaxed);
        self.bar.set_style(style());
        self.bar.set_message(format!("{done}/{total} frames"));
        self.bar.set_prefix(Remaining::default().after(Duration::ZERO, 0.0));
        self.bar.set_length(STEPS);
        self.bar.enable_steady_tick(LOOK);
    }

    /// Moves the bar on, from a thread of its own. Without room for one, the bar does not move.
    fn follow(&self, frame: Option<Arc<FrameProgress>>) {
        let Self { bar, done, total } = self.clone();
        let (begun, start) = (Instant::now(), done.load(Relaxed) as f64);
        let follow = move || {
            let (mut remaining, mut furthest) = (Remaining::default(), 0.0);
            while !bar.is_finished() {
                let (done, total) = (done.load(Relaxed), total.load(Relaxed));
                let share = frame.as_ref().map_or(0.0, |frame| frame.share());
                // A frame that is traced but not written yet is not lost when the next one begins.
                furthest = f64::max(furthest, (done as f64 + share).min(total as f64));
                let left = remaining.after(begun.elapsed(), (furthest - start) / (total as f64 - start));
                bar.set_message(format!("{done}/{total} frames"));
                bar.set_prefix(left);
                bar.set_position((furthest / total as f64 * STEPS as f64) as u64);
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
