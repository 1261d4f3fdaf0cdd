//! Tangents by the MikkTSpace algorithm, as glTF 2.0 (3.7.2.1) asks for where a normal map needs them.

use super::tangent_pieces::{self, Vertices};
use crate::{
    loader::normals::face_normal,
    math::hash_u32,
    scene::{TriangleMesh, rig::Deformers},
};
use bevy_mikktspace::{Geometry, StdOps, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// What has no texture coordinates to tell, nor neighbours that have, gets this.
const ANY: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// Where more corners than this meet, triangles get tangents of their own: the algorithm recurses from one to the
/// next, and its work grows with the square.
const MAX_VALENCE: usize = 256;

/// Triangles per task. Their part of the mesh fits a core's cache, and few of them are at the border of a piece.
const PER_PIECE: usize = 16 * 1024;

/// Bytes that [`generate`] takes at most, with what splitting adds to the mesh.
pub fn memory(mesh: &TriangleMesh, deformers: &Deformers) -> u64 {
    let corners = mesh.triangles.len() as u64 * 3;
    let deform = deformers.joints_per_vertex as u64 * 6 + deformers.targets.len() as u64 * 36;
    corners * (200 + deform)
}

/// Adds tangents for texture coordinates of `uv_set`; vertices with several tangents are split. Without normals,
/// those of the faces are meant. False when there are no such coordinates. Parallel, and the same for any number of threads.
///
/// The algorithm wants v to grow upwards in the picture, as ours does; so its sign is that of glTF.
pub fn generate(mesh: &mut TriangleMesh, deformers: &mut Deformers, uv_set: u32) -> bool {
    generate_in_pieces(mesh, deformers, uv_set, PER_PIECE)
}

fn generate_in_pieces(
    mesh: &mut TriangleMesh,
    deformers: &mut Deformers,
    uv_set: u32,
    size: usize,
) -> bool {
    let uvs = if uv_set == 1 { &mesh.uvs1 } else { &mesh.uvs };
    if uvs.is_empty() {
        return false;
    }
    let Some(tangents) = (Corners { mesh, uvs }).tangents(size) else {
        return false;
    };
    split(mesh, deformers, &tangents);
    true
}

/// Of a triangle's corners; None to take over that of the vertex.
type Tangents = [Option<[f32; 4]>; 3];

/// What is done about a triangle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing: without area.
    Degenerate,
    /// It gets tangents of its own.
    Crowded,
    /// The algorithm sees it.
    Good,
}

#[derive(Clone, Copy)]
struct Corners<'a> {
    mesh: &'a TriangleMesh,
    uvs: &'a [[f32; 2]],
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

    /// For each triangle of the mesh; None if the algorithm fails.
    ///
    /// Triangles without area are kept from the algorithm, which searches the whole mesh for each, and so are those in a
    /// crowd.
    fn tangents(&self, size: usize) -> Option<Vec<Tangents>> {
        let vertices = self.vertices();
        let crowded = |t: usize| (0..3).any(|k| vertices.valence(t, k) > MAX_VALENCE);
        let kind = |t: usize| match self.is_degenerate(t) {
            true => Kind::Degenerate,
            false if crowded(t) => Kind::Crowded,
            false => Kind::Good,
        };
        let all = (0..self.mesh.triangles.len()).into_par_iter();
        let kinds: Vec<Kind> = all.clone().map(kind).collect();
        let alone = |t: usize| match kinds[t] {
            Kind::Crowded => std::array::from_fn(|k| self.slope(t, k)),
            _ => [None; 3],
        };
        let mut tangents: Vec<Tangents> = all.clone().map(alone).collect();
        let good = |t: u32| kinds[t as usize] == Kind::Good;
        let faces: Vec<u32> = all.map(|t| t as u32).filter(|&t| good(t)).collect();
        let centre = |t: u32| {
            let [a, b, c] = self.positions(t as usize).map(Vec3::from);
            a / 3.0 + b / 3.0 + c / 3.0
        };
        let flat = |t: u32| self.is_flat(t as usize);
        match tangent_pieces::cut(&faces, size, &vertices, good, centre, flat) {
            None => self.make(&faces, &faces, &mut tangents)?,
            Some(pieces) => {
                drop(vertices);
                let made = pieces.into_par_iter().map(|piece| {
                    let mut made = vec![[None; 3]; piece.own.len()];
                    self.make(&piece.all, &piece.own, &mut made)?;
                    Some((piece.own, made))
                });
                for (own, made) in made.collect::<Option<Vec<_>>>()? {
                    for (triangle, made) in own.into_iter().zip(made) {
                        tangents[triangle as usize] = made;
                    }
                }
            }
        }
        Some(tangents)
    }

    fn is_degenerate(&self, triangle: usize) -> bool {
        let [a, b, c] = self.positions(triangle);
        a == b || b == c || c == a
    }

    /// Whether the algorithm may find no orientation in the texture coordinates: those that are next to nothing are meant,
    /// too, as there is no harm in that.
    fn is_flat(&self, triangle: usize) -> bool {
        const LEAST: f32 = 1e-30;
        let [p0, p1, p2] = self.positions(triangle).map(Vec3::from);
        let [t0, t1, t2] = [0, 1, 2].map(|k| Vec2::from(self.uv_of(triangle, k)));
        let (du, dv) = (t1 - t0, t2 - t0);
        let area = (du.x * dv.y - du.y * dv.x).abs();
        let s = (p1 - p0) * dv.y - (p2 - p0) * du.y;
        let t = (p2 - p0) * du.x - (p1 - p0) * dv.x;
        // What is no number is flat, too.
        ![area, s.length() / area, t.length() / area]
            .iter()
            .all(|&x| x > LEAST)
    }

    /// Corners that the algorithm takes for one vertex get the same key.
    fn vertices(&self) -> Vertices {
        let keys = |t: usize| [0, 1, 2].map(|k| self.key(t, k));
        let triangles = (0..self.mesh.triangles.len()).into_par_iter();
        Vertices::new(triangles.map(keys).collect())
    }

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

    /// Runs the algorithm on `faces` and keeps the tangents of those that are `own`: both are sorted, and all of `own` are
    /// among `faces`. `to` has a place for each of `own`, or one for each triangle of the mesh.
    fn make(&self, faces: &[u32], own: &[u32], to: &mut [Tangents]) -> Option<()> {
        let is_whole = to.len() == self.mesh.triangles.len();
        let mut next = 0;
        let place = |&face: &u32| {
            let is_own = own.get(next) == Some(&face);
            next += usize::from(is_own);
            is_own.then(|| if is_whole { face } else { next as u32 - 1 })
        };
        let mut run = Run {
            corners: *self,
            faces,
            places: faces.iter().map(place).collect(),
            tangents: to,
        };
        generate_tangents::<_, StdOps>(&mut run).ok()
    }
}

