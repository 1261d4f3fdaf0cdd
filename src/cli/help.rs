//! The short help: `-h` lists the flags that matter first and fits a screen, `--help` lists all.

use super::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};

/// The flags that `-h` lists, by command and by the names of their fields. Arguments without a flag are always listed.
const FIRST: [(&str, &[&str]); 13] = [
    (
        "render",
        &[
            "output",
            "frames",
            "skip_existing",
            "size",
            "samples",
            "exposure",
            "transparent",
            "animation",
            "camera",
            "environment",
        ],
    ),
    ("view", &["port", "bind", "no_open", "samples", "environment", "device"]),
    ("info", &["animation", "device", "json", "full"]),
    ("check", &["overrides", "strict", "json"]),
    ("trace", &["kind", "hits", "report", "repeat", "device", "json"]),
    ("bench", &["dump", "repeat", "report", "device", "json"]),
    ("diff", &["sequence", "map", "limit", "pixels_per_degree", "json", "quiet"]),
    ("denoise", &["output", "frames", "denoise_frames", "strength", "exposure", "tone_map", "quiet"]),
    ("new", &["template"]),
    ("farm", &["chunk", "timeout", "program", "output", "frames", "video"]),
    ("merge", &["output", "color_depth", "exr_compression", "json", "quiet"]),
    ("completions", &[]),
    ("man", &["output"]),
];

/// The program's command line.
pub fn command() -> Command {
    FIRST.iter().fold(Cli::command(), |cli, (name, flags)| {
        cli.mut_subcommand(name, |command| {
            let more = format!("All flags: throng {name} --help");
            shortened(command, flags).after_help(more)
        })
    })
}

/// Leaves all flags but `shown` out of the short help.
fn shortened(command: Command, shown: &[&str]) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print this; -h prints the flags that matter first");
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
        let mut cli = command();
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
