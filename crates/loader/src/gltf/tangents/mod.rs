//! Tangents by the MikkTSpace algorithm, as glTF 2.0 (3.7.2.1) requires for normal maps.

mod groups;
mod mesh;
mod space;

use glam::{Mat2, Vec2};
use mesh::{Elements, Welded};
use rayon::prelude::*;
use space::{Tangent, Tangents};
use std::collections::HashMap;
use throng_scene::{TriangleMesh, rig::Deformers};

/// The tangent of corners for which neither the texture coordinates nor the neighbours define a direction.
const ANY: Tangent = [1.0, 0.0, 0.0, 1.0];

/// Maximum number of bytes for [`generate`], including the growth of the mesh by splitting.
pub fn memory(mesh: &TriangleMesh, deformers: &Deformers) -> u64 {
    let corners = mesh.triangles.len() as u64 * 3;
    let deform = deformers.joints_per_vertex as u64 * 6 + deformers.targets.len() as u64 * 36;
    corners * (200 + deform)
}

/// Adds tangents for the texture coordinates of `uv_set`. Vertices with several tangents are split. Without normals, face normals are used.
/// `texture_from_mesh` is the effect of a texture transform on directions in texture space. Returns false if the coordinates are missing.
/// Parallel; the result does not depend on the number of threads.
///
/// The algorithm requires v to increase upwards, as in this renderer, so its sign equals glTF's.
pub fn generate(mesh: &mut TriangleMesh, deformers: &mut Deformers, uv_set: u32, texture_from_mesh: Mat2) -> bool {
    let uvs = if uv_set == 1 { &mesh.uvs1 } else { &mesh.uvs };
    if uvs.is_empty() {
        return false;
    }
    let turned: Vec<[f32; 2]> = if texture_from_mesh == Mat2::IDENTITY {
        Vec::new()
    } else {
        uvs.par_iter().map(|&uv| (texture_from_mesh * Vec2::from(uv)).into()).collect()
    };
    let uvs = if turned.is_empty() { uvs } else { &turned };
    let Some(welded) = Welded::new(Elements { mesh, uvs }) else {
        return false;
    };
    let Tangents { of_vertex, of_corner } = Tangents::new(&welded);
    let of_element = |&vertex: &u32| of_vertex[vertex as usize].unwrap_or(ANY);
    let tangents = if welded.elements.are_corners() {
        vec![ANY; mesh.positions.len()]
    } else {
        welded.vertex_of.par_iter().map(of_element).collect()
    };
    drop(welded);
    mesh.tangents = tangents;
    split(mesh, deformers, &of_corner);
    true
}

/// Assigns to each vertex the first tangent of its corners, and creates a copy of the vertex for each further one.
fn split(mesh: &mut TriangleMesh, deformers: &mut Deformers, corners: &[(u32, Tangent)]) {
    let first = mesh.positions.len();
    let mut settled = vec![false; if corners.is_empty() { 0 } else { first }];
    let mut copies = HashMap::with_capacity(corners.len().saturating_sub(first));
    // For each new vertex, the vertex of which it is a copy.
    let mut originals = Vec::new();
    for &(corner, tangent) in corners {
        let vertex = &mut mesh.triangles[corner as usize / 3][corner as usize % 3];
        let own = *vertex as usize;
        if !std::mem::replace(&mut settled[own], true) {
            mesh.tangents[own] = tangent;
        } else if mesh.tangents[own] != tangent {
            let key = (*vertex, tangent.map(f32::to_bits));
            let next = (first + originals.len()) as u32;
            let copy = *copies.entry(key).or_insert(next);
            if copy == next {
                originals.push(own);
                mesh.tangents.push(tangent);
            }
            *vertex = copy;
        }
    }
    append(&mut mesh.positions, &originals, 1);
    append(&mut mesh.normals, &originals, 1);
    append(&mut mesh.uvs, &originals, 1);
    append(&mut mesh.uvs1, &originals, 1);
    append(&mut mesh.colors, &originals, 1);
    append(&mut deformers.joints, &originals, deformers.joints_per_vertex as usize);
    append(&mut deformers.weights, &originals, deformers.joints_per_vertex as usize);
    for target in &mut deformers.targets {
        append(&mut target.positions, &originals, 1);
        append(&mut target.normals, &originals, 1);
        append(&mut target.tangents, &originals, 1);
    }
}

