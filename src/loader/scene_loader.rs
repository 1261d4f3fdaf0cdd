//! From a parsed scene file to a `Scene`: every section in turn, each by its own module.

use super::{
    LoadError, camera,
    environment::{self, within},
    framing,
    gltf::Model,
    instances::{self, Unrolled, UsedMotion},
    lens, material,
    materials::Materials,
    meshes::{self, MeshSource, ParsedObj},
    model::{self, DrivenRows, Look, Looks, MeshMotion, Performance},
    motions,
    placements::{Resolver, unknown_material},
    scene_file::{self, Source},
    source::Place,
    subjects,
};
use crate::scene::{
    Material, NONE, Names, RenderDefaults, Scene, Subject,
    desc::{GltfFile, MaterialDesc, MeshDesc, ObjFile, RenderDesc, SceneFile},
    driven::Driven,
    rig::{Clip, DeformingMesh, Palette},
};
use rayon::prelude::*;
use std::{path::Path, sync::Arc};

/// Loads a `.ron` file with `--set` overrides.
///
/// # Errors
/// Everything in the file, or in a file that it names, that cannot be rendered.
pub fn load(path: &Path, sets: &[(String, String)]) -> Result<Scene, LoadError> {
    let (source, file) = scene_file::read(path, sets)?;
    let mut scene = Scene {
        settings: settings(&source, &file.render)?,
        ..Scene::default()
    };
    if let Some(desc) = &file.camera {
        let shown = (scene.settings.start, scene.duration());
        scene.camera = camera::convert(&source, desc, shown)?;
        scene.settings.shutter = desc.shutter().map(|shutter| shutter.0);
    }
    let (surroundings, sun) = environment::convert(&source, file.environment.as_ref())?;
    scene.environment = surroundings;
    scene.lights = environment::lights(&source, &file.lights)?;
    scene.lights.extend(sun);

    let mut loader = Loader {
        source: &source,
        file: &file,
        table: Materials::default(),
        warnings: Vec::new(),
    };
    let rows = loader.materials()?;
    let mut sources = loader.meshes(&rows)?;
    let resolved = Resolver::new(&source, &file, &sources, &rows).resolve()?;
    let unrolled = instances::unroll(&source, &file, &resolved, &sources)?;
    scene.textures = loader.table.decode_textures()?;
    scene.materials = loader.table.rows;
    let materials = loader.table.names;
    scene.maps = loader.table.maps;
    scene.warnings = loader.warnings;
    place(&mut scene, &source, &file, &mut sources, unrolled)?;
    scene.names.materials = materials;
    match &file.camera {
        Some(desc) => lens::convert(&source, desc, &mut scene)?,
        None => scene.camera = framing::turntable(&framing::world_bounds(&scene)),
    }
    Ok(scene)
}

/// Moves what the instances use into the scene; motions are all checked, used or not.
fn place(
    scene: &mut Scene,
    source: &Source,
    file: &SceneFile,
    sources: &mut [MeshSource],
    unrolled: Unrolled,
) -> Result<(), LoadError> {
    let all = Place::ROOT.key("motions");
    let convert = |(name, m): &(String, _)| motions::convert(source, m, &all.key(name));
    let motions = file
        .motions
        .0
        .iter()
        .map(convert)
        .collect::<Result<Vec<_>, _>>()?;
    let motion = |used: &UsedMotion| {
        let own = motions.get(used.motion as usize);
        let mesh = sources.get(used.mesh as usize);
        match (own, mesh.and_then(|mesh| mesh.motion.poses())) {
            (own, Some(poses)) => motions::with_poses(own, poses),
            (Some(own), None) => own.clone(),
            (None, None) => motions::still(),
        }
    };
    scene.motions = unrolled.motions.order.iter().map(motion).collect();
    for &mesh in &unrolled.meshes.order {
        take_mesh(scene, &mut sources[mesh as usize]);
    }
    scene.material_slots = unrolled.slots.all;
    (scene.nodes, scene.instances) = (unrolled.nodes, unrolled.instances);
    scene.names = Names::numbered(unrolled.stems.texts, &unrolled.stems.of);
    let groups = file.groups.names().zip(unrolled.groups);
    let placed = groups.filter(|(_, instances)| instances.start < instances.end);
    let subjects = placed.map(|(name, instances)| Subject {
        name: name.to_owned(),
        anchors: subjects::middles(scene, &subjects::spread(instances)),
    });
    scene.subjects = subjects.collect();
    Ok(())
}

