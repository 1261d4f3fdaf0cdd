//! Standalone models: the ground that they stand on, the light around them, and the camera in front of or around them.

#[cfg(test)]
mod animated_tests;
mod clips;
pub mod gltf;
#[cfg(test)]
mod gltf_tests;
mod lights;
mod live;
pub mod mesh;
mod parts;
mod surroundings;

pub use surroundings::set_daylight;

use super::{
    LoadError, LoadOptions, framing,
    materials::{Materials, Slots},
    meshes::MeshSource,
    options::CameraChoice,
    transform::is_invertible,
};
use crate::{
    math::Aabb,
    scene::{Camera, Instance, Material, NONE, Scene, ToCamera},
};
use glam::{Affine3, Vec3};

/// Least number of frames of a turntable.
const FRAMES: u32 = 72;
/// Side of the ground, in diagonals of the model.
const GROUND: f32 = 60.0;
const GROUND_COLOR: Vec3 = Vec3::new(0.42, 0.41, 0.39);

/// The surroundings of a standalone model.
pub struct Stage<'a> {
    options: &'a LoadOptions,
    /// Number of frames of one round of the animation, if anything moves.
    pub round: Option<u32>,
    /// The chosen camera of the file.
    pub camera: Option<Camera>,
}

impl<'a> Stage<'a> {
    pub fn new(options: &'a LoadOptions) -> Self {
        Self { options, round: None, camera: None }
    }

    /// Puts what is in the scene on a ground, with light around it and a camera, and fills in the tables.
    ///
    /// # Errors
    /// When the picture of an environment is missing or damaged.
    pub fn set(self, scene: &mut Scene, mut table: Materials, mut slots: Slots) -> Result<(), LoadError> {
        let model = &self.options.model;
        scene.settings.start = self.options.start.unwrap_or_default();
        scene.settings.frames = self.frames();
        let bounds = framing::swept_bounds(scene);
        scene.camera = self.camera(scene, &bounds);
        let to_camera = match (model.shadow_catcher, model.no_ground || model.cut_out) {
            (true, _) => Some(ToCamera::ShadowCatcher),
            (false, false) => Some(ToCamera::Visible),
            (false, true) => None,
        };
        if let Some(to_camera) = to_camera {
            let ground = Material { color: GROUND_COLOR, to_camera, ..Material::default() };
            add_ground(scene, &bounds, ground, (&mut table, &mut slots));
        }
        scene.materials = table.rows;
        scene.names.materials = table.names;
        scene.maps = table.maps;
        scene.material_slots = slots.all;
        surroundings::light(scene, model.environment.as_ref())
    }

    fn turns(&self) -> bool {
        let own_view = self.options.view.eye.is_some() || self.camera.is_some();
        match self.options.model.camera {
            CameraChoice::Turntable => true,
            CameraChoice::Automatic => self.round.is_none() && !own_view,
            CameraChoice::Still | CameraChoice::Of(_) => false,
        }
    }

    /// Number of frames. On a turntable, as many whole rounds of the animation as it needs.
    fn frames(&self) -> u32 {
        match (self.round, self.turns()) {
            (Some(round), true) => round * FRAMES.div_ceil(round),
            (Some(round), false) => round,
            (None, true) => FRAMES,
            (None, false) => 1,
        }
    }

    fn camera(&self, scene: &Scene, bounds: &Aabb) -> Camera {
        if let Some(camera) = &self.camera {
            return camera.clone();
        }
        let fov = self.options.view.fov.map(f32::to_radians);
        match self.turns() {
            true => {
                let radius = framing::swept_radius(scene, bounds.center());
                framing::turntable_of_radius(bounds, radius, fov)
            }
            false => framing::still(scene, bounds, fov),
        }
    }
}

fn add_ground(scene: &mut Scene, bounds: &Aabb, ground: Material, (table, slots): (&mut Materials, &mut Slots)) {
    let row = table.add("ground", ground);
    let local = ground_transform(bounds);
    if is_invertible(&local) {
        add(scene, slots, MeshSource::quad("ground", 1.0, row), local);
    }
}

fn add(scene: &mut Scene, slots: &mut Slots, source: MeshSource, local: Affine3) {
    let mesh = scene.meshes.len() as u32;
    let slot_base = slots.run(mesh, &source.materials, NONE);
    let stem = scene.names.add_stem(source.mesh.name.clone());
    scene.names.push(stem, NONE);
    scene.meshes.push(source.mesh);
    scene.instances.push(Instance { local, node: NONE, mesh, slot_base, motion: NONE });
}

/// Transform of the ground: just beneath the model, so that flat bottoms do not touch it.
fn ground_transform(bounds: &Aabb) -> Affine3 {
    let size = bounds.diagonal().clamp(1e-6, 1e30);
    let center = bounds.center();
    let origin = Vec3::new(center.x, bounds.min.y - 1e-3 * size, center.z);
    Affine3::from_translation(origin) * Affine3::from_scale(Vec3::splat(GROUND * size))
}
