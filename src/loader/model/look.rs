//! A model's materials and textures, entered into the scene's tables as they are used.

use crate::{
    loader::{
        gltf::{ModelTexture, PbrMaterial, TextureRef},
        materials::Materials,
    },
    scene::{Layers, Material, MaterialKind, NONE, TriangleMesh},
};
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Enters what a model looks like.
pub struct Looks<'a> {
    materials: &'a [PbrMaterial],
    /// Those that are not in the table yet.
    textures: Vec<Option<ModelTexture>>,
    index_of: HashMap<u32, u32>,
}

impl<'a> Looks<'a> {
    /// Takes the model's textures.
    pub fn new(materials: &'a [PbrMaterial], textures: Vec<ModelTexture>) -> Self {
        Self {
            materials,
            textures: textures.into_iter().map(Some).collect(),
            index_of: HashMap::new(),
        }
    }

    /// Row of a material in `table`. The coordinates of `mesh` become those of its base colour's texture.
    pub fn material(&mut self, table: &mut Materials, index: u32, mesh: &mut TriangleMesh) -> u32 {
        let default = PbrMaterial::default();
        let m = self.materials.get(index as usize).unwrap_or(&default);
        if let Some(reference) = m.base_color_texture.or(m.emissive_texture) {
            place_texture(mesh, &reference);
        }
        let [r, g, b, _] = m.base_color;
        let (color, emission) = (Vec3::new(r, g, b), Vec3::from(m.emissive));
        let color_map = self.map(table, m.base_color_texture);
        let row = if m.unlit {
            Material {
                color: Vec3::ZERO,
                emission: color,
                emission_map: color_map,
                unlit: true,
                ..Material::default()
            }
        } else {
            Material {
                kind: MaterialKind::Layered,
                color,
                color_map,
                emission,
                emission_map: self.map(table, m.emissive_texture),
                layers: Layers {
                    metallic: m.metallic,
                    roughness: m.roughness,
                    metallic_roughness_map: self.map(table, m.metallic_roughness_texture),
                    ..Layers::default()
                },
                ..Material::default()
            }
        };
        table.add(row)
    }

    /// Index of a map in the table.
    fn map(&mut self, table: &mut Materials, reference: Option<TextureRef>) -> u32 {
        let Some(TextureRef { texture, .. }) = reference else {
            return NONE;
        };
        let decoded = self.textures.get_mut(texture as usize);
        if let Some(decoded) = decoded.and_then(Option::take) {
            let index = table.decoded(decoded.into_texture());
            self.index_of.insert(texture, index);
        }
        let texture = self.index_of.get(&texture).copied().unwrap_or(NONE);
        table.plain_map(texture)
    }
}

/// Makes `mesh.uvs` the coordinates that a texture is read at.
fn place_texture(mesh: &mut TriangleMesh, reference: &TextureRef) {
    if reference.uv_set == 1 {
        mesh.uvs = std::mem::take(&mut mesh.uvs1);
    }
    let place = |uv: &[f32; 2]| reference.transform.transform_point2(Vec2::from(*uv)).into();
    mesh.uvs = mesh.uvs.iter().map(place).collect();
}
