//! throng's own surface shader.

use super::network::{Network, Range};
use crate::ExportError;
use throng_scene::{
    Material,
    animated::MapUse,
    properties::{MaterialNumber, blank, choices},
};
use throng_usd::{AttributeType, LayerValue, OwnSurface};

/// Adds the shader, with all properties that differ from their defaults.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn add(network: &mut Network, material: &Material) -> Result<(), ExportError> {
    let mut shader = network.shader("Own", OwnSurface::SHADER);
    let blank = blank();
    let usual = choices(&blank);
    for (name, text) in choices(material).into_iter().filter(|choice| !usual.contains(choice)) {
        shader.set(format!("inputs:{name}"), "token", LayerValue::Token(text));
    }
    for number in MaterialNumber::all().filter(|number| number.of(material) != number.of(&blank)) {
        let (kind, value) = typed(number, number.of(material));
        shader.set(format!("inputs:{}", number.name()), kind, value);
    }
    let mut own = *material;
    let used = material.maps();
    for usage in MapUse::all() {
        let index = *usage.of(&mut own);
        let Some(map) = network.map(index).filter(|_| used.contains(&index)) else { continue };
        let texture = network.texture(usage.name(), map, Range::scaled([1.0; 4]))?;
        shader.connect(format!("inputs:{}", usage.name()), "float3", format!("{texture}rgb"));
    }
    let output = network.add(shader, "surface", "token");
    network.surface(OwnSurface::CONTEXT, output);
    Ok(())
}

/// A number with its type.
fn typed(number: MaterialNumber, [x, y, z]: [f32; 3]) -> (AttributeType, LayerValue) {
    match number.components() {
        1 => ("float", LayerValue::Float(x)),
        2 => ("float2", LayerValue::Float2([x, y])),
        _ => ("float3", LayerValue::Float3([x, y, z])),
    }
}
