//! The limit on coordinates, which applies to all file formats.

use super::LoadError;
use glam::Vec3;
use rayon::prelude::*;
use std::path::Path;
use throng_base::math::{LARGEST_COORDINATE, stays_in_range};
use throng_scene::{
    Scene,
    rest::{instance_world, node_worlds},
};

/// Checks that vertices and placements (at rest) are in range.
///
/// # Errors
/// One line that names the mesh or instance out of range.
pub fn check(path: &Path, scene: &Scene) -> Result<(), LoadError> {
    let mut reaches = Vec::with_capacity(scene.meshes.len());
    for mesh in &scene.meshes {
        let reach = mesh.bounds().reach();
        if !reach.cmple(Vec3::splat(LARGEST_COORDINATE)).all() {
            let name = &mesh.name;
            return Err(refuse(path, &format!("mesh `{name}` has a vertex at {}", reach.max_element())));
        }
        reaches.push(reach);
    }
    let assemblies = scene.boxes_at_rest().split_off(scene.meshes.len());
    reaches.extend(assemblies.iter().map(|bounds| bounds.reach()));
    let worlds = node_worlds(&scene.nodes);
    let outside = scene.instances.par_iter().position_first(|instance| {
        let world = instance_world(instance, &worlds);
        !stays_in_range(&world, reaches[instance.mesh as usize])
    });
    match outside {
        Some(index) => Err(refuse(path, &format!("instance {index} reaches out of range"))),
        None => Ok(()),
    }
}

fn refuse(path: &Path, what: &str) -> LoadError {
    LoadError::file(path, format!("{what}: coordinates must stay within {LARGEST_COORDINATE:e}; scale it down"))
}
