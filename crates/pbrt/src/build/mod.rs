//! Executes the directives of files.

mod camera;
mod directives;
mod lights;
mod materials;
mod placing;
mod shapes;
mod state;
mod textures;
mod transforms;
mod values;

use crate::{
    PbrtError,
    lexer::{Fault, Kind, Lexer, LineColumn},
    names,
    params::{Param, Params},
    scene::{Group, Material, MaterialKind, NONE, Scene},
};
use glam::DAffine3;
use state::{Named, State};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::{Path, PathBuf},
};
use throng_base::memory::{allowance, describe};

/// Depth of nested files at most.
const DEEPEST: usize = 64;
/// Number of included files at most, with repetitions. Files that only place objects count once.
const MOST_INCLUDES: u32 = 250_000;
/// Number of kinds of warnings at most.
const MOST_WARNINGS: usize = 200;

/// Surfaces that scatter a path at most, if the file does not say.
const USUAL_DEPTH: u32 = 5;

/// Reads the scene in the file at `path`.
///
/// # Errors
/// As [`crate::read`].
pub fn read(path: &Path) -> Result<Scene, PbrtError> {
    let mut builder = Builder::new(path);
    let read = builder.run(path).and_then(|()| builder.close());
    match read {
        Ok(()) => Ok(builder.finish()),
        Err(Stop { file, fault }) => Err(PbrtError {
            file: file.unwrap_or_else(|| path.to_owned()),
            place: fault.place.map(|(line, column)| (line as usize, column as usize)),
            message: fault.message,
        }),
    }
}

/// A fault that ends the reading, with its file once it has left that file's directives.
#[derive(Debug)]
struct Stop {
    file: Option<PathBuf>,
    fault: Fault,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self { file: None, fault }
    }
}

/// Occurrences of a warning.
struct Warning {
    first: String,
    count: u64,
}

struct Builder {
    scene: Scene,
    /// The folder to which paths are relative.
    folder: PathBuf,
    /// The files that are being read, the innermost last.
    open: Vec<PathBuf>,
    includes: u32,
    state: State,
    /// States to return to, with the directives that saved them.
    saved: Vec<(state::Block, State)>,
    /// Groups that are being defined, the innermost last, as indices into `scene.groups`.
    groups: Vec<u32>,
    named: Named,
    /// Types and parameters of version 3's materials, which shapes may change.
    sources: HashMap<u32, (String, Vec<Param>)>,
    /// Groups of files that only place objects, by their paths; None for other files.
    placed: HashMap<PathBuf, Option<placing::Placed>>,
    in_world: bool,
    /// Whether a name of version 3 was met.
    is_version_3: bool,
    warnings: BTreeMap<String, Warning>,
    /// Bytes of memory that the scene takes, and bytes of the files that it was read from.
    taken: u64,
    held: u64,
}

impl Builder {
    fn new(path: &Path) -> Self {
        let material =
            Material { name: "default".to_owned(), kind: MaterialKind::Layered(Box::default()), normal_map: None };
        let scene = Scene {
            times: [0.0, 1.0],
            max_depth: USUAL_DEPTH,
            groups: vec![Group { name: "world".to_owned(), ..Group::default() }],
            materials: vec![material],
            ..Scene::default()
        };
        Self {
            scene,
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            open: Vec::new(),
            includes: 0,
            state: State::default(),
            saved: Vec::new(),
            groups: vec![0],
            named: Named::default(),
            sources: HashMap::new(),
            placed: HashMap::new(),
            in_world: false,
            is_version_3: false,
            warnings: BTreeMap::new(),
            taken: 0,
            held: 0,
        }
    }

    /// Executes a file.
    fn run(&mut self, path: &Path) -> Result<(), Stop> {
        let failed = |error: &io::Error| Fault { place: None, message: describe_io(error) };
        let mut lexer = match Lexer::open(path) {
            Ok(lexer) => lexer,
            Err(error) => return Err(Stop { file: Some(path.to_owned()), fault: failed(&error) }),
        };
        self.hold(path);
        self.open.push(path.to_owned());
        let run = self.directives(&mut lexer);
        self.open.pop();
        run.map_err(|stop| Stop { file: stop.file.or_else(|| Some(path.to_owned())), ..stop })
    }

