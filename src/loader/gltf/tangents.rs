//! Tangents by the MikkTSpace algorithm, as glTF 2.0 (3.7.2.1) asks for where a normal map needs them.

use crate::{
    loader::normals::face_normal,
    scene::{TriangleMesh, rig::Deformers},
};
use bevy_mikktspace::{Geometry, StdOps, TangentSpace, generate_tangents};
use std::collections::HashMap;

/// A vertex that the algorithm gives no tangent, having no area around it, gets this.
const ANY: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// Bytes that [`generate`] takes at most, with what splitting adds to the mesh.
pub fn memory(mesh: &TriangleMesh, deformers: &Deformers) -> u64 {
    let corners = mesh.triangles.len() as u64 * 3;
    let deform = deformers.joints_per_vertex as u64 * 6 + deformers.targets.len() as u64 * 36;
    corners * (200 + deform)
}

/// Adds tangents for texture coordinates of `uv_set`; vertices with several tangents are split. Without normals,
/// those of the faces are meant. False when there are no such coordinates.
///
/// The algorithm wants v to grow upwards in the picture, as ours does; so its sign is that of glTF.
pub fn generate(mesh: &mut TriangleMesh, deformers: &mut Deformers, uv_set: u32) -> bool {
    let uvs = if uv_set == 1 { &mesh.uvs1 } else { &mesh.uvs };
    if uvs.is_empty() {
        return false;
    }
    let mut corners = Corners {
        mesh,
        uvs,
        tangents: vec![[ANY; 3]; mesh.triangles.len()],
    };
    if generate_tangents::<_, StdOps>(&mut corners).is_err() {
        return false;
    }
    let tangents = corners.tangents;
    split(mesh, deformers, &tangents);
    true
}

struct Corners<'a> {
    mesh: &'a TriangleMesh,
    uvs: &'a [[f32; 2]],
    /// Of each triangle's corners.
    tangents: Vec<[[f32; 4]; 3]>,
}

impl Corners<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.mesh.triangles[face][corner] as usize
    }
}

impl Geometry<StdOps> for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.mesh.triangles.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.positions[self.vertex(face, corner)]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        match self.mesh.normals.get(self.vertex(face, corner)) {
            Some(normal) => *normal,
            None => {
                let corners = self.mesh.triangles[face].map(|v| self.mesh.positions[v as usize]);
                face_normal(corners).as_vec3().to_array()
            }
        }
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.uvs[self.vertex(face, corner)]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let tangent = space
            .map(|s| s.tangent_encoded())
            .filter(|t| is_direction(t));
        self.tangents[face][corner] = tangent.unwrap_or(ANY);
    }
}

fn is_direction(t: &[f32; 4]) -> bool {
    let square: f32 = t[..3].iter().map(|x| x * x).sum();
    (0.5..2.0).contains(&square)
}

/// Gives each vertex the tangent of its corners, and each further tangent a copy of the vertex.
fn split(mesh: &mut TriangleMesh, deformers: &mut Deformers, corners: &[[[f32; 4]; 3]]) {
    let first = mesh.positions.len();
    let mut tangents: Vec<Option<[f32; 4]>> = vec![None; first];
    let mut copies = HashMap::new();
    // Which vertex each new one is a copy of.
    let mut originals = Vec::new();
    for (triangle, corners) in mesh.triangles.iter_mut().zip(corners) {
        for (vertex, tangent) in triangle.iter_mut().zip(corners) {
            let own = tangents[*vertex as usize].get_or_insert(*tangent);
            if own != tangent {
                let key = (*vertex, tangent.map(f32::to_bits));
                let next = (first + originals.len()) as u32;
                let copy = *copies.entry(key).or_insert(next);
                if copy == next {
                    originals.push(*vertex as usize);
                    tangents.push(Some(*tangent));
                }
                *vertex = copy;
            }
        }
    }
    mesh.tangents = tangents.into_iter().map(|t| t.unwrap_or(ANY)).collect();
    append(&mut mesh.positions, &originals, 1);
    append(&mut mesh.normals, &originals, 1);
    append(&mut mesh.uvs, &originals, 1);
    append(&mut mesh.uvs1, &originals, 1);
    append(&mut mesh.colors, &originals, 1);
    append(
        &mut deformers.joints,
        &originals,
        deformers.joints_per_vertex as usize,
    );
    append(
        &mut deformers.weights,
        &originals,
        deformers.joints_per_vertex as usize,
    );
    for target in &mut deformers.targets {
        append(&mut target.positions, &originals, 1);
        append(&mut target.normals, &originals, 1);
        append(&mut target.tangents, &originals, 1);
    }
}

/// Copies the `width` values of each original to the end, if there are any.
fn append<T: Copy>(values: &mut Vec<T>, originals: &[usize], width: usize) {
    if values.is_empty() {
        return;
    }
    values.reserve_exact(originals.len() * width);
    for &original in originals {
        values.extend_from_within(original * width..(original + 1) * width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share an edge, the second with mirrored texture coordinates.
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
        assert!(generate(&mut mesh, &mut deformers, 0));
        let of = |triangle: usize| mesh.triangles[triangle].map(|v| mesh.tangents[v as usize]);
        assert_eq!(of(0), [[1.0, 0.0, 0.0, 1.0]; 3]);
        assert_eq!(of(1), [[-1.0, 0.0, 0.0, -1.0]; 3]);
        assert_eq!(
            mesh.positions.len(),
            6,
            "the two vertices on the fold are split"
        );
        let copy = mesh.triangles[1][0] as usize;
        assert_eq!(deformers.joints[4 * copy..4 * copy + 4], [0, 1, 2, 3]);
        assert_eq!(mesh.normals.len(), 6);
    }

    #[test]
    fn faces_without_normals_or_area_still_get_tangents() {
        let mut mesh = folded();
        mesh.normals.clear();
        mesh.triangles.push([3, 3, 3]);
        assert!(generate(&mut mesh, &mut Deformers::default(), 0));
        assert!(mesh.tangents.iter().all(is_direction));
        assert!(!generate(&mut mesh, &mut Deformers::default(), 1));
    }
}
