//! Loading of glTF 2.0 files as a [`Model`]: geometry, hierarchy, skins, clips, materials, cameras and lights of one scene.
//!
//! The JSON is parsed into the data model of the `gltf` crate. All references are validated here before they are followed. A file can cause
//! errors and warnings, but no panic, no reading outside its folder, and no allocation beyond a limit.
//!
//! The order of modules is: `file` (`container` → `json` → `document`, with `uri` and `meshopt`) → `nodes`, `skins`, `material` → `parts`
//! (`geometry`, `tangents`) → `clips` (`pointers`) → `viewpoints`, `lights`, `environment` → `external`. All numbers are read through
//! `file::accessor`.

mod clips;
mod environment;
mod external;
mod fault;
mod file;
mod geometry;
mod lights;
mod line_widths;
mod material;
mod model;
mod nodes;
mod parts;
mod pointers;
mod skins;
mod tangents;
#[cfg(test)]
pub(super) mod tests;
mod viewpoints;

pub use material::pbr::*;
pub use model::*;
pub(super) use tangents::generate as generate_tangents;

use super::{LoadError, budget::Budget, files, suggest};
use fault::{Fault, Faults, fault};
use file::{bytes::Bytes, container::Container, document::Document};
use glam::Quat;
use serde::Deserialize;
use std::{
    fs::File,
    path::{Path, PathBuf},
};
use throng_scene::{NONE, Texture, rig::Rig};

/// Options for loading a glTF file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfOptions {
    /// Name or index of the scene; None for the file's default.
    pub scene: Option<String>,
    /// Name of the material variant.
    pub variant: Option<String>,
    /// Folders, in addition to the file's own, that it may refer to.
    pub allow_dirs: Vec<PathBuf>,
    /// Whether to skip the generation of missing tangents for normal maps, which takes half a second per million triangles on one core.
    pub skip_tangents: bool,
    /// Whether to skip the image-based light, for scenes with another environment.
    pub skip_environment: bool,
    /// Width of lines in the model's space; None for a width in proportion to the model.
    pub line_width: Option<f32>,
    /// Rotation of the whole scene.
    pub rotation: Quat,
    /// The files that contain this one, outermost first.
    pub within: Vec<PathBuf>,
    /// Maximum number of bytes for loading, including the file itself; None for the memory that the system has left.
    pub memory_limit: Option<u64>,
}

/// Loads a .gltf or .glb file, which are distinguished by content, with its buffers and pictures.
///
/// Large arrays are read from the file in pieces, and only the results are kept. Accessors are converted and pictures decoded in parallel.
///
/// # Errors
/// If the file, or a file that it refers to, cannot be read or is invalid, or if the memory limit is exceeded. The error is one line with a
/// JSON pointer and a remedy.
pub fn load_model(path: &Path, options: &GltfOptions) -> Result<Model, LoadError> {
    load_within(path, options, &Budget::new(options.memory_limit))
}

/// As [`load_model`], for a model that shares the budget of a larger load.
///
/// # Errors
/// As [`load_model`].
pub(super) fn load_within(path: &Path, options: &GltfOptions, budget: &Budget) -> Result<Model, LoadError> {
    let (file, length) = files::open(path)?;
    let input = Input::file(path, &file, length);
    let options = &GltfOptions { within: path.canonicalize().into_iter().collect(), ..options.clone() };
    load(&input, options, budget).map_err(|fault| LoadError::file(path, fault.line()))
}

/// Loads a model from memory. URIs are resolved in `folder`; without one, the model cannot refer to files.
///
/// # Errors
/// As [`load_model`].
#[doc(hidden)]
pub fn load_model_bytes(bytes: &[u8], folder: Option<&Path>, options: &GltfOptions) -> Result<Model, LoadError> {
    let input = Input::in_memory(bytes, folder);
    load(&input, options, &Budget::new(options.memory_limit)).map_err(|fault| LoadError::file(input.path, fault.line()))
}

/// Errors and warnings about a file, each on one line with a JSON pointer.
#[derive(Debug, Default)]
pub struct Findings {
    /// Errors that prevent loading; empty if there are none.
    pub errors: Vec<LoadError>,
    /// Warnings about data that a load repairs or ignores.
    pub warnings: Vec<String>,
}

/// Checks a file. Unlike [`load_model`], it continues after errors where possible, and returns all findings.
///
/// # Errors
/// If the file cannot be read.
pub fn check_model(path: &Path, options: &GltfOptions) -> Result<Findings, LoadError> {
    let (file, length) = files::open(path)?;
    let options = &GltfOptions { within: path.canonicalize().into_iter().collect(), ..options.clone() };
    let (errors, warnings) = check(&Input::file(path, &file, length), options);
    let errors = errors.iter().map(|line| LoadError::file(path, line));
    Ok(Findings { errors: errors.collect(), warnings })
}

/// The bytes of a file, and its location.
struct Input<'a> {
    bytes: Bytes<'a>,
    path: &'a Path,
    /// The folder in which URIs are resolved.
    home: Option<&'a Path>,
}

impl<'a> Input<'a> {
    fn file(path: &'a Path, file: &'a File, length: u64) -> Self {
        Self { bytes: Bytes::File { file, start: 0, length }, path, home: Some(path.parent().unwrap_or(Path::new(""))) }
    }

    fn in_memory(bytes: &'a [u8], home: Option<&'a Path>) -> Self {
        let path = Path::new("glTF in memory");
        Self { bytes: Bytes::Memory(bytes), path, home }
    }
}

