//! The materials of an OBJ file: looked up by name in its MTL files, and converted to rows of the table.

use super::{
    ObjData,
    lookup::{Found, Lookup},
    mtl::{self, MtlData, MtlMaterial, MtlSurface},
    texture::MtlTexture,
};
use crate::{
    files,
    folders::Refusal,
    gltf::ColorSpace,
    materials::{Materials, PictureFile, Use},
};
use glam::Vec3;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};
use throng_scene::{Alpha, Lobes, Material, MaterialKind, NONE, TextureMap, Wrap};

/// The MTL files of an OBJ file, before their materials are in the table.
pub struct MtlMaterials {
    path: PathBuf,
    libraries: Vec<MtlData>,
    lookup: Lookup,
    /// Library and entry of each material name. Later entries with the name are ignored.
    entries: HashMap<String, (usize, usize)>,
}

impl MtlMaterials {
    /// Reads the MTL files of `data`. Adds a warning for each file that is missing or found elsewhere.
    pub fn read(data: &ObjData, lookup: Lookup, warnings: &mut Vec<String>) -> Self {
        let libraries = read_libraries(data, &lookup, warnings);
        Self { path: data.path.clone(), entries: entries_of(&libraries), libraries, lookup }
    }

    /// Table row of the material `name`; the default material without a name, or if no file has it. The default is white if vertices have
    /// colours, so that these are shown unchanged. Adds warnings about missing textures.
    pub fn enter(
        &self,
        name: Option<&String>,
        is_colored: bool,
        wrap: Wrap,
        table: &mut Materials,
        warnings: &mut Vec<String>,
    ) -> u32 {
        let plain = Material::default();
        let default = Material { color: if is_colored { Vec3::ONE } else { plain.color }, ..plain };
        let Some(name) = name else {
            return table.add(if is_colored { "vertex colours" } else { "default" }, default);
        };
        let Some(&(library, entry)) = self.entries.get(name) else {
            if !self.libraries.is_empty() {
                let path = self.path.display();
                warnings.push(format!("{path}: no MTL file has the material `{name}`"));
            }
            return table.add(name, default);
        };
        let library = &self.libraries[library];
        let entry = &library.materials[entry];
        let mut conversion = Conversion { library: &library.path, wrap, lookup: &self.lookup, table, warnings };
        let converted = conversion.material(entry, default.color);
        table.add(name, converted)
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

/// Reads each file once, even if it is named repeatedly.
fn read_libraries(data: &ObjData, lookup: &Lookup, warnings: &mut Vec<String>) -> Vec<MtlData> {
    let (mut names, mut read) = (HashSet::new(), HashSet::new());
    let mut parsed = Vec::new();
    for (line, text) in &data.libraries {
        for Library { name, path, found } in libraries(data, lookup, text) {
            if !names.insert(name) {
                continue;
            }
            let mut warn = |message: String| {
                let path = data.path.display();
                warnings.push(format!("{path}:{line}: the material file {name} {message}"));
            };
            let found = match found {
                Ok(found) => found,
                Err(Refusal::Missing) => {
                    warn("does not exist".to_owned());
                    continue;
                }
                Err(refusal) => {
                    warn(refusal.to_string());
                    continue;
                }
            };
            if let Some(other) = &found.instead {
                warn(format!("is not there: {} is used", other.display()));
            }
            if !read.insert(found.path.clone()) {
                continue;
            }
            match files::read(&found.path) {
                Ok(bytes) => {
                    let library = mtl::parse(&found.instead.unwrap_or(path), &bytes);
                    warnings.extend(library.warnings.iter().cloned());
                    parsed.push(library);
                }
                Err(error) => warn(format!("is left out: {}", error.message())),
            }
        }
    }
    parsed
}

/// A file named after `mtllib`.
struct Library<'a> {
    name: &'a str,
    path: PathBuf,
    found: Result<Found, Refusal>,
}

/// The files that a line names: one file if its name may contain spaces, or else one file per word.
fn libraries<'a>(data: &ObjData, lookup: &Lookup, text: &'a str) -> Vec<Library<'a>> {
    let folder = data.path.parent().unwrap_or(Path::new(""));
    let library = |name: &'a str| {
        let path = folder.join(name.replace('\\', "/"));
        let found = lookup.find(folder, name);
        Library { name, path, found }
    };
    let text = text.trim_matches('"');
    let whole = library(text);
    if whole.found.is_err() {
        let words: Vec<Library> = text.split_whitespace().map(library).collect();
        if words.iter().any(|word| word.found.is_ok()) {
            return words;
        }
    }
    vec![whole]
}

/// State for converting the materials of one MTL file.
struct Conversion<'a> {
    /// Path of the MTL file.
    library: &'a Path,
    wrap: Wrap,
    lookup: &'a Lookup,
    table: &'a mut Materials,
    warnings: &'a mut Vec<String>,
}

