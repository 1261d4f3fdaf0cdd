//! `throng completions` and `throng man`: shell completions and manual pages, generated from the flags.

use super::{Help, command};
use crate::cli::Exit;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use std::{
    io::{self, Write},
    path::PathBuf,
};
use throng_output::{Planned, prepare_distinct, write_atomically};

/// Print shell completions
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  throng completions bash > ~/.local/share/bash-completion/completions/throng
  throng completions zsh > ~/.zfunc/_throng        (with ~/.zfunc in fpath)
  throng completions fish > ~/.config/fish/completions/throng.fish")]
pub struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(Help::Long), "throng", &mut script);
        print(&script)
    }
}

/// Print the manual page, or write the pages of all commands
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  throng man | man -l -
  throng man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for throng.1, throng-render.1 and so on; created if necessary
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let program = command(Help::Long);
        match &self.output {
            Some(folder) => {
                let mut pages = Vec::new();
                let mut program = program.disable_help_subcommand(true);
                program.build();
                collect_pages(program, &mut pages);
                let pages: Vec<(PathBuf, Man)> =
                    pages.into_iter().map(|page| (folder.join(page.get_filename()), page)).collect();
                prepare_distinct(pages.iter().map(|(path, _)| Planned::new(path, "another page")).collect())?;
                for (path, page) in &pages {
                    write_atomically(path, |out| page.render(out))?;
                }
                Ok(Exit::Done)
            }
            None => {
                let mut page = Vec::new();
                Man::new(program).render(&mut page)?;
                print(&page)
            }
        }
    }
}

/// Adds the manual pages of a command and its subcommands.
fn collect_pages(command: Command, pages: &mut Vec<Man>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect_pages(inner.clone(), pages);
    }
    pages.push(Man::new(command));
}

/// Prints a whole text. A pipe that the reader closed early is not an error.
pub fn print(text: &[u8]) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(Exit::Done),
    }
}
