//! Standalone models: their ground, their environment, and the camera in front of or around them.
//!
//! A model that plays clips becomes one actor. Only nodes that its clips move are evaluated per frame (`live`). Parts on these nodes are
//! attached to a scene node that follows the rig's node. Deforming parts get a separate mesh. Everything else is placed and shaped once. A
//! model is turned upright by a node above its scene, so skins, animation and lights need no special case.

mod clips;
pub mod gltf;
#[cfg(test)]
mod gltf_tests;
mod lights;
mod live;
pub mod mesh;
mod parts;
pub mod pbrt;
mod stages;
mod surroundings;
pub mod usd;

pub use clips::{SingleClip, animation_choices};
pub use surroundings::{check_picture, set_daylight};

use super::{
    LoadError, LoadOptions,
    framing::{self, Framing},
    geometry::transform::is_invertible,
    materials::{Materials, Slots},
    meshes::MeshSource,
    options::{CameraChoice, EnvironmentChoice, PatternShape, Preset, ViewPattern},
    ron::ModelSets,
};
use glam::{Affine3, Vec3};
use throng_base::math::Aabb;
use throng_scene::{Camera, Environment, Instance, Material, NONE, RenderDefaults, Scene, ToCamera, TriangleMesh};

/// Seconds of a turn.
const TURN_SECONDS: f64 = 3.0;
/// Radius of the ground, in diagonals of the model.
const GROUND: f32 = 30.0;
/// Albedo of the ground around the model.
const GROUND_COLOR: Vec3 = Vec3::new(0.46, 0.45, 0.43);
/// Distances, in diagonals of the model, between which the colour of the ground fades into the colour of its far end.
const FADING: [f32; 2] = [0.6, 6.0];
/// Rings and sectors of the ground.
const RINGS: u32 = 24;
const SECTORS: u32 = 64;

/// Number of pixels below which a picture counts as small.
const SMALL: f32 = 65_536.0;

/// Settings of a model's pictures. Adaptive sampling stops where noise is hard to see in a still picture. Small pictures are usually
/// rendered in large numbers, so they get faster settings.
fn settings(options: &LoadOptions) -> RenderDefaults {
    let stage = &options.model.stage;
    let usual = RenderDefaults::default();
    let (width, height) = stage.size.unwrap_or((usual.width, usual.height));
    let pixels = width as f32 * height as f32;
    let (samples, noise) = match stage.preset.unwrap_or(Preset::Good) {
        Preset::Draft => (8, None),
        Preset::Good => (64, Some((0.15 * (SMALL / pixels).powf(0.3)).clamp(0.09, 0.15))),
        Preset::Best => (1024, Some(0.012)),
    };
    let fps = stage.fps.unwrap_or(usual.fps);
    RenderDefaults { samples, noise, fps, denoise: true, denoises_asked: true, ..usual }
}

/// The surroundings of a standalone model.
pub struct Stage<'a> {
    pub options: &'a LoadOptions,
    /// Number of frames of one cycle of the animation; None for a static model.
    pub round: Option<u32>,
    /// The selected camera of the file.
    pub camera: Option<Camera>,
    /// The environment of the file's scene, which is used unless the user has chosen another.
    pub environment: Option<Environment>,
    /// Whether the file has light of its own, in any form.
    pub is_lit: bool,
    /// Whether the file is a scene of its own, which needs no ground.
    pub stands_alone: bool,
}

impl<'a> Stage<'a> {
    pub fn new(options: &'a LoadOptions) -> Self {
        Self { options, round: None, camera: None, environment: None, is_lit: false, stands_alone: false }
    }

    /// Adds a ground, an environment and a camera to the scene, and completes its settings and tables.
    ///
    /// # Errors
    /// If a texture or the picture of an environment is missing or damaged, or if a value of `--set` is invalid.
    pub fn set(mut self, scene: &mut Scene, mut table: Materials, mut slots: Slots) -> Result<(), LoadError> {
        let model = &self.options.model;
        scene.settings.start = self.options.start.unwrap_or_default();
        scene.settings.frames = self.frames(scene.settings.fps);
        let bounds = framing::swept_bounds(scene);
        scene.camera = self.camera(scene, &bounds);
        let sets = ModelSets::read(self.options, &table.names)?;
        let set = sets.as_ref().map(ModelSets::environment).transpose()?.flatten();
        let ground = self.ground();
        scene.own_lights = scene.lights.len();
        let chosen = (model.environment.as_ref(), model.environment_rotation);
        surroundings::light(scene, chosen, set, (self.environment.take(), self.is_lit))?;
        if let Some(sets) = &sets {
            sets.replace(&mut table)?;
        }
        if let Some(to_camera) = ground {
            add_ground(scene, &bounds, to_camera, (&mut table, &mut slots));
        }
        let (textures, warnings) = table.decode_textures()?;
        scene.textures = textures;
        scene.warnings.extend(warnings);
        scene.materials = table.rows;
        scene.names.materials = table.names;
        scene.maps = table.maps;
        scene.material_slots = slots.all;
        if let Some(sets) = &sets {
            scene.settings = sets.settings(scene.settings.clone())?;
        }
        Ok(())
    }

    fn turns(&self) -> bool {
        let own_view = self.options.view.eye.is_some() || self.camera.is_some();
        let stage = &self.options.model.stage;
        let stands = stage.single && stage.turns.is_none() && stage.duration.is_none();
        match self.options.model.camera {
            Some(CameraChoice::Turntable) => true,
            Some(CameraChoice::Still | CameraChoice::Of(_)) => false,
            None => self.round.is_none() && !own_view && !stands,
        }
    }

