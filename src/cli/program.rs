//! The program: its subcommands, and one place that prints errors.

use super::{
    Exit, check, console, denoise, diff,
    exit::exit_of,
    export, farm,
    help::{self, Help, shell, words},
    info, interrupt, measure, merge, new, render, version, view,
};
use clap::{FromArgMatches, Parser, Subcommand, error::ErrorKind};
use std::{env, ffi::OsString, process::ExitCode, sync::OnceLock, thread};
use throng_base::memory;
use throng_device as device;

/// Renders scenes in which the same meshes appear thousands to millions of times.
#[derive(Parser)]
#[command(name = "throng", max_term_width = 100, arg_required_else_help = true, args_conflicts_with_subcommands = true)]
#[command(override_usage = "throng <COMMAND>")]
#[command(after_help = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 75 stopped and resumable. Also: completions SHELL, man.")]
pub struct Cli {
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
    Trace(measure::TraceArgs),
    Bench(measure::BenchArgs),
    Diff(diff::DiffArgs),
    Denoise(denoise::DenoiseArgs),
    Export(Box<export::ExportArgs>),
    New(new::NewArgs),
    Farm(Box<farm::FarmArgs>),
    Merge(merge::MergeArgs),
    #[command(hide = true)]
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
}

/// Stack size, in bytes, of the worker thread. The main thread's stack size depends on the system and its user.
const STACK: usize = 16 << 20;

/// Runs the program with the process's arguments. Every error is printed here, once.
pub fn run() -> ExitCode {
    run_with(env::args_os().collect()).into()
}

/// As [`run`], with other arguments, of which the first is the program's name. They apply to the rest of the process. Returns the exit code.
pub fn run_with(arguments: Vec<OsString>) -> u8 {
    let _ = ARGUMENTS.set(arguments);
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
    exit.code()
}

/// The command line, set once by [`run_with`].
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The command line, beginning with the program's name.
pub fn arguments() -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| env::args_os().collect())
}

fn parse_and_run() -> Exit {
    let args = arguments().to_vec();
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
            Self::Export(args) => args.run(),
            Self::New(args) => args.run(),
            Self::Farm(args) => with_threads(|| args.run()),
            Self::Merge(args) => with_threads(|| args.run()),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
        }
    }
}

/// Starts threads for `work` that uses no device. Otherwise the device starts them.
fn with_threads(work: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    device::start_threads(0)?;
    work()
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
