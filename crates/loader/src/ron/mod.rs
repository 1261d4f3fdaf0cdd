//! Converts a parsed scene file to a `Scene`. Each section has a module.

mod air;
mod bent;
mod camera;
mod checked;
mod clearance;
mod contents;
mod curves;
mod drop;
mod environment;
pub mod file;
pub mod instances;
mod joined;
mod land;
mod lens;
mod lights;
mod material;
mod model_entry;
mod model_sets;
mod motions;
mod names;
mod nesting;
mod patterns;
mod placed;
pub mod placements;
mod poisson;
mod random;
mod resolved;
mod rules;
mod scatter;
mod script;
mod settings;
mod shapes;
mod surfaces;

use super::{LoadError, budget::Budget, materials::Materials, meshes::MeshSource, model::MeshMotion, subjects};
pub use camera::pace_of;
use contents::Loader;
use curves::Curves;
use environment::Pictures;
use file::Source;
use instances::{Bends, Unrolled, UsedMesh, UsedMotion};
pub use model_sets::ModelSets;
use names::Names;
use placements::Resolver;
use script::Script;
use source::Place;
use std::{collections::HashMap, path::PathBuf, sync::Arc};
use throng_scene::text::keys;
pub use throng_scene::text::{overrides, source};
use throng_scene::{
    MOST_NUMBERS, Metering, Motion, NONE, Scene, Subject,
    animated::Animated,
    desc::SceneFile,
    rig::{DeformingMesh, Palette},
};

/// Loads the text of a `.ron` file with `--set` overrides. The file may refer to any files. Files that its models refer to must be in the
/// model's own folder or in a folder of `allow`. `camera` is the name of the only camera to use, if given.
///
/// # Errors
/// If the text or an override is invalid, or if a file that it refers to cannot be read or is invalid.
pub fn load(
    source: Source,
    sets: &[(String, String)],
    allow: &[PathBuf],
    camera: Option<&str>,
) -> Result<Scene, LoadError> {
    let (source, file) = file::read(source, sets)?;
    convert(&source, &file, allow, camera)
}

/// Creates a scene from a description that is not in a file.
///
/// # Errors
/// If the description is invalid, or if a file that it refers to cannot be read or is invalid.
pub fn build(desc: &SceneFile) -> Result<Scene, LoadError> {
    convert(&Source::default(), desc, &[], None)
}

fn convert(
    source: &Source,
    file: &SceneFile,
    allow: &[PathBuf],
    chosen_camera: Option<&str>,
) -> Result<Scene, LoadError> {
    let mut scene = Scene { settings: settings::convert(source, &file.render)?, ..Scene::default() };
    scene.settings.shutter = file.first_camera().and_then(|camera| camera.optics().shutter).map(|shutter| shutter.0);
    let (surroundings, suns) = environment::convert(source, file.environment.as_ref(), &mut Pictures::default())?;
    scene.environment = surroundings;
    scene.fog = air::convert(source, file.air.as_ref())?;
    let (lights, lamps) = lights::convert(source, &file.lights)?;
    scene.lights = lights;
    scene.own_lights = scene.lights.len();
    scene.lights.extend(suns);

    let budget = Budget::new(None);
    let curves = Curves::read(source, file, allow, &budget)?;
    let mut loader = Loader {
        source,
        file,
        allow,
        curves,
        budget,
        table: Materials::default(),
        warnings: Vec::new(),
        doubts: Vec::new(),
        groups: Vec::new(),
    };
    let rows = loader.materials()?;
    let mut sources = loader.meshes(&rows)?;
    let groups = std::mem::take(&mut loader.groups);
    let mut resolved = Resolver::new((source, file), (&sources, &loader.curves), &rows, &groups).resolve()?;
    let motions = motions::all(source, &loader.curves, file)?;
    let mut bends = Bends { of: motions.iter().map(motions::bend_of).collect(), sides: HashMap::new() };
    joined::join_bent(&mut resolved, &mut sources, &bends).map_err(|(name, why)| {
        let place = Place::ROOT.key("groups");
        source.error(&place.key(&name), format!("a motion bends `{name}`, which becomes one mesh for that, but {why}"))
    })?;
    let mut unrolled = instances::unroll(source, file, &resolved, (&sources, &bends))?;
    if bends.find_sides(&unrolled) {
        unrolled = instances::unroll(source, file, &resolved, (&sources, &bends))?;
    }
    let (textures, warnings) = loader.table.decode_textures()?;
    scene.textures = textures;
    loader.warnings.extend(warnings);
    let table = loader.table.without_rows();
    scene.materials = loader.table.rows;
    let materials = loader.table.names;
    scene.maps = loader.table.maps;
    scene.warnings = loader.warnings;
    scene.doubts = loader.doubts;
    place(&mut scene, source, file, (&mut sources, &motions, &bends), unrolled)?;
    scene.names.materials = materials;
    let names = Names::of(&scene);
    let (camera, cuts, shots) = camera::convert(source, file, &scene, &names, chosen_camera)?;
    let viewpoints = camera::all(source, file, &scene, &names)?;
    drop(names);
    scene.viewpoints = viewpoints;
    (scene.camera, scene.cuts) = (camera, cuts);
    if let Some(script) = Script::new(source, &scene, (&rows, table), &lamps, shots)? {
        scene.camera_has_keys = script.has_cameras();
        if script.has_exposure() {
            scene.settings.metering = Metering::Keyed;
        }
        scene.timeline = Some(Arc::new(script));
    }
    // After the camera, whose framing must not include them.
    lights::place(&mut scene, lamps);
    Ok(scene)
}

