//! `throng new`: writes a scene to begin with.

use super::Exit;
use crate::choice::choice;
use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

choice! {
    /// A scene to begin with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Template = Turntable {
        /// Something on a stand, which a camera goes around
        Turntable = "turntable",
        /// A flight through a landscape
        Flight = "flight",
        /// Ten thousand of the same thing, which move in waves
        Crowd = "crowd",
        /// Streets with houses, trees and cars
        City = "city",
        /// The same by night, with lamps and windows that come on
        Night = "night",
    }
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Self::Turntable => include_str!("templates/turntable.ron"),
            Self::Flight => include_str!("templates/flight.ron"),
            Self::Crowd => include_str!("templates/crowd.ron"),
            Self::City => include_str!("templates/city.ron"),
            Self::Night => include_str!("templates/night.ron"),
        }
    }
}

/// Write a scene to begin with
#[derive(clap::Args)]
pub struct NewArgs {
    /// Name of the scene, or the file to write; no file is replaced
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// What it shows
    #[arg(long, value_name = "TEMPLATE", default_value_t)]
    template: Template,
}

impl NewArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let path = match self.name.extension() {
            Some(extension) if extension == "ron" => self.name,
            _ => {
                let mut name = self.name.into_os_string();
                name.push(".ron");
                PathBuf::from(name)
            }
        };
        write_new(&path, self.template.text())?;
        println!("{}", path.display());
        eprintln!("Render it: throng render {0}\nOr its first frame: throng render {0} --frames 1", path.display());
        Ok(Exit::Done)
    }
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.display();
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow::anyhow!("{name}: the file is there already: give another name"),
        ErrorKind::NotFound => anyhow::anyhow!("{name}: there is no such folder: make it first"),
        _ => anyhow::anyhow!("{name}: {error}"),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| anyhow::anyhow!("{name}: {error}"))
}
