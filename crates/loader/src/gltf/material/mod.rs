//! Materials: the core of glTF's material model (glTF 2.0, 3.9) and its extensions. Members are read according to the tables of
//! [`MaterialValue`] and [`MapUse`].

pub mod pbr;
mod specular_glossiness;
pub mod textures;

use super::{
    fault::{Fault, fault},
    file::{document::Document, extensions},
    nodes::name,
};
use glam::Vec3;
use gltf::json::{material, validation::Checked};
use pbr::{PbrMaterial, TextureRef};
use rayon::prelude::*;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use textures::{Content, Table};
use throng_scene::{
    Alpha, Lobes, MaterialKind, NONE, Rgba, Texture,
    animated::{MapUse, MaterialValue, TexturePlace},
};

/// All materials of the file, and the textures that they use, not yet decoded. Faulty members are replaced by the specification's defaults,
/// with a warning.
///
/// # Errors
/// If the memory budget is exceeded.
pub fn read<'a>(document: &'a Document<'a>) -> Result<(Vec<PbrMaterial>, Table<'a>), Fault> {
    let mut textures = Table::new(document);
    let mut materials = Vec::with_capacity(document.root.materials.len());
    for (index, material) in document.root.materials.iter().enumerate() {
        let read = Reader::new(document, &mut textures, material, index).and_then(|reader| reader.read(material));
        materials.push(read?);
    }
    Ok((materials, textures))
}

/// Removes from `materials` the textures that could not be decoded, and normal maps that are not valid. Returns the remaining textures.
pub fn without_faulty(
    document: &Document,
    materials: &mut [PbrMaterial],
    textures: Vec<Option<Texture>>,
) -> Vec<Texture> {
    let is_grey: Vec<OnceCell<bool>> = vec![OnceCell::new(); textures.len()];
    for material in materials.iter_mut() {
        for (map, pointer) in material.normal_maps() {
            let Some(reference) = material.textures.get(map as usize) else { continue };
            let texture = reference.texture as usize;
            let Some(picture) = &textures[texture] else { continue };
            if *is_grey[texture].get_or_init(|| is_grey_picture(picture)) {
                let path = format!("/materials/{}/{pointer}", material.base.material);
                let message = "all pixels of the picture are grey, as in a bump map; it is no normal map and ignored";
                document.warnings.add(&path, message);
                material.drop_map(map);
            }
        }
    }
    let mut kept = Vec::with_capacity(textures.len());
    let mut all = Vec::with_capacity(textures.len());
    for texture in textures {
        kept.push(texture.as_ref().map(|_| all.len() as u32));
        all.extend(texture);
    }
    materials.iter_mut().for_each(|material| material.keep_textures(&kept));
    all
}

/// Whether red, green and blue are equal in all texels.
fn is_grey_picture(texture: &Texture) -> bool {
    match texture.texels.rgba(texture.width, texture.height) {
        Rgba::Bytes(texels) => texels.par_iter().all(|&[r, g, b, _]| r == g && g == b),
        Rgba::Floats(texels) => texels.par_iter().all(|&[r, g, b, _]| r == g && g == b),
    }
}

/// Extensions that consist of more than a number, in the order in which features are listed.
const LAYERS: [&str; 9] = [
    "specular",
    "transmission",
    "diffuse_transmission",
    "volume",
    "volume_scatter",
    "clearcoat",
    "sheen",
    "iridescence",
    "anisotropy",
];

/// Textures that are ignored. Occlusion and the thickness of volumes are computed by tracing rays.
const UNREAD: [&str; 2] = ["occlusionTexture", "extensions/KHR_materials_volume/thicknessTexture"];

/// Reads one material.
struct Reader<'a, 'd> {
    document: &'d Document<'d>,
    textures: &'a mut Table<'d>,
    /// JSON pointer to the material.
    path: String,
    json: Value,
    /// Whether the material has KHR_materials_pbrSpecularGlossiness, which replaces metalness and roughness.
    is_glossy: bool,
    read: PbrMaterial,
}

