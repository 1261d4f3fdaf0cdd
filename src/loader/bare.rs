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
    scene::{Instance, Material, Mesh, NONE, Scene, Shape, Wrap, desc::SunSky},
};
use glam::{Affine3, Vec3};
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
    let bounds = model.mesh.bounds();
    let radius = radius_about_axis(&model.mesh, bounds.center());
    let ground_row = table.add(Material {
        color: GROUND_COLOR,
        ..Material::default()
    });
    let ground = MeshSource::quad("ground", 1.0, ground_row);

    let mut slots = Slots::default();
    let sources = [
        (model, Affine3::IDENTITY),
        (ground, ground_transform(&bounds)),
    ];
    let usable = sources
        .into_iter()
        .filter(|(_, local)| is_invertible(local));
    let mut scene = Scene {
        warnings,
        textures: table.decode_textures()?,
        ..Scene::default()
    };
    for (source, local) in usable {
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
    scene.materials = table.rows;
    scene.material_slots = slots.all;
    scene.camera = framing::turntable_of_radius(&bounds, radius);
    scene.settings.frames = FRAMES;
    set_daylight(&mut scene);
    Ok(scene)
}

/// Greatest distance of a vertex from the vertical axis through `center`.
fn radius_about_axis(mesh: &Mesh, center: Vec3) -> f32 {
    let Shape::Triangles(triangles) = &mesh.shape else {
        return 1.0;
    };
    let distance = |p: &[f32; 3]| (Vec3::from(*p) - center).with_y(0.0).length();
    triangles.positions.iter().map(distance).fold(0.0, f32::max)
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
