//! Errors of loading a scene. Each is one line with the file, the position, the cause and a remedy.

use std::path::{Path, PathBuf};

/// The error of loading a scene.
#[allow(missing_docs, reason = "fields are what their names say")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// An error that concerns a file as a whole.
    #[error("{}: {message}", file.display())]
    File { file: PathBuf, message: String },
    /// An error on one line of a model file. Lines count from 1.
    #[error("{}:{line}: {message}", file.display())]
    Line { file: PathBuf, line: usize, message: String },
    /// An error at one position of a scene file. Lines and columns (in characters) count from 1.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Place { file: PathBuf, line: usize, column: usize, message: String },
    /// An error in a scene built in code. The place is a path from the root, or a line of its text.
    #[error("the scene built in code: {place}: {message}")]
    Built { place: String, message: String },
    /// A `--set key=value` that does not fit the scene file.
    #[error("--set {key}: {message}")]
    Override { key: String, message: String },
    /// Something was replaced or omitted, and `LoadOptions::strict` makes this an error.
    #[error("{}", first_of(warnings))]
    Strict { warnings: Vec<String> },
    /// A flag of the command line that does not fit the kind of file.
    #[error("{flag}: {message}")]
    Flag { flag: &'static str, message: String },
}

impl LoadError {
    #[doc(hidden)]
    pub fn file(file: &Path, message: impl AsRef<str>) -> Self {
        Self::File { file: file.into(), message: one_line(message.as_ref()) }
    }

    #[doc(hidden)]
    pub fn line(file: &Path, line: usize, message: impl AsRef<str>) -> Self {
        Self::Line { file: file.into(), line, message: one_line(message.as_ref()) }
    }

    #[doc(hidden)]
    pub fn place(file: &Path, at: (usize, usize), message: impl AsRef<str>) -> Self {
        let message = one_line(message.as_ref());
        Self::Place { file: file.into(), line: at.0, column: at.1, message }
    }

    pub(crate) fn built(place: &str, message: impl AsRef<str>) -> Self {
        Self::Built { place: one_line(place), message: one_line(message.as_ref()) }
    }

    /// The warnings of a load as an error. Each line starts with the name of the file.
    #[doc(hidden)]
    pub fn strict(file: &Path, warnings: &[String]) -> Self {
        let name = file.display().to_string();
        let line = |warning: &String| {
            if warning.starts_with(&name) { one_line(warning) } else { one_line(&format!("{name}: {warning}")) }
        };
        Self::Strict { warnings: warnings.iter().map(line).collect() }
    }

    #[doc(hidden)]
    pub fn set(key: &str, message: impl AsRef<str>) -> Self {
        Self::Override { key: one_line(key), message: one_line(message.as_ref()) }
    }

    #[doc(hidden)]
    pub fn flag(flag: &'static str, message: impl AsRef<str>) -> Self {
        let message = one_line(message.as_ref());
        Self::Flag { flag, message }
    }

    /// Whether the command line has to be changed, rather than a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Flag { .. } | Self::Override { .. })
    }

    /// The message without the position.
    pub fn message(&self) -> &str {
        match self {
            Self::File { message, .. }
            | Self::Line { message, .. }
            | Self::Place { message, .. }
            | Self::Built { message, .. }
            | Self::Override { message, .. }
            | Self::Flag { message, .. } => message,
            Self::Strict { warnings, .. } => warnings.first().map_or("", String::as_str),
        }
    }
}

/// The first warning, and the number of further ones.
fn first_of(warnings: &[String]) -> String {
    let first = warnings.first().map_or("", String::as_str);
    match warnings.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first}; `throng check --strict` lists {} more", count - 1),
    }
}

/// Names come from files. They must not break the line, move the cursor or fill the screen.
fn one_line(message: &str) -> String {
    message.chars().take(1000).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether a message reports a lack of memory on this machine, which another machine may have.
pub fn is_lack(message: &str) -> bool {
    message.contains(" of memory, but only ")
}
