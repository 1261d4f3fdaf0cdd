//! Values beside those of nodes that animation pointers name (KHR_animation_pointer), and what they are at rest.

use super::{
    file::{
        document::{Document, out_of_range},
        extensions,
    },
    material::Transform,
};
use crate::scene::{
    animated::{
        CameraValue, LightValue, MapUse, MaterialBase, MaterialValue, PlaceValue, Target,
        TexturePlace,
    },
    rig::Clip,
};
use glam::Vec3;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Path to each value within its material.
#[rustfmt::skip]
const MATERIAL_VALUES: [(&str, MaterialValue); 28] = [
    ("pbrMetallicRoughness/baseColorFactor", MaterialValue::BaseColor),
    ("pbrMetallicRoughness/metallicFactor", MaterialValue::Metallic),
    ("pbrMetallicRoughness/roughnessFactor", MaterialValue::Roughness),
    ("normalTexture/scale", MaterialValue::NormalScale),
    ("emissiveFactor", MaterialValue::Emissive),
    ("extensions/KHR_materials_emissive_strength/emissiveStrength", MaterialValue::EmissiveStrength),
    ("alphaCutoff", MaterialValue::AlphaCutoff),
    ("extensions/KHR_materials_ior/ior", MaterialValue::Ior),
    ("extensions/KHR_materials_dispersion/dispersion", MaterialValue::Dispersion),
    ("extensions/KHR_materials_specular/specularFactor", MaterialValue::Specular),
    ("extensions/KHR_materials_specular/specularColorFactor", MaterialValue::SpecularColor),
    ("extensions/KHR_materials_transmission/transmissionFactor", MaterialValue::Transmission),
    ("extensions/KHR_materials_volume/thicknessFactor", MaterialValue::Thickness),
    ("extensions/KHR_materials_volume/attenuationDistance", MaterialValue::AttenuationDistance),
    ("extensions/KHR_materials_volume/attenuationColor", MaterialValue::AttenuationColor),
    ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionFactor", MaterialValue::DiffuseTransmission),
    ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorFactor", MaterialValue::DiffuseTransmissionColor),
    ("extensions/KHR_materials_clearcoat/clearcoatFactor", MaterialValue::Clearcoat),
    ("extensions/KHR_materials_clearcoat/clearcoatRoughnessFactor", MaterialValue::ClearcoatRoughness),
    ("extensions/KHR_materials_clearcoat/clearcoatNormalTexture/scale", MaterialValue::ClearcoatNormalScale),
    ("extensions/KHR_materials_sheen/sheenColorFactor", MaterialValue::SheenColor),
    ("extensions/KHR_materials_sheen/sheenRoughnessFactor", MaterialValue::SheenRoughness),
    ("extensions/KHR_materials_iridescence/iridescenceFactor", MaterialValue::Iridescence),
    ("extensions/KHR_materials_iridescence/iridescenceIor", MaterialValue::IridescenceIor),
    ("extensions/KHR_materials_iridescence/iridescenceThicknessMinimum", MaterialValue::IridescenceThicknessMinimum),
    ("extensions/KHR_materials_iridescence/iridescenceThicknessMaximum", MaterialValue::IridescenceThicknessMaximum),
    ("extensions/KHR_materials_anisotropy/anisotropyStrength", MaterialValue::Anisotropy),
    ("extensions/KHR_materials_anisotropy/anisotropyRotation", MaterialValue::AnisotropyRotation),
];

/// Path to each texture within its material.
#[rustfmt::skip]
const MAPS: [(&str, MapUse); 17] = [
    ("pbrMetallicRoughness/baseColorTexture", MapUse::BaseColor),
    ("pbrMetallicRoughness/metallicRoughnessTexture", MapUse::MetallicRoughness),
    ("normalTexture", MapUse::Normal),
    ("emissiveTexture", MapUse::Emissive),
    ("extensions/KHR_materials_specular/specularTexture", MapUse::Specular),
    ("extensions/KHR_materials_specular/specularColorTexture", MapUse::SpecularColor),
    ("extensions/KHR_materials_transmission/transmissionTexture", MapUse::Transmission),
    ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionTexture", MapUse::DiffuseTransmission),
    ("extensions/KHR_materials_diffuse_transmission/diffuseTransmissionColorTexture", MapUse::DiffuseTransmissionColor),
    ("extensions/KHR_materials_clearcoat/clearcoatTexture", MapUse::Clearcoat),
    ("extensions/KHR_materials_clearcoat/clearcoatRoughnessTexture", MapUse::ClearcoatRoughness),
    ("extensions/KHR_materials_clearcoat/clearcoatNormalTexture", MapUse::ClearcoatNormal),
    ("extensions/KHR_materials_sheen/sheenColorTexture", MapUse::SheenColor),
    ("extensions/KHR_materials_sheen/sheenRoughnessTexture", MapUse::SheenRoughness),
    ("extensions/KHR_materials_iridescence/iridescenceTexture", MapUse::Iridescence),
    ("extensions/KHR_materials_iridescence/iridescenceThicknessTexture", MapUse::IridescenceThickness),
    ("extensions/KHR_materials_anisotropy/anisotropyTexture", MapUse::Anisotropy),
];

const PLACES: [(&str, PlaceValue); 3] = [
    ("offset", PlaceValue::Offset),
    ("rotation", PlaceValue::Rotation),
    ("scale", PlaceValue::Scale),
];

