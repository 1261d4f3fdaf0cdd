//! Attributes in which a file keeps all of a material of throng.

use super::network::{Network, Range};
use crate::ExportError;
use throng_scene::{
    Material,
    animated::MapUse,
    properties::{MaterialNumber, blank, choices},
};
use throng_usd::{Attribute, AttributeType, LayerValue, OwnSurface, Prim};

/// The attributes: the kind, and all properties that differ from their defaults. Adds the pictures that they are connected to.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn attributes(network: &mut Network, material: &Material) -> Result<Vec<Attribute>, ExportError> {
    let mut own = Prim::default();
    let name = |short: &str| format!("{}{short}", OwnSurface::PREFIX);
    let blank = blank();
    let usual = choices(&blank);
    for (short, text) in choices(material) {
        if name(short) == OwnSurface::KIND || !usual.contains(&(short, text.clone())) {
            own.set(name(short), "token", LayerValue::Token(text));
        }
    }
    for number in MaterialNumber::all().filter(|number| number.of(material) != number.of(&blank)) {
        let (kind, value) = typed(number, number.of(material));
        own.set(name(number.name()), kind, value);
    }
    let (mut copy, used) = (*material, material.maps());
    for usage in MapUse::all() {
        let index = *usage.of(&mut copy);
        let Some(map) = network.map(index).filter(|_| used.contains(&index)) else { continue };
        let texture = network.texture(usage.name(), map, Range::scaled([1.0; 4]))?;
        own.connect(name(usage.name()), "float3", format!("{texture}rgb"));
    }
    own.attributes.iter_mut().for_each(|attribute| attribute.is_custom = true);
    Ok(own.attributes)
}

/// A number with its type.
fn typed(number: MaterialNumber, [x, y, z]: [f32; 3]) -> (AttributeType, LayerValue) {
    match number.components() {
        1 => ("float", LayerValue::Float(x)),
        2 => ("float2", LayerValue::Float2([x, y])),
        _ => ("float3", LayerValue::Float3([x, y, z])),
    }
}