/// A reference to a texture in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureInfo {
    index: u32,
    #[serde(default)]
    tex_coord: u32,
    #[serde(default)]
    extensions: Option<Map<String, Value>>,
}

/// KHR_texture_transform.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Transform {
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
    tex_coord: Option<u32>,
}

impl Default for Transform {
    fn default() -> Self {
        Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2], tex_coord: None }
    }
}

impl Transform {
    fn place(&self) -> TexturePlace {
        TexturePlace { offset: self.offset.into(), rotation: self.rotation, scale: self.scale.into() }
    }
}

impl<'a, 'd> Reader<'a, 'd> {
    /// Prepares to read a material.
    ///
    /// # Errors
    /// If it cannot be serialised.
    fn new(
        document: &'d Document<'d>,
        textures: &'a mut Table<'d>,
        material: &material::Material,
        index: usize,
    ) -> Result<Self, Fault> {
        let path = format!("/materials/{index}");
        let alpha = alpha(document, material, &path);
        // An unknown mode cannot be serialised.
        let known = match material.alpha_mode {
            Checked::Invalid => {
                &material::Material { alpha_mode: Checked::Valid(material::AlphaMode::Opaque), ..material.clone() }
            }
            Checked::Valid(_) => material,
        };
        let json = serde_json::to_value(known).map_err(|e| fault(&path, e.to_string()))?;
        let others = material.extensions.as_ref().map(|e| &e.others);
        for (name, value) in others.into_iter().flatten() {
            if name.starts_with("KHR_materials_") && !value.is_object() {
                let message = "invalid type: an extension is an object; it is ignored";
                document.warnings.add(&format!("{path}/extensions/{name}"), message);
            }
        }
        let mut read =
            PbrMaterial { name: name(material.name.as_deref(), "material", index), ..PbrMaterial::default() };
        read.material.alpha = alpha;
        read.base.material = index as u32;
        let is_glossy = json.pointer(&format!("/extensions/{}", extensions::SPECULAR_GLOSSINESS)).is_some();
        Ok(Self { document, textures, path, json, is_glossy, read })
    }

    fn read(mut self, m: &material::Material) -> Result<PbrMaterial, Fault> {
        self.read.material.double_sided = m.double_sided;
        self.read.material.unlit = self.has("extensions/KHR_materials_unlit");
        for value in MaterialValue::all() {
            if let Some(x) = self.value(value)? {
                let PbrMaterial { material, base, .. } = &mut self.read;
                value.set(material, base, x);
            }
        }
        let glossiness = if self.is_glossy { specular_glossiness::convert(&mut self.read.material.lobes) } else { 1.0 };
        // An unlit material uses only its base colour.
        let count = if self.read.material.unlit { 1 } else { usize::MAX };
        for map in MapUse::all().take(count) {
            *map.of(&mut self.read.material) = self.texture(map, glossiness)?;
        }
        let lobes = &mut self.read.material.lobes;
        if self.is_glossy && lobes.metallic_roughness_map != NONE {
            lobes.roughness = 1.0;
        }
        for pointer in UNREAD {
            if let Some(info) = self.member::<TextureInfo>(pointer)? {
                let path = format!("{}/{pointer}", self.path);
                self.document.or_warn(self.textures.check(info.index as usize, &path), "nothing reads it")?;
            }
        }
        self.read.features = self.features();
        self.read.is_brushed = self.has("extensions/KHR_materials_anisotropy");
        if self.read.material.unlit {
            self.leave_out_shading();
        }
        self.choose_uv_sets();
        Ok(self.read)
    }

    fn has(&self, pointer: &str) -> bool {
        self.json.pointer(&format!("/{}", self.at(pointer))).is_some()
    }

