//! Converts a parsed scene file to a `Scene`. Each section has a module.

mod air;
mod bent;
mod camera;
mod clearance;
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
mod rules;
mod scatter;
mod script;
mod shapes;
mod surfaces;

use super::{
    LoadError,
    budget::Budget,
    fit::Fit,
    gltf::Model,
    is_gltf,
    materials::Materials,
    meshes::{self, MeshOptions, MeshSource, ParsedMesh},
    model::{self, AnimatedRows, FlatMaterials, MeshMotion, ModelMaterials, Performance},
    shapes as triangles, subjects,
};
pub use camera::pace_of;
use curves::Curves;
use environment::Pictures;
use file::Source;
use instances::{Bends, Unrolled, UsedMesh, UsedMotion};
use land::Land;
pub use model_sets::ModelSets;
use names::Names;
use placements::{ModelGroup, Resolver, unknown_material};
use rayon::prelude::*;
use script::Script;
use source::Place;
use std::{
    collections::HashMap,
    fmt::Display,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use throng_base::math::Aabb;
use throng_scene::text::keys;
pub use throng_scene::text::{overrides, source};
use throng_scene::{
    FrameRate, MOST_NUMBERS, Material, Metering, Motion, NONE, RenderDefaults, Scene, Subject, TriangleMesh,
    animated::Animated,
    desc::{BoxSize, GltfFile, MaterialDesc, MeshDesc, MeshFile, RenderDesc, SceneFile},
    ranges,
    rig::{Clip, DeformingMesh, Palette},
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
    let mut scene = Scene { settings: settings(source, &file.render)?, ..Scene::default() };
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

fn settings(source: &Source, r: &RenderDesc) -> Result<RenderDefaults, LoadError> {
    let place = Place::ROOT.key("render");
    let size = place.key("size");
    in_range(r.size.0, &ranges::SIDE, (source, size, "width"))?;
    in_range(r.size.1, &ranges::SIDE, (source, size, "height"))?;
    let place = |field: &'static str| (source, place.key(field), field);
    in_range(r.samples, &ranges::SAMPLES, place("samples"))?;
    in_range(r.bounces, &ranges::BOUNCES, place("bounces"))?;
    in_range(r.frames, &ranges::FRAMES, place("frames"))?;
    in_range(r.first_frame, &ranges::FIRST_FRAME, place("first_frame"))?;
    in_range(r.exposure.0, &ranges::EXPOSURE, place("exposure"))?;
    if let Some(width) = r.filter_width {
        in_range(width.0, &ranges::FILTER_WIDTH, place("filter_width"))?;
    }
    if let Some(clamp) = r.clamp_indirect {
        in_range(clamp.0, &ranges::CLAMP_INDIRECT, place("clamp_indirect"))?;
    }
    if let Some(kelvin) = r.white_balance {
        in_range(kelvin.0, &ranges::KELVIN, place("white_balance"))?;
    }
    if r.fps.0 <= 0.0 {
        let (source, place, _) = place("fps");
        return Err(source.error(&place, "fps must be above 0"));
    }
    Ok(RenderDefaults {
        width: r.size.0,
        height: r.size.1,
        samples: r.samples,
        bounces: r.bounces,
        seed: r.seed,
        frames: r.frames,
        first_frame: r.first_frame,
        // The exact rate that the number approximates.
        fps: FrameRate::of(r.fps.0).fps(),
        start: r.start.0,
        integrator: r.integrator.unwrap_or(RenderDefaults::default().integrator),
        exposure: r.exposure.0,
        tone_map: r.tone_map,
        filter: r.filter,
        filter_width: r.filter_width.map(|width| width.0),
        white_balance: r.white_balance.map(|kelvin| kelvin.0),
        denoise: r.denoise,
        clamp_indirect: r.clamp_indirect.map(|radiance| radiance.0),
        ..RenderDefaults::default()
    })
}

/// Checks a setting against the range of the command line.
fn in_range<T: PartialOrd + Display>(
    value: T,
    range: &RangeInclusive<T>,
    (source, place, field): (&Source, Place, &str),
) -> Result<(), LoadError> {
    if range.contains(&value) {
        Ok(())
    } else {
        let range = ranges::describe(range);
        let message = format!("{field} is {value}; it must be {range}");
        Err(source.error(&place, message))
    }
}

struct Loader<'a> {
    source: &'a Source,
    file: &'a SceneFile,
    /// Folders, in addition to their own, that models may refer to.
    allow: &'a [PathBuf],
    curves: Curves,
    /// Memory budget of all meshes together.
    budget: Budget,
    table: Materials,
    warnings: Vec<String>,
    doubts: Vec<String>,
    /// The models that are groups.
    groups: Vec<ModelGroup>,
}

impl Loader<'_> {
    /// Table row of each of the file's materials.
    fn materials(&mut self) -> Result<Vec<u32>, LoadError> {
        let all = Place::ROOT.key("materials");
        self.file.materials.0.iter().map(|(name, m)| self.material(name, m, &all.key(name))).collect()
    }

    fn material(&mut self, name: &str, desc: &MaterialDesc, place: &Place) -> Result<u32, LoadError> {
        let converted = material::convert(self.source, desc, &mut self.table, place)?;
        Ok(self.table.add(name, converted))
    }

    fn meshes(&mut self, rows: &[u32]) -> Result<Vec<MeshSource>, LoadError> {
        let all = Place::ROOT.key("meshes");
        let entries = self.file.meshes.0.iter().map(|(name, desc)| match desc {
            MeshDesc::File(mesh) if is_gltf(Path::new(&mesh.file)) => (name, MeshDesc::Gltf(mesh.as_model())),
            _ => (name, desc.clone()),
        });
        let entries: Vec<(&String, MeshDesc)> = entries.collect();
        // Only the first error is reported, so files after a failed one need not be read.
        let failed = AtomicUsize::new(usize::MAX);
        let parse = |(index, (name, desc)): (usize, &(&String, MeshDesc))| {
            if index > failed.load(Ordering::Relaxed) {
                return Ok(Parsed::Nothing);
            }
            let parsed = match desc {
                MeshDesc::File(mesh) => self.mesh_file(mesh, &all.key(name)),
                MeshDesc::Gltf(gltf) => self.gltf(gltf, &all.key(name)),
                _ => Ok(Parsed::Nothing),
            };
            if parsed.is_err() {
                failed.fetch_min(index, Ordering::Relaxed);
            }
            parsed
        };
        let parsed: Vec<Result<Parsed, LoadError>> = entries.par_iter().enumerate().map(parse).collect();
        let mut sources: Vec<MeshSource> = Vec::new();
        for ((name, desc), parsed) in entries.iter().zip(parsed) {
            let place = all.key(name);
            let source = match self.made(desc, &sources, &place)? {
                Some(mesh) => {
                    let material = self.table.add("default", Material::default());
                    match desc {
                        // Merging equal points takes seconds and gigabytes for a terrain with millions of vertices, and has no effect.
                        MeshDesc::Terrain(_) => MeshSource::of_unsplit_shape(name, mesh, material),
                        _ => MeshSource::of_shape(name, mesh, material),
                    }
                }
                None => self.mesh(name, desc, parsed?, rows, &place)?,
            };
            sources.push(source);
        }
        for group in &mut self.groups {
            group.first_mesh = sources.len();
            sources.append(&mut group.sources);
        }
        Ok(sources)
    }

    /// The triangles of an entry without a mesh file; `above` are the earlier meshes.
    fn made(
        &mut self,
        desc: &MeshDesc,
        above: &[MeshSource],
        place: &Place,
    ) -> Result<Option<TriangleMesh>, LoadError> {
        let land = Land { source: self.source, curves: &self.curves, budget: &self.budget, groups: &self.groups };
        Ok(Some(match desc {
            MeshDesc::Quad(q) => triangles::quad(q.tile.0),
            MeshDesc::Box(b) => triangles::cuboid(b.size.0, b.tile.0),
            MeshDesc::Terrain(terrain) => land.terrain(terrain, place)?,
            MeshDesc::Ribbon(ribbon) => {
                let (mesh, warning) = land.ribbon(ribbon, above, place)?;
                self.warnings.extend(warning);
                mesh
            }
            _ => return shapes::round(self.source, desc, place),
        }))
    }

    fn mesh_file(&self, desc: &MeshFile, place: &Place) -> Result<Parsed, LoadError> {
        let path = self.source.resolve(&desc.file);
        let lacks = |lack: String| {
            let message = format!("the meshes so far and this one: all {lack}");
            self.source.error(&place.key("file"), message)
        };
        let bytes = path.metadata().map_or(0, |m| m.len());
        self.budget.hold(&path, bytes).map_err(lacks)?;
        self.budget.take(bytes.saturating_mul(PARSING)).map_err(lacks)?;
        let parsed = parse_mesh(self.source, desc, self.allow, place)?;
        self.budget.take(parsed.bytes()).map_err(lacks)?;
        Ok(Parsed::Mesh(parsed))
    }

    fn gltf(&self, desc: &GltfFile, place: &Place) -> Result<Parsed, LoadError> {
        let model = model_entry::parse(self.source, desc, self.allow, &self.budget, place)?;
        let at_rest = desc.clip.is_none() && !desc.alive;
        let shared = model::shared_bytes(&model, if at_rest { desc.shared } else { Some(false) });
        let shared =
            shared.map_err(|message| self.source.error(&place.key("shared"), format!("the model {message}")))?;
        let bytes = shared.unwrap_or_else(|| model::flat_bytes(&model));
        self.budget.take(bytes).map_err(|lack| {
            let form = if shared.is_some() { "" } else { " as one mesh" };
            let message = format!("the meshes so far and this model{form}: all {lack}");
            self.source.error(&place.key("file"), message)
        })?;
        Ok(Parsed::Gltf { model: Box::new(model), is_shared: shared.is_some() })
    }

    fn mesh(
        &mut self,
        name: &str,
        desc: &MeshDesc,
        parsed: Parsed,
        rows: &[u32],
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let grey = Material::default();
        Ok(match (desc, parsed) {
            (MeshDesc::File(desc), Parsed::Mesh(parsed)) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                let (mut source, warnings) = parsed.into_source(name, replacement, desc.wrap, &mut self.table)?;
                self.warnings.extend(warnings);
                if let Some(size) = desc.fit {
                    self.fit(&source.mesh.bounds(), size, place)?.mesh(&mut source);
                }
                source
            }
            (MeshDesc::Gltf(desc), Parsed::Gltf { model, is_shared }) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                self.model(name, desc, (*model, is_shared), replacement, place)?
            }
            (MeshDesc::Triangles(mesh), _) => {
                self.check_triangles(mesh, place)?;
                MeshSource::of_unsplit_shape(name, mesh.clone(), self.table.add("default", grey))
            }
            _ => MeshSource::sphere(name, self.table.add("default", grey)),
        })
    }

    /// Checks triangles built in code for faults that no file can have.
    fn check_triangles(&self, mesh: &TriangleMesh, place: &Place) -> Result<(), LoadError> {
        let count = mesh.positions.len();
        let fits = |attributes: usize| attributes == 0 || attributes == count;
        let attributes = [mesh.normals.len(), mesh.uvs.len(), mesh.uvs1.len(), mesh.colors.len(), mesh.tangents.len()];
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        let floats: [&[f32]; 6] = [
            mesh.positions.as_flattened(),
            mesh.normals.as_flattened(),
            mesh.uvs.as_flattened(),
            mesh.uvs1.as_flattened(),
            mesh.colors.as_flattened(),
            mesh.tangents.as_flattened(),
        ];
        let fault = if mesh.triangles.is_empty() {
            "the mesh has no triangles: add some"
        } else if mesh.triangles.as_flattened().iter().any(|&index| index as usize >= count) {
            "a triangle has a vertex that the mesh lacks: indices count from 0"
        } else if !attributes.into_iter().all(fits) {
            "normals, texture coordinates, colours and tangents must be as many as positions, or none"
        } else if !mesh.slots.is_empty() {
            "the mesh has one material: leave its slots empty"
        } else if !floats.into_iter().all(finite) {
            "all numbers must be finite"
        } else {
            return Ok(());
        };
        Err(self.source.error(place, fault))
    }

    fn model(
        &mut self,
        name: &str,
        desc: &GltfFile,
        (mut model, is_shared): (Model, bool),
        replacement: Option<u32>,
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let performance = model_entry::performance(self.source, desc, &model, place)?;
        let path = self.source.resolve(&desc.file);
        let in_file = |line: String| format!("{}: {line}", path.display());
        self.warnings.extend(model.warnings.drain(..).map(in_file));
        self.doubts.extend(model.doubts.drain(..).map(in_file));
        model::drop_hidden(&mut model, performance);
        let rig = Arc::new(std::mem::take(&mut model.rig));
        let textures = std::mem::take(&mut model.textures);
        let mut materials = match replacement {
            Some(row) => FlatMaterials::Replaced(row),
            None => FlatMaterials::Own(ModelMaterials::new(&model.materials, textures)),
        };
        if is_shared {
            let mut meshes = model::shared_meshes(&path, &model, &rig, &mut materials, &mut self.table)?;
            if let Some(size) = desc.fit {
                let fit = self.fit(&model::bounds(&meshes), size, place)?;
                model::fit(&mut meshes, &fit);
            }
            self.groups.push(ModelGroup::new(name, meshes));
            // The entry itself is never placed.
            return Ok(MeshSource::sphere(name, NONE));
        }
        match (performance, &mut materials) {
            (Performance::Alive { playback, .. }, FlatMaterials::Own(materials)) => {
                let playbacks = [playback];
                let tracks = model::played_tracks(&rig.clips, &playbacks);
                materials.animated = AnimatedRows::new(&model.animated_materials, tracks);
            }
            (Performance::Palette { clip, .. }, _) => {
                let clip = &rig.clips[clip as usize];
                self.doubts.extend(about_tracks(&path, clip));
            }
            _ => {}
        }
        let mut flat = model::flatten(&model, rig, &mut materials, &mut self.table);
        if let Some(size) = desc.fit
            && !flat.mesh.triangles.is_empty()
        {
            flat.fit(&self.fit(&flat.bounds(), size, place)?);
        }
        let animated = match materials {
            FlatMaterials::Own(materials) => materials.animated.finish(&mut self.table),
            FlatMaterials::Replaced(_) => Vec::new(),
        };
        model::into_source(&path, name, flat, performance, animated)
    }

    /// The scale of a mesh whose entry at `place` has the field `fit`.
    fn fit(&self, bounds: &Aabb, size: BoxSize, place: &Place) -> Result<Fit, LoadError> {
        let fail = |lack| self.source.error(&place.key("fit"), format!("the mesh {lack}"));
        Fit::new(bounds, size.0).map_err(fail)
    }

    /// Table row of the material that replaces all materials of a mesh.
    fn replacement(&self, material: Option<&str>, rows: &[u32], place: &Place) -> Result<Option<u32>, LoadError> {
        let row = material.map(|m| self.row_of(m, rows, &place.key("material")));
        row.transpose()
    }

    fn row_of(&self, name: &str, rows: &[u32], place: &Place) -> Result<u32, LoadError> {
        let index = self.file.materials.index(name);
        index.map(|i| rows[i]).ok_or_else(|| unknown_material(self.source, self.file, name, place))
    }
}

