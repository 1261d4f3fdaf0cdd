//! The materials of a glTF model as the renderer's own: base colours and emission, and the textures that these read.

use crate::{
    loader::{
        gltf::{ModelTexture, PbrMaterial, TextureRef},
        materials::Materials,
    },
    scene::{Material, MaterialKind, NONE, Texture, TriangleMesh},
};
use glam::{Vec2, Vec3};

/// From this metalness on, and up to this roughness, a material is a mirror.
const METAL: f32 = 0.9;
const POLISHED: f32 = 0.15;

/// Rows of the material table and the textures that they use.
pub struct Looks<'a> {
    materials: &'a [PbrMaterial],
    pub table: Materials,
    /// Indices of the model's textures, in the order of the scene's.
    textures: Vec<u32>,
}

impl<'a> Looks<'a> {
    pub fn new(materials: &'a [PbrMaterial]) -> Self {
        Self {
            materials,
            table: Materials::default(),
            textures: Vec::new(),
        }
    }

    /// Table row of a material. The mesh's coordinates become those of its base colour's texture.
    pub fn material(&mut self, index: u32, triangles: &mut TriangleMesh) -> u32 {
        let default = PbrMaterial::default();
        let m = self.materials.get(index as usize).unwrap_or(&default);
        if let Some(reference) = m.base_color_texture.or(m.emissive_texture) {
            place_texture(triangles, &reference);
        }
        let [r, g, b, _] = m.base_color;
        let (color, emission) = (Vec3::new(r, g, b), Vec3::from(m.emissive));
        let color_texture = self.texture(m.base_color_texture);
        let row = if m.unlit {
            Material {
                color: Vec3::ZERO,
                emission: color,
                emission_texture: color_texture,
                ..Material::default()
            }
        } else {
            let mirror = m.metallic >= METAL
                && m.roughness <= POLISHED
                && m.metallic_roughness_texture.is_none();
            Material {
                kind: match mirror {
                    true => MaterialKind::Mirror,
                    false => MaterialKind::Diffuse,
                },
                color,
                color_texture,
                emission,
                emission_texture: self.texture(m.emissive_texture),
            }
        };
        self.table.add(row)
    }

    /// Index of a texture in the scene.
    fn texture(&mut self, reference: Option<TextureRef>) -> u32 {
        let Some(TextureRef { texture, .. }) = reference else {
            return NONE;
        };
        let known = self.textures.iter().position(|&t| t == texture);
        known.unwrap_or_else(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        }) as u32
    }

    /// The table, and those of the model's textures that its rows use.
    pub fn finish(self, textures: Vec<ModelTexture>) -> (Materials, Vec<Texture>) {
        let mut decoded: Vec<_> = textures.into_iter().map(Some).collect();
        let used = self
            .textures
            .iter()
            .filter_map(|&index| decoded.get_mut(index as usize)?.take());
        let textures = used.map(ModelTexture::into_texture).collect();
        (self.table, textures)
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