    /// The pointer at which this material has the member that other materials have at `pointer`.
    fn at<'p>(&self, pointer: &'p str) -> &'p str {
        if self.is_glossy { specular_glossiness::pointer(pointer) } else { pointer }
    }

    /// The member at `pointer` in the material. None if it is missing or, with a warning, has the wrong type.
    ///
    /// # Errors
    /// If the memory budget is exceeded.
    fn member<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>, Fault> {
        let pointer = self.at(pointer);
        let read = match self.json.pointer(&format!("/{pointer}")) {
            None => return Ok(None),
            Some(Value::Null) if pointer.starts_with("extensions/") => return Ok(None),
            // A number that was not finite when the file was parsed.
            Some(Value::Null) => Err(self.not_finite(pointer)),
            Some(json) => T::deserialize(json).map_err(|e| fault(format!("{}/{pointer}", self.path), e.to_string())),
        };
        self.document.or_warn(read, "it is ignored")
    }

    /// Reads the components of a value, clamped to the valid range with a warning. Values that are not finite are ignored.
    ///
    /// # Errors
    /// If the memory budget is exceeded.
    fn value(&self, value: MaterialValue) -> Result<Option<[f32; 4]>, Fault> {
        let pointer = self.at(value.pointer());
        let read = match value.components() {
            1 => self.member(pointer)?.map(|x: f32| [x, 0.0, 0.0, 0.0]),
            3 => self.member(pointer)?.map(|[r, g, b]: [f32; 3]| [r, g, b, 0.0]),
            _ => self.member(pointer)?,
        };
        let Some(mut read) = read else {
            return Ok(None);
        };
        if !read.iter().all(|x| x.is_finite()) {
            return self.document.or_warn(Err(self.not_finite(pointer)), "it is ignored");
        }
        for x in &mut read[..value.components()] {
            let clamped = value.clamp(*x);
            if clamped != *x {
                let message = format!("{x} is out of range; {clamped} is used");
                let path = format!("{}/{pointer}", self.path);
                self.document.warnings.add(&path, message);
            }
            *x = clamped;
        }
        Ok(Some(read))
    }

    fn not_finite(&self, pointer: &str) -> Fault {
        let path = format!("{}/{pointer}", self.path);
        fault(path, "the number must be finite")
    }

    /// Adds the texture for `map`, and returns its index in the material's list; [`NONE`] without a texture. Its `uv_set` is still the
    /// file's. If roughness is read from glossiness, `glossiness` is the factor of the texture.
    ///
    /// # Errors
    /// If the memory budget is exceeded.
    fn texture(&mut self, map: MapUse, glossiness: f32) -> Result<u32, Fault> {
        let Some(info) = self.member::<TextureInfo>(map.pointer())? else {
            return Ok(NONE);
        };
        let path = format!("{}/{}", self.path, self.at(map.pointer()));
        let others = info.extensions.as_ref();
        let transform = extensions::read::<Transform>(others, extensions::TEXTURE_TRANSFORM, &path);
        let transform = transform.and_then(|transform| match transform.unwrap_or_default() {
            finite if finite.place().matrix().is_finite() => Ok(finite),
            _ => Err(fault(&path, "a texture transform must be finite")),
        });
        let transform = self.document.or_warn(transform, "the transform is ignored")?.unwrap_or_default();
        let place = transform.place();
        let content = if map.holds_colors() {
            Content::Colors
        } else if self.is_glossy && specular_glossiness::is_roughness(map) {
            Content::Glossiness(glossiness)
        } else {
            Content::Numbers
        };
        let texture = self.textures.intern(info.index as usize, content, &path);
        let Some(texture) = self.document.or_warn(texture, "the texture is left out")?.flatten() else {
            return Ok(NONE);
        };
        self.read.textures.push(TextureRef { texture, uv_set: transform.tex_coord.unwrap_or(info.tex_coord), place });
        Ok(self.read.textures.len() as u32 - 1)
    }

    fn features(&self) -> Vec<String> {
        let m = &self.read.material;
        let facts = [
            (self.has("pbrMetallicRoughness/baseColorTexture"), "base colour texture"),
            (
                self.has("pbrMetallicRoughness/metallicRoughnessTexture") && !self.is_glossy,
                "metal and roughness texture",
            ),
            (self.has("normalTexture"), "normal map"),
            (self.has("occlusionTexture"), "occlusion texture"),
            (m.emission != Vec3::ZERO && !m.unlit, "emission"),
            (matches!(m.alpha, Alpha::Mask(_)), "alpha mask"),
            (m.alpha == Alpha::Blend, "alpha blending"),
            (m.double_sided, "double-sided"),
            (m.unlit, "unlit"),
            (self.is_glossy, "specular and glossiness"),
            (m.lobes.ior != 1.5 && !self.is_glossy, "ior"),
            (m.lobes.dispersion != 0.0, "dispersion"),
        ];
        let facts = facts.into_iter().filter(|(holds, _)| *holds);
        let layers = LAYERS.iter();
        let layers = layers.filter(|name| self.has(&format!("extensions/KHR_materials_{name}")));
        let layers = layers.map(|name| name.replace('_', " "));
        facts.map(|(_, name)| name.to_owned()).chain(layers).collect()
    }

    /// Applies KHR_materials_unlit: the base colour is emitted and nothing is reflected.
    fn leave_out_shading(&mut self) {
        let m = &mut self.read.material;
        m.kind = MaterialKind::Diffuse;
        m.color = Vec3::ZERO;
        m.lobes = Lobes::default();
        // The map is read for its alpha.
        if m.alpha != Alpha::Opaque {
            m.color_map = m.emission_map;
        }
    }

    /// Chooses the two sets of texture coordinates that a mesh keeps for the material, and updates its textures accordingly. Sets 0 and 1
    /// keep their indices if they are used.
    fn choose_uv_sets(&mut self) {
        let mut used: Vec<u32> = self.read.textures.iter().map(|t| t.uv_set).collect();
        used.sort_unstable();
        used.dedup();
        let sets = match used[..] {
            [] | [0] | [1] => [0, 1],
            [set] => [set, 1],
            [1, other] => [other, 1],
            [a, b, ..] => [a, b],
        };
        let [first, second] = sets;
        if let [_, _, left_over @ ..] = &used[..]
            && !left_over.is_empty()
        {
            let message = format!(
                "its textures use {} sets of texture coordinates, but no more than two are supported; TEXCOORD_{first} is \
                 taken for all but TEXCOORD_{second}",
                used.len()
            );
            self.document.warnings.add(&self.path, message);
        }
        self.read.uv_sets = sets;
        for texture in &mut self.read.textures {
            texture.uv_set = u32::from(texture.uv_set == second);
        }
    }
}

