//! Materials and meshes of a scene file.

use super::{curves::Curves, displaced, fur, land::Land, model_entry, shapes, strands};
use crate::{
    LoadError,
    budget::Budget,
    displacement::{self, Displaced},
    extension,
    geometry::fit::Fit,
    geometry::shapes as triangles,
    gltf::{Model, ModelMesh},
    is_gltf,
    materials::Materials,
    meshes::{self, MeshOptions, MeshSource, ParsedMesh},
    model::{self, AnimatedRows, FlatMaterials, MeshMotion, ModelMaterials, Performance},
    pbrt,
    ron::{
        checked::{Fields, existing},
        file::Source,
        material,
        placing::{placements::unknown_material, resolved::ModelGroup},
        source::Place,
    },
    suggest,
    usd::{self, Contents, Converter},
};
use rayon::prelude::*;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use throng_base::math::Aabb;
use throng_scene::{
    Material, Mesh, NONE, Scene, Shape, TriangleMesh,
    desc::{BoxSize, CurvesFile, Fur, GltfFile, MaterialDesc, MeshDesc, MeshFile, SceneFile, UsdFile},
    rig::Clip,
};
use throng_usd::{Stage, StageOptions};

/// Reads materials and meshes, and collects their rows, warnings and groups.
pub struct Loader<'a> {
    pub source: &'a Source,
    pub file: &'a SceneFile,
    /// Folders, in addition to their own, that models may refer to.
    pub allow: &'a [PathBuf],
    pub curves: Curves,
    /// Memory budget of all meshes together.
    pub budget: Budget,
    pub table: Materials,
    pub warnings: Vec<String>,
    pub doubts: Vec<String>,
    /// The meshes that were displaced.
    displaced: Vec<Displaced>,
    /// The models that are groups.
    pub groups: Vec<ModelGroup>,
}

