//! Display of a run's progress: a bar for people, lines of JSON for programs.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
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
    Bar(ProgressBar),
    Json,
    Nothing,
}

impl Progress {
    /// Makes a display that shows nothing before [`Progress::start`]. `quiet` silences everything but the JSON lines.
    pub fn new(mode: ProgressMode, quiet: bool) -> Self {
        let display = match mode {
            ProgressMode::Json => Display::Json,
            ProgressMode::Auto | ProgressMode::Bar if !quiet && io::stderr().is_terminal() => {
                Display::Bar(ProgressBar::no_length())
            }
            _ => Display::Nothing,
        };
        Self { display, talkative: !quiet }
    }

    /// Shows the bar; `done` of `total` frames exist already.
    pub fn start(&self, done: usize, total: usize) {
        let Display::Bar(bar) = &self.display else {
            return;
        };
        bar.set_length(total as u64);
        bar.set_style(style());
        bar.set_position(done as u64);
        // Frames that exist say nothing about how long the others take.
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(250));
    }

    /// Counts one more frame as done.
    pub fn advance(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.inc(1);
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
            Display::Bar(bar) => bar.suspend(|| print_line(line)),
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
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// Unlike `eprintln!`, survives a closed standard error.
fn print_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn style() -> ProgressStyle {
    let template = "{bar:32} {pos}/{len} frames  {elapsed} elapsed, {eta} left";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