/// Appends copies of the `width` values of each original. Does nothing for an empty list.
fn append<T: Copy + Send + Sync>(values: &mut Vec<T>, originals: &[usize], width: usize) {
    if values.is_empty() || originals.is_empty() {
        return;
    }
    let all = originals.par_iter();
    let copies = all.flat_map_iter(|&original| &values[original * width..(original + 1) * width]);
    let copies: Vec<T> = copies.copied().collect();
    values.extend_from_slice(&copies);
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// Two triangles that share an edge; the second has mirrored texture coordinates.
    fn folded() -> TriangleMesh {
        TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            normals: vec![[0.0, 0.0, 1.0]; 4],
            uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
            ..TriangleMesh::default()
        }
    }

    #[test]
    fn tangents_point_along_growing_u_and_mirrors_turn_the_sign() {
        let mut mesh = folded();
        let mut deformers = Deformers {
            joints_per_vertex: 4,
            joints: (0..16).collect(),
            weights: vec![0.25; 16],
            ..Deformers::default()
        };
        assert!(generate(&mut mesh, &mut deformers, 0, Mat2::IDENTITY));
        let of = |triangle: usize| mesh.triangles[triangle].map(|v| mesh.tangents[v as usize]);
        assert_eq!(of(0), [[1.0, 0.0, 0.0, 1.0]; 3]);
        assert_eq!(of(1), [[-1.0, 0.0, 0.0, -1.0]; 3]);
        assert_eq!(mesh.positions.len(), 6, "the two vertices on the fold are split");
        let copy = mesh.triangles[1][0] as usize;
        assert_eq!(deformers.joints[4 * copy..4 * copy + 4], [0, 1, 2, 3]);
        assert_eq!(mesh.normals.len(), 6);
    }

    #[test]
    fn a_texture_that_is_turned_turns_the_tangents() {
        let mut mesh = folded();
        let texture_from_mesh = Mat2::from_angle(-std::f32::consts::FRAC_PI_2);
        assert!(generate(&mut mesh, &mut Deformers::default(), 0, texture_from_mesh));
        // The texture's u increases where the mesh's v does.
        assert_eq!(mesh.tangents[1][3], 1.0);
        assert!(Vec3::from_slice(&mesh.tangents[1]).abs_diff_eq(Vec3::Y, 1e-6), "{:?}", mesh.tangents[1]);
    }

    #[test]
    fn a_fan_of_very_many_triangles_is_no_trouble() {
        const RIM: u32 = 50_000;
        let around = |i: u32| (i as f32 / RIM as f32 * std::f32::consts::TAU).sin_cos();
        let rim = (0..RIM).map(around);
        let corner = |(y, x): (f32, f32)| [x, y, 0.0];
        let mut mesh = TriangleMesh {
            positions: [[0.0; 3]].into_iter().chain(rim.map(corner)).collect(),
            triangles: (0..RIM).map(|i| [0, 1 + i, 1 + (i + 1) % RIM]).collect(),
            ..TriangleMesh::default()
        };
        mesh.uvs = mesh.positions.iter().map(|p| [p[0], p[1]]).collect();
        mesh.normals = vec![[0.0, 0.0, 1.0]; mesh.positions.len()];
        assert!(generate(&mut mesh, &mut Deformers::default(), 0, Mat2::IDENTITY));
        let along_x = |t: &[f32; 4]| t[0] > 0.99 && t[3] == 1.0;
        assert!(mesh.tangents.iter().all(along_x));
    }

    #[test]
    fn faces_without_normals_or_area_still_get_tangents() {
        let mut mesh = folded();
        mesh.normals.clear();
        mesh.triangles.push([3, 3, 3]);
        assert!(generate(&mut mesh, &mut Deformers::default(), 0, Mat2::IDENTITY));
        let is_unit = |t: &Tangent| (glam::Vec4::from(*t).truncate().length() - 1.0).abs() < 1e-5;
        assert!(mesh.tangents.iter().all(is_unit));
        assert!(!generate(&mut mesh, &mut Deformers::default(), 1, Mat2::IDENTITY));
    }
}