/// Moves a mesh with all that moves it to the end of the scene's.
fn take_mesh(scene: &mut Scene, source: &mut MeshSource) {
    let number = scene.meshes.len() as u32;
    let placeholder = MeshSource::sphere("", NONE).mesh;
    let mesh = std::mem::replace(&mut source.mesh, placeholder);
    scene.meshes.push(mesh);
    match std::mem::take(&mut source.motion) {
        MeshMotion::Still => {}
        MeshMotion::Palette { others, poses } => {
            scene.meshes.extend(others);
            scene.palettes.push(Palette {
                first_mesh: number,
                poses,
            });
        }
        MeshMotion::Alive {
            actor,
            deforming,
            driven,
        } => {
            let number_of_actor = scene.actors.len() as u32;
            scene.deforming.push(DeformingMesh {
                mesh: number,
                actor: number_of_actor,
                ..deforming
            });
            if !driven.materials.is_empty() {
                scene.driven.push(Driven {
                    actor: number_of_actor,
                    ..driven
                });
            }
            scene.actors.push(actor);
        }
    }
}

fn settings(source: &Source, r: &RenderDesc) -> Result<RenderDefaults, LoadError> {
    let place = Place::ROOT.key("render");
    let check = |fine: bool, field: &str, message: &str| match fine {
        true => Ok(()),
        false => Err(source.error(&place.key(field), message)),
    };
    let side = 1..=65535;
    check(
        side.contains(&r.size.0) && side.contains(&r.size.1),
        "size",
        "width and height must be 1 to 65535",
    )?;
    check(r.samples > 0, "samples", "samples must be at least 1")?;
    check(r.frames > 0, "frames", "frames must be at least 1")?;
    check(r.fps.0 > 0.0, "fps", "fps must be above 0")?;
    check(
        r.exposure.0.abs() <= 64.0,
        "exposure",
        "the exposure must be -64 to 64 stops",
    )?;
    if let Some(width) = r.filter_width {
        within(source, width, &place.key("filter_width"), (0.1, 16.0))?;
    }
    if let Some(kelvin) = r.white_balance {
        within(
            source,
            kelvin,
            &place.key("white_balance"),
            (1667.0, 25_000.0),
        )?;
    }
    Ok(RenderDefaults {
        width: r.size.0,
        height: r.size.1,
        samples: r.samples,
        bounces: r.bounces,
        seed: r.seed,
        frames: r.frames,
        fps: r.fps.0,
        start: r.start.0,
        integrator: r.integrator,
        exposure: r.exposure.0,
        tone_map: r.tone_map,
        shutter: None,
        filter: r.filter,
        filter_width: r.filter_width.map(|width| width.0),
        white_balance: r.white_balance.map(|kelvin| kelvin.0),
    })
}

struct Loader<'a> {
    source: &'a Source,
    file: &'a SceneFile,
    table: Materials,
    warnings: Vec<String>,
}

