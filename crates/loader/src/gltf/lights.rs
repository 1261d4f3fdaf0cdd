//! Punctual lights (KHR_lights_punctual) at the nodes of a scene. Values out of range are clamped, with a warning.
//!
//! Candela and lux are used directly as radiant intensity and irradiance, as in most viewers. With the photometric factor of 683, most
//! files would be black relative to their own emission.

use super::{
    fault::{Fault, fault},
    file::{
        document::{Document, out_of_range},
        extensions,
    },
    model::{LightShape, ModelLight},
    nodes::{Hierarchy, Seat, name},
    viewpoints::replace,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};
use throng_scene::animated::VAST;

/// Difference between inner and outer angle of a spot with a sharp edge, relative to the outer angle. Such spots have equal angles in
/// files, for example spots from Blender without blend, but the specification requires a smaller inner angle.
const SHARP: f32 = 1e-4;
/// Minimum outer angle of a cone in radians.
const LEAST_ANGLE: f32 = 1e-3;

#[derive(Deserialize)]
struct Lights {
    #[serde(default)]
    lights: Vec<Value>,
}

#[derive(Deserialize)]
struct LightIndex {
    light: usize,
}

/// The lights of the scene's visible nodes, in the order of the nodes. Missing lights and lights of unknown types are ignored with a
/// warning.
///
/// # Errors
/// If the memory budget is exceeded.
pub fn read(document: &Document, hierarchy: &Hierarchy) -> Result<Vec<ModelLight>, Fault> {
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let read = extensions::read::<Lights>(others, extensions::LIGHTS, "");
    let lights = document.or_warn(read, "there are no lights")?.flatten().map_or_else(Vec::new, |l| l.lights);
    let mut found = Vec::new();
    for &(i, index) in &hierarchy.visible {
        let node = &document.root.nodes[index as usize];
        let light = light_at(document, Seat { node, rig_node: i, index }, &lights);
        found.extend(document.or_warn(light, "the light is left out")?.flatten());
    }
    Ok(found)
}

/// The light of a node.
fn light_at(
    document: &Document,
    Seat { node, rig_node, index }: Seat,
    lights: &[Value],
) -> Result<Option<ModelLight>, Fault> {
    let others = node.extensions.as_ref().map(|e| &e.others);
    let path = format!("/nodes/{index}");
    let Some(LightIndex { light: at }) = extensions::read(others, extensions::LIGHTS, &path)? else {
        return Ok(None);
    };
    let json = lights.get(at).ok_or_else(|| {
        let path = format!("{path}/extensions/{}/light", extensions::LIGHTS);
        fault(path, out_of_range("light", at, lights.len()))
    })?;
    let light = Light { document, json, path: format!("/extensions/{}/lights/{at}", extensions::LIGHTS) };
    let own_name: Option<String> = light.member("name")?;
    let given = own_name.as_deref().or(node.name.as_deref());
    Ok(Some(ModelLight {
        light: at as u32,
        name: name(given, "light", at),
        node: rig_node,
        color: light.color()?,
        intensity: light.intensity()?,
        range: light.range()?,
        shape: light.shape()?,
    }))
}

/// A light of the file.
struct Light<'a> {
    document: &'a Document<'a>,
    json: &'a Value,
    path: String,
}

impl Light<'_> {
    /// A member; None if it is missing or, with a warning, has the wrong type.
    fn member<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>, Fault> {
        let Some(json) = self.json.pointer(&format!("/{pointer}")) else {
            return Ok(None);
        };
        let read = T::deserialize(json).map_err(|e| fault(format!("{}/{pointer}", self.path), e.to_string()));
        self.document.or_warn(read, "it is ignored")
    }

    fn color(&self) -> Result<[f32; 3], Fault> {
        let given: [f32; 3] = self.member("color")?.unwrap_or([1.0; 3]);
        let used = given.map(|x| x.clamp(0.0, VAST));
        given.iter().zip(used).for_each(|(&given, used)| {
            replace(self.document, &format!("{}/color", self.path), given, used);
        });
        Ok(used)
    }

    fn intensity(&self) -> Result<f32, Fault> {
        let given: f32 = self.member("intensity")?.unwrap_or(1.0);
        let used = given.clamp(0.0, VAST);
        replace(self.document, &format!("{}/intensity", self.path), given, used);
        Ok(used)
    }

    fn range(&self) -> Result<Option<f32>, Fault> {
        let given: Option<f32> = self.member("range")?;
        let used = given.filter(|range| range.is_finite() && *range > 0.0);
        if let (Some(range), None) = (given, used) {
            let message = format!("{range} is out of range; the light has no end");
            self.document.warnings.add(&format!("{}/range", self.path), message);
        }
        Ok(used)
    }

    /// The type of the light, with its parameters.
    ///
    /// # Errors
    /// If the type is unknown or missing.
    fn shape(&self) -> Result<LightShape, Fault> {
        match self.json.get("type").and_then(Value::as_str) {
            Some("directional") => Ok(LightShape::Directional),
            Some("point") => Ok(LightShape::Point),
            Some("spot") => self.spot(),
            Some(other) => Err(fault(format!("{}/type", self.path), format!("there is no type `{other}` of lights"))),
            None => Err(fault(&self.path, "the light has no type")),
        }
    }

    fn spot(&self) -> Result<LightShape, Fault> {
        let outer: f32 = self.member("spot/outerConeAngle")?.unwrap_or(FRAC_PI_4);
        // A quarter turn may have been rounded up when it was written.
        let wide = if outer <= FRAC_PI_2 + 1e-5 { outer } else { FRAC_PI_2 };
        let used = wide.max(LEAST_ANGLE);
        replace(self.document, &format!("{}/spot/outerConeAngle", self.path), outer, used);
        let given = self.member("spot/innerConeAngle")?.unwrap_or(0.0);
        let inner = if given < used { f32::max(given, 0.0) } else { used * (1.0 - SHARP) };
        replace(self.document, &format!("{}/spot/innerConeAngle", self.path), given, inner);
        Ok(LightShape::Spot { inner, outer: used })
    }
}
