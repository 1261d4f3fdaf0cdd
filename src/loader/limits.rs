//! How large coordinates may be, whatever file they come from.

use super::{
    LoadError,
    instances::{instance_world, node_worlds},
};
use crate::scene::{Scene, Shape};
use glam::Vec3;
use rayon::prelude::*;
use std::path::Path;

/// Coordinates beyond this cannot be traced: products of a few of them would leave the range of floats.
const LARGEST: f32 = 1e18;

/// Refuses vertices and placements (at rest) that are out of range.
///
/// # Errors
/// One line that names the mesh or the instance.
pub fn check(path: &Path, scene: &Scene) -> Result<(), LoadError> {
    let mut reaches = Vec::with_capacity(scene.meshes.len());
    for mesh in &scene.meshes {
        let reach = match &mesh.shape {
            Shape::Sphere => Vec3::ONE,
            Shape::Triangles(m) => {
                let positions = m.positions.iter();
                positions.fold(Vec3::ZERO, |r, p| r.max(Vec3::from(*p).abs()))
            }
        };
        if !reach.cmple(Vec3::splat(LARGEST)).all() {
            let name = &mesh.name;
            return Err(refuse(
                path,
                &format!("mesh `{name}` has a vertex at {}", reach.max_element()),
            ));
        }
        reaches.push(reach);
    }
    let worlds = node_worlds(&scene.nodes);
    let outside = scene.instances.par_iter().position_first(|instance| {
        let (world, reach) = (
            instance_world(instance, &worlds),
            reaches[instance.mesh as usize],
        );
        let m = world.matrix3;
        let size = m.x_axis.abs() * reach.x + m.y_axis.abs() * reach.y + m.z_axis.abs() * reach.z;
        !(size + world.translation.abs())
            .cmple(Vec3::splat(LARGEST))
            .all()
    });
    match outside {
        Some(index) => Err(refuse(
            path,
            &format!("instance {index} reaches out of range"),
        )),
        None => Ok(()),
    }
}

fn refuse(path: &Path, what: &str) -> LoadError {
    LoadError::file(
        path,
        format!("{what}: coordinates must stay within {LARGEST:e}; scale it down"),
    )
}
