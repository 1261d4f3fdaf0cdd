//! `docs/flags.md`: documentation of the flags of all commands, generated from the command definitions.

use crate::cli::program::Cli;
use clap::{Arg, Command, CommandFactory, Id};
use std::fmt::Write;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/flags.md");

#[test]
fn documentation_lists_the_flags_that_there_are() {
    let written = std::fs::read_to_string(FILE).unwrap();
    assert!(written == reference(), "flags have changed: run `just docs`, which writes docs/flags.md again");
}

#[test]
#[ignore = "writes docs/flags.md"]
fn the_reference_is_written_again() {
    std::fs::write(FILE, reference()).unwrap();
}

fn reference() -> String {
    let mut text =
        "# Flags\n\nGenerated from the program's help by `just docs`; `throng COMMAND --help` prints these texts.\n"
            .to_owned();
    let mut cli = Cli::command();
    cli.build();
    let render = cli.find_subcommand("render").expect("the main command");
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        // A job takes all flags of `throng render`.
        let told: Vec<&Id> = match command.get_name() {
            "farm" => render.get_arguments().filter(|arg| !arg.is_positional()).map(Arg::get_id).collect(),
            _ => Vec::new(),
        };
        add_command(&mut text, command, &told);
    }
    text
}

/// Adds a command with its flags. The flags in `told`, which are documented at `throng render`, are left out.
fn add_command(text: &mut String, command: &Command, told: &[&Id]) {
    let about = command.get_about().map(ToString::to_string);
    let name = command.get_name();
    let positionals = command.get_positionals().map(value_of);
    let usage: Vec<String> = positionals.collect();
    let usage = usage.join(" ");
    let about = about.unwrap_or_default();
    writeln!(text, "\n## `{}`\n\n{about}.", format!("throng {name} {usage}").trim_end()).unwrap();
    let mut headings: Vec<&str> = Vec::new();
    let is_shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help" && !told.contains(&arg.get_id());
    let arguments = || command.get_arguments().filter(is_shown);
    for arg in arguments() {
        let heading = heading_of(arg);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        writeln!(text, "\n| {heading} | |\n|---|---|").unwrap();
        for arg in arguments().filter(|arg| heading_of(arg) == heading) {
            writeln!(text, "| {} | {} |", name_of(arg), cell(&meaning(arg))).unwrap();
        }
    }
    if !told.is_empty() {
        text.push_str("\nIt also takes all flags of `throng render`.\n");
    }
    if let Some(more) = command.get_after_help() {
        writeln!(text, "\n```text\n{}\n```", more.to_string().trim_end()).unwrap();
    }
}

fn heading_of(arg: &Arg) -> &str {
    if arg.is_positional() { "Arguments" } else { arg.get_help_heading().unwrap_or("Options") }
}

/// The names of a flag, such as `` `-f`, `--frames LIST` ``.
fn name_of(arg: &Arg) -> String {
    if arg.is_positional() {
        return format!("`{}`", value_of(arg));
    }
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let takes_value = arg.get_num_args().is_some_and(|count| count.takes_values());
    let long = arg
        .get_long()
        .map(|long| if takes_value { format!("`--{long} {}`", value_of(arg)) } else { format!("`--{long}`") });
    let names: Vec<String> = short.into_iter().chain(long).collect();
    cell(&names.join(", "))
}

fn value_of(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.join(" ")
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    let shown = values.iter().filter(|value| !value.is_hide_set());
    let described = shown.map(|value| match value.get_help() {
        Some(help) => format!("`{}` ({help})", value.get_name()),
        None => format!("`{}`", value.get_name()),
    });
    let described: Vec<String> = described.collect();
    let takes_value = arg.get_num_args().is_some_and(|count| count.takes_values());
    if takes_value && !described.is_empty() {
        write!(text, ": {}", described.join(", ")).unwrap();
    }
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if takes_value && !defaults.is_empty() {
        write!(text, " [default: {}]", defaults.join(" ")).unwrap();
    }
    text
}

/// Text escaped for a table cell. Adds the full stop that clap removes from a first paragraph, if another paragraph follows.
fn cell(text: &str) -> String {
    let paragraphs: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let (last, before) = paragraphs.split_last().unwrap_or((&"", &[]));
    let stopped = |paragraph: &&str| {
        if paragraph.ends_with(['.', ':', ';', '!', '?']) { format!("{paragraph} ") } else { format!("{paragraph}. ") }
    };
    (before.iter().map(stopped).collect::<String>() + last).replace('|', "\\|")
}

#[test]
fn paragraphs_of_a_flag_end_with_a_stop() {
    assert_eq!(cell("Pictures get alpha\n\nThe rest | stays"), "Pictures get alpha. The rest \\| stays");
    assert_eq!(cell("Write one of these:\n- a\n- b"), "Write one of these: - a. - b");
}
