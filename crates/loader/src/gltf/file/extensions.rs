//! The supported extensions, and how their JSON is read.

use crate::gltf::fault::{Fault, Faults, Warnings, fault};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub const DRACO: &str = "KHR_draco_mesh_compression";
pub const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
pub const VISIBILITY: &str = "KHR_node_visibility";
pub const INSTANCING: &str = "EXT_mesh_gpu_instancing";
pub const LIGHTS: &str = "KHR_lights_punctual";
pub const IMAGE_LIGHTS: &str = "EXT_lights_image_based";
pub const VARIANTS: &str = "KHR_materials_variants";
pub const TEXTURE_TRANSFORM: &str = "KHR_texture_transform";
pub const TEXTURE_WEBP: &str = "EXT_texture_webp";
pub const TEXTURE_BASISU: &str = "KHR_texture_basisu";
pub const TEXTURE_DDS: &str = "MSFT_texture_dds";
pub const SPECULAR_GLOSSINESS: &str = "KHR_materials_pbrSpecularGlossiness";
pub const ANIMATION_POINTER: &str = "KHR_animation_pointer";

/// Supported extensions. `KHR_mesh_quantization` only permits component types that are always supported, and `KHR_xmp_json_ld` only
/// describes the file.
const SUPPORTED: [&str; 30] = [
    DRACO,
    MESHOPT[0],
    MESHOPT[1],
    INSTANCING,
    VISIBILITY,
    LIGHTS,
    IMAGE_LIGHTS,
    VARIANTS,
    TEXTURE_TRANSFORM,
    TEXTURE_WEBP,
    TEXTURE_BASISU,
    TEXTURE_DDS,
    ANIMATION_POINTER,
    SPECULAR_GLOSSINESS,
    "KHR_mesh_quantization",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
    "KHR_materials_volume_scatter",
    "KHR_xmp_json_ld",
    "KHR_xmp",
];

pub fn is_supported(name: &str) -> bool {
    SUPPORTED.contains(&name)
}

/// Unsupported extensions that do not prevent rendering when required. They contain descriptions, invisible data, simpler versions of a
/// node, or alternative picture formats.
const HARMLESS: [&str; 16] = [
    "AGI_articulations",
    "AGI_stk_metadata",
    "EXT_instance_features",
    "EXT_mesh_features",
    "EXT_structural_metadata",
    "EXT_texture_avif",
    "FB_geometry_metadata",
    "KHR_audio_emitter",
    "KHR_implicit_shapes",
    "KHR_interactivity",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_physics_rigid_bodies",
    "MSFT_lod",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
];

/// Whether a model remains recognisable without the extension. Without a material extension, it still has its colours and textures.
fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.contains("_materials_")
}

/// Checks the required extensions. An unsupported one that leaves models recognisable only causes a warning.
///
/// # Errors
/// If any other unsupported extension is required.
pub fn check_required(required: &[String], faults: &Faults, warnings: &Warnings) -> Result<(), Fault> {
    for (i, name) in required.iter().enumerate().filter(|(_, name)| !is_supported(name)) {
        let path = format!("/extensionsRequired/{i}");
        if is_harmless(name) {
            warnings.add(&path, format!("`{name}` is required, but not supported and ignored"))
        } else {
            faults.keep::<()>(Err(fault(path, refusal(name))))?;
        }
    }
    Ok(())
}

/// Returns the used extensions that are not supported, and adds a warning for each.
pub fn unsupported(used: &[String], warnings: &Warnings) -> Vec<String> {
    let unsupported: Vec<_> = used.iter().filter(|n| !is_supported(n)).cloned().collect();
    for name in &unsupported {
        warnings.add("/extensionsUsed", format!("`{name}` is not supported and ignored"));
    }
    unsupported
}

fn refusal(name: &str) -> String {
    format!("the extension `{name}` is required, but not supported: export the file without it")
}

/// Reads extension `name` of the object at `path`; None if the object does not have it.
///
/// # Errors
/// If a member is missing or has the wrong type.
pub fn read<T: DeserializeOwned>(
    others: Option<&Map<String, Value>>,
    name: &str,
    path: &str,
) -> Result<Option<T>, Fault> {
    let Some(value) = others.and_then(|o| o.get(name)) else {
        return Ok(None);
    };
    match T::deserialize(value) {
        Ok(read) => Ok(Some(read)),
        Err(e) => Err(fault(format!("{path}/extensions/{name}"), e.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn an_unknown_required_extension_is_an_error_by_name() {
        let required = names(&[LIGHTS, "ACME_teapot"]);
        let (faults, warnings) = (Faults::end_the_load(), Warnings::default());
        let e = check_required(&required, &faults, &warnings).err().map(|f| f.line()).unwrap_or_default();
        assert_eq!(
            e,
            "/extensionsRequired/1: the extension `ACME_teapot` is required, but not supported: export the file without it"
        );
    }

    #[test]
    fn a_required_extension_that_models_are_recognised_without_is_a_warning() {
        let warnings = Warnings::default();
        let required = names(&["EXT_mesh_features", "KHR_materials_glow", "EXT_texture_avif"]);
        assert!(check_required(&required, &Faults::end_the_load(), &warnings).is_ok());
        let lines = warnings.into_lines();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "/extensionsRequired/1: `KHR_materials_glow` is required, but not supported and ignored");
    }

    #[test]
    fn an_unknown_optional_extension_is_a_warning() {
        let warnings = Warnings::default();
        let used = names(&["ACME_teapot", DRACO]);
        assert_eq!(unsupported(&used, &warnings), ["ACME_teapot"]);
        let lines = warnings.into_lines();
        assert_eq!(lines, ["/extensionsUsed: `ACME_teapot` is not supported and ignored"]);
    }
}