fn load(input: &Input, options: &GltfOptions, budget: &Budget) -> Result<Model, Fault> {
    let container = open(input, budget)?;
    let faults = Faults::end_the_load();
    let mut document = Document::open(&container, input.home, budget, &faults, options)?;
    nodes::drop_missing(&mut document);
    nodes::rotate(&mut document, options);
    let model = read_model(&document, options)?;
    Ok(finish(document, model))
}

/// Returns errors and warnings.
fn check(input: &Input, options: &GltfOptions) -> (Vec<String>, Vec<String>) {
    let budget = Budget::new(options.memory_limit);
    let faults = Faults::are_collected(&budget);
    let warnings = open(input, &budget).and_then(|container| {
        let mut document = Document::open(&container, input.home, &budget, &faults, options)?;
        nodes::drop_missing(&mut document);
        let rest = read_model(&document, options);
        // A fault that ends the check is also recorded.
        let _ = faults.keep(rest);
        document.warn_of_unused();
        Ok(document.warnings.into_lines())
    });
    let warnings = faults.keep(warnings).ok().flatten();
    (faults.into_lines(), warnings.unwrap_or_default())
}

fn open<'a>(input: &Input<'a>, budget: &Budget) -> Result<Container<'a>, Fault> {
    budget.hold(input.path, input.bytes.len()).map_err(|lack| fault("", format!("the file {lack}")))?;
    file::container::open(input.bytes).map_err(|message| fault("", message))
}

fn read_model(document: &Document, options: &GltfOptions) -> Result<Model, Fault> {
    let faults = &document.faults;
    let scene = nodes::choose_scene(document, options.scene.as_deref());
    let scene = faults.keep(scene)?.flatten();
    let hierarchy = nodes::Hierarchy::new(document, scene);
    let mut hierarchy = match faults.keep(hierarchy)? {
        Some(hierarchy) => hierarchy,
        None => nodes::Hierarchy::empty(document),
    };
    let skins = skins::read(document, &mut hierarchy)?;
    let mut rig_nodes = hierarchy.rig_nodes(document)?;
    let variants = document.or_warn(variant_names(document), "there are no variants")?.unwrap_or_default();
    let variant = choose_variant(&variants, options.variant.as_deref());
    let variant = faults.keep(variant)?.flatten();
    let chosen = Variant { count: variants.len(), chosen: variant };
    let ((materials, textures), meshes) =
        read_materials_and_meshes(document, &hierarchy, chosen, options.skip_tangents)?;
    let parts = parts::place(document, &hierarchy, &meshes, &skins, &mut rig_nodes)?;
    let clips = clips::read(document, &hierarchy, &rig_nodes)?;
    let environment = if options.skip_environment {
        None
    } else {
        let environment = environment::read(document, scene, options.rotation);
        document.or_warn(environment, "the light around the scene is left out")?.flatten()
    };
    let mut model = Model {
        cameras: viewpoints::cameras(document, &hierarchy)?,
        lights: lights::read(document, &hierarchy)?,
        environment,
        animated_materials: pointers::bases(&materials, &clips),
        rig: Rig { clips, nodes: rig_nodes, skins: skins.skins },
        mesh_count: meshes.mesh_count(),
        meshes: meshes.meshes,
        parts,
        materials,
        textures,
        scenes: nodes::scene_names(document),
        scene: scene.map_or(NONE, |s| s as u32),
        variants,
        ..Model::default()
    };
    external::attach(document, &hierarchy, options, &mut model)?;
    line_widths::set(&mut model, options.line_width);
    Ok(model)
}

/// The index of the chosen material variant, and the number of all.
struct Variant {
    count: usize,
    chosen: Option<u32>,
}

type Materials = (Vec<PbrMaterial>, Vec<Texture>);

fn read_materials_and_meshes(
    document: &Document,
    hierarchy: &nodes::Hierarchy,
    Variant { count: variant_count, chosen: variant }: Variant,
    skip_tangents: bool,
) -> Result<(Materials, parts::Meshes), Fault> {
    let (mut materials, textures) = material::read(document)?;
    // Pictures and meshes are independent, and decoding pictures takes most of the time.
    let (textures, meshes) = rayon::join(
        || textures.decode(),
        || {
            let choice = geometry::Choice { materials: &materials, variant_count, variant, skip_tangents };
            parts::read_meshes(document, hierarchy, &choice)
        },
    );
    let (textures, meshes) = (textures?, meshes?);
    let textures = material::without_faulty(document, &mut materials, textures);
    Ok(((materials, textures), meshes))
}

/// Moves the remaining content of the document into the model.
fn finish(document: Document, model: Model) -> Model {
    document.warn_of_unused();
    Model {
        room: document.budget.left(),
        extensions_used: document.root.extensions_used,
        extensions_unsupported: document.unsupported,
        warnings: document.warnings.into_lines(),
        ..model
    }
}

#[derive(Deserialize)]
struct Variants {
    variants: Vec<NamedVariant>,
}

#[derive(Deserialize)]
struct NamedVariant {
    name: String,
}

fn variant_names(document: &Document) -> Result<Vec<String>, Fault> {
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let read = file::extensions::read::<Variants>(others, file::extensions::VARIANTS, "")?;
    let variants = read.into_iter().flat_map(|v| v.variants);
    Ok(variants.map(|v| v.name).collect())
}

fn choose_variant(names: &[String], wanted: Option<&str>) -> Result<Option<u32>, Fault> {
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    let found = names.iter().position(|n| n == wanted);
    found.map(|i| Some(i as u32)).ok_or_else(|| {
        let hint = suggest::hint(wanted, names.iter().map(String::as_str), "variants");
        let path = format!("/extensions/{}", file::extensions::VARIANTS);
        fault(path, format!("there is no variant `{wanted}`: {hint}"))
    })
}