/// The alpha mode, with the cutoff from the file.
fn alpha(document: &Document, m: &material::Material, path: &str) -> Alpha {
    match m.alpha_mode {
        Checked::Valid(material::AlphaMode::Opaque) => Alpha::Opaque,
        Checked::Valid(material::AlphaMode::Blend) => Alpha::Blend,
        Checked::Valid(material::AlphaMode::Mask) => Alpha::Mask(m.alpha_cutoff.unwrap_or_default().0),
        Checked::Invalid => {
            document.warnings.add(&format!("{path}/alphaMode"), "unknown mode; OPAQUE is taken");
            Alpha::Opaque
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine2, Vec2};

    #[test]
    fn a_texture_transform_is_adapted_to_v_growing_upwards() {
        let transform = Transform { offset: [0.1, 0.2], rotation: 0.5, scale: [2.0, 3.0], tex_coord: None };
        let (u, v) = (0.3f32, 0.7f32);
        // As specified by the extension: translation * rotation * scale, with v increasing downwards.
        let (sin, cos) = 0.5f32.sin_cos();
        let (x, y) = (2.0 * u, 3.0 * v);
        let expected = Vec2::new(cos * x + sin * y + 0.1, -sin * x + cos * y + 0.2);
        let got = transform.place().matrix().transform_point2(Vec2::new(u, 1.0 - v));
        assert!(got.abs_diff_eq(Vec2::new(expected.x, 1.0 - expected.y), 1e-6));
        assert_eq!(Transform::default().place().matrix(), Affine2::IDENTITY);
    }
}