    /// Records a file of the scene.
    fn hold(&mut self, path: &Path) {
        if self.placed.contains_key(path) || self.scene.files.iter().any(|known| known == path) {
            return;
        }
        self.held = self.held.saturating_add(path.metadata().map_or(0, |metadata| metadata.len()));
        self.scene.files.push(path.to_owned());
    }

    fn directives(&mut self, lexer: &mut Lexer) -> Result<(), Stop> {
        while let Some(token) = lexer.next()? {
            let name = lexer.text(&token);
            match token.kind {
                Kind::Word => self.directive(lexer, &name, token.place)?,
                _ => {
                    let message = format!("a directive belongs here, not `{name}`");
                    return Err(Fault::at(token.place, message).into());
                }
            }
        }
        Ok(())
    }

    /// Counts memory that the scene takes.
    ///
    /// # Errors
    /// If it is out of proportion to the files.
    fn take(&mut self, bytes: u64, place: LineColumn) -> Result<(), Fault> {
        self.taken = self.taken.saturating_add(bytes);
        match allowance(self.held) {
            most if self.taken > most => {
                let most = describe(most);
                Err(Fault::at(place, format!("the scene takes more than {most}, the limit for files of this size")))
            }
            _ => Ok(()),
        }
    }

    /// The path of a file that is named in the scene.
    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        let beside = || Some(self.open.last()?.parent()?.join(name)).filter(|beside| beside.is_file());
        if path.is_file() { path } else { beside().unwrap_or(path) }
    }

    /// Adds a warning. Equal ones are counted.
    fn warn(&mut self, place: LineColumn, message: impl Into<String>) {
        let message = message.into();
        if self.warnings.len() >= MOST_WARNINGS && !self.warnings.contains_key(&message) {
            return;
        }
        let first = || {
            let file = self.open.last().map_or_else(String::new, |file| file.display().to_string());
            format!("{file}:{}:{}", place.0, place.1)
        };
        self.warnings.entry(message).or_insert_with(|| Warning { first: first(), count: 0 }).count += 1;
    }

    /// Warns of parameters that were not asked for.
    fn warn_of_unused(&mut self, params: &Params, directive: &str) {
        for (place, message) in params.unused(directive) {
            self.warn(place, message);
        }
    }

    /// Warns of an unknown name, and of what takes its place. Known names are separated by blanks.
    fn warn_of_unknown(&mut self, place: LineColumn, (what, name): (&str, &str), known: &str, instead: &str) {
        let hint = names::hint(name, known.split(' '));
        self.warn(place, format!("`{name}` is no known {what}{hint}: {instead}"));
    }

    /// A name for messages: a type and the place of its directive.
    fn name_at(&self, what: &str, place: LineColumn) -> String {
        let file = self.open.last().and_then(|file| file.file_name()).unwrap_or_default();
        format!("{what} {}:{}", file.to_string_lossy(), place.0)
    }

    /// Checks that all blocks were closed.
    fn close(&mut self) -> Result<(), Stop> {
        if let Some((block, _)) = self.saved.last() {
            let message = format!("`{}` is not closed by `{}` at the end of the file", block.begin(), block.end());
            return Err(Fault { place: None, message }.into());
        }
        Ok(())
    }

    fn finish(mut self) -> Scene {
        let missing = self.named.missing_materials();
        for (name, (file, place)) in missing {
            self.open = vec![file];
            let known: Vec<&str> = self.named.materials.keys().map(String::as_str).collect();
            let hint = names::hint(&name, known.into_iter().filter(|known| *known != name));
            self.warn(place, format!("no `MakeNamedMaterial` defines `{name}`{hint}: it is drawn grey"));
        }
        let line = |(message, Warning { first, count }): (String, Warning)| match count {
            1 => format!("{first}: {message}"),
            _ => format!("{first}: {message} ({count} times)"),
        };
        self.scene.warnings = self.warnings.into_iter().map(line).collect();
        self.scene
    }
}

/// Whether a name is in a list of names that are separated by blanks.
fn is_in(names: &str, name: &str) -> bool {
    names.split(' ').any(|own| own == name)
}

/// The end of a sentence about a file that could not be opened.
fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file: check the path".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied: make the file readable".to_owned(),
        io::ErrorKind::IsADirectory => "this is a directory: name a file in it".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
