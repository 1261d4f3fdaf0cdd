//! Checkpoints: film files with the samples of an unfinished picture, from which another run can continue.

use super::{OutputError, film::FilmFile};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};
use throng_device::Accumulation;

/// Identity of a film. A run can continue a film only if its own identity is equal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointIdentity {
    /// Version of the program.
    pub version: String,
    /// Content hash of the scene, in hexadecimal digits.
    pub scene: String,
    pub frame: u32,
    /// All settings that affect samples.
    pub settings: String,
}

impl CheckpointIdentity {
    /// The reason why a film of `self` cannot be continued by a run of `other`; none if it can.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.version != other.version {
            return Some("it was made by another version of the program");
        }
        if self.scene != other.scene {
            return Some("it is of another scene");
        }
        if self.frame != other.frame {
            return Some("it is of another frame");
        }
        (self.settings != other.settings).then_some("it was made with other settings")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("cannot read the film {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("the film {} is damaged; delete it to start over", .path.display())]
    Damaged { path: PathBuf },
    #[error("{} is not a film written by throng render: choose another file", .path.display())]
    NoFilm { path: PathBuf },
    #[error(
        "the film {} was made by another version of the program: delete it and render it again, or use that version",
        .path.display()
    )]
    Version { path: PathBuf },
    #[error(
        "the film {} cannot be continued: {why}; delete it to start over, or choose another --output",
        .path.display()
    )]
    Other { path: PathBuf, why: String },
    #[error(transparent)]
    Write(#[from] OutputError),
}

/// Path of the checkpoint of the picture at `path`.
pub fn checkpoint_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".film");
    name.into()
}

/// Reads the film from the checkpoint at `path`; none if there is no such file.
///
/// # Errors
/// If the file cannot be read, is damaged, is not a film, was joined from parts, or has another identity than `of`.
pub fn read_checkpoint(path: &Path, of: &CheckpointIdentity) -> Result<Option<Accumulation>, CheckpointError> {
    let film = match FilmFile::open(path) {
        Ok(film) => film,
        Err(CheckpointError::Read { error, .. }) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let refuse = |why: &str| Err(CheckpointError::Other { path: path.to_owned(), why: why.into() });
    if let Some(why) = film.header.of.difference(of) {
        return refuse(why);
    }
    match &film.header.samples[..] {
        [one] if *one == film.header.state.range() => film.read(0..film.header.region().height as usize).map(Some),
        _ => refuse("it was joined from parts"),
    }
}