/// One call of the algorithm.
struct Run<'a> {
    corners: Corners<'a>,
    /// The triangles that it sees.
    faces: &'a [u32],
    /// Where the tangents of each go, if they are wanted.
    places: Vec<Option<u32>>,
    tangents: &'a mut [Tangents],
}

impl Geometry<StdOps> for Run<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        let vertex = self.corners.mesh.triangles[self.faces[face] as usize][corner];
        self.corners.mesh.positions[vertex as usize]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.corners.normal_of(self.faces[face] as usize, corner)
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.corners.uv_of(self.faces[face] as usize, corner)
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        if let Some(place) = self.places[face] {
            let tangent = space.map(|s| s.tangent_encoded()).filter(is_direction);
            self.tangents[place as usize][corner] = tangent;
        }
    }
}

fn is_direction(t: &[f32; 4]) -> bool {
    let square: f32 = t[..3].iter().map(|x| x * x).sum();
    (0.5..2.0).contains(&square)
}

/// Gives each vertex the tangent of its corners, and each further tangent a copy of the vertex.
fn split(mesh: &mut TriangleMesh, deformers: &mut Deformers, corners: &[Tangents]) {
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

    /// A wavy sheet with a seam, mirrored texture coordinates, patches without any, stray triangles and split vertices.
    fn sheet(side: u32, with_normals: bool) -> TriangleMesh {
        let random = |i: u32| hash_u32(i) as f32 / u32::MAX as f32;
        let mut mesh = TriangleMesh::default();
        for i in 0..side * side {
            let (x, y) = (i % side, i / side);
            let z = random(i) * 0.3;
            mesh.positions.push([x as f32, y as f32, z]);
            let normal = Vec3::new(random(i + 1) - 0.5, random(i + 2) - 0.5, 2.0);
            mesh.normals.push(normal.normalize().to_array());
            let u = (x as f32 - side as f32 / 2.0).abs();
            let flat = hash_u32(x / 4 + (y / 4) * 1000).is_multiple_of(9);
            mesh.uvs.push(if flat {
                [0.5; 2]
            } else {
                [u, y as f32 + 0.2 * random(i + 3)]
            });
        }
        for i in 0..(side - 1) * (side - 1) {
            let a = i % (side - 1) + i / (side - 1) * side;
            mesh.triangles.push([a, a + 1, a + side + 1]);
            mesh.triangles.push([a, a + side + 1, a + side]);
            if i.is_multiple_of(50) {
                mesh.triangles.push([a, a + 1, hash_u32(i) % (side * side)]);
            }
        }
        if !with_normals {
            mesh.normals.clear();
        }
        mesh
    }

    #[test]
    fn pieces_have_the_tangents_of_the_whole_to_the_bit() {
        for with_normals in [true, false] {
            let mesh = sheet(60, with_normals);
            let make = |size| {
                let corners = Corners {
                    mesh: &mesh,
                    uvs: &mesh.uvs,
                };
                corners.tangents(size).unwrap_or_default()
            };
            let bits = |t: &Tangents| t.map(|t| t.map(|t| t.map(f32::to_bits)));
            let whole = make(usize::MAX);
            for size in [500, 1111] {
                let corners = Corners {
                    mesh: &mesh,
                    uvs: &mesh.uvs,
                };
                let faces: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
                let centre = |t: u32| Vec3::from(corners.positions(t as usize)[0]);
                let flat = |t: u32| corners.is_flat(t as usize);
                let vertices = corners.vertices();
                let pieces = tangent_pieces::cut(&faces, size, &vertices, |_| true, centre, flat);
                assert!(pieces.is_some_and(|p| p.len() > 5), "it is cut");
                let found = make(size);
                for (triangle, (a, b)) in whole.iter().zip(&found).enumerate() {
                    assert_eq!(bits(a), bits(b), "triangle {triangle}, {with_normals}");
                }
            }
        }
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
