//! Standalone pbrt scenes: their objects, lights and camera. A scene without lights stands in the studio; one without a camera is framed.

use super::{
    Stage as Surroundings,
    stages::{self, Placed},
};
use crate::{
    LoadError, LoadOptions,
    materials::Materials,
    options::CameraChoice,
    pbrt::{self, Converter, RATE},
    surfaces::Surfaces,
};
use glam::DAffine3;
use std::path::Path;
use throng_pbrt::Scene as File;
use throng_scene::{Scene, ranges};

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
    let contents = Converter::new(&file, path, &mut table, outer).finish();
    let Placed { mut scene, surfaces, slots, warnings } = stages::place(path, options, contents, |warnings| {
        let why = warnings.first().map_or("no shape of it can be drawn", String::as_str);
        format!("there is nothing to see: {why}")
    })?;
    scene.lights = lit.lights;
    scene.warnings = std::mem::take(&mut file.warnings);
    scene.warnings.extend(warnings.into_iter().chain(lit.warnings));
    scene.fog = pbrt::fog(&file);
    let emits = table.rows.iter().any(|material| material.emission.max_element() > 0.0);
    let mut surroundings = Surroundings::new(options);
    surroundings.is_lit = lit.environment.is_some() || !scene.lights.is_empty() || emits;
    surroundings.environment = lit.environment;
    let is_shown = set_camera(&mut scene, &file, options, &outer, &mut surroundings);
    scene.settings.fps = options.model.stage.fps.unwrap_or(RATE);
    // Motion is shown by an open shutter, in one picture.
    surroundings.round = scene.is_animated().then_some(1);
    surroundings.set_own(&mut scene, (table, slots), is_shown)?;
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
