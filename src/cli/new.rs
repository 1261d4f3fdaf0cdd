//! `throng new`: writes a starter scene.

use super::{Exit, console};
use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};
use throng_base::{choice::choice, disk, flags, quoting};
use throng_output::OutputError;

choice! {
    /// A starter scene.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Template = Turntable {
        /// An object on a stand, with a camera that circles it
        Turntable = "turntable",
        /// A flight through a landscape with a lake and woods in the wind
        Flight = "flight",
        /// Ten thousand copies of one object, moving in waves
        Crowd = "crowd",
        /// Streets with houses, trees and cars
        City = "city",
        /// The city at night, with lamps and windows that light up
        Night = "night",
        /// An object covered with thousands of copies of itself
        MadeOf = "made-of",
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
            Self::MadeOf => include_str!("templates/made_of.ron"),
        }
    }
}

/// Write a starter scene
#[derive(clap::Args)]
pub struct NewArgs {
    /// Name of the scene, or file to write; existing files are not replaced
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// Contents of the scene
    #[arg(long, value_name = "TEMPLATE", value_parser = flags::choice::<Template>(), default_value_t)]
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
        create(&path, self.template.text())?;
        console::print(&path.display().to_string())?;
        let name = as_argument(&path);
        console::note(&format!("Render it: throng render {name}\nOr its first frame: throng render {name} --frames 1"));
        Ok(Exit::Done)
    }
}

/// A file name as a command line word that cannot be mistaken for a flag.
fn as_argument(path: &Path) -> String {
    let is_flag = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    let path = if is_flag { Path::new(".").join(path) } else { path.to_owned() };
    quoting::any_for_user(path.as_os_str())
}

/// Writes a new file. If writing fails, the incomplete file is removed.
fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.display();
    let failed = |error| OutputError::File { path: path.to_owned(), error };
    let mut file = disk::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow::anyhow!("{name}: the file already exists: choose another name"),
        ErrorKind::NotFound => anyhow::anyhow!("{name}: no such folder: create it first"),
        _ => failed(error).into(),
    })?;
    let written = file.write_all(text.as_bytes()).and_then(|()| disk::flush(path, &file));
    written.map_err(|error| {
        // If removal fails as well, the first error is still reported.
        let _ = disk::remove(path);
        failed(error).into()
    })
}
