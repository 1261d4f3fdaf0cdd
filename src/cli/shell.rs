//! `throng completions` and `throng man`: what shells and `man` know of the command line, made from the flags themselves.

use super::{Exit, help};
use anyhow::Context;
use clap_complete::Shell;
use clap_mangen::Man;
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  throng completions bash > ~/.local/share/bash-completion/completions/throng
  throng completions zsh > ~/.zfunc/_throng        (with ~/.zfunc in fpath)
  throng completions fish > ~/.config/fish/completions/throng.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command(), "throng", &mut script);
        print(&script)
    }
}

/// Print the manual page, or write those of all commands
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  throng man | man -l -
  throng man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for throng.1, throng-render.1 and so on, which is made if there is none
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let program = help::command();
        match &self.output {
            Some(folder) => {
                let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
                written.with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
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

/// Prints a text whole; a reader that closed the pipe has seen enough.
pub fn print(text: &[u8]) -> anyhow::Result<Exit> {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(Exit::Done),
    }
}
