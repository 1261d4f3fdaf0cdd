//! The materials of an OBJ file: found by name in its MTL files, and made rows of the table.

use super::{
    ObjData,
    mtl::{self, MtlData, MtlMaterial, MtlSurface, MtlTexture},
};
use crate::{
    loader::{
        LoadError, files,
        folders::{Folders, Refusal},
        gltf::ColorSpace,
        materials::Materials,
    },
    scene::{Alpha, Lobes, Material, MaterialKind, NONE, Wrap},
};
use glam::Vec3;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// The MTL files of an OBJ file, not yet in any table.
pub struct MtlMaterials {
    path: PathBuf,
    libraries: Vec<MtlData>,
    folders: Folders,
    /// Library and entry of each material name; the first one counts.
    entries: HashMap<String, (usize, usize)>,
}

impl MtlMaterials {
    /// Reads the MTL files that `data` names. They may be in `folders`.
    ///
    /// # Errors
    /// When one is malformed or elsewhere. A missing one is only a warning.
    pub fn read(data: &ObjData, folders: Folders, warnings: &mut Vec<String>) -> Result<Self, LoadError> {
        let libraries = read_libraries(data, &folders, warnings)?;
        Ok(Self { path: data.path.clone(), entries: entries_of(&libraries), libraries, folders })
    }

    /// Table row of the material `name`; of the default one without a name, or if no file has it.
    ///
    /// # Errors
    /// When a texture that it names does not exist.
    pub fn enter(
        &self,
        name: Option<&String>,
        wrap: Wrap,
        table: &mut Materials,
        warnings: &mut Vec<String>,
    ) -> Result<u32, LoadError> {
        let Some(name) = name else {
            return Ok(table.add("default", Material::default()));
        };
        let Some(&(library, entry)) = self.entries.get(name) else {
            if !self.libraries.is_empty() {
                let path = self.path.display();
                warnings.push(format!("{path}: no MTL file has the material `{name}`"));
            }
            return Ok(table.add(name, Material::default()));
        };
        let library = &self.libraries[library];
        let entry = &library.materials[entry];
        let converted = convert(library, entry, wrap, &self.folders, table)?;
        Ok(table.add(name, converted))
    }
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
fn read_libraries(data: &ObjData, folders: &Folders, warnings: &mut Vec<String>) -> Result<Vec<MtlData>, LoadError> {
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
