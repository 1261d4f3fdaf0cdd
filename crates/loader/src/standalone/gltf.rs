//! Standalone glTF files: their parts at rest or playing clips, their lights, and the selected camera.

use super::{
    Stage,
    clips::{self, SingleClip},
    lights,
    live::{Live, any_varies},
    parts::{Build, Posed},
    settings,
};
use crate::{
    LoadError, LoadOptions,
    gltf::{self, Model, ModelCamera},
    model::{AnimatedRows, ModelMaterials, played_tracks},
    options::{CameraChoice, choose},
};
use glam::Vec3;
use std::{path::Path, sync::Arc};
use throng_scene::anim::RigPose;
use throng_scene::{
    Camera, CameraPath, Projection, Scene,
    animated::{Animated, Target, Track},
    rig::{Actor, Clip, Playback},
};

/// Loads a glTF file as a complete scene. Passes the model to `inspect` first.
///
/// # Errors
/// As [`gltf::load_model`]. Also if the file lacks a selected clip or camera, or if nothing is visible.
pub fn load(path: &Path, options: &LoadOptions, inspect: impl FnOnce(&Model)) -> Result<Scene, LoadError> {
    let model = gltf::load_model(path, &options.gltf())?;
    inspect(&model);
    let choices = Choices::new(&model, options).map_err(|m| LoadError::file(path, m))?;
    let scene = scene_of(path, model, &choices, options)?;
    scene.ok_or_else(|| {
        let message = "there is nothing to see: no mesh with triangles is in the scene";
        LoadError::file(path, message)
    })
}

/// The clips of a glTF file that the user has selected, to be played separately.
///
/// # Errors
/// As [`gltf::load_model`]. Also if no clip has a given name.
pub fn singles(path: &Path, options: &LoadOptions) -> Result<Vec<SingleClip>, LoadError> {
    let model = gltf::load_model(path, &options.gltf())?;
    let fps = settings(options).fps;
    let frames = |playback: Playback| {
        let round = (playback.speed != 0.0).then(|| clips::round(&[playback], &model.rig.clips, fps));
        Stage { round, ..Stage::new(options) }.frames(fps)
    };
    let singles = clips::singles(&options.model.animation, &model.rig.clips, frames);
    singles.map_err(|message| LoadError::file(path, message))
}

/// The clips and the camera that the user has selected from the file.
pub struct Choices {
    playbacks: Vec<Playback>,
    /// The playbacks with a non-zero speed.
    moving: Vec<Playback>,
    camera: Option<ModelCamera>,
}

impl Choices {
    /// Resolves the user's selection.
    ///
    /// # Errors
    /// If nothing in the file has a given name. The text is a sentence.
    pub fn new(model: &Model, options: &LoadOptions) -> Result<Self, String> {
        let camera = match &options.model.camera {
            Some(CameraChoice::Of(wanted)) => {
                let names = model.cameras.iter().map(|camera| camera.name.as_str());
                let index = choose(wanted, names, ("camera", "cameras"))?;
                model.cameras.get(index).cloned()
            }
            _ => None,
        };
        let playbacks = clips::playbacks(&options.model.animation, &model.rig.clips)?;
        let moving = playbacks.iter().filter(|p| p.speed != 0.0).copied();
        Ok(Self { moving: moving.collect(), playbacks, camera })
    }
}

