//! Tangents by the MikkTSpace algorithm, as glTF 2.0 (3.7.2.1) asks for where a normal map needs them.

use crate::{
    loader::normals::face_normal,
    math::hash_u32,
    scene::{TriangleMesh, rig::Deformers},
};
use bevy_mikktspace::{Geometry, StdOps, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// What has no texture coordinates to tell, nor neighbours that have, gets this.
const ANY: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// Where more corners than this meet, triangles get tangents of their own: the algorithm recurses from one to the
/// next, and its work grows with the square.
const MAX_VALENCE: u32 = 256;

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
        faces: Vec::new(),
        tangents: vec![[None; 3]; mesh.triangles.len()],
    };
    corners.choose_faces();
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
    /// The triangles that the algorithm sees.
    faces: Vec<u32>,
    /// Of each triangle's corners; None to take over that of the vertex.
    tangents: Vec<[Option<[f32; 4]>; 3]>,
}

impl Corners<'_> {
    fn positions(&self, triangle: usize) -> [[f32; 3]; 3] {
        self.mesh.triangles[triangle].map(|v| self.mesh.positions[v as usize])
    }

    fn normal_of(&self, triangle: usize, corner: usize) -> [f32; 3] {
        let vertex = self.mesh.triangles[triangle][corner];
        match self.mesh.normals.get(vertex as usize) {
            Some(normal) => *normal,
            None => face_normal(self.positions(triangle)).as_vec3().to_array(),
        }
    }

    fn uv_of(&self, triangle: usize, corner: usize) -> [f32; 2] {
        self.uvs[self.mesh.triangles[triangle][corner] as usize]
    }

    /// Keeps triangles without area from the algorithm, which searches the whole mesh for each, and those in a crowd.
    fn choose_faces(&mut self) {
        let counts = self.corner_counts();
        let crowded = |key| counts[key as usize & (counts.len() - 1)] > MAX_VALENCE;
        for triangle in 0..self.mesh.triangles.len() {
            let [a, b, c] = self.positions(triangle);
            if a == b || b == c || c == a {
                continue;
            }
            if (0..3).any(|k| crowded(self.key(triangle, k))) {
                self.tangents[triangle] = std::array::from_fn(|k| self.slope(triangle, k));
            } else {
                self.faces.push(triangle as u32);
            }
        }
    }

    /// How many corners there are of each key, up to its lower bits. Different keys may meet in a slot, which can only
    /// make a crowd too many.
    fn corner_counts(&self) -> Vec<u32> {
        let slots = (self.mesh.triangles.len() * 6).next_power_of_two();
        let mut counts = vec![0; slots];
        for triangle in 0..self.mesh.triangles.len() {
            for corner in 0..3 {
                counts[self.key(triangle, corner) as usize & (slots - 1)] += 1;
            }
        }
        counts
    }

    /// Alike for corners that the algorithm takes for one vertex.
    fn key(&self, triangle: usize, corner: usize) -> u32 {
        let vertex = self.mesh.triangles[triangle][corner] as usize;
        let normal = self.normal_of(triangle, corner);
        let (position, uv) = (self.mesh.positions[vertex], self.uvs[vertex]);
        // Both zeros are alike.
        let numbers = position.iter().chain(&normal).chain(&uv);
        numbers.fold(0, |key, x| hash_u32(key ^ (x + 0.0).to_bits()))
    }

    /// The direction of growing `u` on one triangle.
    fn slope(&self, triangle: usize, corner: usize) -> Option<[f32; 4]> {
        let [p0, p1, p2] = self.positions(triangle).map(Vec3::from);
        let [t0, t1, t2] = [0, 1, 2].map(|k| Vec2::from(self.uv_of(triangle, k)));
        let (du, dv) = (t1 - t0, t2 - t0);
        let turn = du.perp_dot(dv).signum();
        let normal = Vec3::from(self.normal_of(triangle, corner));
        let along = ((p1 - p0) * dv.y - (p2 - p0) * du.y) * turn;
        let tangent = (along - normal * normal.dot(along)).try_normalize()?;
        Some(tangent.extend(turn).to_array())
    }
}

impl Geometry<StdOps> for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.positions(self.faces[face] as usize)[corner]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.normal_of(self.faces[face] as usize, corner)
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.uv_of(self.faces[face] as usize, corner)
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let tangent = space.map(|s| s.tangent_encoded()).filter(is_direction);
        self.tangents[self.faces[face] as usize][corner] = tangent;
    }
}

fn is_direction(t: &[f32; 4]) -> bool {
    let square: f32 = t[..3].iter().map(|x| x * x).sum();
    (0.5..2.0).contains(&square)
}

/// Gives each vertex the tangent of its corners, and each further tangent a copy of the vertex.
fn split(mesh: &mut TriangleMesh, deformers: &mut Deformers, corners: &[[Option<[f32; 4]>; 3]]) {
    let first = mesh.positions.len();
    let mut tangents: Vec<Option<[f32; 4]>> = vec![None; first];
    let mut copies = HashMap::new();
    // Which vertex each new one is a copy of.
    let mut originals = Vec::new();
    for (triangle, corners) in mesh.triangles.iter_mut().zip(corners) {
        let known = corners
            .iter()
            .zip(triangle)
            .filter_map(|(t, v)| t.as_ref().map(|t| (v, t)));
        for (vertex, tangent) in known {
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
        assert!(generate(&mut mesh, &mut Deformers::default(), 0));
        let along_x = |t: &[f32; 4]| t[0] > 0.99 && t[3] == 1.0;
        assert!(mesh.tangents.iter().all(along_x));
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
