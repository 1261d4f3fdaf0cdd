//! How the points of a mesh follow joints (UsdSkelBindingAPI).

use super::{
    SkelBound,
    pose::{self, Hierarchy},
    shapes,
};
use crate::{
    Skin,
    reader::values::{FromUsd, Values},
};
use glam::{DAffine3, DMat4};
use openusd::{sdf::Value, usd::Prim};
use std::collections::HashMap;

/// Joints that one mesh may follow. Indices of joints are stored in 16 bits when frames are made.
const MAX_JOINTS: usize = 65_535;

/// How a mesh with this number of points follows its skeleton. `None` if it does not, or after a warning if its data is damaged.
pub fn skin(values: &Values, prim: &Prim, points: usize, bound: &SkelBound) -> Option<Skin> {
    if points == 0 {
        return None;
    }
    let skeleton = pose::skeleton(values, bound.skeleton()?)?;
    let influences = Influences::read(values, prim, points, bound, &Hierarchy::of(values, &skeleton));
    let influences = influences.unwrap_or_else(|damage| {
        values.warn(format!("{}: {damage}; joints do not move it", prim.path()));
        Influences::default()
    });
    let shapes = shapes::read(values, prim, points);
    if influences.per_point == 0 && shapes.is_empty() {
        return None;
    }
    let transform = bound.holder(values, "primvars:skel:geomBindTransform");
    let transform = transform.and_then(|holder| values.get::<DMat4>(&holder, "primvars:skel:geomBindTransform"));
    let method = bound.holder(values, "primvars:skel:skinningMethod");
    let method = method.and_then(|holder| values.token(&holder, "primvars:skel:skinningMethod"));
    if method.as_deref() == Some("dualQuaternion") {
        values.warn(format!("{}: skinning by dual quaternions is not supported; linear skinning is used", prim.path()));
    }
    Some(Skin {
        skeleton_from_mesh: transform.map_or(DAffine3::IDENTITY, DAffine3::from_mat4),
        joints_per_point: influences.per_point,
        joints: influences.joints,
        weights: influences.weights,
        shapes,
    })
}

/// Joints and weights of all points.
#[derive(Default)]
struct Influences {
    per_point: u32,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

impl Influences {
    /// The joints and weights of a mesh; none if it has none.
    ///
    /// # Errors
    /// With what is wrong with them.
    fn read(
        values: &Values,
        prim: &Prim,
        points: usize,
        bound: &SkelBound,
        skeleton: &Hierarchy,
    ) -> Result<Self, String> {
        let indices = Array::<i32>::read(values, bound, "primvars:skel:jointIndices");
        let weights = Array::<f32>::read(values, bound, "primvars:skel:jointWeights");
        let (Some(indices), Some(weights)) = (indices, weights) else { return Ok(Self::default()) };
        if indices.values.is_empty() && weights.values.is_empty() {
            return Ok(Self::default());
        }
        let (indices, per_point) = indices.expand(points).ok_or("jointIndices have a wrong number of elements")?;
        let (mut weights, weights_per_point) =
            weights.expand(points).ok_or("jointWeights have a wrong number of elements")?;
        if per_point != weights_per_point {
            return Err("jointIndices and jointWeights have different numbers of elements".to_owned());
        }
        let map = Self::map(values, prim, bound, skeleton);
        if map.len() > MAX_JOINTS {
            return Err(format!("it follows {} joints, of which {MAX_JOINTS} are supported", map.len()));
        }
        let mut joints = Vec::with_capacity(indices.len());
        for (index, weight) in indices.into_iter().zip(&mut weights) {
            let joint = usize::try_from(index).ok().and_then(|index| map.get(index));
            match joint {
                Some(Some(joint)) => joints.push(*joint),
                Some(None) => {
                    // The skeleton lacks a joint of the mesh.
                    joints.push(0);
                    *weight = 0.0;
                }
                // Exporters fill the elements that a point does not use with any index.
                None if *weight == 0.0 => joints.push(0),
                None => return Err(format!("jointIndices have {index}, and there are {} joints", map.len())),
            }
        }
        weights.chunks_exact_mut(per_point).for_each(normalize);
        let per_point = u32::try_from(per_point).map_err(|_| "a point follows too many joints")?;
        Ok(Self { per_point, joints, weights })
    }

    /// The skeleton's index of each joint that the mesh numbers: by the mesh's own list of joints, or that of the skeleton.
    fn map(values: &Values, prim: &Prim, bound: &SkelBound, skeleton: &Hierarchy) -> Vec<Option<u32>> {
        let own =
            bound.holder(values, "skel:joints").and_then(|holder| values.get::<Vec<String>>(&holder, "skel:joints"));
        let Some(own) = own else {
            let mut map = vec![None; skeleton.len()];
            skeleton.in_file.iter().enumerate().for_each(|(new, &old)| map[old] = Some(new as u32));
            return map;
        };
        let names = skeleton.names.iter().enumerate().map(|(index, name)| (name.as_str(), index as u32));
        let names: HashMap<&str, u32> = names.collect();
        let map: Vec<Option<u32>> = own.iter().map(|name| names.get(name.as_str()).copied()).collect();
        if let Some(missing) = map.iter().position(Option::is_none) {
            let name = &own[missing];
            values.warn(format!("{}: follows joint {name}, which the skeleton lacks; it is left out", prim.path()));
        }
        map
    }
}

/// Scales weights to a sum of 1. If they sum to 0, the point follows its first joint.
fn normalize(weights: &mut [f32]) {
    let sum: f32 = weights.iter().sum();
    if sum.is_finite() && sum > 1e-6 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        weights.fill(0.0);
        weights.iter_mut().take(1).for_each(|weight| *weight = 1.0);
    }
}

/// A primvar with several elements per point.
struct Array<T> {
    values: Vec<T>,
    elements: usize,
    is_constant: bool,
}

impl<T: Copy> Array<T>
where
    Vec<T>: FromUsd,
{
    fn read(values: &Values, bound: &SkelBound, name: &str) -> Option<Self> {
        let holder = bound.holder(values, name)?;
        let elements = match holder.attribute(name).get_metadata::<Value>("elementSize").ok().flatten() {
            Some(Value::Int(size)) => usize::try_from(size).unwrap_or(1).max(1),
            _ => 1,
        };
        let data: Vec<T> = values.get(&holder, name)?;
        let interpolation = values.metadata(&holder, name, "interpolation");
        let data = match values.get::<Vec<i32>>(&holder, &format!("{name}:indices")) {
            Some(indices) => flatten(&data, &indices, elements)?,
            None => data,
        };
        Some(Self { values: data, elements, is_constant: interpolation.is_none_or(|name| name == "constant") })
    }

    /// The elements of all points, and how many each point has. Constant ones are repeated. `None` if their number is wrong.
    fn expand(self, points: usize) -> Option<(Vec<T>, usize)> {
        let count = self.values.len();
        if self.is_constant && count == self.elements {
            return Some((self.values.repeat(points), count));
        }
        // The number of elements tells how many each point has, also where exporters forgot to write it.
        let per_point = count / points;
        (per_point > 0 && per_point * points == count).then_some((self.values, per_point))
    }
}

/// The elements that indices refer to. `None` if an index is wrong.
fn flatten<T: Copy>(data: &[T], indices: &[i32], elements: usize) -> Option<Vec<T>> {
    let mut flat = Vec::with_capacity(indices.len().saturating_mul(elements));
    for index in indices {
        let start = usize::try_from(*index).ok()?.checked_mul(elements)?;
        flat.extend_from_slice(data.get(start..start.checked_add(elements)?)?);
    }
    Some(flat)
}
