//! From a scene to a layer.

use crate::{
    Counts, ExportError, ExportOptions, cameras,
    files::{PictureFile, Target},
    lights,
    materials::Materials,
    placing::Placing,
    settings,
    shapes::Shapes,
    textures::Textures,
    times::Times,
};
use throng_scene::Scene;
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

/// Converts a scene.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn convert(scene: &Scene, target: &Target, options: &ExportOptions) -> Result<Converted, ExportError> {
    let times = Times::new(scene, options);
    let mut warnings = Vec::new();
    let mut placing = Placing::new(scene, &times, Shapes::new(scene, &times), Materials::new(scene));
    let mut children = placing.world();
    let groups = placing.groups();
    let Placing { shapes, materials, mut counts, .. } = placing;
    let mut textures = Textures::new(scene, target);
    let materials = materials.finish(&mut textures, &mut warnings)?;
    let lights = lights::prims(scene, &mut textures, &mut warnings)?;
    let cameras = cameras::prims(scene, &times, &mut warnings);
    let shapes = shapes.finish(&mut warnings);
    counts.shapes = shapes.children.len();
    counts.materials = materials.children.len();
    counts.groups = groups.children.len();
    let pictures = textures.finish();
    counts.textures = pictures.len();
    let rest = [cameras, lights, materials, shapes, groups];
    children.extend(rest.into_iter().filter(|prim| !prim.children.is_empty()));
    lacks(scene, &mut warnings);
    let world = Prim { kind: "component", children, ..Prim::new(WORLD.trim_start_matches('/'), "Xform") };
    let layer = Layer {
        default_prim: world.name.clone(),
        documentation: format!("{}, exported by throng {}", scene.name, env!("CARGO_PKG_VERSION")),
        time_codes: Some(times.codes()),
        per_second: scene.settings.fps,
        render_settings: settings::PATH.to_owned(),
        prims: vec![world, settings::prim(scene)],
    };
    Ok(Converted { layer, pictures, warnings, counts })
}

/// Adds what USD has nothing for.
fn lacks(scene: &Scene, warnings: &mut Vec<String>) {
    let mut lack = |is_so: bool, line: &str| {
        if is_so {
            warnings.push(line.to_owned());
        }
    };
    lack(scene.is_foggy(), "fog is left out: USD has none");
    let keyed = scene.timeline.is_some() || !scene.animated.is_empty();
    lack(keyed, "materials, lights, fog and exposure that keys or clips animate keep their values at the first frame");
}
