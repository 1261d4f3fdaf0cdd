//! glTF's material model with its extensions, as validated numbers. Defaults are the specification's.

use glam::{Mat2, Vec3};
use throng_scene::{
    Lobes, Material, MaterialKind, NONE,
    animated::{MapUse, MaterialBase, TexturePlace},
};

/// A material: metallic-roughness (glTF 2.0, 3.9) and the KHR_materials extensions. Factors are in the ranges of the specification.
#[derive(Clone, Debug, PartialEq)]
pub struct PbrMaterial {
    pub name: String,
    /// The scene's material, except that maps are indices into `textures`.
    pub material: Material,
    /// Values of the file that cannot be derived from `material`, for clips.
    pub base: MaterialBase,
    /// The textures of the material, one entry per use.
    pub textures: Vec<TextureRef>,
    /// Names of the features that the material uses in addition to factors of colour, metalness and roughness.
    pub features: Vec<String>,
    /// Whether the material has KHR_materials_anisotropy. It then needs tangents even if the anisotropy is 0 at the start of a clip.
    pub is_brushed: bool,
    /// The file's sets of texture coordinates (TEXCOORD_n) that become `uvs` and `uvs1` of a mesh with this material.
    pub uv_sets: [u32; 2],
}

impl Default for PbrMaterial {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            material: Material {
                kind: MaterialKind::Layered,
                color: Vec3::ONE,
                double_sided: false,
                lobes: Lobes { metallic: 1.0, ..Lobes::default() },
                ..Material::default()
            },
            base: MaterialBase::default(),
            textures: Vec::new(),
            features: Vec::new(),
            is_brushed: false,
            uv_sets: [0, 1],
        }
    }
}

/// The use of a texture by a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into [`crate::gltf::Model::textures`].
    pub texture: u32,
    /// 0 for the mesh's `uvs`, 1 for its `uvs1`.
    pub uv_set: u32,
    /// KHR_texture_transform.
    pub place: TexturePlace,
}

impl PbrMaterial {
    /// The transform of the texture for `map`; the default without a texture.
    pub fn place(&self, map: MapUse) -> TexturePlace {
        let mut own = self.material;
        let index = *map.of(&mut own);
        let texture = self.textures.get(index as usize);
        texture.map_or_else(TexturePlace::default, |texture| texture.place)
    }

    /// Indices into `textures` of the maps that are used as normals, and their JSON pointers.
    pub fn normal_maps(&self) -> [(u32, &'static str); 2] {
        let lobes = &self.material.lobes;
        let clearcoat = "extensions/KHR_materials_clearcoat/clearcoatNormalTexture";
        [(lobes.normal_map, "normalTexture"), (lobes.clearcoat_normal_map, clearcoat)]
    }

    /// Removes all uses of the texture at this index of `textures`.
    pub fn drop_map(&mut self, dropped: u32) {
        self.material.for_each_map(|map| {
            if *map == dropped {
                *map = NONE;
            }
        });
    }

    /// Maps texture indices to the new indices in `kept`, and drops the other textures.
    pub fn keep_textures(&mut self, kept: &[Option<u32>]) {
        for place in 0..self.textures.len() {
            match kept.get(self.textures[place].texture as usize).copied().flatten() {
                Some(texture) => self.textures[place].texture = texture,
                None => self.drop_map(place as u32),
            }
        }
        let mut used = vec![false; self.textures.len()];
        self.material.for_each_map(|map| {
            if let Some(used) = used.get_mut(*map as usize) {
                *used = true;
            }
        });
        let mut next = 0;
        let places: Vec<u32> = used
            .iter()
            .map(|&used| {
                if used {
                    next += 1;
                    next - 1
                } else {
                    NONE
                }
            })
            .collect();
        self.material.for_each_map(|map| *map = places.get(*map as usize).copied().unwrap_or(NONE));
        let mut place = used.into_iter();
        self.textures.retain(|_| place.next().unwrap_or_default());
    }

    /// UV set of a texture that needs tangents, and the effect of its transform on directions, since tangents rotate with the picture. None
    /// if no texture needs them.
    pub fn tangent_space(&self) -> Option<(u32, Mat2)> {
        let lobes = &self.material.lobes;
        let space = |map: u32| self.textures.get(map as usize).map(|t| (t.uv_set, t.place.matrix().matrix2));
        let normals = space(lobes.normal_map).or_else(|| space(lobes.clearcoat_normal_map));
        normals.or_else(|| self.is_brushed.then(|| space(lobes.anisotropy_map).unwrap_or((0, Mat2::IDENTITY))))
    }
}
