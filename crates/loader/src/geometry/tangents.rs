//! Tangents for meshes that lack them but have a normal map, or an anisotropic material or hair. Models from glTF files have tangents already,
//! unless a scene file assigns another material.

use crate::gltf::generate_tangents;
use glam::Mat2;
use rayon::prelude::*;
use std::collections::HashSet;
use throng_scene::{Scene, Shape, rig::Deformers};

/// Computes missing tangents. If this is not possible, the scene gets a warning, and normal maps have no effect there.
pub fn add_missing(scene: &mut Scene) {
    let demands = scene.vertex_demands();
    if demands.iter().all(|demand| demand.tangents.is_none()) {
        return;
    }
    // Deformers rely on the number of vertices, which the computation of tangents may change.
    let deforming: HashSet<u32> = scene.deforming.iter().map(|d| d.mesh).collect();
    let meshes = scene.meshes.par_iter_mut().enumerate().zip(demands);
    let warnings = meshes.filter_map(|((index, mesh), demand)| {
        let (Some(set), Shape::Triangles(triangles)) = (demand.tangents, &mut mesh.shape) else {
            return None;
        };
        if !triangles.tangents.is_empty() {
            return None;
        }
        let why = if deforming.contains(&(index as u32)) {
            "it deforms and its file has no tangents: give the material to the model in its own file"
        } else if generate_tangents(triangles, &mut Deformers::default(), set, Mat2::IDENTITY) {
            return None;
        } else {
            "it has no texture coordinates: add some"
        };
        let what = "a normal map, an anisotropic material or hair, whose direction does not show";
        Some(format!("mesh `{}` wears {what}: {why}", mesh.name))
    });
    let warnings: Vec<String> = warnings.collect();
    scene.warnings.extend(warnings);
}
