//! Poses of bending meshes, as meshes of the scene.

use super::instances::{Bends, UsedMesh};
use crate::{
    LoadError, budget, files,
    geometry::subdivide::lowered,
    meshes::MeshSource,
    ron::{file::Source, source::Place},
};
use rayon::prelude::*;
use std::sync::Arc;
use throng_scene::{
    Bend, Mesh, Scene, Shape, TriangleMesh,
    desc::SceneFile,
    rig::{Palette, PoseBuckets},
};

/// Checks that memory suffices for the poses of all bending meshes.
///
/// # Errors
/// If memory does not suffice.
pub fn check_room(
    source: &Source,
    file: &SceneFile,
    sources: &[MeshSource],
    (used, bends): (&UsedMesh, &Bends),
) -> Result<(), LoadError> {
    let Some(bend) = bends.bend(used) else { return Ok(()) };
    let count = bend.pose_count();
    let one = match &sources[used.mesh as usize].mesh.shape {
        Shape::Triangles(mesh) => budget::of_mesh(mesh.positions.len(), mesh.triangles.len()),
        Shape::Curves(curves) => budget::of_curves(curves.points.len()),
        Shape::Sphere => return Ok(()),
    };
    let bytes = one.saturating_mul(count.into());
    files::fits(bytes).map_err(|lack| {
        let (motion, _) = &file.motions.0[used.bent_by as usize];
        let place = Place::ROOT.key("motions");
        let name = &sources[used.mesh as usize].mesh.name;
        let message = format!(
            "bending `{name}` into {count} poses {lack}: write fewer `poses`, or use a mesh with fewer triangles"
        );
        source.error(&place.key(motion), message)
    })
}

/// Minimum number of levels of vertices in a bending mesh.
const LEVELS_OF_BENT: f32 = 16.0;

/// Adds the poses of a bending mesh.
pub fn add(scene: &mut Scene, mesh: &Mesh, bend: &Bend) {
    let fine = match &mesh.shape {
        Shape::Triangles(mesh_at_rest) => lowered(mesh_at_rest, mesh.bounds().extent().y / LEVELS_OF_BENT),
        _ => TriangleMesh::default(),
    };
    let shape = |number: u32| match &mesh.shape {
        Shape::Triangles(_) => Shape::Triangles(bend.bent(&fine, number)),
        Shape::Curves(curves) => Shape::Curves(Arc::new(bend.bent_curves(curves, number))),
        Shape::Sphere => Shape::Sphere,
    };
    let pose = |number: u32| Mesh {
        name: if number == 0 { mesh.name.clone() } else { format!("{} pose {number}", mesh.name) },
        shape: shape(number),
        slot_count: mesh.slot_count,
    };
    let poses = PoseBuckets { count: bend.pose_count(), duration: 0.0 };
    scene.palettes.push(Palette { first_mesh: scene.meshes.len() as u32, poses });
    let bent: Vec<Mesh> = (0..poses.count).into_par_iter().map(pose).collect();
    scene.meshes.extend(bent);
}
