//! The flat tables of materials and textures that a load fills, each row once.

use super::{LoadError, gltf::ColorSpace, image};
use crate::{
    files::record,
    scene::{Material, NONE, Texels, Texture, TextureMap, Wrap},
};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// Materials and textures of the scene being loaded.
#[derive(Default)]
pub struct Materials {
    pub rows: Vec<Material>,
    /// Name of each row.
    pub names: Vec<String>,
    pub maps: Vec<TextureMap>,
    row_of: HashMap<String, u32>,
    map_of: HashMap<[u32; 8], u32>,
    textures: Vec<Request>,
    texture_of: HashMap<(PathBuf, u8, ColorSpace), u32>,
}

/// A texture of the table.
enum Request {
    /// A picture file to be decoded.
    File(Picture),
    Decoded(Texture),
}

/// A picture to be decoded, and the file that refers to it.
struct Picture {
    path: PathBuf,
    wrap: Wrap,
    space: ColorSpace,
    used_by: PathBuf,
}

impl Materials {
    /// Row of `material`, shared with all of the same name that look the same.
    pub fn add(&mut self, name: &str, material: Material) -> u32 {
        // Equal materials are spelled alike, down to the bits of their numbers.
        let key = format!("{name}\0{material:?}");
        if let Some(&row) = self.row_of.get(&key) {
            return row;
        }
        let row = self.add_apart(name, material);
        self.row_of.insert(key, row);
        row
    }

    /// Row of `material`, which nothing else will share.
    pub fn add_apart(&mut self, name: &str, material: Material) -> u32 {
        self.rows.push(material);
        self.names.push(name.to_owned());
        self.rows.len() as u32 - 1
    }

    /// Index of the texture at `path`, in `space` if it has eight bits per channel; it is decoded later, by
    /// [`Materials::decode_textures`].
    ///
    /// # Errors
    /// The sentence to put behind the place that names the file, when there is no such file.
    pub fn texture(&mut self, path: &Path, wrap: Wrap, space: ColorSpace, used_by: &Path) -> Result<u32, String> {
        let found = path.canonicalize().ok().filter(|p| p.is_file());
        let path = found
            .or_else(|| {
                record(path, None);
                None
            })
            .ok_or_else(|| format!("the texture {} does not exist: check the path", path.display()))?;
        let index = self.textures.len() as u32;
        let found = *self.texture_of.entry((path.clone(), wrap as u8, space)).or_insert(index);
        if found == index {
            self.textures.push(Request::File(Picture { path, wrap, space, used_by: used_by.into() }));
        }
        Ok(found)
    }

    /// A table with the same textures and maps but no rows, in which the materials of this one find theirs again.
    pub fn without_rows(&self) -> Self {
        Self {
            maps: self.maps.clone(),
            map_of: self.map_of.clone(),
            texture_of: self.texture_of.clone(),
            ..Self::default()
        }
    }

    /// Index of a way to read a texture, shared by all materials that read it so.
    pub fn map(&mut self, map: TextureMap) -> u32 {
        let [a, b, c, d, x, y] = map.transform.to_cols_array().map(f32::to_bits);
        let key = [map.texture, map.uv_set, a, b, c, d, x, y];
        *self.map_of.entry(key).or_insert_with(|| {
            self.maps.push(map);
            self.maps.len() as u32 - 1
        })
    }

    /// Index of `map`, which nothing else will share.
    pub fn map_apart(&mut self, map: TextureMap) -> u32 {
        self.maps.push(map);
        self.maps.len() as u32 - 1
    }

    /// Index of a map that reads `texture` as it is; [`NONE`] for none.
    pub fn plain_map(&mut self, texture: u32) -> u32 {
        match texture {
            NONE => NONE,
            _ => self.map(TextureMap::plain(texture)),
        }
    }

    /// Index of a texture that is decoded already.
    pub fn decoded(&mut self, texture: Texture) -> u32 {
        self.textures.push(Request::Decoded(texture));
        self.textures.len() as u32 - 1
    }

    /// Decodes all textures, in parallel, and takes them out of the table.
    ///
    /// # Errors
    /// The first that fails, in the order of their indices.
    pub fn decode_textures(&mut self) -> Result<Vec<Texture>, LoadError> {
        let requests = std::mem::take(&mut self.textures);
        let texture = |request| match request {
            Request::File(picture) => decode(&picture),
            Request::Decoded(texture) => Ok(texture),
        };
        let decoded: Vec<_> = requests.into_par_iter().map(texture).collect();
        decoded.into_iter().collect()
    }
}

fn decode(wanted: &Picture) -> Result<Texture, LoadError> {
    let picture = image::load(&wanted.path).map_err(|e| {
        LoadError::file(&wanted.path, format!("{} (used by {})", e.message(), wanted.used_by.display()))
    })?;
    Ok(Texture {
        name: wanted.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        width: picture.width,
        height: picture.height,
        texels: match (picture.texels, wanted.space) {
            (Texels::Srgb8(bytes), ColorSpace::Linear) => Texels::Linear8(bytes),
            (texels, _) => texels,
        },
        wrap: [wanted.wrap; 2],
        nearest: false,
    })
}

/// Runs of [`crate::scene::Scene::material_slots`], shared by instances that look alike.
#[derive(Default)]
pub struct Slots {
    pub all: Vec<u32>,
    runs: HashMap<(u32, u32), u32>,
}

impl Slots {
    /// First slot of a run for `mesh`: its own `defaults`, or `material` in every slot unless that is [`NONE`].
    pub fn run(&mut self, mesh: u32, defaults: &[u32], material: u32) -> u32 {
        *self.runs.entry((mesh, material)).or_insert_with(|| {
            let start = self.all.len() as u32;
            self.all.extend(defaults.iter().map(|&own| if material == NONE { own } else { material }));
            start
        })
    }
}