    /// Visibility of the ground to the camera; None without a ground. A picture as environment should be visible and has its own ground.
    fn ground(&self) -> Option<ToCamera> {
        let model = &self.options.model;
        let pictured = match &model.environment {
            Some(choice) => matches!(choice, EnvironmentChoice::File(_)),
            None => self.environment.is_some(),
        };
        // From below, nothing else would be seen.
        let from_below = |pattern: &ViewPattern| pattern.shape == PatternShape::Sphere;
        let is_in_the_way = self.options.view.views.as_ref().is_some_and(from_below);
        let is_scene = self.stands_alone || self.is_lit;
        let has_none = model.no_ground || model.cut_out || is_in_the_way || is_scene;
        match (model.shadow_catcher || pictured && !model.cut_out, has_none) {
            (_, true) if !model.shadow_catcher => None,
            (true, _) => Some(ToCamera::ShadowCatcher),
            (false, _) => Some(ToCamera::Visible),
        }
    }

    /// Number of frames. A turntable has as many whole cycles of the animation as it needs.
    fn frames(&self, fps: f64) -> u32 {
        if let Some(seconds) = self.options.model.stage.duration {
            return (f64::from(seconds) * fps).round().clamp(1.0, clips::MOST_FRAMES) as u32;
        }
        let turn = (TURN_SECONDS * fps).round().clamp(1.0, clips::MOST_FRAMES) as u32;
        match (self.round, self.turns()) {
            (Some(round), true) => round * turn.div_ceil(round),
            (Some(round), false) => round,
            (None, true) => turn,
            (None, false) => 1,
        }
    }

    fn camera(&self, scene: &Scene, bounds: &Aabb) -> Camera {
        if let Some(camera) = &self.camera {
            return camera.clone();
        }
        let stage = &self.options.model.stage;
        let usual = Framing::default();
        let framing = Framing {
            fov_y: self.options.view.fov.map_or(usual.fov_y, f32::to_radians),
            aspect: stage.size.map_or(usual.aspect, |(width, height)| width as f32 / height as f32),
            margin: stage.margin.unwrap_or(usual.margin),
            zoom: stage.zoom.unwrap_or(usual.zoom),
        };
        if self.turns() {
            framing::swept_turntable(scene, bounds, &framing, stage.turns.unwrap_or(1.0))
        } else {
            framing::still(scene, bounds, &framing)
        }
    }
}

/// Adds a round ground. If cameras see it, its far end is as bright as the horizon.
fn add_ground(scene: &mut Scene, bounds: &Aabb, to_camera: ToCamera, (table, slots): (&mut Materials, &mut Slots)) {
    let row = table.add("ground", Material { color: Vec3::ONE, to_camera, ..Material::default() });
    let local = ground_transform(bounds);
    if is_invertible(&local) {
        scene.stage = Some(scene.instances.len() as u32);
        let far = match to_camera {
            ToCamera::Visible => surroundings::meet_ground(scene, SECTORS),
            ToCamera::ShadowCatcher | ToCamera::Holdout => vec![GROUND_COLOR; SECTORS as usize],
        };
        let (points, faces) = (Vec::new(), Vec::new());
        add(scene, slots, MeshSource::of_triangles("ground", ground(&far), vec![row], points, faces), local);
    }
}

/// The ground around the origin, in units of the model's diagonal. Vertex colours fade to `far`, which has one colour per sector.
fn ground(far: &[Vec3]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    // Rings are closer together where the colour fades.
    for ring in 0..=RINGS {
        let radius = GROUND * (ring as f32 / RINGS as f32).powi(3);
        let [begin, end] = FADING;
        let faded = ((radius - begin) / (end - begin)).clamp(0.0, 1.0);
        for (sector, &far) in (0..SECTORS).zip(far) {
            let color = GROUND_COLOR.lerp(far, faded * faded * (3.0 - 2.0 * faded));
            let (z, x) = (sector as f32 / SECTORS as f32 * std::f32::consts::TAU).sin_cos();
            mesh.positions.push([radius * x, 0.0, radius * z]);
            mesh.normals.push([0.0, 1.0, 0.0]);
            mesh.colors.push(color.extend(1.0).to_array());
        }
    }
    for ring in 0..RINGS {
        for sector in 0..SECTORS {
            let [a, b] = [sector, (sector + 1) % SECTORS].map(|sector| ring * SECTORS + sector);
            let [c, d] = [a, b].map(|inner| inner + SECTORS);
            if ring > 0 {
                mesh.triangles.push([a, b, c]);
            }
            mesh.triangles.push([b, d, c]);
        }
    }
    mesh
}

fn add(scene: &mut Scene, slots: &mut Slots, source: MeshSource, local: Affine3) {
    let mesh = scene.meshes.len() as u32;
    let slot_base = slots.run(mesh, &source.materials, NONE);
    let stem = scene.names.add_stem(source.mesh.name.clone());
    scene.names.push(stem, NONE);
    scene.meshes.push(source.mesh);
    scene.instances.push(Instance { local, node: NONE, mesh, slot_base, motion: NONE });
}

/// Transform of the ground, which is slightly below the model so that flat bottoms do not touch it.
fn ground_transform(bounds: &Aabb) -> Affine3 {
    let size = bounds.diagonal().clamp(1e-6, 1e30);
    let center = bounds.center();
    // Positions far from the origin are rounded.
    let rounding = 4.0 * f32::EPSILON * bounds.min.abs().max(bounds.max.abs()).max_element();
    let origin = Vec3::new(center.x, bounds.min.y - (1e-3 * size).max(rounding), center.z);
    Affine3::from_translation(origin) * Affine3::from_scale(Vec3::splat(size))
}
