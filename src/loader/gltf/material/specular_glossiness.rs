//! KHR_materials_pbrSpecularGlossiness, the material of older files: a diffuse colour under an interface of any reflectance. Lobes have it
//! exactly, as a dielectric whose index of refraction is infinite (KHR_materials_ior), tinted by the reflectance.

use crate::scene::{Lobes, animated::MapUse};

/// Members of materials that have it, in the place of those that others have.
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

/// The JSON pointer of a member within a material.
pub fn pointer(of_others: &str) -> &str {
    let member = MEMBERS.iter().find(|(other, _)| *other == of_others);
    member.map_or(of_others, |(_, own)| own)
}

/// Whether roughness is read from the texture.
pub fn is_roughness(map: MapUse) -> bool {
    map.pointer() == ROUGHNESS_TEXTURE
}

/// Makes lobes of the extension's values, which were read in the place of others', but for the glossiness, which is returned.
pub fn convert(lobes: &mut Lobes) -> f32 {
    let glossiness = lobes.roughness;
    lobes.metallic = 0.0;
    lobes.roughness = 1.0 - glossiness;
    lobes.ior = 0.0;
    lobes.specular = 1.0;
    lobes.specular_color = lobes.specular_color.map(|x| x.min(1.0));
    glossiness
}