impl Conversion<'_> {
    /// Converts an entry. `plain` is the colour of a material that specifies none.
    fn material(&mut self, m: &MtlMaterial, plain: Vec3) -> Material {
        let (color_map, has_holes) = self.color_map(m);
        let emission_map = self.map(m.emission_texture.as_ref(), ColorSpace::Srgb);
        // Exporters write a black colour with a texture and mean the texture's own colour.
        let under_texture = |c: Option<Vec3>, is_textured: bool, default: Vec3| match c {
            Some(c) if !is_textured || c != Vec3::ZERO => c,
            _ if is_textured => Vec3::ONE,
            _ => default,
        };
        let emission = match (&m.emission_texture, emission_map) {
            // Without its texture, the whole surface would emit light.
            (Some(_), NONE) => Vec3::ZERO,
            (texture, _) => under_texture(m.emission, texture.is_some(), Vec3::ZERO),
        };
        let opacity = self.opacity(m);
        let diffuse = Material {
            color: under_texture(m.diffuse, m.diffuse_texture.is_some(), plain),
            color_map,
            emission,
            emission_map,
            opacity,
            alpha: if opacity < 1.0 || has_holes { Alpha::Blend } else { Alpha::Opaque },
            ..Material::default()
        };
        if m.surface.is_stated() {
            let normal_map = self.map(m.surface.normal_texture.as_ref(), ColorSpace::Linear);
            layered(diffuse, &m.surface, normal_map)
        } else {
            diffuse
        }
    }

    fn warn(&mut self, line: usize, message: &str) {
        let path = self.library.display();
        self.warnings.push(format!("{path}:{line}: {message}"));
    }

    fn opacity(&mut self, m: &MtlMaterial) -> f32 {
        let stated = m.transparency.opacity();
        // If there is an opacity texture, it determines the opacity.
        if stated.is_none() && m.transparency.texture.is_none() {
            let message = format!("the material `{}` would be invisible, which is rarely meant: it is opaque", m.name);
            self.warn(m.transparency.line, &message);
        }
        stated.unwrap_or(1.0)
    }

    /// The map of the colour, combined with the opacity if there is an opacity texture, and whether that is the case.
    fn color_map(&mut self, m: &MtlMaterial) -> (u32, bool) {
        let color = m.diffuse_texture.as_ref();
        let Some((holes, opacity)) = self.picture(m.transparency.texture.as_ref(), ColorSpace::Linear) else {
            return (self.map(color, ColorSpace::Srgb), false);
        };
        let picture = self.picture(color, ColorSpace::Srgb);
        let (place, picture) = picture.map_or((holes, None), |(color, picture)| (color, Some(picture)));
        if place.transform() != holes.transform() {
            let message = format!("map_d is placed as map_Kd in line {}: give both the same -s and -o", place.line);
            self.warn(holes.line, &message);
        }
        let texture = self.table.cutout(picture, opacity, holes.channel);
        (self.table.map(TextureMap { texture, uv_set: 0, transform: place.transform() }), true)
    }

    /// Index of a map; [`NONE`] without a texture, or if the picture is missing.
    fn map(&mut self, texture: Option<&MtlTexture>, space: ColorSpace) -> u32 {
        let Some((texture, picture)) = self.picture(texture, space) else {
            return NONE;
        };
        let transform = texture.transform();
        let texture = self.table.picture(picture);
        self.table.map(TextureMap { texture, uv_set: 0, transform })
    }

    /// The picture of a texture. None, with a warning, if it is missing.
    fn picture<'t>(
        &mut self,
        texture: Option<&'t MtlTexture>,
        space: ColorSpace,
    ) -> Option<(&'t MtlTexture, PictureFile)> {
        let texture = texture?;
        let folder = self.library.parent().unwrap_or(Path::new(""));
        let named = folder.join(&texture.file);
        let named = named.display();
        match self.lookup.find(folder, &texture.file) {
            Ok(found) => {
                if let Some(other) = &found.instead {
                    self.warn(texture.line, &format!("the texture {named} is not there: {} is used", other.display()));
                }
                let used_by = Use::Optional { place: format!("{}:{}", self.library.display(), texture.line) };
                let wrap = [texture.wrap(self.wrap); 2];
                Some((
                    texture,
                    PictureFile {
                        path: found.path,
                        bytes: None,
                        tiles: Vec::new(),
                        wrap,
                        space,
                        only_colors: false,
                        used_by,
                    },
                ))
            }
            Err(refusal) => {
                self.warn(texture.line, &format!("the texture {named} is left out: it {refusal}"));
                None
            }
        }
    }
}

/// A layered material with the surface properties from the file.
fn layered(diffuse: Material, surface: &MtlSurface, normal_map: u32) -> Material {
    let default = Lobes::default();
    Material {
        kind: MaterialKind::Layered,
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
