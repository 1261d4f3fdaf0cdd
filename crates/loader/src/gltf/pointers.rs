//! Targets of animation pointers other than properties of nodes (KHR_animation_pointer), and their values at rest.

use super::{
    file::{
        document::{Document, out_of_range},
        extensions,
    },
    material::pbr::PbrMaterial,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use throng_scene::{
    animated::{CameraValue, LightValue, MapUse, MaterialBase, MaterialValue, PlaceValue, Target},
    rig::Clip,
};

const PLACES: [(&str, PlaceValue); 3] =
    [("offset", PlaceValue::Offset), ("rotation", PlaceValue::Rotation), ("scale", PlaceValue::Scale)];

const LIGHT_VALUES: [(&str, LightValue); 5] = [
    ("color", LightValue::Color),
    ("intensity", LightValue::Intensity),
    ("range", LightValue::Range),
    ("spot/innerConeAngle", LightValue::InnerConeAngle),
    ("spot/outerConeAngle", LightValue::OuterConeAngle),
];

const CAMERA_VALUES: [(&str, CameraValue); 2] =
    [("perspective/yfov", CameraValue::FovY), ("orthographic/ymag", CameraValue::HalfHeight)];

/// The value to which `pointer` refers; None if it cannot be animated.
///
/// # Errors
/// If the index of a material, light or camera is out of range.
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

/// The node to whose visibility `pointer` refers; None for other pointers (KHR_node_visibility).
pub fn visibility(pointer: &str) -> Option<usize> {
    let (node, member) = element(pointer.strip_prefix('/')?, "nodes/")?;
    let visible = member.strip_prefix("extensions/")?.strip_prefix(extensions::VISIBILITY)?;
    (visible == "/visible").then_some(node)
}

/// The index that follows `list` in a pointer, and the rest of the pointer.
fn element<'a>(pointer: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let (index, member) = pointer.strip_prefix(list)?.split_once('/')?;
    Some((index.parse().ok()?, member))
}

fn checked(what: &str, index: usize, count: usize) -> Result<u32, String> {
    if index < count { Ok(index as u32) } else { Err(out_of_range(what, index, count)) }
}

fn light_count(document: &Document) -> usize {
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let lights = others.and_then(|others| others.get(extensions::LIGHTS)?.get("lights")).and_then(Value::as_array);
    lights.map_or(0, Vec::len)
}

fn in_material(material: u32, member: &str) -> Option<Target> {
    if let Some(value) = MaterialValue::at(member) {
        return Some(Target::Material { material, value });
    }
    let place = format!("/extensions/{}/", extensions::TEXTURE_TRANSFORM);
    let (texture, part) = member.split_once(&place)?;
    let (map, value) = (MapUse::at(texture)?, find(&PLACES, part)?);
    Some(Target::Place { material, map, value })
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let entry = table.iter().find(|(own, _)| *own == name);
    entry.map(|&(_, value)| value)
}

/// Base values of the materials that `clips` animate, in the file's order.
pub fn bases(materials: &[PbrMaterial], clips: &[Clip]) -> Vec<MaterialBase> {
    let mut maps: BTreeMap<u32, BTreeSet<MapUse>> = BTreeMap::new();
    for track in clips.iter().flat_map(|clip| &clip.tracks) {
        match track.target {
            Target::Material { material, .. } => {
                maps.entry(material).or_default();
            }
            Target::Place { material, map, .. } => {
                maps.entry(material).or_default().insert(map);
            }
            Target::Light { .. } | Target::Camera { .. } => {}
        }
    }
    let all = maps.into_iter();
    all.filter_map(|(index, maps)| {
        let own = materials.get(index as usize)?;
        Some(MaterialBase { places: maps.into_iter().map(|map| (map, own.place(map))).collect(), ..own.base.clone() })
    })
    .collect()
}
