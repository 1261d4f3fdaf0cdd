//! UsdPreviewSurface.

use super::network::{Network, Range};
use crate::ExportError;
use throng_scene::{Alpha, Material, MaterialKind};
use throng_usd::{LayerValue, Prim};

/// Adds the surface that is nearest to a material. `is_colored` says that vertices have colours.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn add(network: &mut Network, material: &Material, is_colored: bool) -> Result<(), ExportError> {
    let mut shader = network.shader("Preview", "UsdPreviewSurface");
    if !material.unlit {
        colors(network, &mut shader, material, is_colored)?;
    } else {
        shader.set("inputs:diffuseColor", "color3f", LayerValue::Float3([0.0; 3]));
    }
    emission(network, &mut shader, material)?;
    match material.kind {
        MaterialKind::Diffuse | MaterialKind::Hair => {
            shader.set("inputs:useSpecularWorkflow", "int", LayerValue::Int(1));
            shader.set("inputs:specularColor", "color3f", LayerValue::Float3([0.0; 3]));
            shader.set("inputs:roughness", "float", LayerValue::Float(1.0));
        }
        MaterialKind::Mirror => {
            shader.set("inputs:metallic", "float", LayerValue::Float(1.0));
            shader.set("inputs:roughness", "float", LayerValue::Float(0.0));
        }
        MaterialKind::Layered => layers(network, &mut shader, material)?,
    }
    let output = network.add(shader, "surface", "token");
    network.surface("", output);
    Ok(())
}

/// The base colour, and the opacity that its picture has.
fn colors(network: &mut Network, shader: &mut Prim, material: &Material, is_colored: bool) -> Result<(), ExportError> {
    let color = material.color.to_array();
    let transmission = if material.kind == MaterialKind::Layered { material.lobes.transmission } else { 0.0 };
    let opacity = if material.alpha == Alpha::Opaque { 1.0 } else { material.opacity } * (1.0 - transmission);
    if let Alpha::Mask(cutoff) = material.alpha {
        shader.set("inputs:opacityThreshold", "float", LayerValue::Float(cutoff));
    }
    let Some(map) = network.map(material.color_map) else {
        if is_colored {
            let mut reader = network.shader("Colors", "UsdPrimvarReader_float3");
            reader.set("inputs:varname", "string", LayerValue::Text("displayColor".to_owned()));
            reader.set("inputs:fallback", "float3", LayerValue::Float3(color));
            let read = network.add(reader, "result", "float3");
            shader.connect("inputs:diffuseColor", "color3f", read);
        } else {
            shader.set("inputs:diffuseColor", "color3f", LayerValue::Float3(color));
        }
        if opacity != 1.0 {
            shader.set("inputs:opacity", "float", LayerValue::Float(opacity));
        }
        return Ok(());
    };
    let [r, g, b] = color;
    let texture = network.texture("Color", map, Range::scaled([r, g, b, opacity]))?;
    shader.connect("inputs:diffuseColor", "color3f", format!("{texture}rgb"));
    match material.alpha {
        Alpha::Opaque if opacity == 1.0 => {}
        Alpha::Opaque => _ = shader.set("inputs:opacity", "float", LayerValue::Float(opacity)),
        _ => shader.connect("inputs:opacity", "float", format!("{texture}a")),
    }
    Ok(())
}

fn emission(network: &mut Network, shader: &mut Prim, material: &Material) -> Result<(), ExportError> {
    let [r, g, b] = material.emission.to_array();
    match network.map(material.emission_map) {
        Some(map) => {
            let texture = network.texture("Emission", map, Range::scaled([r, g, b, 1.0]))?;
            shader.connect("inputs:emissiveColor", "color3f", format!("{texture}rgb"));
        }
        None if [r, g, b] != [0.0; 3] => {
            _ = shader.set("inputs:emissiveColor", "color3f", LayerValue::Float3([r, g, b]))
        }
        None => {}
    }
    Ok(())
}

fn layers(network: &mut Network, shader: &mut Prim, material: &Material) -> Result<(), ExportError> {
    let lobes = &material.lobes;
    match network.map(lobes.metallic_roughness_map) {
        Some(map) => {
            let texture =
                network.texture("MetalRough", map, Range::scaled([1.0, lobes.roughness, lobes.metallic, 1.0]))?;
            shader.connect("inputs:metallic", "float", format!("{texture}b"));
            shader.connect("inputs:roughness", "float", format!("{texture}g"));
        }
        None => {
            shader.set("inputs:metallic", "float", LayerValue::Float(lobes.metallic));
            shader.set("inputs:roughness", "float", LayerValue::Float(lobes.roughness));
        }
    }
    if lobes.specular == 0.0 {
        shader.set("inputs:ior", "float", LayerValue::Float(1.0));
    } else if lobes.ior >= 1.0 {
        shader.set("inputs:ior", "float", LayerValue::Float(lobes.ior));
    }
    if lobes.clearcoat > 0.0 {
        let parts = [
            ("clearcoat", "r", lobes.clearcoat, lobes.clearcoat_map),
            ("clearcoatRoughness", "g", lobes.clearcoat_roughness, lobes.clearcoat_roughness_map),
        ];
        for (name, channel, factor, map) in parts {
            match network.map(map) {
                Some(map) => {
                    let texture = network.texture(name, map, Range::scaled([factor; 4]))?;
                    shader.connect(format!("inputs:{name}"), "float", format!("{texture}{channel}"));
                }
                None => _ = shader.set(format!("inputs:{name}"), "float", LayerValue::Float(factor)),
            }
        }
    }
    if let Some(map) = network.map(lobes.normal_map) {
        let texture = network.texture("Normal", map, Range::NORMAL)?;
        shader.connect("inputs:normal", "normal3f", format!("{texture}rgb"));
    }
    Ok(())
}
