//! The parts of a scene: nodes with a mesh, their copies (EXT_mesh_gpu_instancing), skins, and morph weights at rest.

use super::{
    fault::{Fault, fault},
    file::{
        accessor,
        document::{Document, out_of_range},
        extensions,
    },
    geometry::{self, Choice},
    model::{MeshPart, ModelMesh},
    nodes::{Hierarchy, unit_quaternion},
    skins::Skins,
};
use crate::budget;
use glam::{Affine3, Quat, Vec3};
use gltf::json::{Index, accessor::Accessor, scene::Node};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};
use throng_base::math::thicken;
use throng_scene::{
    NONE,
    rig::{RigNode, Skin},
};

/// The meshes of the scene's visible nodes.
pub struct Meshes {
    pub meshes: Vec<ModelMesh>,
    /// For each mesh of the file, the indices of its primitives in `meshes`.
    by_file_mesh: Vec<Vec<u32>>,
}

/// Use of a mesh by visible nodes of the scene.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    None,
    Plain,
    /// At least one node uses it with a skin.
    Skinned,
}

/// Reads every primitive of every mesh that visible nodes of the scene use, each once and in parallel.
///
/// # Errors
/// If a mesh does not exist or is invalid.
pub fn read_meshes(document: &Document, hierarchy: &Hierarchy, choice: &Choice) -> Result<Meshes, Fault> {
    let count = document.root.meshes.len();
    let mut used = vec![Use::None; count];
    for &(_, index) in &hierarchy.visible {
        let node = &document.root.nodes[index as usize];
        let Some(mesh) = node.mesh else {
            continue;
        };
        let slot = used.get_mut(mesh.value()).ok_or_else(|| {
            let message = out_of_range("mesh", mesh.value(), count);
            fault(format!("/nodes/{index}/mesh"), message)
        });
        if let Some(slot) = document.faults.keep(slot)? {
            *slot = (*slot).max(if node.skin.is_some() { Use::Skinned } else { Use::Plain });
        }
    }
    let wanted: Vec<(usize, usize)> = (0..count)
        .filter(|&m| used[m] > Use::None)
        .flat_map(|m| (0..document.root.meshes[m].primitives.len()).map(move |k| (m, k)))
        .collect();
    let read: Vec<Option<ModelMesh>> = wanted
        .par_iter()
        .map(|&(m, k)| {
            let mesh = geometry::read(document, choice, (m, k), used[m] == Use::Skinned);
            Ok(document.faults.keep(mesh)?.flatten())
        })
        .collect::<Result<_, _>>()?;
    let mut meshes = Meshes { meshes: Vec::new(), by_file_mesh: vec![Vec::new(); count] };
    for ((m, _), mesh) in wanted.into_iter().zip(read) {
        if let Some(mesh) = mesh {
            meshes.by_file_mesh[m].push(meshes.meshes.len() as u32);
            meshes.meshes.push(mesh);
        }
    }
    Ok(meshes)
}

impl Meshes {
    /// Number of meshes in the file that have anything to render.
    pub fn mesh_count(&self) -> u32 {
        let used = self.by_file_mesh.iter().filter(|p| !p.is_empty());
        used.count() as u32
    }
}

/// Sets the nodes' morph weights at rest, and returns the parts of the scene.
///
/// # Errors
/// If weights, joints or instances are inconsistent.
pub fn place(
    document: &Document,
    hierarchy: &Hierarchy,
    meshes: &Meshes,
    skins: &Skins,
    nodes: &mut [RigNode],
) -> Result<Vec<MeshPart>, Fault> {
    let reach: Vec<u32> = meshes.meshes.par_iter().map(greatest_joint).collect();
    let mut parts = Vec::new();
    for &(i, index) in &hierarchy.visible {
        let node = &document.root.nodes[index as usize];
        let mesh = node.mesh.map(|m| m.value());
        let Some(primitives) = mesh.and_then(|m| meshes.by_file_mesh.get(m)) else {
            continue;
        };
        let path = format!("/nodes/{index}");
        let weights = rest_weights(document, meshes, node, &path);
        nodes[i as usize].weights = document.faults.keep(weights)?.unwrap_or_default();
        let skin = node.skin.and_then(|s| skins.rig_index.get(s.value()));
        let skin = skin.copied().unwrap_or(NONE);
        let placements = placements(document, node, &path);
        let placements = document.faults.keep(placements)?.unwrap_or_default();
        let instances = primitives.len() as u64 * placements.len().max(1) as u64;
        let room = document.budget.take(instances.saturating_mul(budget::INSTANCE));
        room.map_err(|lack| fault(&path, format!("placing it {instances} times {lack}")))?;
        for &mesh in primitives {
            let used = skins.skins.get(skin as usize);
            let fits = check_skin(document, used, reach[mesh as usize], &path);
            let fits = document.faults.keep(fits)?.unwrap_or(false);
            parts.push(MeshPart {
                node: i,
                mesh,
                skin: if fits { skin } else { NONE },
                placements: placements.clone(),
            });
        }
    }
    Ok(parts)
}

/// The greatest joint index that a mesh uses; [`NONE`] without joints.
fn greatest_joint(mesh: &ModelMesh) -> u32 {
    mesh.deformers.joints.par_iter().max().map_or(NONE, |&j| j.into())
}

