//! KHR_materials_pbrSpecularGlossiness, the material of older files: a diffuse colour below an interface of arbitrary reflectance. Lobes
//! represent it exactly as a dielectric with infinite index of refraction (KHR_materials_ior), tinted by the reflectance.

use throng_scene::{Lobes, animated::MapUse};

/// Pairs of a standard member and the member of this extension that replaces it.
#[rustfmt::skip]
const MEMBERS: [(&str, &str); 6] = [
    ("pbrMetallicRoughness/baseColorFactor", "extensions/KHR_materials_pbrSpecularGlossiness/diffuseFactor"),
    ("pbrMetallicRoughness/baseColorTexture", "extensions/KHR_materials_pbrSpecularGlossiness/diffuseTexture"),
    (ROUGHNESS, "extensions/KHR_materials_pbrSpecularGlossiness/glossinessFactor"),
    (ROUGHNESS_TEXTURE, "extensions/KHR_materials_pbrSpecularGlossiness/specularGlossinessTexture"),
    ("extensions/KHR_materials_specular/specularColorFactor", "extensions/KHR_materials_pbrSpecularGlossiness/specularFactor"),
    ("extensions/KHR_materials_specular/specularColorTexture", "extensions/KHR_materials_pbrSpecularGlossiness/specularGlossinessTexture"),
];
const ROUGHNESS: &str = "pbrMetallicRoughness/roughnessFactor";
const ROUGHNESS_TEXTURE: &str = "pbrMetallicRoughness/metallicRoughnessTexture";

/// The JSON pointer of a member in a material with this extension.
pub fn pointer(of_others: &str) -> &str {
    let member = MEMBERS.iter().find(|(other, _)| *other == of_others);
    member.map_or(of_others, |(_, own)| own)
}

/// Whether the map is the source of roughness.
pub fn is_roughness(map: MapUse) -> bool {
    map.pointer() == ROUGHNESS_TEXTURE
}

/// Converts lobes, into which the extension's values were read as if they were standard members. Returns the glossiness.
pub fn convert(lobes: &mut Lobes) -> f32 {
    let glossiness = lobes.roughness;
    lobes.metallic = 0.0;
    lobes.roughness = 1.0 - glossiness;
    lobes.ior = 0.0;
    lobes.specular = 1.0;
    lobes.specular_color = lobes.specular_color.map(|x| x.min(1.0));
    glossiness
}
