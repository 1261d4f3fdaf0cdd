//! From a scene to a layer.

use crate::{
    Counts, ExportError, cameras,
    files::{PictureFile, Target},
    lights,
    materials::Materials,
    placing::Placing,
    settings,
    shapes::Shapes,
    textures::Textures,
    times::Times,
};
use throng_scene::{Environment, Metering, Scene, Timeline, anim::posed_tables};
use throng_usd::{Layer, Prim};

/// Path of the root prim.
pub const WORLD: &str = "/World";

/// The layer of a scene, and what it needs.
pub struct Converted {
    pub layer: Layer,
    pub pictures: Vec<PictureFile>,
    pub warnings: Vec<String>,
    pub counts: Counts,
}

/// Gives all that keys and clips animate, but for objects and cameras, its value at the first frame. Returns what USD has nothing for.
pub fn settle(scene: &mut Scene, times: &Times) -> Vec<String> {
    let mut warnings = Vec::new();
    let moment = times.first().moment(scene);
    if let Some(tables) = posed_tables(scene, &moment) {
        scene.materials = tables.materials;
        scene.maps = tables.maps;
        scene.lights = tables.lights;
        scene.fog = tables.fog;
        if let Some(environment) = tables.environment {
            scene.environment = Environment::clone(&environment);
        }
    }
    let keyed = scene.timeline.clone();
    let settings = &mut scene.settings;
    if let Some(timeline) = &keyed {
        settings.white_balance = timeline.white_balance(moment.time()).or(settings.white_balance);
        settings.shutter = timeline.shutter(moment.time()).or(settings.shutter);
    }
    if settings.metering == Metering::Keyed || times.are_measured {
        settings.metering = Metering::Off;
    }
    if settings.metering != Metering::Off {
        warnings.push(
            "the exposure is measured, which other programs do not: set it with --set render.exposure=STOPS".to_owned(),
        );
    }
    if scene.is_foggy() {
        warnings.push("fog is left out: USD has none".to_owned());
    }
    let is_keyed = keyed.is_some_and(|timeline| has_lost_keys(&*timeline, moment.time()));
    let is_animated = is_keyed || !scene.animated.is_empty();
    if is_animated && times.frames.start() != times.frames.end() {
        let line =
            "materials, lights, fog and white balance that keys or clips animate keep their values at the first frame";
        warnings.push(line.to_owned());
    }
    warnings
}

/// Whether keys animate values that USD does not have over time.
fn has_lost_keys(timeline: &dyn Timeline, time: f64) -> bool {
    let changes_tables =
        timeline.changes_lights() || timeline.changes_fog() || !timeline.materials_at_keys().is_empty();
    changes_tables || timeline.white_balance(time).is_some() || timeline.shutter(time).is_some()
}

/// Converts a scene.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn convert(
    scene: &Scene,
    times: &Times,
    target: &Target,
    mut warnings: Vec<String>,
) -> Result<Converted, ExportError> {
    let mut placing = Placing::new(scene, times, Shapes::new(scene, times), Materials::new(scene));
    let mut children = placing.world();
    let groups = placing.groups();
    let Placing { shapes, materials, mut counts, ground, .. } = placing;
    let mut textures = Textures::new(scene, target);
    let materials = materials.finish(&mut textures, &mut warnings)?;
    let lights = lights::prims(scene, &mut textures, &mut warnings)?;
    let cameras = cameras::prims(scene, times, &mut warnings);
    let shapes = shapes.finish(&mut warnings);
    counts.shapes = shapes.children.iter().filter(|class| class.reference.is_empty()).count();
    counts.materials = materials.children.len();
    counts.groups = groups.children.len();
    let pictures = textures.finish();
    counts.textures = pictures.len();
    let rest = [cameras, lights, materials, shapes, groups];
    children.extend(rest.into_iter().filter(|prim| !prim.children.is_empty()));
    let world = Prim { kind: "component", children, ..Prim::new(WORLD.trim_start_matches('/'), "Xform") };
    let layer = Layer {
        default_prim: world.name.clone(),
        documentation: format!("{}, exported by throng {}", scene.name, env!("CARGO_PKG_VERSION")),
        time_codes: Some(times.codes()),
        per_second: scene.settings.fps,
        render_settings: settings::PATH.to_owned(),
        prims: vec![world, settings::prim(scene, ground.as_deref())],
    };
    Ok(Converted { layer, pictures, warnings, counts })
}
