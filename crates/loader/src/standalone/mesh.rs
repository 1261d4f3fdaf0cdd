//! Standalone files with one mesh.

use super::Stage;
use crate::{
    LoadError, LoadOptions,
    materials::{Materials, Slots},
    meshes::{MeshFormat, MeshOptions},
    surfaces::Surfaces,
};
use glam::Affine3;
use std::{f32::consts::FRAC_PI_3, path::Path};
use throng_scene::{CLAY, Material, Mesh, Scene, Shape, Wrap, desc::SubdivisionScheme};

/// Loads a file of `format` as a complete scene, but for a subdivision surface whose level is chosen by size.
///
/// # Errors
/// As [`MeshFormat::parse`]. Also if a texture is missing or damaged.
pub fn load(path: &Path, format: &dyn MeshFormat, options: &LoadOptions) -> Result<(Scene, Surfaces), LoadError> {
    let mut table = Materials::default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (subdivision, scheme) = (options.model.subdivision, SubdivisionScheme::default());
    let of_mesh = MeshOptions { smooth_angle: FRAC_PI_3, subdivision, scheme, points: false };
    let parsed = format.parse(path, &of_mesh, &options.model.allow_dirs)?;
    let (mut model, warnings) = parsed.into_source(&name, None, Wrap::Repeat, &mut table)?;
    let mut slots = Slots::default();
    let mut scene = Scene { warnings, settings: super::settings(options), ..Scene::default() };
    color_like_clay(&mut table, &model.mesh);
    let mut surfaces = Surfaces::default();
    surfaces.take(scene.meshes.len() as u32, &mut model);
    super::add(&mut scene, &mut slots, model, Affine3::from_quat(options.rotation()));
    Stage::new(options).set(&mut scene, table, slots)?;
    Ok((scene, surfaces))
}

/// Gives materials without any properties the colour of clay, unless vertices have colours. White would hardly show the shape.
fn color_like_clay(table: &mut Materials, mesh: &Mesh) {
    let has_colors = matches!(&mesh.shape, Shape::Triangles(triangles) if !triangles.colors.is_empty());
    let plain = Material::default();
    for material in table.rows.iter_mut().filter(|material| !has_colors && **material == plain) {
        material.color = CLAY;
    }
}