/// Whether the mesh is moved by the skin.
fn check_skin(document: &Document, skin: Option<&Skin>, greatest_joint: u32, path: &str) -> Result<bool, Fault> {
    let Some(skin) = skin else {
        return Ok(false);
    };
    if greatest_joint == NONE {
        let message = "the mesh has no joints and weights; its skin is ignored";
        document.warnings.add(path, message);
        return Ok(false);
    }
    if (greatest_joint as usize) < skin.joints.len() {
        return Ok(true);
    }
    let message =
        format!("the mesh names joint {greatest_joint}, but its skin has {}: export the file again", skin.joints.len());
    Err(fault(format!("{path}/skin"), message))
}

/// The node's weights, or else the mesh's, or else zeros.
fn rest_weights(document: &Document, meshes: &Meshes, node: &Node, path: &str) -> Result<Vec<f32>, Fault> {
    let Some(index) = node.mesh.map(|m| m.value()) else {
        return Ok(Vec::new());
    };
    let targets = |&m: &u32| meshes.meshes[m as usize].deformers.targets.len();
    let mut counts = meshes.by_file_mesh[index].iter().map(targets);
    let count = counts.next().unwrap_or(0);
    if counts.any(|other| other != count) {
        let message = "all primitives need the same number of morph targets";
        return Err(fault(format!("/meshes/{index}"), message));
    }
    document
        .budget
        .take_array(count, size_of::<f32>())
        .map_err(|lack| fault(path, format!("keeping the weights of its morph targets {lack}")))?;
    let mesh = &document.root.meshes[index];
    let weights = node.weights.as_ref().or(mesh.weights.as_ref());
    let Some(weights) = weights.filter(|_| count > 0) else {
        return Ok(vec![0.0; count]);
    };
    if weights.len() != count || weights.iter().any(|w| !w.is_finite()) {
        let message = format!("{count} morph targets need as many finite weights; 0 is taken for all");
        document.warnings.add(&format!("{path}/weights"), message);
        return Ok(vec![0.0; count]);
    }
    Ok(weights.clone())
}

#[derive(Deserialize)]
struct Instancing {
    attributes: Map<String, Value>,
}

/// The number of instances, from the attributes that place them, or else from the first of the other attributes, which are ignored.
fn instance_count(
    document: &Document,
    placing: [Option<usize>; 3],
    attributes: &Map<String, Value>,
    path: &str,
) -> Result<usize, Fault> {
    let mut counts = placing.into_iter().flatten();
    if let Some(count) = counts.next() {
        return if counts.all(|other| other == count) {
            Ok(count)
        } else {
            Err(fault(path, "all attributes need the same number of instances"))
        };
    }
    for (name, accessor) in attributes {
        let path = format!("{path}/{name}");
        let elements = index_of(accessor, &path).and_then(|index| accessor::elements(document, index, &path));
        if let Some(elements) = document.or_warn(elements, "nothing reads it")? {
            return Ok(elements.count);
        }
    }
    document.warnings.add(path, "there are no instances; the mesh is shown once");
    Ok(1)
}

fn index_of(accessor: &Value, path: &str) -> Result<Index<Accessor>, Fault> {
    let index = accessor.as_u64().and_then(|index| u32::try_from(index).ok());
    index.map(Index::new).ok_or_else(|| fault(path, "this is not the index of an accessor"))
}

fn placements(document: &Document, node: &Node, path: &str) -> Result<Vec<Affine3>, Fault> {
    let others = node.extensions.as_ref().map(|e| &e.others);
    let read = extensions::read::<Instancing>(others, extensions::INSTANCING, path)?;
    let Some(a) = read.map(|i| i.attributes) else {
        return Ok(vec![Affine3::IDENTITY]);
    };
    let path = format!("{path}/extensions/{}/attributes", extensions::INSTANCING);
    let translations = floats::<3>(document, &a, "TRANSLATION", &path)?;
    let rotations = floats::<4>(document, &a, "ROTATION", &path)?;
    let scales = floats::<3>(document, &a, "SCALE", &path)?;
    let lengths =
        [translations.as_ref().map(Vec::len), rotations.as_ref().map(Vec::len), scales.as_ref().map(Vec::len)];
    let count = instance_count(document, lengths, &a, &path)?;
    document
        .budget
        .take_array(count, size_of::<Affine3>())
        .map_err(|lack| fault(&path, format!("the instances {lack}")))?;
    let placement = |i: usize| {
        let rotation = rotations.as_ref().and_then(|r| unit_quaternion(r[i]));
        Affine3::from_scale_rotation_translation(
            scales.as_ref().map_or(Vec3::ONE, |s| thicken(Vec3::from(s[i]))),
            rotation.unwrap_or(Quat::IDENTITY),
            translations.as_ref().map_or(Vec3::ZERO, |t| Vec3::from(t[i])),
        )
    };
    let all = (0..count).into_par_iter().map(placement);
    let placements: Vec<Affine3> = all.filter(|placement| placement.is_finite()).collect();
    if placements.len() < count {
        let message = format!("{} instances are not finite and left out", count - placements.len());
        document.warnings.add(&path, message);
    }
    Ok(placements)
}

fn floats<const N: usize>(
    document: &Document,
    attributes: &Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<Option<Vec<[f32; N]>>, Fault> {
    let Some(accessor) = attributes.get(name) else {
        return Ok(None);
    };
    let path = format!("{path}/{name}");
    let elements = accessor::elements(document, index_of(accessor, &path)?, &path)?;
    elements.floats::<N>(document.budget).map(Some)
}
