//! The deformers of a primitive: joints with weights, and morph targets.

use super::vertices::Vertices;
use crate::gltf::fault::{Fault, fault};
use gltf::json::{Index, accessor::Accessor, mesh::Semantic};
use rayon::prelude::*;
use throng_scene::rig::{Deformers, MorphTarget};

/// Reads all JOINTS and WEIGHTS sets and all morph targets. Faulty targets are replaced by empty ones, with a warning. Faulty joints are
/// ignored with a warning, unless the mesh is `skinned`.
///
/// # Errors
/// If joints and weights of a skinned mesh do not match the vertices or are not finite, or if the memory budget is exceeded.
pub fn read(vertices: &Vertices, skinned: bool) -> Result<Deformers, Fault> {
    let mut deformers = match skin(vertices) {
        Err(fault) if !skinned => vertices.document.or_warn(Err(fault), "no skin needs it")?.unwrap_or_default(),
        read => read?,
    };
    let targets = vertices.primitive.targets.iter().flatten().enumerate();
    for (k, target) in targets {
        let at = |what: &str| format!("{}/targets/{k}/{what}", vertices.path);
        deformers.targets.push(MorphTarget {
            positions: offsets(vertices, target.positions, &at("POSITION"))?,
            normals: offsets(vertices, target.normals, &at("NORMAL"))?,
            tangents: offsets(vertices, target.tangents, &at("TANGENT"))?,
        });
    }
    Ok(deformers)
}

/// Reads joints and weights, without targets.
fn skin(vertices: &Vertices) -> Result<Deformers, Fault> {
    let mut deformers = Deformers::default();
    let mut sets = Vec::new();
    while let Some(set) = influences(vertices, sets.len() as u32)? {
        sets.push(set);
    }
    if !sets.is_empty() {
        merge(&sets, vertices, &mut deformers)?;
    }
    Ok(deformers)
}

/// Four joints and weights per vertex.
type Influences = (Vec<[u32; 4]>, Vec<[f32; 4]>);

fn influences(vertices: &Vertices, set: u32) -> Result<Option<Influences>, Fault> {
    let joints = vertices.joints(&Semantic::Joints(set))?;
    let weights = vertices.floats::<4>(&Semantic::Weights(set))?;
    match (joints, weights) {
        (Some(joints), Some(weights)) => Ok(Some((joints, weights))),
        (None, None) => Ok(None),
        _ => {
            let message = format!("JOINTS_{set} and WEIGHTS_{set} come only together and are ignored");
            vertices.document.warnings.add(vertices.path, message);
            Ok(None)
        }
    }
}

/// Combines the sets of each vertex, and normalises its weights to a sum of 1. Joints without weight become joint 0, since exporters write
/// arbitrary indices for them.
fn merge(sets: &[Influences], vertices: &Vertices, to: &mut Deformers) -> Result<(), Fault> {
    let weights = || sets.iter().flat_map(|(_, weights)| weights.as_flattened());
    if weights().any(|w| !w.is_finite()) {
        return Err(fault(vertices.path, "joint weights must be finite"));
    }
    let (per_vertex, count) = (sets.len() * 4, vertices.len());
    vertices
        .document
        .budget
        .take_array(count, per_vertex * 6)
        .map_err(|lack| fault(vertices.path, format!("the joint weights {lack}")))?;
    to.joints_per_vertex = per_vertex as u32;
    to.joints = vec![0; count * per_vertex];
    to.weights = vec![0.0; count * per_vertex];
    to.joints.par_chunks_exact_mut(per_vertex).zip(to.weights.par_chunks_exact_mut(per_vertex)).enumerate().for_each(
        |(v, (joints, weights))| {
            for (set, (from_joints, from_weights)) in sets.iter().enumerate() {
                for k in 0..4 {
                    let weight = from_weights[v][k].max(0.0);
                    weights[set * 4 + k] = weight;
                    joints[set * 4 + k] = if weight > 0.0 { from_joints[v][k] as u16 } else { 0 };
                }
            }
            normalise(weights);
        },
    );
    Ok(())
}

/// Normalises weights to a sum of 1. If all are 0, the first joint gets the whole weight.
fn normalise(weights: &mut [f32]) {
    let sum: f32 = weights.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        weights.iter_mut().for_each(|w| *w /= sum);
    } else {
        weights.fill(0.0);
        weights[0] = 1.0;
    }
}

fn offsets(vertices: &Vertices, accessor: Option<Index<Accessor>>, path: &str) -> Result<Vec<[f32; 3]>, Fault> {
    let Some(accessor) = accessor else {
        return Ok(Vec::new());
    };
    let offsets = vertices.accessor_floats::<3>(accessor, path).and_then(|offsets| {
        if offsets.par_iter().flatten_iter().all(|x| x.is_finite()) {
            Ok(offsets)
        } else {
            Err(fault(path, "morph offsets must be finite"))
        }
    });
    Ok(vertices.document.or_warn(offsets, "it moves nothing")?.unwrap_or_default())
}