impl<'a> Loader<'a> {
    /// Reads the curves, and prepares to read the rest.
    ///
    /// # Errors
    /// As [`Curves::read`].
    pub fn new(source: &'a Source, file: &'a SceneFile, allow: &'a [PathBuf]) -> Result<Self, LoadError> {
        let budget = Budget::new(None);
        let curves = Curves::read(source, file, allow, &budget)?;
        let (warnings, doubts, displaced, groups) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            source,
            file,
            allow,
            curves,
            budget,
            table: Materials::default(),
            warnings,
            doubts,
            displaced,
            groups,
        })
    }

    /// Moves the materials, their textures and all warnings into the scene. Returns the table for materials whose values have keys.
    ///
    /// # Errors
    /// If a picture is damaged.
    pub fn finish(mut self, scene: &mut Scene) -> Result<Materials, LoadError> {
        let (textures, warnings) = self.table.decode_textures()?;
        let table = self.table.without_rows();
        scene.textures = textures;
        (scene.materials, scene.names.materials, scene.maps) = (self.table.rows, self.table.names, self.table.maps);
        scene.warnings = self.warnings;
        scene.warnings.extend(warnings);
        scene.doubts = self.doubts;
        scene.notes.extend(displacement::note(&self.displaced));
        Ok(table)
    }

    /// Table row of each of the file's materials.
    pub fn materials(&mut self) -> Result<Vec<u32>, LoadError> {
        let all = Place::ROOT.key("materials");
        self.file.materials.0.iter().map(|(name, m)| self.material(name, m, &all.key(name))).collect()
    }

    fn material(&mut self, name: &str, desc: &MaterialDesc, place: &Place) -> Result<u32, LoadError> {
        let converted = material::convert(self.source, desc, (&mut self.table, self.allow), place)?;
        Ok(self.table.add(name, converted))
    }

    pub fn meshes(&mut self, rows: &[u32]) -> Result<Vec<MeshSource>, LoadError> {
        let all = Place::ROOT.key("meshes");
        let entries = self.file.meshes.0.iter().map(|(name, desc)| match desc {
            MeshDesc::File(mesh) if is_gltf(Path::new(&mesh.file)) && mesh.displacement.is_none() => {
                (name, MeshDesc::Gltf(mesh.as_model()))
            }
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
                MeshDesc::Usd(usd) => self.usd(usd, &all.key(name)),
                MeshDesc::Pbrt(pbrt) => self.pbrt(&pbrt.file, &all.key(name)),
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
            if let MeshDesc::Fur(fur) = desc {
                sources.push(self.fur(name, fur, (&sources, rows), &place)?);
                continue;
            }
            if let MeshDesc::Curves(curves) = desc {
                sources.push(self.strands(name, curves, rows, &place)?);
                continue;
            }
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

    /// Strands that grow on one of the meshes `above`. `rows` are those of the file's materials.
    fn fur(
        &mut self,
        name: &str,
        fur: &Fur,
        (above, rows): (&[MeshSource], &[u32]),
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let Some(on) = above.iter().find(|mesh| mesh.mesh.name == fur.on) else {
            let hint = suggest::hint(&fur.on, above.iter().map(|mesh| mesh.mesh.name.as_str()), "meshes above");
            let message = format!("there is no mesh `{}` above this one: {hint}", fur.on);
            return Err(self.source.error(&place.key("on"), message));
        };
        if on.materials == [NONE] {
            let message = format!("`{}` is a group, which has no surface of its own: name a mesh", fur.on);
            return Err(self.source.error(&place.key("on"), message));
        }
        if matches!(on.motion, MeshMotion::Palette { .. }) {
            let line = format!("the strands of `{name}` keep still, because `{}` has a palette of poses", fur.on);
            self.warnings.push(format!("{line}: write `alive: true` for a model whose strands follow it"));
        }
        let row = self.material_of_strands(fur.material.as_deref(), rows, place)?;
        let (curves, motion) = fur::grow(self.source, fur, on, &self.budget, place)?;
        let mesh = Mesh { name: name.to_owned(), shape: Shape::Curves(Arc::new(curves)), slot_count: 1 };
        Ok(MeshSource { motion, ..MeshSource::of_mesh(mesh, vec![row]) })
    }

    /// Strands of a file.
    fn strands(&mut self, name: &str, desc: &CurvesFile, rows: &[u32], place: &Place) -> Result<MeshSource, LoadError> {
        let row = self.material_of_strands(desc.material.as_deref(), rows, place)?;
        let (source, warnings) = strands::read((self.source, self.file), name, desc, (row, &self.budget), place)?;
        self.warnings.extend(warnings);
        Ok(source)
    }

    /// Table row of the material of strands: the named one, or a grey one.
    fn material_of_strands(&mut self, name: Option<&str>, rows: &[u32], place: &Place) -> Result<u32, LoadError> {
        let named = self.replacement(name, rows, place)?;
        Ok(named.unwrap_or_else(|| self.table.add("default", Material::default())))
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
            self.source.check(&place.key("shared"), shared.map_err(|message| format!("the model {message}")))?;
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
                if let Some(displacement) = &desc.displacement {
                    self.displaced.extend(displaced::apply(self.source, displacement, &mut source, place)?);
                }
                source
            }
            (MeshDesc::Gltf(desc), Parsed::Gltf { model, is_shared }) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                self.model(name, desc, (*model, is_shared), replacement, place)?
            }
            (MeshDesc::Usd(desc), Parsed::Usd(stage)) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                self.stage(name, desc, &stage, replacement, place)?
            }
            (MeshDesc::Pbrt(desc), Parsed::Pbrt(scene)) => {
                let replacement = self.replacement(desc.material.as_deref(), rows, place)?;
                self.pbrt_scene(name, (&desc.file, desc.fit), (&scene, replacement), place)?
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
        if !is_shared && model.meshes.iter().any(ModelMesh::has_lines) {
            let line =
                "its lines are left out, because the model is one mesh: leave `clip`, `alive` and `shared: false` out";
            self.warnings.push(in_file(line.to_owned()));
        }
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

    fn usd(&self, desc: &UsdFile, place: &Place) -> Result<Parsed, LoadError> {
        let path = self.source.resolve(&desc.file);
        if !usd::EXTENSIONS.contains(&extension(&path).as_str()) || !crate::files::exists(&path) {
            let message = format!("the stage {} is no USD file that exists: check the path", path.display());
            return Err(self.source.error(&place.key("file"), message));
        }
        let options = StageOptions {
            prim: desc.prim.clone(),
            variants: self.source.check(&place.key("variants"), usd::variants(&desc.variants))?,
            purposes: usd::purposes(desc.purposes.as_deref().unwrap_or_default()),
            allow: self.allow.to_owned(),
        };
        Ok(Parsed::Usd(Box::new(usd::read(&path, &options)?)))
    }

    /// Adds a stage as a group.
    fn stage(
        &mut self,
        name: &str,
        desc: &UsdFile,
        stage: &Stage,
        replacement: Option<u32>,
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let path = self.source.resolve(&desc.file);
        let outer = usd::upright(stage);
        let mut converter = Converter::new(stage, &path, &mut self.table, outer);
        converter.subdivide(desc.subdivision);
        let lit = usd::lights::convert(stage, &path, &mut converter, &outer);
        let contents = converter.finish();
        let in_file = |line: &String| format!("{}: {line}", path.display());
        let warnings = usd::warnings(&stage.materials);
        self.warnings.extend(stage.warnings.iter().chain(&warnings).chain(&contents.warnings).map(in_file));
        self.warnings.extend(lit.warnings);
        if !lit.lights.is_empty() || lit.environment.is_some() {
            let line = "its distant, dome and point lights are left out: write them in `lights` and `environment`";
            self.doubts.push(in_file(&line.to_owned()));
        }
        self.group(name, contents, (&path, desc.fit, replacement), place)
    }

    fn pbrt(&self, file: &str, place: &Place) -> Result<Parsed, LoadError> {
        let path = self.source.resolve(file);
        if !pbrt::is_scene(&path) || !crate::files::exists(&path) {
            let message = format!("the scene {} is no .pbrt file that exists: check the path", path.display());
            return Err(self.source.error(&place.key("file"), message));
        }
        Ok(Parsed::Pbrt(Box::new(pbrt::read(&path)?)))
    }

    /// Adds a pbrt scene as a group.
    fn pbrt_scene(
        &mut self,
        name: &str,
        (file, fit): (&str, Option<BoxSize>),
        (scene, replacement): (&throng_pbrt::Scene, Option<u32>),
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        let path = self.source.resolve(file);
        let contents = pbrt::Converter::new(scene, &path, &mut self.table, pbrt::upright(scene)).finish();
        self.warnings.extend(scene.warnings.iter().chain(&contents.warnings).cloned());
        if !scene.lights.is_empty() {
            let line = "its lights other than shapes are left out: write them in `lights` and `environment`";
            self.doubts.push(format!("{}: {line}", path.display()));
        }
        self.group(name, contents, (&path, fit, replacement), place)
    }

    /// Adds the contents of a file as a group.
    fn group(
        &mut self,
        name: &str,
        mut contents: Contents,
        (path, fit, replacement): (&Path, Option<BoxSize>, Option<u32>),
        place: &Place,
    ) -> Result<MeshSource, LoadError> {
        if contents.lists.first().is_none_or(Vec::is_empty) {
            let message = format!("there is nothing to see in {}", path.display());
            return Err(self.source.error(&place.key("file"), message));
        }
        if let Some(row) = replacement {
            contents.replace_materials(row);
        }
        if let Some(size) = fit {
            contents.transform(&self.fit(&contents.bounds(), size, place)?.transform());
        }
        let Contents { sources, lists, names, .. } = contents;
        self.groups.push(ModelGroup::of_lists(name, sources, lists, names));
        // The entry itself is never placed.
        Ok(MeshSource::sphere(name, NONE))
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
    Usd(Box<Stage>),
    Pbrt(Box<throng_pbrt::Scene>),
}

fn parse_mesh(
    source: &Source,
    desc: &MeshFile,
    allow: &[PathBuf],
    place: &Place,
) -> Result<Box<dyn ParsedMesh>, LoadError> {
    let smooth_angle = Fields { source, place }.within(desc.smooth_angle, "smooth_angle", (0.0, 180.0))?.to_radians();
    let path = existing(source, &desc.file, "the mesh file", &place.key("file"))?;
    let fail = |message: String| Err(source.error(&place.key("file"), message));
    let name = path.display();
    if desc.displacement.is_some() && is_gltf(&path) {
        let message = format!("{name} is a glTF file, which is not displaced: export the mesh as .obj or .ply");
        return Err(source.error(&place.key("displacement"), message));
    }
    let Some(format) = meshes::format_of(&crate::extension(&path)) else {
        let known = meshes::extensions();
        return fail(format!("{name} is no mesh file: convert it to one of {known}"));
    };
    let options = MeshOptions { smooth_angle, subdivision: Some(desc.subdivision), scheme: desc.scheme, points: true };
    if options.subdivides().is_some() && !format.has_polygons() {
        let message = format!("{name} has no faces to subdivide: use an .obj or .ply file");
        return Err(source.error(&place.key("subdivision"), message));
    }
    format.parse(&path, &options, allow)
}
