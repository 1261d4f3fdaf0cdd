//! Standalone USD stages: their objects, lights and cameras. A stage without lights stands in the studio; one without a camera is framed.

use super::{
    Stage as Surroundings,
    stages::{self, Placed as PlacedObjects},
};
use crate::{
    LoadError, LoadOptions,
    materials::Materials,
    options::{CameraChoice, choose},
    surfaces::Surfaces,
    usd::{self, Clock, Converter, ExposureKeys, PLAIN, cameras, lights},
};
use glam::DAffine3;
use std::{path::Path, sync::Arc};
use throng_scene::{CLAY, Metering, Placed, RenderDefaults, Scene, ranges};
use throng_usd::Stage;

/// Longest side of the picture of a camera, in pixels.
const LONGEST: f32 = 960.0;

/// Loads a stage as a complete scene, but for its surfaces, which are still to be refined and displaced. Passes it to `inspect` first.
///
/// # Errors
/// As [`usd::read`]. Also if the stage lacks the selected camera, or if nothing is visible.
pub fn load(path: &Path, options: &LoadOptions, inspect: impl FnOnce(&Stage)) -> Result<(Scene, Surfaces), LoadError> {
    let stage = usd::read(path, &options.usd()?)?;
    inspect(&stage);
    let chosen = chosen_camera(&stage, options).map_err(|message| LoadError::file(path, message))?;
    let outer = DAffine3::from_quat(options.rotation().as_dquat()) * usd::upright(&stage);
    let clock = Clock::new(&stage.times);
    let mut table = Materials::default();
    let mut converter = Converter::new(&stage, path, &mut table, outer);
    converter.subdivide(options.model.subdivision.unwrap_or_default());
    let lit = lights::convert(&stage, path, &mut converter, &outer);
    let contents = converter.finish();
    if !has_lamps(&stage) {
        color_like_clay(&mut table);
    }
    let PlacedObjects { mut scene, surfaces, slots, warnings } =
        stages::place(path, options, contents, |_| nothing_to_see(&stage))?;
    scene.lights = lit.lights;
    let in_file = |line: &String| format!("{}: {line}", path.display());
    scene.warnings = stage
        .warnings
        .iter()
        .chain(&usd::warnings(&stage.materials))
        .chain(&warnings)
        .map(in_file)
        .chain(lit.warnings)
        .collect();
    scene.notes = notes(&stage, chosen, options);
    set_own(&mut scene.settings, &stage, |name| !(has_preset(options) && PRESET.contains(&name)));
    let mut surroundings = Surroundings::new(options);
    surroundings.is_lit = lit.environment.is_some() || has_lamps(&stage);
    surroundings.environment = lit.environment;
    set_times(&mut scene, path, &stage, &mut surroundings);
    let resolution = stage.render.resolution.map(|[width, height]| (side(width), side(height)));
    let size = options.model.stage.size.or(resolution);
    let aspect = |camera| size.map_or(cameras::aspect_of(camera), |(width, height)| width as f32 / height as f32);
    let all: Vec<_> = stage.cameras.iter().map(|camera| (camera, aspect(camera))).collect();
    for (camera, aspect) in all {
        let own = cameras::convert(&mut scene, camera, &clock, &outer, aspect);
        scene.viewpoints.push((camera.name.clone(), own));
    }
    let mut exposure_keys = None;
    if let Some(index) = chosen {
        let camera = &stage.cameras[index];
        surroundings.camera = Some(scene.viewpoints[index].1.clone());
        surroundings.stands_alone = true;
        scene.settings.shutter = cameras::shutter_of(camera);
        exposure_keys = ExposureKeys::of(&camera.lens, &clock, scene.settings.exposure);
        scene.settings.exposure += camera.lens.first().exposure;
        if let Some((width, height)) = size {
            (scene.settings.width, scene.settings.height) = (width, height);
        } else {
            let aspect = cameras::aspect_of(camera);
            let even = |side: f32| ((side / 2.0).round() as u32 * 2).max(2);
            scene.settings.width = even(LONGEST * aspect.min(1.0));
            scene.settings.height = even(LONGEST / aspect.max(1.0));
        }
    }
    surroundings.set_own(&mut scene, (table, slots), chosen.is_some())?;
    scene.stage = ground(&scene, &stage);
    if options.overrides.is_empty() && options.model.environment.is_none() {
        set_own(&mut scene.settings, &stage, |name| LIGHT.contains(&name));
    }
    // A measured exposure has no place for the camera's.
    if let Some(keys) = exposure_keys.filter(|_| scene.settings.metering == Metering::Off) {
        scene.settings.metering = Metering::Keyed;
        scene.timeline = Some(Arc::new(keys));
    }
    Ok((scene, surfaces))
}

