//! Converts a parsed scene file to a `Scene`, one section after the other.

use super::{
    camera,
    file::{self, Source},
    meshes::contents::Loader,
    names::Names,
    placing::Placing,
    script::Script,
    settings,
    source::Place,
    surroundings::{
        air,
        environment::{self, Pictures},
        lights::{self, Lamp},
    },
};
use crate::{LoadError, surfaces::Surfaces};
use std::{path::PathBuf, sync::Arc};
use throng_scene::{Metering, RenderDefaults, Scene, desc::SceneFile};

/// Loads the text of a `.ron` file with `--set` overrides. The file may refer to any files. Files that its models refer to must be in the
/// model's own folder or in a folder of `allow`. `camera` is the name of the only camera to use, if given. Its surfaces are still
/// to be refined and displaced.
///
/// # Errors
/// If the text or an override is invalid, or if a file that it refers to cannot be read or is invalid.
pub fn load(
    source: Source,
    sets: &[(String, String)],
    allow: &[PathBuf],
    camera: Option<&str>,
) -> Result<(Scene, Surfaces), LoadError> {
    let (source, file) = file::read(source, sets)?;
    convert(&source, &file, allow, camera)
}

/// Creates a scene from a description that is not in a file.
///
/// # Errors
/// If the description is invalid, or if a file that it refers to cannot be read or is invalid.
pub fn build(desc: &SceneFile) -> Result<(Scene, Surfaces), LoadError> {
    let source = Source { pictures: desc.pictures.clone(), ..Source::default() };
    convert(&source, desc, &[], None)
}

fn convert(
    source: &Source,
    file: &SceneFile,
    allow: &[PathBuf],
    chosen_camera: Option<&str>,
) -> Result<(Scene, Surfaces), LoadError> {
    let (mut scene, lamps) = surroundings(source, file)?;
    let mut loader = Loader::new(source, file, allow)?;
    let rows = loader.materials()?;
    let meshes = loader.meshes(&rows)?;
    let placing = Placing::of(&loader, meshes, &rows)?;
    let table = loader.finish(&mut scene)?;
    let surfaces = placing.add_to(&mut scene)?;
    let names = Names::of(&scene);
    let (camera, cuts, shots) = camera::convert(source, file, &scene, &names, chosen_camera)?;
    let viewpoints = camera::all(source, file, &scene, &names)?;
    drop(names);
    (scene.camera, scene.cuts, scene.viewpoints) = (camera, cuts, viewpoints);
    if let Some(script) = Script::new(source, &scene, (&rows, table), &lamps, shots)? {
        scene.camera_has_keys = script.has_cameras();
        if script.has_exposure() {
            scene.settings.metering = Metering::Keyed;
        }
        scene.timeline = Some(Arc::new(script));
    }
    // After the camera, whose framing must not include them.
    lights::place(&mut scene, lamps);
    match scene.placement_tables.fault() {
        None => Ok((scene, surfaces)),
        Some(fault) => Err(source.error(&Place::ROOT.key("instances"), fault)),
    }
}

/// A scene with the settings, the environment, the air and the invisible lights of a file, and its visible lights.
fn surroundings(source: &Source, file: &SceneFile) -> Result<(Scene, Vec<Lamp>), LoadError> {
    let mut settings = settings::convert(source, &file.render, RenderDefaults::default())?;
    settings.shutter = file.first_camera().and_then(|camera| camera.optics().shutter).map(|shutter| shutter.0);
    let (environment, suns) = environment::convert(source, file.environment.as_ref(), &mut Pictures::default())?;
    let fog = air::convert(source, file.air.as_ref())?;
    let (mut lights, lamps) = lights::convert(source, &file.lights)?;
    let own_lights = lights.len();
    lights.extend(suns);
    Ok((Scene { settings, environment, fog, lights, own_lights, ..Scene::default() }, lamps))
}