const LIGHT_VALUES: [(&str, LightValue); 5] = [
    ("color", LightValue::Color),
    ("intensity", LightValue::Intensity),
    ("range", LightValue::Range),
    ("spot/innerConeAngle", LightValue::InnerConeAngle),
    ("spot/outerConeAngle", LightValue::OuterConeAngle),
];

const CAMERA_VALUES: [(&str, CameraValue); 2] = [
    ("perspective/yfov", CameraValue::FovY),
    ("orthographic/ymag", CameraValue::HalfHeight),
];

/// The value that `pointer` names; None if it cannot be animated.
///
/// # Errors
/// When the file does not have so many materials, lights or cameras.
pub fn target(document: &Document, pointer: &str) -> Result<Option<Target>, String> {
    let root = &document.root;
    let pointer = pointer.strip_prefix('/').unwrap_or_default();
    let lights = format!("extensions/{}/lights/", extensions::LIGHTS);
    if let Some((material, member)) = element(pointer, "materials/") {
        let material = checked("material", material, root.materials.len())?;
        return Ok(in_material(material, member));
    }
    if let Some((light, member)) = element(pointer, &lights) {
        let light = checked("light", light, light_count(document))?;
        let value = find(&LIGHT_VALUES, member);
        return Ok(value.map(|value| Target::Light { light, value }));
    }
    if let Some((camera, member)) = element(pointer, "cameras/") {
        let camera = checked("camera", camera, root.cameras.len())?;
        let value = find(&CAMERA_VALUES, member);
        return Ok(value.map(|value| Target::Camera { camera, value }));
    }
    Ok(None)
}

/// The index that follows `list` in a pointer, and the rest of the pointer.
fn element<'a>(pointer: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (index, member) = pointer.strip_prefix(list)?.split_once('/')?;
    Some((index.parse().ok()?, member))
}

fn checked(what: &str, index: usize, count: usize) -> Result<u32, String> {
    match index < count {
        true => Ok(index as u32),
        false => Err(out_of_range(what, index, count)),
    }
}

fn light_count(document: &Document) -> usize {
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let lights = others
        .and_then(|others| others.get(extensions::LIGHTS)?.get("lights"))
        .and_then(Value::as_array);
    lights.map_or(0, Vec::len)
}

fn in_material(material: u32, member: &str) -> Option<Target> {
    if let Some(value) = find(&MATERIAL_VALUES, member) {
        return Some(Target::Material { material, value });
    }
    let place = format!("/extensions/{}/", extensions::TEXTURE_TRANSFORM);
    let (texture, part) = member.split_once(&place)?;
    let (map, value) = (find(&MAPS, texture)?, find(&PLACES, part)?);
    Some(Target::Place {
        material,
        map,
        value,
    })
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let entry = table.iter().find(|(own, _)| *own == name);
    entry.map(|&(_, value)| value)
}

/// Base values of the materials that `clips` animate, in the file's order.
pub fn bases(document: &Document, clips: &[Clip]) -> Vec<MaterialBase> {
    let mut maps: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for track in clips.iter().flat_map(|clip| &clip.tracks) {
        match track.target {
            Target::Material { material, .. } => {
                maps.entry(material).or_default();
            }
            Target::Place { material, map, .. } => {
                let index = MAPS.iter().position(|(_, own)| *own == map);
                maps.entry(material).or_default().extend(index);
            }
            Target::Light { .. } | Target::Camera { .. } => {}
        }
    }
    let all = maps.into_iter();
    all.map(|(material, maps)| base(document, material, &maps))
        .collect()
}

/// The base values of a material, which was validated when materials were read: members of a wrong type do not occur.
fn base(document: &Document, material: u32, maps: &BTreeSet<usize>) -> MaterialBase {
    let own = document.root.materials.get(material as usize);
    let json = own.and_then(|m| serde_json::to_value(m).ok());
    let json = json.unwrap_or_default();
    let place = |&map: &usize| {
        let (name, map) = MAPS[map];
        let path = format!("{name}/extensions/{}", extensions::TEXTURE_TRANSFORM);
        let transform = member::<Transform>(&json, &path);
        let place = transform.map_or_else(TexturePlace::default, |t| t.place());
        (map, place)
    };
    let strength = "extensions/KHR_materials_emissive_strength/emissiveStrength";
    let volume = "extensions/KHR_materials_volume";
    let color = |path: &str, default: f32| {
        let color = member::<[f32; 3]>(&json, path).map(Vec3::from);
        color.map_or(Vec3::splat(default), |c| c.clamp(Vec3::ZERO, Vec3::ONE))
    };
    MaterialBase {
        material,
        emissive: color("emissiveFactor", 0.0),
        emissive_strength: member(&json, strength).map_or(1.0, |x: f32| x.clamp(0.0, 1e18)),
        attenuation_color: color(&format!("{volume}/attenuationColor"), 1.0),
        attenuation_distance: member(&json, &format!("{volume}/attenuationDistance"))
            .unwrap_or(f32::INFINITY),
        places: maps.iter().map(place).collect(),
    }
}

fn member<T: DeserializeOwned>(json: &Value, path: &str) -> Option<T> {
    let value = json.pointer(&format!("/{path}"))?;
    serde_json::from_value(value.clone()).ok()
}
