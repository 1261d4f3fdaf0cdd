//! The `meshes` section: files parsed in parallel, then their materials entered into the table.

use super::{
    LoadError, budget, files,
    folders::{Folders, Refusal},
    gltf::ColorSpace,
    materials::Materials,
    model::MeshMotion,
    obj::{
        self, ObjData, mesh,
        mtl::{self, MtlData, MtlMaterial, MtlSurface, MtlTexture},
    },
    shapes,
};
use crate::scene::{Alpha, Lobes, Material, MaterialKind, Mesh, NONE, Shape, TriangleMesh, Wrap};
use glam::Vec3;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// A mesh, the materials of its slots, and the points that copies can be scattered on.
pub struct MeshSource {
    pub mesh: Mesh,
    /// Material row of each slot.
    pub materials: Vec<u32>,
    /// Positions as the file has them, unsplit.
    pub points: Vec<[f32; 3]>,
    /// Triangles between `points`.
    pub point_triangles: Vec<[u32; 3]>,
    pub motion: MeshMotion,
}

impl MeshSource {
    /// The unit sphere.
    pub fn sphere(name: &str, material: u32) -> Self {
        let mesh = Mesh {
            name: name.to_owned(),
            shape: Shape::Sphere,
            slot_count: 1,
        };
        Self {
            mesh,
            materials: vec![material],
            points: Vec::new(),
            point_triangles: Vec::new(),
            motion: MeshMotion::Still,
        }
    }

    /// The quad of [`shapes::quad`].
    pub fn quad(name: &str, tile: f32, material: u32) -> Self {
        let triangles = shapes::quad(tile);
        let (points, faces) = (triangles.positions.clone(), triangles.triangles.clone());
        Self::of_triangles(name, triangles, vec![material], points, faces)
    }

    /// The box of [`shapes::cuboid`].
    pub fn cuboid(name: &str, tile: f32, material: u32) -> Self {
        let (points, faces) = shapes::cuboid_corners();
        Self::of_triangles(name, shapes::cuboid(tile), vec![material], points, faces)
    }

    fn of_triangles(
        name: &str,
        triangles: TriangleMesh,
        materials: Vec<u32>,
        points: Vec<[f32; 3]>,
        point_triangles: Vec<[u32; 3]>,
    ) -> Self {
        let slot_count = materials.len() as u32;
        let mesh = Mesh {
            name: name.to_owned(),
            shape: Shape::Triangles(triangles),
            slot_count,
        };
        Self {
            mesh,
            materials,
            points,
            point_triangles,
            motion: MeshMotion::Still,
        }
    }
}

/// An OBJ file with its MTL files, read and parsed but not yet in any table.
pub struct ParsedObj {
    data: ObjData,
    built: mesh::ObjMesh,
    libraries: Vec<MtlData>,
    folders: Folders,
    /// Library and entry of each material name; the first one counts.
    entries: HashMap<String, (usize, usize)>,
    pub warnings: Vec<String>,
}

/// Reads an OBJ file and the MTL files it names, smoothing up to `smooth_angle` radians. Files that it refers to may be in its own
/// folder and in those of `allow`.
///
/// # Errors
/// When a file is malformed or out of these folders, or nothing in it can be seen. A missing MTL file is only a warning.
pub fn parse_obj(
    path: &Path,
    smooth_angle: f32,
    allow: &[PathBuf],
) -> Result<ParsedObj, LoadError> {
    let data = obj::read(path)?;
    let built = mesh::build(&data, smooth_angle);
    if built.mesh.triangles.is_empty() {
        return Err(LoadError::file(
            path,
            "there are no faces with an area in it: export a mesh with faces",
        ));
    }
    let mut warnings = Vec::new();
    let mut warn = |n: usize, what: &str| {
        if n > 0 {
            warnings.push(format!("{}: {n} {what}", path.display()));
        }
    };
    warn(
        data.ignored,
        "points, lines or faces with fewer than 3 corners are ignored",
    );
    warn(built.dropped, "triangles without area are left out");
    let folders = Folders::of(path, allow);
    let libraries = read_libraries(&data, &folders, &mut warnings)?;
    let entries = entries_of(&libraries);
    Ok(ParsedObj {
        data,
        built,
        libraries,
        folders,
        entries,
        warnings,
    })
}

fn entries_of(libraries: &[MtlData]) -> HashMap<String, (usize, usize)> {
    let mut entries = HashMap::new();
    for (l, library) in libraries.iter().enumerate() {
        for (m, material) in library.materials.iter().enumerate() {
            entries.entry(material.name.clone()).or_insert((l, m));
        }
    }
    entries
}

/// Reads each file once, however often it is named.
fn read_libraries(
    data: &ObjData,
    folders: &Folders,
    warnings: &mut Vec<String>,
) -> Result<Vec<MtlData>, LoadError> {
    let (mut names, mut read) = (HashSet::new(), HashSet::new());
    let mut parsed = Vec::new();
    for (line, text) in &data.libraries {
        for Library { name, path, found } in libraries(data, folders, text) {
            if !names.insert(name) {
                continue;
            }
            let found = match found {
                Ok(found) if found.is_file() => found,
                Err(refusal @ Refusal::Outside) => {
                    let message = format!("the material file {name} {refusal}");
                    return Err(LoadError::line(&data.path, *line, message));
                }
                _ => {
                    warnings.push(missing(data, *line, name));
                    continue;
                }
            };
            if read.insert(found.clone()) {
                let library = mtl::parse(&path, &files::read(&found)?)?;
                warnings.extend(library.warnings.iter().cloned());
                parsed.push(library);
            }
        }
    }
    Ok(parsed)
}