/// Moves the meshes and motions that instances use into the scene.
fn place(
    scene: &mut Scene,
    source: &Source,
    file: &SceneFile,
    (sources, motions, bends): (&mut [MeshSource], &[Motion], &Bends),
    unrolled: Unrolled,
) -> Result<(), LoadError> {
    let all = Place::ROOT.key("motions");
    let motion = |used: &UsedMotion| {
        let own = motions.get(used.motion as usize);
        let mesh = sources.get(used.mesh as usize);
        match (own, mesh.and_then(|mesh| mesh.motion.poses())) {
            (own, Some(poses)) => motions::with_poses(own, poses),
            (Some(own), None) => match bends.of(&UsedMesh { mesh: used.mesh, bent_by: used.motion }) {
                Some(bend) => motions::with_sides(own.clone(), bend.sides),
                None => own.clone(),
            },
            (None, None) => motions::still(),
        }
    };
    let of_copy = |used: &UsedMotion| motions::of_copy(motion(used), used.copy);
    scene.motions = unrolled.motions.order.iter().map(of_copy).collect();
    let order = &unrolled.meshes.order;
    for used in order.iter().filter(|used| used.bent_by != NONE) {
        bent::check_room(source, file, sources, (used, bends))?;
    }
    let last_use: HashMap<u32, usize> = order.iter().enumerate().map(|(i, used)| (used.mesh, i)).collect();
    for (i, used) in order.iter().enumerate() {
        let mesh = &mut sources[used.mesh as usize];
        match bends.of(used) {
            Some(bend) => bent::add(scene, &mesh.mesh, &bend),
            None if last_use.get(&used.mesh) != Some(&i) => scene.meshes.push(mesh.mesh.clone()),
            None => take_mesh(scene, mesh),
        }
    }
    scene.material_slots = unrolled.slots.all;
    (scene.nodes, scene.instances, scene.assemblies) = (unrolled.nodes, unrolled.instances, unrolled.assemblies);
    let numbers = if scene.assemblies.is_empty() { 0 } else { scene.number_count() };
    if numbers > MOST_NUMBERS {
        let message = format!(
            "nested groups have {numbers} copies in all, and at most {MOST_NUMBERS} can be numbered: write larger groups of meshes"
        );
        return Err(source.error(&Place::ROOT.key("instances"), message));
    }
    scene.names = throng_scene::Names::numbered(unrolled.stems.texts, &unrolled.stems.of);
    let groups = unrolled.group_names.iter().zip(unrolled.groups);
    let placed = groups.filter(|(_, instances)| instances.start < instances.end);
    let mut known = HashMap::new();
    let subjects = placed.map(|(name, instances)| Subject {
        name: name.clone(),
        anchors: subjects::middles_of_many(scene, &subjects::spread(instances.clone()), &mut known),
        instances: instances.collect(),
    });
    scene.subjects = subjects.collect();
    scene.placed = unrolled.placed;
    (scene.appearances, scene.switches) = (unrolled.appearances, unrolled.switches);
    let names = Names::of(scene);
    let mut turning = scene.motions.clone();
    for (motion, used) in turning.iter_mut().zip(&unrolled.motions.order) {
        if let Some((name, desc)) = file.motions.0.get(used.motion as usize) {
            motions::aim(source, &names, motion, desc, &all.key(name))?;
        }
    }
    scene.motions = turning;
    Ok(())
}

/// Moves a mesh, with its poses or its actor, to the end of the scene's meshes.
fn take_mesh(scene: &mut Scene, source: &mut MeshSource) {
    let number = scene.meshes.len() as u32;
    let placeholder = MeshSource::sphere("", NONE).mesh;
    let mesh = std::mem::replace(&mut source.mesh, placeholder);
    scene.meshes.push(mesh);
    match std::mem::take(&mut source.motion) {
        MeshMotion::Still => {}
        MeshMotion::Palette { others, poses } => {
            scene.meshes.extend(others);
            scene.palettes.push(Palette { first_mesh: number, poses });
        }
        MeshMotion::Alive { actor, deforming, animated } => {
            let number_of_actor = scene.actors.len() as u32;
            scene.deforming.push(DeformingMesh { mesh: number, actor: number_of_actor, ..deforming });
            if !animated.materials.is_empty() {
                scene.animated.push(Animated { actor: number_of_actor, ..animated });
            }
            scene.actors.push(actor);
        }
    }
}
