//! An OBJ file on its own.

use super::Stage;
use crate::{
    loader::{
        LoadError, LoadOptions,
        materials::{Materials, Slots},
        meshes,
    },
    scene::{Scene, Wrap},
};
use glam::Affine3;
use std::path::Path;

const SMOOTH_DEGREES: f32 = 60.0;

/// Loads an OBJ file as a finished scene.
///
/// # Errors
/// As [`meshes::parse_obj`], and for textures that are missing or damaged.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Scene, LoadError> {
    let mut table = Materials::default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let parsed = meshes::parse_obj(path, SMOOTH_DEGREES.to_radians(), &options.model.allow_dirs)?;
    let (model, warnings) = parsed.into_source(&name, None, Wrap::Repeat, &mut table)?;
    let mut slots = Slots::default();
    let mut scene = Scene {
        warnings,
        textures: table.decode_textures()?,
        ..Scene::default()
    };
    super::add(&mut scene, &mut slots, model, Affine3::IDENTITY);
    Stage::new(options).set(&mut scene, table, slots)?;
    Ok(scene)
}