/// The ground of a model that was exported with it. It does not count when the exposure is measured.
fn ground(scene: &Scene, stage: &Stage) -> Option<u32> {
    let (_, path) = stage.render.own.iter().find(|(name, _)| name == GROUND)?;
    let below = format!("{}/", path.trim_start_matches('/'));
    let is_ground = |index: &usize| match scene.placed_by(&scene.instances[*index]) {
        Placed::Mesh(mesh) => scene.meshes[mesh].name.starts_with(&below),
        Placed::Assembly(_) => false,
    };
    scene.world().find(is_ground).map(|index| index as u32)
}

/// The setting with the path of the ground.
const GROUND: &str = "ground";
/// Settings that `--preset` chooses, and those that follow from the light.
const PRESET: [&str; 2] = ["samples", "noise"];
const LIGHT: [&str; 2] = ["metering", "clampIndirect"];

fn has_preset(options: &LoadOptions) -> bool {
    options.model.stage.preset.is_some()
}

/// Applies settings of throng that the stage has.
fn set_own(settings: &mut RenderDefaults, stage: &Stage, applies: impl Fn(&str) -> bool) {
    let own = stage.render.own.iter().filter(|(name, _)| applies(name));
    own.for_each(|(name, text)| settings.set_named(name, text));
}

fn side(pixels: u32) -> u32 {
    pixels.clamp(*ranges::SIDE.start(), *ranges::SIDE.end())
}

/// Gives all objects the colour of clay if none has a material or a colour. White would hardly show their shape.
fn color_like_clay(table: &mut Materials) {
    if table.names.iter().all(|name| name == PLAIN) {
        table.rows.iter_mut().for_each(|material| material.color = CLAY);
    }
}

/// Index of the camera to show; none for a view of the whole.
fn chosen_camera(stage: &Stage, options: &LoadOptions) -> Result<Option<usize>, String> {
    match &options.model.camera {
        Some(CameraChoice::Of(wanted)) => {
            let names = stage.cameras.iter().map(|camera| camera.name.as_str());
            choose(wanted, names, ("camera", "cameras")).map(Some)
        }
        Some(CameraChoice::Turntable | CameraChoice::Still) => Ok(None),
        None if options.view.eye.is_some() || options.view.views.is_some() => Ok(None),
        None => Ok((!stage.cameras.is_empty()).then_some(0)),
    }
}

fn has_lamps(stage: &Stage) -> bool {
    stage.lights.iter().any(|light| !light.shown.all(|shown| !shown))
}

/// Numbers frames by time codes, as other programs do.
fn set_times(scene: &mut Scene, file: &Path, stage: &Stage, surroundings: &mut Surroundings) {
    scene.settings.fps = surroundings.options.model.stage.fps.unwrap_or(stage.times.per_second);
    let Some((first, last)) = stage.times.range else { return };
    if first >= 0.0 && first.fract() == 0.0 && first <= f64::from(u32::MAX) {
        scene.settings.first_frame = first as u32;
    } else if first < last {
        let line = "frames have whole numbers of at least 0, so this stage's are numbered from 1";
        scene.warnings.push(format!("{}: it begins at time code {first}; {line}", file.display()));
    }
    let seconds = (last - first) / stage.times.per_second;
    let frames = (seconds * scene.settings.fps).round().clamp(0.0, 1e6) as u32 + 1;
    surroundings.round = (scene.is_animated() || frames > 1).then_some(frames);
}

fn nothing_to_see(stage: &Stage) -> String {
    let left_out: Vec<String> = stage.census.left_out.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    match left_out.is_empty() {
        true => {
            "there is nothing to see: no visible prim has geometry; --purpose and --variant may show some".to_owned()
        }
        false => {
            format!("there is nothing to see: all geometry is of kinds that are not drawn ({})", left_out.join(", "))
        }
    }
}

fn notes(stage: &Stage, chosen: Option<usize>, options: &LoadOptions) -> Vec<String> {
    let others = stage.cameras.len() - usize::from(chosen.is_some());
    if others == 0 || options.model.camera.is_some() {
        return Vec::new();
    }
    let names: Vec<&str> = stage.cameras.iter().map(|camera| camera.name.as_str()).take(12).collect();
    vec![format!("--camera NAME shows the view of one of its cameras: {}", names.join(", "))]
}
