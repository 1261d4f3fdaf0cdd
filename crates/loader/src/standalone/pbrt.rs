//! Standalone pbrt scenes: their objects, lights and camera. A scene without lights stands in the studio; one without a camera is framed.

use super::{Stage as Surroundings, settings};
use crate::{
    LoadError, LoadOptions,
    materials::{Materials, Slots},
    options::CameraChoice,
    pbrt::{self, Converter, RATE},
    ron::{
        file::Source,
        placing::{Placing, resolved::Resolved},
    },
    surfaces::Surfaces,
    usd::Contents,
};
use glam::DAffine3;
use std::path::Path;
use throng_pbrt::Scene as File;
use throng_scene::{Environment, Metering, Scene, desc::SceneFile, ranges};

/// Loads a file as a complete scene. Passes it to `inspect` first.
///
/// # Errors
/// As [`pbrt::read`]. Also if nothing is visible.
pub fn load(path: &Path, options: &LoadOptions, inspect: impl FnOnce(&File)) -> Result<(Scene, Surfaces), LoadError> {
    let mut file = pbrt::read(path)?;
    inspect(&file);
    let outer = DAffine3::from_quat(options.rotation().as_dquat()) * pbrt::upright(&file);
    let mut table = Materials::default();
    let lit = pbrt::lights(&file, path, &outer);
    let Contents { sources, mut lists, names, warnings } = Converter::new(&file, path, &mut table, outer).finish();
    let top = std::mem::take(&mut lists[0]);
    if top.is_empty() {
        let why = warnings.first().map_or("no shape of it can be drawn", String::as_str);
        return Err(LoadError::file(path, format!("there is nothing to see: {why}")));
    }
    let mut scene = Scene { settings: settings(options), ..Scene::default() };
    let (source, no_file) = (Source { path: path.into(), ..Source::default() }, SceneFile::default());
    let placing = Placing::of_lists(&source, &no_file, sources, &Resolved { lists, names, top });
    let placed = placing.and_then(|placing| placing.add_to(&mut scene));
    let surfaces = placed.map_err(|error| LoadError::file(path, error.message()))?;
    let slots = Slots::of(std::mem::take(&mut scene.material_slots));
    scene.lights = lit.lights;
    scene.warnings = std::mem::take(&mut file.warnings);
    scene.warnings.extend(warnings.into_iter().chain(lit.warnings));
    scene.fog = pbrt::fog(&file);
    let emits = table.rows.iter().any(|material| material.emission.max_element() > 0.0);
    let is_lit = lit.environment.is_some() || !scene.lights.is_empty() || emits;
    let mut surroundings = Surroundings::new(options);
    (surroundings.is_lit, surroundings.environment) = (is_lit, lit.environment);
    let is_shown = set_camera(&mut scene, &file, options, &outer, &mut surroundings);
    scene.settings.fps = options.model.stage.fps.unwrap_or(RATE);
    // Motion is shown by an open shutter, in one picture.
    surroundings.round = scene.is_animated().then_some(1);
    let is_set = options.overrides.iter().any(|(key, _)| key.starts_with("environment"));
    let is_chosen = is_set || options.model.environment.is_some() || surroundings.environment.is_some();
    surroundings.set(&mut scene, table, slots)?;
    if is_lit && !is_chosen {
        scene.environment = Environment::default();
    }
    if is_lit && is_shown {
        // The file says how bright the picture is.
        scene.settings.metering = Metering::Off;
    }
    Ok((scene, surfaces))
}

/// Sets the file's camera and film. Returns whether its view is shown.
fn set_camera(
    scene: &mut Scene,
    file: &File,
    options: &LoadOptions,
    outer: &DAffine3,
    surroundings: &mut Surroundings,
) -> bool {
    // Bounces are counted after the first surface.
    scene.settings.bounces = file.max_depth.saturating_sub(1).min(*ranges::BOUNCES.end());
    scene.settings.single_scatter = true;
    let others = matches!(options.model.camera, Some(CameraChoice::Turntable | CameraChoice::Still));
    let Some(own) = file.camera.as_ref().filter(|_| !others) else { return false };
    let (width, height) = options.model.stage.size.unwrap_or(file.film.size.into());
    (scene.settings.width, scene.settings.height) = (width, height);
    if file.film.crop != [0.0, 1.0, 0.0, 1.0] {
        scene.warnings.push("the crop of the film is left out: write --region for a part of the picture".to_owned());
    }
    let camera = pbrt::camera(scene, file, own, outer, width as f32 / height as f32);
    scene.viewpoints.push(("camera".to_owned(), camera.clone()));
    if options.view.eye.is_some() || options.view.views.is_some() {
        return false;
    }
    surroundings.camera = Some(camera);
    surroundings.stands_alone = true;
    scene.settings.shutter = pbrt::shutter(file, own);
    scene.settings.exposure += file.film.exposure.log2();
    true
}
