//! A file of one mesh on its own.

use super::{Stage, gltf::SAMPLES};
use crate::{
    loader::{
        LoadError, LoadOptions,
        materials::{Materials, Slots},
        meshes::{MeshFormat, MeshOptions},
    },
    scene::{Integrator, Scene, Wrap},
};
use glam::Affine3;
use std::path::Path;

const OPTIONS: MeshOptions = MeshOptions { smooth_angle: std::f32::consts::FRAC_PI_3 };

/// Loads a file of `format` as a finished scene.
///
/// # Errors
/// As [`MeshFormat::parse`], and for textures that are missing or damaged.
pub fn load(path: &Path, format: &dyn MeshFormat, options: &LoadOptions) -> Result<Scene, LoadError> {
    let mut table = Materials::default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let parsed = format.parse(path, &OPTIONS, &options.model.allow_dirs)?;
    let (model, warnings) = parsed.into_source(&name, None, Wrap::Repeat, &mut table)?;
    let mut slots = Slots::default();
    let mut scene = Scene { warnings, textures: table.decode_textures()?, ..Scene::default() };
    super::add(&mut scene, &mut slots, model, Affine3::IDENTITY);
    Stage::new(options).set(&mut scene, table, slots)?;
    scene.settings.integrator = scene.suitable_integrator();
    if scene.settings.integrator == Integrator::Path {
        scene.settings.samples = SAMPLES;
    }
    Ok(scene)
}
