//! A static model as a group: each of its meshes once, with the transforms of its copies.

use super::{FlatMaterials, flat_bytes};
use crate::{
    LoadError, budget,
    geometry::{fit::Fit, transform::is_invertible},
    gltf::{Model, ModelMesh},
    materials::Materials,
    meshes::MeshSource,
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::path::Path;
use throng_base::math::Aabb;
use throng_scene::anim::RigPose;
use throng_scene::{Mesh, NONE, Shape, rig::Rig};

/// Bytes that sharing must save for a model to become a group.
const WORTH_IT: u64 = 64 << 20;

/// A mesh of a model.
pub struct SharedMesh {
    pub source: MeshSource,
    /// Transforms from mesh space to model space, one per copy.
    pub places: Vec<Affine3>,
}

/// Bytes of memory of a static model as a group; `None` if it should be one mesh. `wanted` is the setting in the scene file.
///
/// # Errors
/// If a group is requested but not possible. The text is the end of a sentence about the model.
pub fn shared_bytes(model: &Model, wanted: Option<bool>) -> Result<Option<u64>, String> {
    let deforms = model
        .parts
        .iter()
        .any(|part| part.skin != NONE || !model.meshes[part.mesh as usize].deformers.targets.is_empty());
    let has_lines = model.meshes.iter().any(ModelMesh::has_lines);
    match wanted {
        Some(true) if deforms => return Err("has skins or morph targets: remove `shared`".to_owned()),
        Some(false) => return Ok(None),
        _ if deforms => return Ok(None),
        _ => {}
    }
    let copies: u64 = model.parts.iter().map(|part| part.placements.len() as u64).sum();
    let meshes = model.meshes.iter().map(|m| budget::of_mesh(m.mesh.positions.len(), m.mesh.triangles.len()));
    let bytes = meshes.fold(copies.saturating_mul(budget::INSTANCE), u64::saturating_add);
    let pays = flat_bytes(model).saturating_sub(bytes) > WORTH_IT;
    // Lines are no triangles, and cannot be a part of one mesh.
    Ok((pays || has_lines || wanted == Some(true)).then_some(bytes))
}

/// The meshes of a model with the transforms of their copies at rest. The model's rig is passed separately. Copies without an extent are
/// omitted.
///
/// # Errors
/// If nothing is visible.
pub fn shared_meshes(
    path: &Path,
    model: &Model,
    rig: &Rig,
    materials: &mut FlatMaterials,
    table: &mut Materials,
) -> Result<Vec<SharedMesh>, LoadError> {
    let mut rest = RigPose::default();
    rest.evaluate(rig, &[], 0.0);
    let mut places: Vec<Vec<Affine3>> = vec![Vec::new(); model.meshes.len()];
    for part in &model.parts {
        let node = Affine3::from(rest.world(part.node));
        let copies = part.placements.iter().map(|placement| node * *placement);
        places[part.mesh as usize].extend(copies.filter(is_invertible));
    }
    let is_drawn = |mesh: &ModelMesh| mesh.has_lines() || !mesh.mesh.triangles.is_empty();
    let shown = model.meshes.iter().zip(places).filter(|(mesh, places)| !places.is_empty() && is_drawn(mesh));
    let shared = shown.map(|(source, places)| {
        let mut mesh = source.mesh.clone();
        let row = materials.row(table, source.material, &mut mesh);
        let source = match source.shape(mesh) {
            Shape::Triangles(mesh) => MeshSource::of_unsplit_shape(&source.name, mesh, row),
            shape => MeshSource::of_mesh(Mesh { name: source.name.clone(), shape, slot_count: 1 }, vec![row]),
        };
        SharedMesh { source, places }
    });
    let shared: Vec<SharedMesh> = shared.collect();
    if shared.is_empty() { Err(LoadError::file(path, super::NOTHING_TO_SEE)) } else { Ok(shared) }
}

/// The bounds of a model.
pub fn bounds(meshes: &[SharedMesh]) -> Aabb {
    let of_copy = |mesh: &SharedMesh, place: &Affine3| match &mesh.source.mesh.shape {
        Shape::Curves(curves) => curves.bounds().transformed(place),
        _ => Aabb::of_points(mesh.source.points().0.iter().map(|&point| place.transform_point3(Vec3::from(point)))),
    };
    let of_mesh = |mesh: &SharedMesh| {
        let copies = mesh.places.par_iter().map(|place| of_copy(mesh, place));
        copies.reduce(|| Aabb::EMPTY, |a, b| a.union(b))
    };
    meshes.iter().map(of_mesh).fold(Aabb::EMPTY, Aabb::union)
}

/// Scales a model.
pub fn fit(meshes: &mut [SharedMesh], fit: &Fit) {
    let scale = fit.transform();
    meshes.iter_mut().flat_map(|mesh| &mut mesh.places).for_each(|place| *place = scale * *place);
}
