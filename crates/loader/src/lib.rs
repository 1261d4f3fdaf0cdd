//! Loading of files as scenes: `.ron` scene files, standalone glTF, USD, pbrt, `.obj`, `.ply` and `.stl` models, and raw `.scn` dumps.
//!
//! For any content of a file, the result is a valid [`Scene`] or a one-line error with the file, the position and a remedy. Memory is only
//! allocated after its size was checked.

#![warn(missing_docs)]

mod atlas;
mod baked;
mod budget;
mod cages;
mod cutout;
mod displacement;
mod enlarge;
mod files;
mod folders;
mod framing;
mod geometry;
#[doc(hidden)]
pub mod gltf;
#[doc(hidden)]
pub mod image;
mod land;
mod limits;
mod materials;
mod meshes;
mod model;
mod obj;
pub mod options;
mod packed;
mod pbrt;
mod pieces;
mod ply;
#[doc(hidden)]
pub mod ron;
mod scn;
mod sky;
mod standalone;
mod stl;
mod strands;
mod subjects;
mod surfaces;
mod tables;
mod text;
mod usd;
mod views;

#[doc(hidden)]
pub use image::load_radiance;
pub use options::LoadOptions;
#[doc(hidden)]
pub use ron::pace_of;
#[doc(hidden)]
pub use standalone::{SingleClip, animation_choices};
#[doc(inline)]
pub use throng_base::files::{InputFile, recording};
#[doc(inline)]
pub use throng_scene::text::LoadError;
#[doc(hidden)]
pub use throng_scene::text::suggest;

use geometry::{enclosing, tangents};
use options::{CameraChoice, EnvironmentChoice, Kind, ModelOptions, ViewOptions};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use surfaces::Surfaces;
use throng_scene::{Scene, desc::SceneFile};

/// Loads a scene file or a standalone model with default options; see [`load_with`].
///
/// # Errors
/// If the file cannot be read or is invalid. The error is one line with the position, the cause and a remedy.
pub fn load(path: &Path) -> Result<Scene, LoadError> {
    load_with(path, &LoadOptions::default())
}

/// Loads `path` by its extension (in any case): `.ron`, `.gltf`, `.glb`, `.usd` (also a, c and z), `.pbrt` (also .pbrt.gz), `.obj`,
/// `.ply`, `.stl` or `.scn`.
///
/// Textures are decoded and meshes parsed in parallel. A model stands on a ground under a clear sky. A static model is shown on a turntable
/// of 72 frames, an animated one from a fixed camera for the duration of its animation.
///
/// # Errors
/// If the file, or a file that it refers to, cannot be read or is invalid, or if an option does not apply. The error is one line with the
/// position, the cause and a remedy.
pub fn load_with(path: &Path, options: &LoadOptions) -> Result<Scene, LoadError> {
    load_inspected(path, options, |_| ())
}