/// Creates a scene from a model; None if nothing is visible. `path` is for messages.
///
/// # Errors
/// As [`Stage::set`]. Also if copies of meshes need too much memory.
pub fn scene_of(
    path: &Path,
    model: Model,
    choices: &Choices,
    options: &LoadOptions,
) -> Result<Option<Scene>, LoadError> {
    let notes = notes(&model, choices);
    let rig = Arc::new(model.rig);
    let live = Live::new(&rig, &choices.playbacks);
    let mut pose = RigPose::default();
    pose.evaluate(&rig, &choices.playbacks, options.start.unwrap_or_default());
    let posed = Posed { rig: &rig, pose: &pose, live: &live };
    let tracks = || played_tracks(&rig.clips, &choices.playbacks);
    let mut materials = ModelMaterials::new(&model.materials, model.textures);
    materials.animated = AnimatedRows::new(&model.animated_materials, tracks());
    let mut build =
        Build::new(&posed, model.meshes, materials, &model.parts, model.room).map_err(|m| LoadError::file(path, m))?;
    if build.scene.instances.is_empty() {
        return Ok(None);
    }
    let mut stage = Stage::new(options);
    stage.environment = model.environment.map(super::surroundings::still_picture);
    stage.camera = choices.camera.as_ref().map(|c| camera(c, &mut build));
    build.scene.viewpoints = model.cameras.iter().map(|c| (c.name.clone(), camera(c, &mut build))).collect();
    if let Some(name) = &options.view.lens.focus_on {
        build.name_node(name);
    }
    let Build { mut scene, mut table, slots, materials, .. } = build;
    scene.settings = settings(options);
    let lights = lights::convert(&model.lights, &posed, tracks());
    let animated = Animated {
        actor: 0,
        materials: materials.animated.finish(&mut table),
        lights: lights.animated,
        camera: animated_camera(choices, tracks()),
    };
    let changes = any_varies(played_tracks(&rig.clips, &choices.moving).filter(|track| animated.has(track.target)));
    if live.any() || changes {
        let frames = clips::round(&choices.playbacks, &rig.clips, scene.settings.fps);
        stage.round = Some(frames);
    }
    if live.any() || animated.any() {
        scene.actors.push(Actor { rig: rig.clone(), playbacks: choices.playbacks.clone() });
        scene.animated.push(animated);
    }
    scene.lights = lights.all;
    scene.warnings = model.warnings;
    scene.doubts = [model.doubts, lights.doubts].concat();
    scene.doubts.extend(clips::overridden(&choices.playbacks, &rig.clips));
    scene.notes = notes;
    stage.set(&mut scene, table, slots)?;
    Ok(Some(scene))
}

/// The selected camera's index in the file, if `tracks` animate it.
fn animated_camera<'a>(choices: &Choices, mut tracks: impl Iterator<Item = &'a Track>) -> Option<u32> {
    let own = choices.camera.as_ref()?.camera;
    let drives = |t: &Track| matches!(t.target, Target::Camera { camera, .. } if camera == own);
    tracks.any(drives).then_some(own)
}

fn camera(camera: &ModelCamera, build: &mut Build) -> Camera {
    Camera {
        path: CameraPath::Node { node: build.follower(camera.node) },
        up: Vec3::Y,
        projection: match camera.projection {
            gltf::Projection::Perspective { fov_y, .. } => Projection::Perspective { fov_y },
            gltf::Projection::Orthographic { half_height, .. } => {
                Projection::Orthographic { height: 2.0 * half_height }
            }
        },
        driver: Some(camera.camera),
        ..Camera::default()
    }
}

/// Hints about animations and cameras of the file that were not selected.
fn notes(model: &Model, choices: &Choices) -> Vec<String> {
    let mut notes = Vec::new();
    let clips: Vec<&Clip> = model.rig.clips.iter().filter(|clip| clip.fault.is_none()).collect();
    if choices.playbacks.is_empty() && !clips.is_empty() {
        let named = list(clips.into_iter().map(described));
        notes.push(format!("shown at rest; --animation NAME plays one of its animations: {named}"));
    }
    if choices.camera.is_none() && !model.cameras.is_empty() {
        let named = list(model.cameras.iter().map(|camera| camera.name.clone()));
        notes.push(format!("--camera NAME shows the view of one of its cameras: {named}"));
    }
    if let Some(width) = model.default_line_width {
        notes.push(format!("its lines are drawn {width} wide; --line-width WIDTH sets their width"));
    }
    notes
}

fn described(clip: &Clip) -> String {
    format!("{} ({:.2} s)", clip.name, clip.duration)
}

/// The first few names, and the number of further ones.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    match more {
        0 => shown,
        _ => format!("{shown} and {more} more"),
    }
}
