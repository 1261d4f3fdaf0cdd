//! Adds a model's materials and textures to the scene's tables when they are used.

use super::AnimatedRows;
use crate::{
    gltf::{PbrMaterial, TextureRef},
    materials::Materials,
};
use std::collections::HashMap;
use throng_scene::{NONE, Texture, TextureMap, TriangleMesh};

/// Adds a model's materials and textures to the scene's tables.
pub struct ModelMaterials<'a> {
    materials: &'a [PbrMaterial],
    /// The model's textures; None for textures that are already in the table.
    textures: Vec<Option<Texture>>,
    index_of: HashMap<u32, u32>,
    /// Row of each material that is in the table.
    row_of: HashMap<u32, u32>,
    /// Materials that clips animate.
    pub animated: AnimatedRows,
}

impl<'a> ModelMaterials<'a> {
    /// Prepares to add `materials`, and takes ownership of the model's textures.
    pub fn new(materials: &'a [PbrMaterial], textures: Vec<Texture>) -> Self {
        Self {
            materials,
            textures: textures.into_iter().map(Some).collect(),
            index_of: HashMap::new(),
            row_of: HashMap::new(),
            animated: AnimatedRows::default(),
        }
    }

    /// Row of a material in `table`. Removes tangents from `mesh` that the material does not use.
    pub fn material(&mut self, table: &mut Materials, index: u32, mesh: &mut TriangleMesh) -> u32 {
        let row = match self.row_of.get(&index) {
            Some(&row) => row,
            None => self.enter(table, index),
        };
        if !table.rows[row as usize].uses_tangents() {
            mesh.tangents = Vec::new();
        }
        row
    }

    fn enter(&mut self, table: &mut Materials, index: u32) -> u32 {
        let default = PbrMaterial::default();
        let m = self.materials.get(index as usize).unwrap_or(&default);
        let mut material = m.material;
        material.for_each_map(|map| *map = self.map(table, m.textures.get(*map as usize)));
        let row = self.animated.enter(table, (index, &m.name), material);
        self.row_of.insert(index, row);
        row
    }

    /// Index of a map in the table; [`NONE`] without a reference.
    fn map(&mut self, table: &mut Materials, reference: Option<&TextureRef>) -> u32 {
        let Some(reference) = reference else {
            return NONE;
        };
        let decoded = self.textures.get_mut(reference.texture as usize);
        if let Some(decoded) = decoded.and_then(Option::take) {
            let index = table.decoded(decoded);
            self.index_of.insert(reference.texture, index);
        }
        let Some(&texture) = self.index_of.get(&reference.texture) else {
            return NONE;
        };
        table.map(TextureMap { texture, uv_set: reference.uv_set, transform: reference.place.matrix() })
    }
}
