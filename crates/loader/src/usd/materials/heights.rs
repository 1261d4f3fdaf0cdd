//! Displacements of materials.

use super::{mesh_of, name_of, sources};
use crate::{
    LoadError,
    displacement::{Channels, HeightMap, HeightPicture, MeshDisplacement, wrap},
    usd::mesh::Needs,
};
use std::{collections::HashMap, path::Path, sync::Arc};
use throng_scene::NONE;
use throng_usd::{Computed, Material, Read, Shape, Source, Stage, TexelSpace, WrapMode};

/// The displacements of a stage's materials, read when they are first used.
pub struct Heights<'a> {
    stage: &'a Stage,
    /// Maps by the material and the set of texture coordinates.
    maps: HashMap<(u32, u32), Arc<HeightMap>>,
    pictures: HashMap<PictureKey, Option<Arc<HeightPicture>>>,
    /// Pictures that are left out, one line each.
    pub warnings: Vec<String>,
}

/// What the texels of a picture depend on: its index, its channels, whether they are sRGB, and its wrap modes.
type PictureKey = (u32, Channels, bool, [WrapMode; 2]);

impl<'a> Heights<'a> {
    pub fn new(stage: &'a Stage) -> Self {
        Self { stage, maps: HashMap::new(), pictures: HashMap::new(), warnings: Vec::new() }
    }

    /// The materials of a mesh that displace it, with [`NONE`] for others. Empty if none does.
    pub fn displacing(&self, materials: &[u32], shape: &Shape) -> Vec<u32> {
        let displaces = |material: u32| {
            self.stage.materials.get(material as usize).is_some_and(|material| material.surface.is_displaced())
        };
        if mesh_of(shape).is_none() || !materials.iter().any(|&material| displaces(material)) {
            return Vec::new();
        }
        materials.iter().map(|&material| if displaces(material) { material } else { NONE }).collect()
    }

    /// The displacement of a mesh by the materials of its slots. None without any.
    pub fn displacement(&mut self, materials: &[u32], shape: &Shape, needs: &Needs) -> Option<MeshDisplacement> {
        let mesh = mesh_of(shape).filter(|_| materials.iter().any(|&material| material != NONE))?;
        let uv_set = |name: &str| {
            let name = name_of(name, &mesh.uvs);
            u32::from(needs.uvs.get(1).is_some_and(|second| *second == name))
        };
        let maps: Vec<Option<Arc<HeightMap>>> = materials.iter().map(|&one| self.map(one, &uv_set)).collect();
        let reads = |map: &Arc<HeightMap>| !map.tree.reads().is_empty() || map.tree.uses_coordinates();
        if mesh.uvs.is_empty() && maps.iter().flatten().any(reads) {
            let line = "has no texture coordinates, so the picture of its displacement is read at (0, 0)";
            self.warnings.push(format!("{} {line}", shape.name));
        }
        Some(MeshDisplacement { maps, smooth: false })
    }

    fn map(&mut self, material: u32, uv_set: &dyn Fn(&str) -> u32) -> Option<Arc<HeightMap>> {
        let stage = self.stage;
        let Material { surface, .. } = stage.materials.get(material as usize)?;
        let source = surface.displacement.source.as_ref();
        let uv_set = source.and_then(|source| sources::sets(source).first().map(|name| uv_set(name))).unwrap_or(0);
        if let Some(known) = self.maps.get(&(material, uv_set)) {
            return Some(known.clone());
        }
        let mut tree = match source {
            None => Computed::Constant([surface.displacement.value; 4]),
            Some(Source::Picture(read)) => Computed::Channel(read.clone()),
            Some(Source::Computed(computed)) => (**computed).clone(),
            // Opacity is no height.
            Some(Source::Display(_)) => Computed::Constant([0.0; 4]),
        };
        let has_colors = reads_colors(&tree);
        let mut pictures = Vec::new();
        tree.for_each_read(&mut |read| {
            let channels = if has_colors { Channels::All } else { Channels::One(read.channel.min(3)) };
            pictures.push(self.picture(read, channels));
            read.picture = pictures.len() as u32 - 1;
        });
        let map = Arc::new(HeightMap { tree, pictures, uv_set });
        self.maps.insert((material, uv_set), map.clone());
        Some(map)
    }

    /// The picture of a read. None, with a warning, if it is damaged.
    fn picture(&mut self, read: &Read, channels: Channels) -> Option<Arc<HeightPicture>> {
        let is_srgb = read.space == TexelSpace::Srgb;
        let key = (read.picture, channels, is_srgb, read.wrap);
        if let Some(known) = self.pictures.get(&key) {
            return known.clone();
        }
        let asset = self.stage.pictures.get(read.picture as usize)?;
        let found = if asset.tiles.is_empty() {
            let content = (asset.path.as_path(), asset.bytes.as_deref());
            HeightPicture::read(content, channels, is_srgb, read.wrap.map(wrap))
        } else {
            HeightPicture::of_tiles(&asset.tiles, channels, is_srgb)
        };
        let found = found.map(Arc::new).map_err(|error| self.warnings.push(left_out(&asset.path, &error))).ok();
        self.pictures.insert(key, found.clone());
        found
    }
}

fn left_out(path: &Path, error: &LoadError) -> String {
    format!("the texture {} of a displacement is left out: {}", path.display(), error.message())
}

/// Whether all channels of a picture are read.
fn reads_colors(tree: &Computed) -> bool {
    match tree {
        Computed::Picture(_) => true,
        Computed::Apply(_, values) => values.iter().any(reads_colors),
        _ => false,
    }
}
