//! The text of a `.ron` scene: reading, overrides, parsing, and positions of values in it.

use super::LoadError;
use super::{
    faults::{Fault, fault},
    is_lack,
    keys::{Course, Keys},
    overrides,
    source::{self, Place},
};
use crate::{
    TexelImage,
    desc::{Named, SceneFile},
};
use ron::{
    Options,
    error::{Position, Span, SpannedError},
    extensions::Extensions,
};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};
use throng_base::guard::guarded;

/// A scene file's path and text, after overrides. Both are empty for a scene built in code.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
    /// Values that change over time.
    pub keys: Keys,
    /// The keys of `--set`. Errors at these are attributed to the flag.
    pub set: Vec<String>,
    /// Pictures in memory of a scene built in code, by the names that take the place of files.
    pub pictures: Named<Arc<TexelImage>>,
}

impl Source {
    /// An error at `place`, with its line and column, or with its path if there is no text.
    pub fn error(&self, place: &Place, message: impl AsRef<str>) -> LoadError {
        if self.text.is_empty() {
            return LoadError::built(&place.to_string(), message);
        }
        let message = message.as_ref();
        if let Some(key) = self.set_at(&place.to_string()).filter(|_| !is_lack(message)) {
            return LoadError::set(key, self.named(message));
        }
        LoadError::place(&self.path, source::position_of(&self.text, place), message)
    }

    /// The result of a check of the value at `place`, whose fault becomes an error there.
    ///
    /// # Errors
    /// The fault, as in [`Self::error`].
    pub fn check<T>(&self, place: &Place, checked: Result<T, impl AsRef<str>>) -> Result<T, LoadError> {
        checked.map_err(|fault| self.error(place, fault))
    }

    /// The key of `--set` that has changed the value at a place or a part of it; the last of several.
    fn set_at(&self, place: &str) -> Option<&str> {
        let is_in = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.set.iter().rev().map(String::as_str).find(|key| is_in(place, key) || is_in(key, place))
    }

    /// A message with the name of the file, if there is one.
    fn named(&self, message: &str) -> String {
        if self.path.as_os_str().is_empty() {
            message.to_owned()
        } else {
            format!("{}: {message}", self.path.display())
        }
    }

    /// Resolves a path in the file relative to the file's folder.
    pub fn resolve(&self, file: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(file)
    }
}

/// Parses a scene file, after applying `(key, value)` overrides in order. Animated values are taken at the first frame.
///
/// # Errors
/// If the text does not follow the grammar of [`crate::desc`], or if an override does not apply.
pub fn read(mut source: Source, sets: &[(String, String)]) -> Result<(Source, SceneFile), LoadError> {
    let mut file = source.first().map_err(|(at, message)| source.at_byte(at, message))?;
    if let Some(changed) = set(&mut source, sets)? {
        file = changed;
    }
    Ok((source, file))
}

/// Applies overrides to the text of `source`, and returns the parsed result; None without overrides.
///
/// # Errors
/// The first key or value that does not apply.
pub fn set(source: &mut Source, sets: &[(String, String)]) -> Result<Option<SceneFile>, LoadError> {
    let mut file = None;
    for (key, value) in sets {
        source.text = overrides::apply(&source.text, key, value)?;
        source.set.push(key.clone());
        file = Some(source.first().map_err(|(_, message)| LoadError::set(key, message))?);
    }
    Ok(file)
}

impl Source {
    /// Finds the keys in the text, and parses it at the time of the first frame.
    pub fn first(&mut self) -> Result<SceneFile, Fault> {
        self.keys = Keys::find(&self.text)?;
        let file = self.at(0.0)?;
        match file.render.start {
            Some(start) if start.0 != 0.0 && !self.keys.is_empty() => self.at(start.0),
            _ => Ok(file),
        }
    }

    /// Parses the text at `time`, in seconds.
    fn at(&self, time: f64) -> Result<SceneFile, Fault> {
        if self.keys.is_empty() {
            return parse(&self.text).map_err(|e| fault(&self.text, &e));
        }
        let text = self.keys.text_at(&self.text, time, Course::Exact);
        parse(&text).map_err(|e| {
            let (at, message) = fault(&text, &e);
            (self.keys.origin(time, at), message)
        })
    }

    /// The error of a text that cannot be parsed at `time`, in seconds, with its position. `message` is used if parsing succeeds.
    pub fn error_at(&self, time: f64, message: &str) -> LoadError {
        let (at, message) = self.at(time).err().unwrap_or((0, message.to_owned()));
        self.at_byte(at, format!("at {time} s: {message}"))
    }

    fn at_byte(&self, byte: usize, message: impl AsRef<str>) -> LoadError {
        LoadError::place(&self.path, source::line_and_column(&self.text, byte), message)
    }
}

/// Parses a text without keys.
///
/// # Errors
/// RON's own error.
pub fn parse(text: &str) -> Result<SceneFile, SpannedError> {
    let options = Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    );
    let start = || Position { line: 1, col: 1 };
    let panicked = |words: &str| SpannedError {
        code: ron::Error::Message(format!("the file is damaged: {words}")),
        span: Span { start: start(), end: start() },
    };
    match text.strip_prefix(source::BOM) {
        // A space replaces the mark, so that columns do not change.
        Some(rest) => guarded(|| options.from_str(&format!(" {rest}")), panicked),
        None => guarded(|| options.from_str(text), panicked),
    }
}

/// Parses a text without keys.
///
/// # Errors
/// A sentence about the fault.
pub fn parsed(text: &str) -> Result<SceneFile, String> {
    parse(text).map_err(|e| fault(text, &e).1)
}

impl FromStr for SceneFile {
    type Err = LoadError;

    /// Parses the text of a scene that is not in a file. Animated values are taken at the first frame; [`crate::Renderer::open`] supports
    /// animated values in files.
    fn from_str(text: &str) -> Result<Self, LoadError> {
        let mut source = Source { text: text.to_owned(), ..Source::default() };
        source.first().map_err(|(at, message)| {
            let (line, column) = source::line_and_column(text, at);
            LoadError::built(&format!("line {line}, column {column}"), message)
        })
    }
}
