//! The short help: `-h` lists the most important flags and fits a screen; `--help` lists all.

use crate::cli::program::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::ffi::OsString;

/// The flags that `-h` lists, by command and field name. Positional arguments are always listed.
const FIRST: [(&str, &[&str]); 14] = [
    (
        "render",
        &[
            "output",
            "video",
            "frames",
            "size",
            "preset",
            "samples",
            "denoise",
            "environment",
            "transparent",
            "animation",
            "camera",
            "integrator",
            "overrides",
            "skip_existing",
        ],
    ),
    ("view", &["port", "bind", "no_open", "samples", "environment", "device"]),
    ("info", &["animation", "device", "json", "full"]),
    ("check", &["overrides", "strict", "json"]),
    ("trace", &["kind", "hits", "report", "repeat", "device", "json"]),
    ("bench", &["dump", "repeat", "report", "device", "json"]),
    ("diff", &["sequence", "map", "limit", "pixels_per_degree", "json", "quiet"]),
    ("denoise", &["output", "frames", "denoise_frames", "strength", "exposure", "tone_map", "quiet"]),
    ("export", &["output", "frames", "animation", "camera", "overrides", "json", "quiet"]),
    ("new", &["template"]),
    ("farm", &["chunk", "timeout", "program", "output", "frames", "video"]),
    ("merge", &["output", "color_depth", "exr_compression", "json", "quiet"]),
    ("completions", &[]),
    ("man", &["output"]),
];

/// The help to print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Help {
    Short,
    Long,
}

impl Help {
    /// The help that `args` request, if any.
    pub fn of(args: &[OsString]) -> Self {
        let mut words = args.iter().take_while(|word| *word != "--");
        if words.any(|word| word == "-h") { Self::Short } else { Self::Long }
    }
}

/// The program's command line.
pub fn command(help: Help) -> Command {
    FIRST.iter().fold(Cli::command(), |cli, (name, flags)| {
        cli.mut_subcommand(name, |command| {
            let more = format!("All flags: throng {name} --help");
            let command = shortened(command, flags).after_help(more);
            if help == Help::Short { compact(command, flags) } else { command }
        })
    })
}

/// Lists flags in the order of `shown`, without headings and without possible values.
fn compact(command: Command, shown: &[&str]) -> Command {
    command.mut_args(|arg| {
        let order = shown.iter().position(|flag| arg.get_id() == *flag);
        let takes_values = arg.get_action().takes_values();
        let arg = arg.help_heading(None::<&str>).hide_possible_values(takes_values);
        match order {
            Some(order) => arg.display_order(order),
            None => arg,
        }
    })
}

/// Hides all flags but `shown` in the short help.
fn shortened(command: Command, shown: &[&str]) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print all flags; -h prints only the most important ones");
    command.disable_help_flag(true).arg(help).mut_args(|arg| {
        let is_shown = arg.is_positional() || shown.contains(&arg.get_id().as_str());
        arg.hide_short_help(!is_shown)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_that_matter_first_exist() {
        let mut cli = command(Help::Long);
        for (name, flags) in FIRST {
            let command = cli.find_subcommand_mut(name).unwrap();
            let exists = |flag: &&str| command.get_arguments().any(|arg| arg.get_id() == *flag);
            assert!(flags.iter().all(exists), "{name}: {flags:?}");
        }
        let names: Vec<&str> = FIRST.iter().map(|(name, _)| *name).collect();
        let all: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names, all);
    }
}
