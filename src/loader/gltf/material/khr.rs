//! The KHR_materials extensions: one function each, with the defaults and bounds of their specifications.

use super::{
    Reader, TextureInfo,
    pbr::{
        Anisotropy, Clearcoat, DiffuseTransmission, Iridescence, PbrMaterial, Sheen, Specular,
        Transmission, Volume,
    },
};
use crate::loader::gltf::{
    fault::Fault,
    file::extensions,
    model::ColorSpace::{Linear, Srgb},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

type Others<'a> = Option<&'a Map<String, Value>>;

/// Reads every extension that the material has.
///
/// # Errors
/// When a member has the wrong type, a number is not finite, or a texture does not exist.
pub fn read(reader: &mut Reader, others: Others, material: &mut PbrMaterial) -> Result<(), Fault> {
    let base = reader.path.clone();
    material.unlit = others.is_some_and(|o| o.contains_key("KHR_materials_unlit"));
    scalars(reader, others, material)?;
    let mut within = Within {
        reader,
        others,
        base: &base,
    };
    material.specular = within.read("KHR_materials_specular", specular)?;
    material.transmission = within.read("KHR_materials_transmission", transmission)?;
    material.diffuse_transmission =
        within.read("KHR_materials_diffuse_transmission", diffuse_transmission)?;
    material.volume = within.read("KHR_materials_volume", volume)?;
    material.clearcoat = within.read("KHR_materials_clearcoat", clearcoat)?;
    material.sheen = within.read("KHR_materials_sheen", sheen)?;
    material.iridescence = within.read("KHR_materials_iridescence", iridescence)?;
    material.anisotropy = within.read("KHR_materials_anisotropy", anisotropy)?;
    Ok(())
}

struct Within<'r, 'a, 'd, 'o> {
    reader: &'r mut Reader<'a, 'd>,
    others: Others<'o>,
    base: &'o str,
}

impl Within<'_, '_, '_, '_> {
    /// Parses extension `name` and validates it with `make`; the reader's path is the extension's meanwhile.
    fn read<J: DeserializeOwned, T>(
        &mut self,
        name: &str,
        make: impl FnOnce(&mut Reader, J) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let Some(json) = extensions::read::<J>(self.others, name, self.base)? else {
            return Ok(None);
        };
        self.reader.path = format!("{}/extensions/{name}", self.base);
        let made = make(self.reader, json);
        self.base.clone_into(&mut self.reader.path);
        made.map(Some)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scalar {
    #[serde(alias = "emissiveStrength", alias = "dispersion")]
    ior: Option<f32>,
}

/// Reads the extensions that are one number.
fn scalars(reader: &mut Reader, others: Others, material: &mut PbrMaterial) -> Result<(), Fault> {
    let number = |name, default| {
        let read = extensions::read::<Scalar>(others, name, &reader.path)?;
        Ok::<_, Fault>(read.and_then(|s| s.ior).unwrap_or(default))
    };
    let ior = number("KHR_materials_ior", 1.5)?;
    let dispersion = number("KHR_materials_dispersion", 0.0)?;
    let strength = number("KHR_materials_emissive_strength", 1.0)?;
    // 0 stands for infinity; nothing else lies below 1.
    material.ior = match ior {
        0.0 => 0.0,
        _ => reader.at_least(ior, 1.0, "extensions/KHR_materials_ior/ior")?,
    };
    material.dispersion = reader.at_least(
        dispersion,
        0.0,
        "extensions/KHR_materials_dispersion/dispersion",
    )?;
    let path = "extensions/KHR_materials_emissive_strength/emissiveStrength";
    let strength = reader.within(strength, 0.0, 1e18, path)?;
    material.emissive = material.emissive.map(|x| x * strength);
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecularJson {
    specular_factor: Option<f32>,
    specular_texture: Option<TextureInfo>,
    specular_color_factor: Option<[f32; 3]>,
    specular_color_texture: Option<TextureInfo>,
}

fn specular(r: &mut Reader, json: SpecularJson) -> Result<Specular, Fault> {
    let mut color = json.specular_color_factor.unwrap_or([1.0; 3]);
    for x in &mut color {
        *x = r.at_least(*x, 0.0, "specularColorFactor")?;
    }
    Ok(Specular {
        factor: r.unit(json.specular_factor.unwrap_or(1.0), "specularFactor")?,
        texture: r.texture(json.specular_texture, Linear)?,
        color,
        color_texture: r.texture(json.specular_color_texture, Srgb)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TransmissionJson {
    transmission_factor: Option<f32>,
    transmission_texture: Option<TextureInfo>,
}

fn transmission(r: &mut Reader, json: TransmissionJson) -> Result<Transmission, Fault> {
    Ok(Transmission {
        factor: r.unit(
            json.transmission_factor.unwrap_or(0.0),
            "transmissionFactor",
        )?,
        texture: r.texture(json.transmission_texture, Linear)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiffuseTransmissionJson {
    diffuse_transmission_factor: Option<f32>,
    diffuse_transmission_texture: Option<TextureInfo>,
    diffuse_transmission_color_factor: Option<[f32; 3]>,
    diffuse_transmission_color_texture: Option<TextureInfo>,
}

fn diffuse_transmission(
    r: &mut Reader,
    json: DiffuseTransmissionJson,
) -> Result<DiffuseTransmission, Fault> {
    let factor = json.diffuse_transmission_factor.unwrap_or(0.0);
    let color = json.diffuse_transmission_color_factor.unwrap_or([1.0; 3]);
    Ok(DiffuseTransmission {
        factor: r.unit(factor, "diffuseTransmissionFactor")?,
        texture: r.texture(json.diffuse_transmission_texture, Linear)?,
        color: r.units(color, "diffuseTransmissionColorFactor")?,
        color_texture: r.texture(json.diffuse_transmission_color_texture, Srgb)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VolumeJson {
    thickness_factor: Option<f32>,
    thickness_texture: Option<TextureInfo>,
    attenuation_distance: Option<f32>,
    attenuation_color: Option<[f32; 3]>,
}

fn volume(r: &mut Reader, json: VolumeJson) -> Result<Volume, Fault> {
    let color = json.attenuation_color.unwrap_or([1.0; 3]);
    r.check_unused(json.thickness_texture)?;
    Ok(Volume {
        thickness: r.at_least(json.thickness_factor.unwrap_or(0.0), 0.0, "thicknessFactor")?,
        attenuation_distance: match json.attenuation_distance {
            Some(d) => r.at_least(d, f32::MIN_POSITIVE, "attenuationDistance")?,
            None => f32::INFINITY,
        },
        attenuation_color: r.units(color, "attenuationColor")?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClearcoatJson {
    clearcoat_factor: Option<f32>,
    clearcoat_texture: Option<TextureInfo>,
    clearcoat_roughness_factor: Option<f32>,
    clearcoat_roughness_texture: Option<TextureInfo>,
    clearcoat_normal_texture: Option<TextureInfo>,
}

fn clearcoat(r: &mut Reader, json: ClearcoatJson) -> Result<Clearcoat, Fault> {
    let roughness = json.clearcoat_roughness_factor.unwrap_or(0.0);
    let normal_scale = json
        .clearcoat_normal_texture
        .as_ref()
        .map_or(1.0, |t| t.scale);
    Ok(Clearcoat {
        factor: r.unit(json.clearcoat_factor.unwrap_or(0.0), "clearcoatFactor")?,
        texture: r.texture(json.clearcoat_texture, Linear)?,
        roughness: r.unit(roughness, "clearcoatRoughnessFactor")?,
        roughness_texture: r.texture(json.clearcoat_roughness_texture, Linear)?,
        normal_texture: r.texture(json.clearcoat_normal_texture, Linear)?,
        normal_scale: r.finite(normal_scale, "clearcoatNormalTexture/scale")?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SheenJson {
    sheen_color_factor: Option<[f32; 3]>,
    sheen_color_texture: Option<TextureInfo>,
    sheen_roughness_factor: Option<f32>,
    sheen_roughness_texture: Option<TextureInfo>,
}

fn sheen(r: &mut Reader, json: SheenJson) -> Result<Sheen, Fault> {
    Ok(Sheen {
        color: r.units(
            json.sheen_color_factor.unwrap_or([0.0; 3]),
            "sheenColorFactor",
        )?,
        color_texture: r.texture(json.sheen_color_texture, Srgb)?,
        roughness: r.unit(
            json.sheen_roughness_factor.unwrap_or(0.0),
            "sheenRoughnessFactor",
        )?,
        roughness_texture: r.texture(json.sheen_roughness_texture, Linear)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IridescenceJson {
    iridescence_factor: Option<f32>,
    iridescence_texture: Option<TextureInfo>,
    iridescence_ior: Option<f32>,
    iridescence_thickness_minimum: Option<f32>,
    iridescence_thickness_maximum: Option<f32>,
    iridescence_thickness_texture: Option<TextureInfo>,
}

fn iridescence(r: &mut Reader, json: IridescenceJson) -> Result<Iridescence, Fault> {
    let (min, max) = (
        json.iridescence_thickness_minimum,
        json.iridescence_thickness_maximum,
    );
    Ok(Iridescence {
        factor: r.unit(json.iridescence_factor.unwrap_or(0.0), "iridescenceFactor")?,
        texture: r.texture(json.iridescence_texture, Linear)?,
        ior: r.at_least(json.iridescence_ior.unwrap_or(1.3), 1.0, "iridescenceIor")?,
        thickness_min: r.at_least(min.unwrap_or(100.0), 0.0, "iridescenceThicknessMinimum")?,
        thickness_max: r.at_least(max.unwrap_or(400.0), 0.0, "iridescenceThicknessMaximum")?,
        thickness_texture: r.texture(json.iridescence_thickness_texture, Linear)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnisotropyJson {
    anisotropy_strength: Option<f32>,
    anisotropy_rotation: Option<f32>,
    anisotropy_texture: Option<TextureInfo>,
}

fn anisotropy(r: &mut Reader, json: AnisotropyJson) -> Result<Anisotropy, Fault> {
    Ok(Anisotropy {
        strength: r.unit(
            json.anisotropy_strength.unwrap_or(0.0),
            "anisotropyStrength",
        )?,
        rotation: r.finite(
            json.anisotropy_rotation.unwrap_or(0.0),
            "anisotropyRotation",
        )?,
        texture: r.texture(json.anisotropy_texture, Linear)?,
    })
}