/// A model before it is converted to a scene.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Inspected<'a> {
    /// A glTF file.
    Gltf(&'a gltf::Model),
    /// A USD stage.
    Usd(&'a throng_usd::Stage),
    /// A pbrt scene.
    Pbrt(&'a throng_pbrt::Scene),
}

/// As [`load_with`]. Passes a glTF, USD or pbrt file to `inspect` before it is converted to a scene, even if the conversion fails.
///
/// # Errors
/// As [`load_with`].
#[doc(hidden)]
pub fn load_inspected(path: &Path, options: &LoadOptions, inspect: impl FnOnce(Inspected)) -> Result<Scene, LoadError> {
    let kind = kind_of(path)?;
    options.check(kind)?;
    load_kind((path, kind), options, inspect).map_err(|error| match kind {
        Kind::Scene => blame_sets(error, path, options),
        _ => error,
    })
}

/// Attributes the error of a scene file to `--set` if the file is valid without it.
fn blame_sets(error: LoadError, path: &Path, options: &LoadOptions) -> LoadError {
    let is_of_scene = match &error {
        LoadError::File { file, message }
        | LoadError::Line { file, message, .. }
        | LoadError::Place { file, message, .. } => file == path && !throng_scene::text::is_lack(message),
        _ => false,
    };
    let model = &options.model;
    if is_of_scene && (model.environment.is_some() || model.environment_rotation.is_some()) {
        let model = ModelOptions { environment: None, environment_rotation: None, ..model.clone() };
        let plain = LoadOptions { model, ..options.clone() };
        return match load_kind((path, Kind::Scene), &plain, |_| ()) {
            Ok(_) => LoadError::flag("--environment", error.message()),
            // The positions in this error refer to the file.
            Err(error) => blame_sets(error, path, &plain),
        };
    }
    let plain = LoadOptions { overrides: Vec::new(), ..options.clone() };
    if !is_of_scene || options.overrides.is_empty() || load_kind((path, Kind::Scene), &plain, |_| ()).is_err() {
        return error;
    }
    let keys: Vec<&str> = options.overrides.iter().map(|(key, _)| key.as_str()).collect();
    LoadError::set(&keys.join(", "), format!("{}: {}", path.display(), error.message()))
}

fn load_kind(
    (path, kind): (&Path, Kind),
    options: &LoadOptions,
    inspect: impl FnOnce(Inspected),
) -> Result<Scene, LoadError> {
    let scene = match kind {
        Kind::Scene => return load_scene(path, None, options),
        Kind::Mesh(format) => {
            return finished(standalone::mesh::load(path, format, options)?, path, options);
        }
        Kind::Gltf => standalone::gltf::load(path, options, |model| inspect(Inspected::Gltf(model)))?,
        Kind::Usd => {
            let loaded = standalone::usd::load(path, options, |stage| inspect(Inspected::Usd(stage)))?;
            return finished(loaded, path, options);
        }
        Kind::Pbrt => {
            let loaded = standalone::pbrt::load(path, options, |scene| inspect(Inspected::Pbrt(scene)))?;
            return finished(loaded, path, options);
        }
        Kind::Raw => scn::load(path)?,
    };
    finished((scene, Surfaces::default()), path, options)
}

/// Completes and names a scene. With `options.strict`, its warnings become an error.
fn finished(loaded: (Scene, Surfaces), path: &Path, options: &LoadOptions) -> Result<Scene, LoadError> {
    let mut scene = complete(loaded, path, &options.view, options.model.stage.size)?;
    let is_framed = !matches!(kind_of(path), Ok(Kind::Scene | Kind::Raw))
        && options.view.eye.is_none()
        && !matches!(options.model.camera, Some(CameraChoice::Of(_)));
    if let (Some(factor), false) = (options.model.stage.zoom, is_framed) {
        options::view::zoom(&mut scene, factor)?;
    }
    if options.strict && !scene.warnings.is_empty() {
        Err(LoadError::strict(path, &scene.warnings))
    } else {
        Ok(Scene { name: name_of(path), ..scene })
    }
}

/// Loads the scene file at `path` as if it contained `text`; None for its actual content.
///
/// # Errors
/// As [`load_with`].
#[doc(hidden)]
pub fn load_scene(path: &Path, text: Option<&str>, options: &LoadOptions) -> Result<Scene, LoadError> {
    options.check(Kind::Scene)?;
    let camera = match &options.model.camera {
        Some(CameraChoice::Of(name)) => Some(name.as_str()),
        _ => None,
    };
    let source = match text {
        Some(text) => ron::file::Source { path: path.into(), text: text.to_owned(), ..Default::default() },
        None => ron::file::open(path)?,
    };
    let scene = ron::load(source, &overrides(options)?, &options.model.allow_dirs, camera);
    let scene = scene.map_err(|error| blame_flag(error, options))?;
    finished(scene, path, options)
}

/// Creates a scene from a description built in code. Relative paths in it refer to the working folder.
///
/// # Errors
/// If the description is invalid, or if a file that it refers to cannot be read. The error is one line with the position in the
/// description.
pub fn build(name: &str, desc: &SceneFile) -> Result<Scene, LoadError> {
    let scene = complete(ron::build(desc)?, Path::new(name), &ViewOptions::default(), None)?;
    Ok(Scene { name: name.to_owned(), ..scene })
}

/// The final steps for scenes of all formats.
fn complete(
    (mut scene, surfaces): (Scene, Surfaces),
    path: &Path,
    view: &ViewOptions,
    size: Option<(u32, u32)>,
) -> Result<Scene, LoadError> {
    options::view::apply(&mut scene, view, size)?;
    views::apply(&mut scene, view, size)?;
    surfaces.finish(&mut scene, size).map_err(|cause| LoadError::file(path, cause))?;
    tangents::add_missing(&mut scene);
    cages::bind_tangents(&mut scene);
    enclosing::mark(&mut scene);
    limits::check(path, &scene)?;
    Ok(scene)
}

/// All files in a folder that [`load_with`] supports, judging by their names and ordered by name. Hidden files are ignored.
///
/// # Errors
/// If the folder cannot be read or has no such file.
#[doc(hidden)]
pub fn scenes_in(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let failed = |error: io::Error| LoadError::file(folder, format!("the folder cannot be read: {error}"));
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    let is_hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let paths = entries.iter().filter(|entry| !is_hidden(entry)).map(fs::DirEntry::path);
    let mut scenes: Vec<PathBuf> = paths.filter(|path| path.is_file() && kind_of(path).is_ok()).collect();
    scenes.sort();
    if scenes.is_empty() {
        Err(LoadError::file(folder, format!("no scene or model is in this folder: {}", known_kinds())))
    } else {
        Ok(scenes)
    }
}

/// The name of the scene in the file at `path`, for `{scene}` in output patterns: the file's name without its extension.
#[doc(hidden)]
pub fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether [`load_with`] treats the file as a scene rather than a model, judging by its name.
#[doc(hidden)]
pub fn is_scene(path: &Path) -> bool {
    matches!(kind_of(path), Ok(Kind::Scene | Kind::Raw))
}

/// The animations that `options` select from the model at `path`, to be played separately.
///
/// # Errors
/// As [`load_with`]. Also if the file does not have a selected animation.
#[doc(hidden)]
pub fn animations(path: &Path, options: &LoadOptions) -> Result<Vec<SingleClip>, LoadError> {
    let kind = kind_of(path)?;
    options.check(kind)?;
    match kind {
        Kind::Gltf => standalone::gltf::singles(path, options),
        Kind::Scene | Kind::Mesh(_) | Kind::Raw | Kind::Usd | Kind::Pbrt => Ok(Vec::new()),
    }
}

/// Checks that the file exists and that [`load_with`] supports its extension.
///
/// # Errors
/// If it does not exist, or has an unknown extension. The text lists the supported ones.
#[doc(hidden)]
pub fn check_kind(path: &Path) -> Result<(), LoadError> {
    kind_of(path)?;
    if path.exists() { Ok(()) } else { Err(unsupported(path, "")) }
}

/// Whether [`load_with`] treats the file as glTF.
#[doc(hidden)]
pub fn is_gltf(path: &Path) -> bool {
    matches!(extension(path).as_str(), "gltf" | "glb")
}

/// The overrides of a scene file. The environment of the command line comes first, so that `--set` can change it. The start time comes
/// last, because a flag takes precedence over `--set`.
///
/// # Errors
/// If scene files do not support the environment, or if its picture does not exist.
fn overrides(options: &LoadOptions) -> Result<Vec<(String, String)>, LoadError> {
    let model = &options.model;
    let environment = match (&model.environment, model.environment_rotation) {
        (Some(choice), rotation) => {
            if let EnvironmentChoice::File(path) = choice {
                standalone::check_picture(path)?;
            }
            let text = choice.in_scene_file(rotation.unwrap_or_default());
            let text = text.map_err(|message| LoadError::flag("--environment", message))?;
            Some(("environment".to_owned(), text))
        }
        (None, Some(rotation)) => Some((TURNED.to_owned(), format!("{rotation:?}"))),
        (None, None) => None,
    };
    let start = options.start.map(|time| ("render.start".to_owned(), format!("{time:?}")));
    Ok(environment.into_iter().chain(options.overrides.iter().cloned()).chain(start).collect())
}

/// The key that `--environment-rotation` sets in a scene file.
const TURNED: &str = "environment.rotation";

/// The error of the flag that set a value, instead of an error of `--set`.
fn blame_flag(error: LoadError, options: &LoadOptions) -> LoadError {
    let is_set = |key: &str| options.overrides.iter().any(|(set, _)| set == key);
    match error {
        LoadError::Override { key, message } if key == "environment" && !is_set(&key) => {
            LoadError::flag("--environment", message)
        }
        LoadError::Override { key, .. } if key == TURNED && !is_set(&key) => LoadError::flag(
            "--environment-rotation",
            "the environment of this scene is no picture: give one with --environment, or turn a sky with --set environment.azimuth=DEGREES",
        ),
        other => other,
    }
}

fn kind_of(path: &Path) -> Result<Kind, LoadError> {
    match extension(path).as_str() {
        "ron" => Ok(Kind::Scene),
        "gltf" | "glb" => Ok(Kind::Gltf),
        "scn" => Ok(Kind::Raw),
        other if usd::EXTENSIONS.contains(&other) => Ok(Kind::Usd),
        _ if pbrt::is_scene(path) => Ok(Kind::Pbrt),
        other => meshes::format_of(other).map(Kind::Mesh).ok_or_else(|| unsupported(path, other)),
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn known_kinds() -> String {
    let meshes = meshes::extensions();
    format!("use .ron (scene), .gltf, .glb, .usd, .usda, .usdc, .usdz, .pbrt, {meshes} (model) or .scn (raw scene)")
}

fn unsupported(path: &Path, extension: &str) -> LoadError {
    let known = known_kinds();
    if path.is_dir() {
        return LoadError::file(path, "this is a directory: name a scene file in it");
    }
    if !files::exists(path) {
        return LoadError::file(path, "no such file: check the path");
    }
    LoadError::file(
        path,
        match extension {
            "" => format!("the file has no extension: {known}"),
            other => format!(".{other} files are not supported: {known}"),
        },
    )
}
