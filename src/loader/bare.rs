//! A model on its own: what it stands on, the light it stands in, and the turntable around it.

use super::{
    LoadError, framing,
    materials::{Materials, Slots},
    meshes::{self, MeshSource},
    sky,
    transform::is_invertible,
};
use crate::{
    math::Aabb,
    scene::{Instance, Material, NONE, Scene, Shape, Wrap, desc::SunSky},
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::path::Path;

const FRAMES: u32 = 72;
const SMOOTH_DEGREES: f32 = 60.0;
/// Side of the ground, in diagonals of the model.
const GROUND: f32 = 60.0;
const GROUND_COLOR: Vec3 = Vec3::new(0.42, 0.41, 0.39);

/// Loads an OBJ file as a finished scene.
///
/// # Errors
/// As [`meshes::parse_obj`], and for textures that are missing or damaged.
pub fn load_obj(path: &Path) -> Result<Scene, LoadError> {
    let mut table = Materials::default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let parsed = meshes::parse_obj(path, SMOOTH_DEGREES.to_radians())?;
    let (model, warnings) = parsed.into_source(&name, None, Wrap::Repeat, &mut table)?;
    let mut slots = Slots::default();
    let mut scene = Scene {
        warnings,
        textures: table.decode_textures()?,
        ..Scene::default()
    };
    add(&mut scene, &mut slots, model, Affine3::IDENTITY);
    stage(&mut scene, table, slots);
    Ok(scene)
}

/// Puts what is in the scene on a ground under a clear sky, with a turntable around it, and fills in the tables.
pub fn stage(scene: &mut Scene, mut table: Materials, mut slots: Slots) {
    let bounds = framing::world_bounds(scene);
    let radius = radius_about_axis(scene, bounds.center());
    let ground_row = table.add(Material {
        color: GROUND_COLOR,
        ..Material::default()
    });
    let ground = MeshSource::quad("ground", 1.0, ground_row);
    let local = ground_transform(&bounds);
    if is_invertible(&local) {
        add(scene, &mut slots, ground, local);
    }
    scene.materials = table.rows;
    scene.material_slots = slots.all;
    scene.camera = framing::turntable_of_radius(&bounds, radius);
    scene.settings.frames = FRAMES;
    set_daylight(scene);
}

fn add(scene: &mut Scene, slots: &mut Slots, source: MeshSource, local: Affine3) {
    let mesh = scene.meshes.len() as u32;
    let slot_base = slots.run(mesh, &source.materials, NONE);
    scene.meshes.push(source.mesh);
    scene.instances.push(Instance {
        local,
        node: NONE,
        mesh,
        slot_base,
        motion: NONE,
    });
}

/// Greatest distance of a vertex from the vertical axis through `center`.
fn radius_about_axis(scene: &Scene, center: Vec3) -> f32 {
    let radius = |instance: &Instance| {
        let Shape::Triangles(triangles) = &scene.meshes[instance.mesh as usize].shape else {
            return 0.0;
        };
        let distance = |p: &[f32; 3]| {
            let point = instance.local.transform_point3(Vec3::from(*p));
            (point - center).with_y(0.0).length()
        };
        triangles.positions.iter().map(distance).fold(0.0, f32::max)
    };
    let all = scene.instances.par_iter().map(radius);
    all.reduce(|| 0.0, f32::max)
}

/// Just beneath the model, so that flat bottoms do not touch it.
fn ground_transform(bounds: &Aabb) -> Affine3 {
    let size = bounds.diagonal().clamp(1e-6, 1e30);
    let center = bounds.center();
    let origin = Vec3::new(center.x, bounds.min.y - 1e-3 * size, center.z);
    Affine3::from_translation(origin) * Affine3::from_scale(Vec3::splat(GROUND * size))
}

/// A clear sky with the sun behind the camera's left shoulder.
pub fn set_daylight(scene: &mut Scene) {
    let (environment, sun) = sky::daylight(&SunSky::default());
    scene.environment = environment;
    scene.lights.extend(sun);
}
