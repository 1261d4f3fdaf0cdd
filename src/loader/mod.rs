//! Files to scenes: `.ron` scene files, bare `.obj` and glTF models and raw `.scn` dumps.
//!
//! Whatever a file contains, loading ends with a valid [`Scene`] or with one line that names the file, the place and
//! the fix. Nothing is allocated before its size is known to fit.

mod atmosphere;
mod bare;
mod bare_gltf;
mod camera;
mod environment;
mod error;
mod files;
mod framing;
pub mod gltf;
mod image;
mod instances;
mod limits;
mod lines;
mod materials;
mod meshes;
mod model;
mod motions;
mod mtl;
mod normals;
mod obj;
mod obj_mesh;
mod obj_scan;
mod overrides;
mod patterns;
mod placements;
mod random;
mod scatter;
mod scene_file;
mod scene_loader;
mod scn;
mod shapes;
mod sky;
mod source;
mod suggest;
mod transform;

pub use error::LoadError;

use crate::scene::Scene;
use std::path::Path;

/// What the user adds to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// `--set key=value` for a `.ron` scene, applied in order: a dotted path into the file (`render.samples`,
    /// `materials.stone.color`, `instances.0.count`) and the RON text to put there.
    pub overrides: Vec<(String, String)>,
}

/// Loads a scene file or a bare model; see [`load_with`].
///
/// # Errors
/// One line that says what is wrong, where, and what to do about it.
pub fn load(path: &Path) -> Result<Scene, LoadError> {
    load_with(path, &LoadOptions::default())
}

/// Loads `path` by its extension (in any case): `.ron`, `.obj`, `.gltf`, `.glb` or `.scn`.
///
/// Textures are decoded and meshes parsed in parallel. A model stands on a ground under a clear sky, seen from a
/// turntable of 72 frames.
///
/// # Errors
/// One line that says what is wrong, where, and what to do about it.
pub fn load_with(path: &Path, options: &LoadOptions) -> Result<Scene, LoadError> {
    let extension = extension(path);
    if let (Some((key, _)), true) = (options.overrides.first(), extension != "ron") {
        return Err(LoadError::set(key, "only .ron scenes have values to set"));
    }
    let mut scene = match extension.as_str() {
        "ron" => scene_loader::load(path, &options.overrides)?,
        "obj" => bare::load_obj(path)?,
        "gltf" | "glb" => bare_gltf::load(path)?,
        "scn" => scn::load(path)?,
        other => return Err(unsupported(path, other)),
    };
    limits::check(path, &scene)?;
    scene.name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(scene)
}

/// Whether [`load_with`] takes the file for glTF.
pub fn is_gltf(path: &Path) -> bool {
    matches!(extension(path).as_str(), "gltf" | "glb")
}

fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

fn unsupported(path: &Path, extension: &str) -> LoadError {
    const KNOWN: &str = "use .ron (scene), .gltf, .glb or .obj (model) or .scn (raw scene)";
    if path.is_dir() {
        return LoadError::file(path, "this is a directory: name a scene file in it");
    }
    if !path.exists() {
        return LoadError::file(path, "no such file: check the path");
    }
    LoadError::file(
        path,
        match extension {
            "" => format!("the file has no extension that tells what it is: {KNOWN}"),
            other => format!(".{other} files are not supported: {KNOWN}"),
        },
    )
}
