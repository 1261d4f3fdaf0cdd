//! The command line: one file per subcommand, with little logic. `main` only calls `run`.

mod args;
mod bench;
mod check;
mod console;
mod denoise;
mod diff;
mod farm;
mod help;
mod info;
mod interrupt;
mod lens_args;
mod merge;
mod model;
mod model_args;
mod new;
mod progress;
mod render;
mod resume;
mod shipped;
mod trace;
mod version;
mod view;

use crate::farm::JobError;
use clap::{FromArgMatches, Parser, Subcommand, error::ErrorKind};
use help::{Help, shell, words};
use render::compare::CompareError;
use std::{env, process::ExitCode, thread};
use throng_base::memory;
use throng_device as device;
use throng_loader::LoadError;
use throng_merge::MergeError;
use throng_output::PatternError;
use throng_render::frames::FramesError;
use throng_settings::SettingsError;

/// Renders scenes in which the same meshes appear thousands to millions of times.
#[derive(Parser)]
#[command(name = "throng", max_term_width = 100, arg_required_else_help = true, args_conflicts_with_subcommands = true)]
#[command(override_usage = "throng <COMMAND>")]
#[command(after_help = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 75 stopped and resumable.
Shell completions: throng completions SHELL. Manual page: throng man.")]
struct Cli {
    /// None with `--version`.
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: also print build information and available devices
    #[arg(short, long, requires = "version", hide_short_help = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Render(Box<render::RenderArgs>),
    View(Box<view::PreviewArgs>),
    Info(info::InfoArgs),
    Check(check::CheckArgs),
    Trace(trace::TraceArgs),
    Bench(bench::BenchArgs),
    Diff(diff::DiffArgs),
    Denoise(denoise::DenoiseArgs),
    New(new::NewArgs),
    Farm(Box<farm::FarmArgs>),
    Merge(merge::MergeArgs),
    #[command(hide = true)]
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
}

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    /// `EX_TEMPFAIL` of sysexits.h: the command can be resumed with `--skip-existing`.
    Stopped = 75,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            // Flags that set the stop code accept one byte only.
            Self::Stopped => interrupt::stop_code() as u8,
            other => other as u8,
        }
    }
}

/// Stack size, in bytes, of the worker thread. The main thread's stack size depends on the system and its user.
const STACK: usize = 16 << 20;

/// Runs the program with the process's arguments. Every error is printed here, once.
pub fn run() -> ExitCode {
    interrupt::prepare();
    console::install_panic_message();
    let start = || {
        memory::check_room_for_threads(1, STACK)?;
        let worker = thread::Builder::new().name("main".into());
        worker.stack_size(STACK).spawn(parse_and_run)
    };
    let exit = match start() {
        // Panics do not reach this point: they end the process.
        Ok(worker) => worker.join().unwrap_or(Exit::Failed),
        Err(error) => {
            console::error(&format!("cannot start a thread: {error}"));
            Exit::Failed
        }
    };
    ExitCode::from(exit.code())
}

fn parse_and_run() -> Exit {
    let args: Vec<_> = env::args_os().collect();
    let mut command = help::command(Help::of(&args));
    let args = words::with_command(args, &command);
    let parsed = command.try_get_matches_from_mut(&args).and_then(|given| Cli::from_arg_matches(&given));
    match parsed.map_err(|error| words::explained(error.format(&mut command), &args, &command)) {
        Ok(cli) => cli.run().unwrap_or_else(|error| {
            console::error(&console::one_line(&error));
            exit_of(&error)
        }),
        Err(error) => refuse(&error),
    }
}

impl Cli {
    fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            Some(command) => command.run(),
            None => version::print(self.verbose),
        }
    }
}

impl Command {
    fn run(self) -> anyhow::Result<Exit> {
        match self {
            Self::Render(args) => args.run(),
            Self::View(args) => args.run(),
            Self::Info(args) => args.run(),
            Self::Check(args) => with_threads(|| args.run()),
            Self::Trace(args) => args.run(),
            Self::Bench(args) => args.run(),
            Self::Diff(args) => with_threads(|| args.run()),
            Self::Denoise(args) => with_threads(|| args.run()),
            Self::New(args) => args.run(),
            Self::Farm(args) => with_threads(|| args.run()),
            Self::Merge(args) => with_threads(|| args.run()),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
        }
    }
}

/// A command line error that clap does not find.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Returns a usage error unless `holds`.
fn demand(holds: bool, otherwise: &str) -> Result<(), UsageError> {
    if holds { Ok(()) } else { Err(UsageError(otherwise.to_owned())) }
}

/// Starts threads for `work` that uses no device. Otherwise the device starts them.
fn with_threads(work: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    device::start_threads(0)?;
    work()
}

fn exit_of(error: &anyhow::Error) -> Exit {
    let usage = error.downcast_ref::<crate::Error>().is_some_and(crate::Error::is_usage)
        || error.downcast_ref::<SettingsError>().is_some_and(SettingsError::is_usage)
        || error.downcast_ref::<LoadError>().is_some_and(LoadError::is_usage)
        || error.downcast_ref::<MergeError>().is_some_and(MergeError::is_usage)
        || error.downcast_ref::<JobError>().is_some_and(JobError::is_usage)
        || error.is::<UsageError>()
        || error.is::<PatternError>()
        || error.is::<FramesError>()
        || matches!(error.downcast_ref(), Some(CompareError::OneDevice));
    if usage { Exit::Usage } else { Exit::Failed }
}

/// Prints clap's message: help and version on standard output, errors on standard error.
fn refuse(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is not an error.
        let _ = error.print();
        return Exit::Done;
    }
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
        }
        _ => console::error(error.render().to_string().trim_start_matches("error: ").trim_end()),
    }
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        help::command(Help::Long).debug_assert();
        help::command(Help::Short).debug_assert();
    }
}
