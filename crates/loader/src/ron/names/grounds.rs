//! Objects as grounds, in world space at the first frame.

use crate::{land::ground::Ground, subjects::Found};
use glam::{Affine3, Affine3A};
use throng_scene::anim::{self, Moment};
use throng_scene::{Placed, Scene};

/// The triangles of an object, for height queries.
///
/// # Errors
/// If the object has no triangles, or if memory does not suffice. The text is the end of a sentence about the object.
pub fn of(scene: &Scene, found: &Found) -> Result<Ground, String> {
    let moment = Moment::of(scene, scene.settings.start);
    let world = anim::way_world(scene, &moment, &found.around);
    let mut placed = Vec::new();
    found.instances.iter().for_each(|&index| add(scene, &moment, index, world, &mut placed));
    let meshes = placed.iter().filter_map(|&(mesh, at)| {
        let triangles = scene.meshes[mesh].triangles()?;
        Some((&triangles.positions[..], &triangles.triangles[..], at))
    });
    let meshes: Vec<_> = meshes.collect();
    if meshes.is_empty() {
        return Err("has no triangles: spheres are no ground".to_owned());
    }
    Ground::new(meshes.into_iter()).map_err(|lack| format!("is looked at as a ground, which {lack}"))
}

/// Adds the meshes that an instance places; `around` is the transform of its level.
fn add(scene: &Scene, moment: &Moment, index: u32, around: Affine3A, out: &mut Vec<(usize, Affine3)>) {
    let world = around * anim::instance_world(scene, moment, index);
    match scene.placed_by(&scene.instances[index as usize]) {
        Placed::Assembly(assembly) => {
            scene.assemblies[assembly].instances.clone().for_each(|inner| add(scene, moment, inner, world, out));
        }
        Placed::Mesh(mesh) => out.push((mesh, world.into())),
    }
}
