//! Blend shapes of a mesh (UsdSkelBlendShape).

use super::super::values::Values;
use crate::{BlendKey, BlendShape};
use openusd::{sdf::Value, usd::Prim};

/// Beginning of the names of in-between shapes.
const INBETWEENS: &str = "inbetweens:";

/// The blend shapes of a mesh with this number of points. Damaged ones are left out with a warning.
pub fn read(values: &Values, prim: &Prim, points: usize) -> Vec<BlendShape> {
    let names = values.get::<Vec<String>>(prim, "skel:blendShapes").unwrap_or_default();
    let targets = values.targets(prim, "skel:blendShapeTargets");
    if names.len() != targets.len() {
        let (names, targets) = (names.len(), targets.len());
        values.warn(format!(
            "{}: has {names} names of blend shapes and {targets} targets; some are left out",
            prim.path()
        ));
    }
    let shapes = names.into_iter().zip(targets).filter_map(|(name, target)| {
        let shape = values.prim(&target).ok_or("there is no such prim".to_owned());
        let shape = shape.and_then(|shape| read_shape(values, &shape, name, points));
        shape.map_err(|damage| values.warn(format!("{target}: {damage}; the blend shape is left out"))).ok()
    });
    shapes.collect()
}

/// # Errors
/// With what is wrong with the shape.
fn read_shape(values: &Values, prim: &Prim, name: String, points: usize) -> Result<BlendShape, String> {
    let indices = values.get::<Vec<i32>>(prim, "pointIndices").unwrap_or_default();
    let valid = |index: &i32| u32::try_from(*index).ok().filter(|index| (*index as usize) < points);
    let moved: Option<Vec<u32>> = indices.iter().map(valid).collect();
    let moved = moved.ok_or_else(|| format!("pointIndices are not all among the {points} points of the mesh"))?;
    let count = if moved.is_empty() { points } else { moved.len() };
    let main = key(values, prim, 1.0, ["offsets", "normalOffsets"], count)?;
    let mut keys = vec![main];
    for attribute in values.names(prim) {
        let Some(rest) = attribute.as_str().strip_prefix(INBETWEENS) else { continue };
        if rest.contains(':') {
            continue;
        }
        match in_between(values, prim, attribute.as_str(), count) {
            Ok(key) if keys.iter().all(|known| known.weight != key.weight) => keys.push(key),
            Ok(key) => {
                let weight = key.weight;
                values.warn(format!("{}.{attribute}: its weight {weight} is in use; it is left out", prim.path()));
            }
            Err(damage) => values.warn(format!("{}.{attribute}: {damage}; it is left out", prim.path())),
        }
    }
    keys.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    Ok(BlendShape { name, keys, points: moved })
}

fn in_between(values: &Values, prim: &Prim, name: &str, count: usize) -> Result<BlendKey, String> {
    let weight = match prim.attribute(name).get_metadata::<Value>("weight").ok().flatten() {
        Some(Value::Float(weight)) => weight,
        Some(Value::Double(weight)) => weight as f32,
        Some(Value::Int(weight)) => weight as f32,
        _ => return Err("has no weight".to_owned()),
    };
    if !weight.is_finite() || weight == 0.0 {
        return Err(format!("its weight is {weight}"));
    }
    key(values, prim, weight, [name, &format!("{name}:normalOffsets")], count)
}

fn key(values: &Values, prim: &Prim, weight: f32, names: [&str; 2], count: usize) -> Result<BlendKey, String> {
    let [offsets, normals]: [Vec<[f32; 3]>; 2] = names.map(|name| values.get(prim, name).unwrap_or_default());
    if offsets.len() != count {
        return Err(format!("has {} offsets for {count} points", offsets.len()));
    }
    let normals = if normals.len() == count { normals } else { Vec::new() };
    Ok(BlendKey { weight, offsets, normals })
}
