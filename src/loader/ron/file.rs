//! The text of a `.ron` scene: read, overridden, parsed, and able to say where something stands in it.

use super::{
    keys::{Course, Keys},
    overrides,
    source::{self, Place},
};
use crate::loader::{LoadError, files, suggest};
use crate::{guard::guarded, scene::desc::SceneFile};
use ron::{
    Options,
    error::{Position, Span, SpannedError},
    extensions::Extensions,
};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

/// A scene file's path and text, after overrides. Both are empty for a scene that was built in code.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
    /// What changes over time.
    pub keys: Keys,
}

impl Source {
    /// An error at `place`, with its line and column, or with the way to it where there is no text.
    pub fn error(&self, place: &Place, message: impl AsRef<str>) -> LoadError {
        if self.text.is_empty() {
            return LoadError::built(&place.to_string(), message);
        }
        LoadError::place(&self.path, source::position_of(&self.text, place), message)
    }

    /// A path written in the file, relative to the file's folder.
    pub fn resolve(&self, file: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(file)
    }
}

/// Reads and parses a scene file, applying `(key, value)` overrides in order. What has keys is as in the first frame.
///
/// # Errors
/// When it cannot be read or does not follow the grammar of [`crate::scene::desc`].
pub fn read(path: &Path, sets: &[(String, String)]) -> Result<(Source, SceneFile), LoadError> {
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|e| not_utf8(path, e.as_bytes(), e.utf8_error().valid_up_to()))?;
    let mut source = Source { path: path.into(), text, keys: Keys::default() };
    let mut file = source.first().map_err(|(at, message)| source.at_byte(at, message))?;
    if let Some(changed) = set(&mut source, sets)? {
        file = changed;
    }
    Ok((source, file))
}

/// Changes the text of `source` and returns what it says then; None if nothing is set.
///
/// # Errors
/// The first key or value that does not fit.
pub fn set(source: &mut Source, sets: &[(String, String)]) -> Result<Option<SceneFile>, LoadError> {
    let mut file = None;
    for (key, value) in sets {
        source.text = overrides::apply(&source.text, key, value)?;
        file = Some(source.first().map_err(|(_, message)| LoadError::set(key, message))?);
    }
    Ok(file)
}

/// A fault in a text: its byte, and a sentence about it.
type Fault = (usize, String);

impl Source {
    /// Finds the keys of the text and parses it as it is in the first frame.
    fn first(&mut self) -> Result<SceneFile, Fault> {
        self.keys = Keys::find(&self.text)?;
        let file = self.at(0.0)?;
        match file.render.start.0 {
            start if start != 0.0 && !self.keys.is_empty() => self.at(start),
            _ => Ok(file),
        }
    }

    /// Parses the text as it is at `time`, in seconds.
    fn at(&self, time: f32) -> Result<SceneFile, Fault> {
        if self.keys.is_empty() {
            return parse(&self.text).map_err(|e| (start_of_fault(&self.text, &e), describe(&e.code)));
        }
        let text = self.keys.text_at(&self.text, time, Course::Exact);
        parse(&text).map_err(|e| (self.keys.origin(time, start_of_fault(&text, &e)), describe(&e.code)))
    }

    fn at_byte(&self, byte: usize, message: impl AsRef<str>) -> LoadError {
        LoadError::place(&self.path, source::line_and_column(&self.text, byte), message)
    }
}

fn parse(text: &str) -> Result<SceneFile, SpannedError> {
    let options = Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    );
    let start = || Position { line: 1, col: 1 };
    let panicked = |words: &str| SpannedError {
        code: ron::Error::Message(format!("the file is damaged: {words}")),
        span: Span { start: start(), end: start() },
    };
    guarded(|| options.from_str(text), panicked)
}

/// Parses a text without keys.
///
/// # Errors
/// A sentence about what is wrong.
pub fn parsed(text: &str) -> Result<SceneFile, String> {
    parse(text).map_err(|e| describe(&e.code))
}

impl FromStr for SceneFile {
    type Err = LoadError;

    /// Parses the text of a scene that is in no file. What has keys is as in the first frame; [`crate::Renderer::open`] reads files
    /// whose values change.
    fn from_str(text: &str) -> Result<Self, LoadError> {
        let mut source = Source { text: text.to_owned(), ..Source::default() };
        source.first().map_err(|(at, message)| {
            let (line, column) = source::line_and_column(text, at);
            LoadError::built(&format!("line {line}, column {column}"), message)
        })
    }
}

fn not_utf8(path: &Path, bytes: &[u8], valid: usize) -> LoadError {
    let valid = String::from_utf8_lossy(&bytes[..valid]);
    let at = source::line_and_column(&valid, valid.len());
    LoadError::place(path, at, "this is not text: save the file as UTF-8")
}

/// RON's spans begin at the token before the fault; the faulty token is the last one that they cover.
fn start_of_fault(text: &str, e: &SpannedError) -> usize {
    use ron::Error as E;
    match e.code {
        E::Eof | E::MissingStructField { .. } => byte_of(text, &e.span.end),
        _ => last_token(text, e),
    }
}

fn last_token(text: &str, e: &SpannedError) -> usize {
    let (from, to) = (byte_of(text, &e.span.start), byte_of(text, &e.span.end));
    let token = text.get(from..to).unwrap_or("").trim_end_matches(|c: char| c.is_whitespace() || c == ',');
    let word = |c: char| c.is_alphanumeric() || "_.-+".contains(c);
    let start = token.trim_end_matches(word).len();
    if start == token.len() && to < text.len() { to } else { from + start }
}

fn byte_of(text: &str, p: &Position) -> usize {
    let line_start = text.split_inclusive('\n').take(p.line.saturating_sub(1)).map(str::len).sum::<usize>();
    let line = text.get(line_start..).unwrap_or("");
    line_start + line.char_indices().nth(p.col.saturating_sub(1)).map_or(line.len(), |(i, _)| i)
}

/// The message of an error, in this program's words where RON's are not helpful.
fn describe(e: &ron::Error) -> String {
    use ron::Error as E;
    let place = |outer: &Option<String>| outer.as_ref().map_or_else(String::new, |o| format!(" in {o}"));
    match e {
        E::NoSuchStructField { expected, found, outer } => {
            let hint = suggest::hint(found, expected.iter().copied(), "fields");
            format!("unknown field `{found}`{}: {hint}", place(outer))
        }
        E::NoSuchEnumVariant { expected, found, outer } => {
            let hint = suggest::hint(found, expected.iter().copied(), "choices");
            format!("unknown name `{found}`{}: {hint}", place(outer))
        }
        E::MissingStructField { field, outer } => {
            format!("`{field}` is missing{}: add it", place(outer))
        }
        E::DuplicateStructField { field, .. } => format!("`{field}` comes twice: remove one"),
        E::Eof => "the file ends too early: close every bracket and quote".to_owned(),
        E::ExceededRecursionLimit => "too many brackets in one another: use `groups`".to_owned(),
        E::ExpectedStructLike => "expected `(`: write the name with its fields, as in `Name(field: value)`".to_owned(),
        E::ExpectedStructLikeEnd => "expected `,` or `)`: check the value before it".to_owned(),
        E::TrailingCharacters => "something follows the end of the scene: remove it".to_owned(),
        other => lower_first(&other.to_string()),
    }
}

fn lower_first(s: &str) -> String {
    let mut chars = s.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}