/// A warning about animated values of a clip that a palette of poses does not show.
fn about_tracks(path: &Path, clip: &Clip) -> Option<String> {
    (!clip.tracks.is_empty()).then(|| {
        format!(
            "{}: the clip `{}` also changes materials, lights or cameras, which poses of a palette do not show; materials \
             change with `alive: true`",
            path.display(),
            clip.name
        )
    })
}

/// Bytes that parsing takes from the budget per byte of a mesh's file. Naming a file a thousand times therefore exceeds it.
const PARSING: u64 = 32;

/// A mesh's file after parsing, before its materials are in the tables.
enum Parsed {
    Nothing,
    Mesh(Box<dyn ParsedMesh>),
    Gltf { model: Box<Model>, is_shared: bool },
}

fn parse_mesh(
    source: &Source,
    desc: &MeshFile,
    allow: &[PathBuf],
    place: &Place,
) -> Result<Box<dyn ParsedMesh>, LoadError> {
    if !(0.0..=180.0).contains(&desc.smooth_angle.0) {
        return Err(source.error(&place.key("smooth_angle"), "the angle must be 0 to 180 degrees"));
    }
    let path = source.resolve(&desc.file);
    let fail = |message: String| Err(source.error(&place.key("file"), message));
    let name = path.display();
    if !super::files::exists(&path) {
        return fail(format!("the mesh file {name} does not exist: check the path"));
    }
    let Some(format) = meshes::format_of(&super::extension(&path)) else {
        let known = meshes::extensions();
        return fail(format!("{name} is no mesh file: convert it to one of {known}"));
    };
    let options = MeshOptions { smooth_angle: desc.smooth_angle.0.to_radians() };
    format.parse(&path, &options, allow)
}
