//! A model's materials and textures, entered into the scene's tables as they are used.

use super::AnimatedRows;
use crate::{
    loader::{
        gltf::{self, ModelTexture, PbrMaterial, TextureRef},
        materials::Materials,
    },
    scene::{Alpha, Lobes, Material, MaterialKind, NONE, TextureMap, TriangleMesh, absorption},
};
use glam::Vec3;
use std::collections::HashMap;

/// Enters a model's materials and textures into the scene's tables.
pub struct ModelMaterials<'a> {
    materials: &'a [PbrMaterial],
    /// The model's textures; None in place of those that are in the table already.
    textures: Vec<Option<ModelTexture>>,
    index_of: HashMap<u32, u32>,
    /// Row of each material that is in the table.
    row_of: HashMap<u32, u32>,
    /// Materials that clips animate.
    pub animated: AnimatedRows,
}

impl<'a> ModelMaterials<'a> {
    /// Prepares to enter `materials`, and takes the model's textures.
    pub fn new(materials: &'a [PbrMaterial], textures: Vec<ModelTexture>) -> Self {
        Self {
            materials,
            textures: textures.into_iter().map(Some).collect(),
            index_of: HashMap::new(),
            row_of: HashMap::new(),
            animated: AnimatedRows::default(),
        }
    }

    /// Row of a material in `table`. `mesh`, which has the material, loses tangents that it does not use.
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
        let material = match m.unlit {
            true => self.unlit(table, m),
            false => self.layered(table, m),
        };
        let row = self.animated.enter(table, (index, &m.name), material);
        self.row_of.insert(index, row);
        row
    }

    /// KHR_materials_unlit: the base colour shines and nothing is reflected.
    fn unlit(&mut self, table: &mut Materials, m: &PbrMaterial) -> Material {
        let [r, g, b, _] = m.base_color;
        let map = self.map(table, m.base_color_texture);
        Material {
            color: Vec3::ZERO,
            // The map is read for its alpha.
            color_map: match m.alpha {
                gltf::Alpha::Opaque => NONE,
                _ => map,
            },
            emission: Vec3::new(r, g, b),
            emission_map: map,
            unlit: true,
            ..visibility(m)
        }
    }

    fn layered(&mut self, table: &mut Materials, m: &PbrMaterial) -> Material {
        let [r, g, b, _] = m.base_color;
        Material {
            kind: MaterialKind::Layered,
            color: Vec3::new(r, g, b),
            color_map: self.map(table, m.base_color_texture),
            emission: Vec3::from(m.emissive),
            emission_map: self.map(table, m.emissive_texture),
            lobes: self.lobes(table, m),
            ..visibility(m)
        }
    }

    fn lobes(&mut self, table: &mut Materials, m: &PbrMaterial) -> Lobes {
        let mut lobes = Lobes {
            metallic: m.metallic,
            roughness: m.roughness,
            metallic_roughness_map: self.map(table, m.metallic_roughness_texture),
            normal_map: self.map(table, m.normal_texture),
            normal_scale: m.normal_scale,
            ior: m.ior,
            dispersion: m.dispersion,
            ..Lobes::default()
        };
        if let Some(volume) = &m.volume {
            lobes.thin = volume.thickness <= 0.0;
            if !lobes.thin {
                let color = volume.attenuation_color.into();
                lobes.absorption = absorption(color, volume.attenuation_distance);
            }
        }
        self.add_base(table, m, &mut lobes);
        self.add_coats(table, m, &mut lobes);
        lobes
    }

    /// Converts the extensions that change the dielectric base.
    fn add_base(&mut self, table: &mut Materials, m: &PbrMaterial, lobes: &mut Lobes) {
        if let Some(specular) = &m.specular {
            lobes.specular = specular.factor;
            lobes.specular_map = self.map(table, specular.texture);
            lobes.specular_color = specular.color.into();
            lobes.specular_color_map = self.map(table, specular.color_texture);
        }
        if let Some(transmission) = &m.transmission {
            lobes.transmission = transmission.factor;
            lobes.transmission_map = self.map(table, transmission.texture);
        }
        if let Some(diffuse) = &m.diffuse_transmission {
            lobes.diffuse_transmission = diffuse.factor;
            lobes.diffuse_transmission_map = self.map(table, diffuse.texture);
            lobes.diffuse_transmission_color = diffuse.color.into();
            lobes.diffuse_transmission_color_map = self.map(table, diffuse.color_texture);
        }
        if let Some(anisotropy) = &m.anisotropy {
            lobes.anisotropy = anisotropy.strength;
            lobes.anisotropy_rotation = anisotropy.rotation;
            lobes.anisotropy_map = self.map(table, anisotropy.texture);
        }
    }

    /// Converts the extensions that add layers on top of the base.
    fn add_coats(&mut self, table: &mut Materials, m: &PbrMaterial, lobes: &mut Lobes) {
        if let Some(coat) = &m.clearcoat {
            lobes.clearcoat = coat.factor;
            lobes.clearcoat_map = self.map(table, coat.texture);
            lobes.clearcoat_roughness = coat.roughness;
            lobes.clearcoat_roughness_map = self.map(table, coat.roughness_texture);
            lobes.clearcoat_normal_map = self.map(table, coat.normal_texture);
            lobes.clearcoat_normal_scale = coat.normal_scale;
        }
        if let Some(sheen) = &m.sheen {
            lobes.sheen_color = sheen.color.into();
            lobes.sheen_color_map = self.map(table, sheen.color_texture);
            lobes.sheen_roughness = sheen.roughness;
            lobes.sheen_roughness_map = self.map(table, sheen.roughness_texture);
        }
        if let Some(film) = &m.iridescence {
            lobes.iridescence = film.factor;
            lobes.iridescence_map = self.map(table, film.texture);
            lobes.iridescence_ior = film.ior;
            lobes.iridescence_thickness = [film.thickness_min, film.thickness_max];
            lobes.iridescence_thickness_map = self.map(table, film.thickness_texture);
        }
    }

    /// Index of a map in the table.
    fn map(&mut self, table: &mut Materials, reference: Option<TextureRef>) -> u32 {
        let Some(reference) = reference else {
            return NONE;
        };
        let decoded = self.textures.get_mut(reference.texture as usize);
        if let Some(decoded) = decoded.and_then(Option::take) {
            let index = table.decoded(decoded.into_texture());
            self.index_of.insert(reference.texture, index);
        }
        let Some(&texture) = self.index_of.get(&reference.texture) else {
            return NONE;
        };
        table.map(TextureMap {
            texture,
            uv_set: reference.uv_set,
            transform: reference.transform,
        })
    }
}

/// The opacity and the sidedness of a material.
fn visibility(m: &PbrMaterial) -> Material {
    let (alpha, opacity) = match m.alpha {
        gltf::Alpha::Opaque => (Alpha::Opaque, 1.0),
        gltf::Alpha::Mask(cutoff) => (Alpha::Mask(cutoff), m.base_color[3]),
        gltf::Alpha::Blend => (Alpha::Blend, m.base_color[3]),
    };
    Material {
        alpha,
        opacity,
        double_sided: m.double_sided,
        ..Material::default()
    }
}