fn missing(data: &ObjData, line: usize, name: &str) -> String {
    let path = data.path.display();
    format!("{path}:{line}: the material file {name} does not exist")
}

/// A file after `mtllib`.
struct Library<'a> {
    name: &'a str,
    path: PathBuf,
    found: Result<PathBuf, Refusal>,
}

/// The files that a line names: one file with spaces in its name, or else a file for each word.
fn libraries<'a>(data: &ObjData, folders: &Folders, text: &'a str) -> Vec<Library<'a>> {
    let folder = data.path.parent().unwrap_or(Path::new(""));
    let library = |name: &'a str| {
        let path = folder.join(name.replace('\\', "/"));
        let found = folders.find(&path);
        Library { name, path, found }
    };
    let whole = library(text);
    let is_missing = |l: &Library| matches!(l.found, Err(Refusal::Missing));
    if is_missing(&whole) {
        let words: Vec<Library> = text.split_whitespace().map(library).collect();
        if !words.iter().all(is_missing) {
            return words;
        }
    }
    vec![whole]
}

impl ParsedObj {
    /// Bytes of memory that the mesh takes.
    pub fn bytes(&self) -> u64 {
        let mesh = &self.built.mesh;
        budget::of_mesh(mesh.positions.len(), mesh.triangles.len())
    }

    /// Enters the materials in use into `table`; `replacement` takes the place of all of them.
    ///
    /// # Errors
    /// When a texture that a material in use names does not exist.
    pub fn into_source(
        mut self,
        name: &str,
        replacement: Option<u32>,
        wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError> {
        let slots = std::mem::take(&mut self.built.slot_materials);
        let mut rows = Vec::with_capacity(slots.len());
        for slot in slots {
            rows.push(match replacement {
                Some(row) => row,
                None => self.material(slot, wrap, table)?,
            });
        }
        let faces = mesh::position_triangles(&self.data);
        let source =
            MeshSource::of_triangles(name, self.built.mesh, rows, self.data.positions, faces);
        Ok((source, self.warnings))
    }

    fn material(&mut self, slot: u32, wrap: Wrap, table: &mut Materials) -> Result<u32, LoadError> {
        let Some(name) = (slot != NONE).then(|| &self.data.materials[slot as usize]) else {
            return Ok(table.add("default", Material::default()));
        };
        match self.entries.get(name) {
            Some(&(library, entry)) => {
                let library = &self.libraries[library];
                let entry = &library.materials[entry];
                let converted = convert(library, entry, wrap, &self.folders, table)?;
                Ok(table.add(name, converted))
            }
            None => {
                if !self.libraries.is_empty() {
                    self.warnings.push(format!(
                        "{}: no MTL file has the material `{name}`",
                        self.data.path.display()
                    ));
                }
                Ok(table.add(name, Material::default()))
            }
        }
    }
}

fn convert(
    library: &MtlData,
    m: &MtlMaterial,
    wrap: Wrap,
    folders: &Folders,
    table: &mut Materials,
) -> Result<Material, LoadError> {
    let folder = library.path.parent().unwrap_or(Path::new(""));
    let mut texture = |t: &Option<MtlTexture>, space: ColorSpace| {
        let Some(t) = t else { return Ok(NONE) };
        let path = folder.join(&t.file);
        let found = folders.find(&path);
        found
            .map_err(|refusal| format!("the texture {} {refusal}", path.display()))
            .and_then(|path| table.texture(&path, t.wrap(wrap), space, &library.path))
            .map_err(|message| LoadError::line(&library.path, t.line, message))
    };
    let color_texture = texture(&m.diffuse_texture, ColorSpace::Srgb)?;
    let emission_texture = texture(&m.emission_texture, ColorSpace::Srgb)?;
    let normal_texture = match m.surface.is_stated() {
        true => texture(&m.surface.normal_texture, ColorSpace::Linear)?,
        false => NONE,
    };
    // Exporters write black under a texture and mean "as the texture is".
    let under_texture = |c: Option<Vec3>, t: u32, default: Vec3| match c {
        Some(c) if t == NONE || c != Vec3::ZERO => c,
        _ if t != NONE => Vec3::ONE,
        _ => default,
    };
    let grey = Material::default().color;
    let diffuse = Material {
        color: under_texture(m.diffuse, color_texture, grey),
        color_map: table.plain_map(color_texture),
        emission: under_texture(m.emission, emission_texture, Vec3::ZERO),
        emission_map: table.plain_map(emission_texture),
        ..Material::default()
    };
    Ok(match m.surface.is_stated() {
        true => layered(diffuse, &m.surface, table.plain_map(normal_texture)),
        false => diffuse,
    })
}

/// The material with the surface that its file states.
fn layered(diffuse: Material, surface: &MtlSurface, normal_map: u32) -> Material {
    let default = Lobes::default();
    let opacity = surface.opacity.unwrap_or(1.0);
    Material {
        kind: MaterialKind::Layered,
        opacity,
        alpha: match opacity < 1.0 {
            true => Alpha::Blend,
            false => Alpha::Opaque,
        },
        lobes: Lobes {
            metallic: surface.metallic.unwrap_or(default.metallic),
            roughness: surface.roughness.unwrap_or(default.roughness),
            ior: surface.ior.unwrap_or(default.ior),
            clearcoat: surface.clearcoat,
            clearcoat_roughness: surface.clearcoat_roughness,
            anisotropy: surface.anisotropy,
            anisotropy_rotation: surface.rotation * std::f32::consts::TAU,
            normal_map,
            ..default
        },
        ..diffuse
    }
}
