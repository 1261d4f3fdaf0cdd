//! Edits scene files that people have written: a value, a camera or a placement is replaced in the text, and every other byte is kept, including
//! comments.
//!
//! Functions take and return text. Only [`SceneText`] reads and writes files.

#![warn(missing_docs)]

mod bare;
mod camera;
mod fields;
mod file;
mod flight;
mod follow;
mod number;
mod placement;
mod replace;
mod schema;
mod values;

#[doc(hidden)]
pub use bare::degrees;
pub use bare::{ModelChoices, path_for, scene_for};
pub use camera::{save_flight, saved_flight};
pub use file::SceneText;
pub use flight::{Flight, Optics, PaceChoice, Waypoint};
pub use follow::{followed, own_text};
pub use placement::{Placed, Transform, instance_named, moved, placed_by, placement_of};
pub use values::{EditableValue, ValueKind, save_values, values};

use std::{io, path::PathBuf};
use throng_loader::{
    LoadError,
    ron::{file::Source, source},
};
use throng_output::OutputError;
use throng_scene::desc::SceneFile;

/// Reasons for which a scene file cannot be edited.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is not a scene, before the change or after it. Lines and columns count from 1.
    #[error("line {line}, column {column}: {message}")]
    Text { line: usize, column: usize, message: String },
    /// A value does not fit; identified by its `--set` path.
    #[error(transparent)]
    Value(LoadError),
    /// A flight that no camera can have.
    #[error("the flight cannot be saved: {0}")]
    Flight(String),
    #[error("there is no camera `{name}` in the scene file: {hint}")]
    UnknownCamera { name: String, hint: String },
    #[error("this cannot be moved: {why}")]
    NotMovable { why: String },
    #[error("{}: the file has changed since it was read: load it again, or write it anyway", .path.display())]
    Changed { path: PathBuf },
    #[error("{}: the file is read-only: make it writable first", .path.display())]
    ReadOnly { path: PathBuf },
    #[error("{}: the file cannot be read: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Write(OutputError),
}

/// Parses a text as the scene of the first frame.
fn parsed(text: &str) -> Result<SceneFile, EditError> {
    let mut source = Source { text: text.to_owned(), ..Source::default() };
    source.first().map_err(|(at, message)| {
        let (line, column) = source::line_and_column(text, at);
        EditError::Text { line, column, message }
    })
}