impl Loader<'_> {
    /// Table row of each of the file's materials.
    fn materials(&mut self) -> Result<Vec<u32>, LoadError> {
        let all = Place::ROOT.key("materials");
        self.file
            .materials
            .0
            .iter()
            .map(|(name, m)| self.material(name, m, &all.key(name)))
            .collect()
    }

    fn material(
        &mut self,
        name: &str,
        desc: &MaterialDesc,
        place: &Place,
    ) -> Result<u32, LoadError> {
        let converted = material::convert(self.source, desc, &mut self.table, place)?;
        Ok(self.table.add(name, converted))
    }

    fn meshes(&mut self, rows: &[u32]) -> Result<Vec<MeshSource>, LoadError> {
        let all = Place::ROOT.key("meshes");
        let parse =
            |(name, desc): &(String, MeshDesc)| match desc {
                MeshDesc::Obj(obj) => parse_obj(self.source, obj, &all.key(name))
                    .map(|obj| Parsed::Obj(Box::new(obj))),
                MeshDesc::Gltf(gltf) => model::parse(self.source, gltf, &all.key(name))
                    .map(|m| Parsed::Gltf(Box::new(m))),
                _ => Ok(Parsed::Nothing),
            };
        let parsed: Vec<Result<Parsed, LoadError>> =
            self.file.meshes.0.par_iter().map(parse).collect();
        let file = self.file;
        let entries = file.meshes.0.iter().zip(parsed);
        entries
            .map(|((name, desc), parsed)| self.mesh(name, desc, parsed?, rows, &all.key(name)))
            .collect()
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
            (MeshDesc::Obj(obj), Parsed::Obj(parsed)) => {
                let replacement = self.replacement(obj.material.as_deref(), rows, place)?;
                let (source, warnings) =
                    parsed.into_source(name, replacement, obj.wrap, &mut self.table)?;
                self.warnings.extend(warnings);
                source
            }
            (MeshDesc::Gltf(desc), Parsed::Gltf(model)) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                self.model(name, desc, *model, replacement, place)?
            }
            (MeshDesc::Quad(q), _) => {
                MeshSource::quad(name, q.tile.0, self.table.add("default", grey))
            }
            (MeshDesc::Box(b), _) => {
                MeshSource::cuboid(name, b.tile.0, self.table.add("default", grey))
            }
            _ => MeshSource::sphere(name, self.table.add("default", grey)),
        })
    }

    fn model(
        &mut self,
        name: &str,
        desc: &GltfFile,
        mut model: Model,
        replacement: Option<u32>,
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let performance = model::performance(self.source, desc, &model, place)?;
        self.warnings.append(&mut model.warnings);
        let rig = Arc::new(std::mem::take(&mut model.rig));
        let textures = std::mem::take(&mut model.textures);
        let mut look = match replacement {
            Some(row) => Look::Replaced(row),
            None => Look::Own(Looks::new(&model.materials, textures)),
        };
        let path = self.source.resolve(&desc.file);
        match (performance, &mut look) {
            (Performance::Alive { playback, .. }, Look::Own(looks)) => {
                let playbacks = [playback];
                let tracks = model::played_tracks(&rig.clips, &playbacks);
                looks.driven = DrivenRows::new(&model.driven_materials, tracks);
            }
            (Performance::Palette { clip, .. }, _) => {
                let clip = &rig.clips[clip as usize];
                self.warnings.extend(about_tracks(&path, clip));
            }
            _ => {}
        }
        let flat = model::flatten(&model, rig, &mut look, &mut self.table);
        let driven = match look {
            Look::Own(looks) => looks.driven.finish(&mut self.table),
            Look::Replaced(_) => Vec::new(),
        };
        model::into_source(&path, name, flat, performance, driven)
    }

    /// Table row of the material that takes the place of all of a mesh's.
    fn replacement(
        &self,
        material: Option<&str>,
        rows: &[u32],
        place: &Place,
    ) -> Result<Option<u32>, LoadError> {
        let row = material.map(|m| self.row_of(m, rows, &place.key("material")));
        row.transpose()
    }

    fn row_of(&self, name: &str, rows: &[u32], place: &Place) -> Result<u32, LoadError> {
        let index = self.file.materials.index(name);
        index
            .map(|i| rows[i])
            .ok_or_else(|| unknown_material(self.source, self.file, name, place))
    }
}

/// What palettes of a clip do not show.
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

/// A mesh's file, read and parsed but not yet in any table.
enum Parsed {
    Nothing,
    Obj(Box<ParsedObj>),
    Gltf(Box<Model>),
}

fn parse_obj(source: &Source, obj: &ObjFile, place: &Place) -> Result<ParsedObj, LoadError> {
    if !(0.0..=180.0).contains(&obj.smooth_angle.0) {
        return Err(source.error(
            &place.key("smooth_angle"),
            "the angle must be 0 to 180 degrees",
        ));
    }
    let path = source.resolve(&obj.file);
    if !path.exists() {
        let message = format!(
            "the mesh file {} does not exist: check the path",
            path.display()
        );
        return Err(source.error(&place.key("file"), message));
    }
    if super::extension(&path) != "obj" {
        let message = format!("{} is not an .obj file: convert it to OBJ", path.display());
        return Err(source.error(&place.key("file"), message));
    }
    meshes::parse_obj(&path, obj.smooth_angle.0.to_radians())
}
