//! A mesh in the form that MikkTSpace uses: equal vertices are merged, and each triangle has the directions of its texture.

use crate::geometry::normals::face_normal;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::{
    array::from_fn,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};
use throng_base::math::hash_u32;
use throng_scene::TriangleMesh;

/// The elements with position, normal and texture coordinates. These are the vertices of a mesh with normals, or the corners of a mesh
/// without, which have the normals of their faces.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    pub mesh: &'a TriangleMesh,
    pub uvs: &'a [[f32; 2]],
}

impl Elements<'_> {
    pub fn are_corners(&self) -> bool {
        self.mesh.normals.is_empty()
    }

    pub fn count(&self) -> usize {
        if self.are_corners() { 3 * self.mesh.triangles.len() } else { self.mesh.positions.len() }
    }

    fn of_triangle(&self, triangle: usize) -> [u32; 3] {
        if self.are_corners() { from_fn(|k| (3 * triangle + k) as u32) } else { self.mesh.triangles[triangle] }
    }

    fn vertex(&self, element: u32) -> usize {
        let element = element as usize;
        if self.are_corners() { self.mesh.triangles[element / 3][element % 3] as usize } else { element }
    }

    pub fn position(&self, element: u32) -> Vec3 {
        self.mesh.positions[self.vertex(element)].into()
    }

    pub fn normal(&self, element: u32) -> Vec3 {
        if let Some(normal) = self.mesh.normals.get(element as usize) {
            return Vec3::from(*normal);
        }
        let corners = self.mesh.triangles[element as usize / 3];
        face_normal(corners.map(|v| self.mesh.positions[v as usize])).as_vec3()
    }

    fn uv(&self, element: u32) -> Vec2 {
        self.uvs[self.vertex(element)].into()
    }

    /// The bits that distinguish elements.
    fn bits(&self, element: u32) -> [u32; 8] {
        let [px, py, pz] = self.position(element).to_array();
        let [nx, ny, nz] = self.normal(element).to_array();
        let [u, v] = self.uv(element).to_array();
        [px, py, pz, nx, ny, nz, u, v].map(f32::to_bits)
    }

    /// For each element, the first element that equals it.
    fn weld(&self) -> Vec<u32> {
        let keyed = |element: u32| {
            let hash = |key, bits| hash_u32(key ^ bits);
            let key = self.bits(element).into_iter().fold(0, hash);
            u64::from(key) << 32 | u64::from(element)
        };
        let all = (0..self.count() as u32).into_par_iter();
        let first: Vec<AtomicU32> = all.clone().map(AtomicU32::new).collect();
        let mut keys: Vec<u64> = all.map(keyed).collect();
        keys.par_sort_unstable();
        let alike = |a: &u64, b: &u64| a >> 32 == b >> 32;
        keys.par_chunk_by_mut(alike).filter(|run| run.len() > 1).for_each(|run| {
            run.sort_unstable_by_key(|&key| (self.bits(key as u32), key));
            let equal = |a: &u64, b: &u64| self.bits(*a as u32) == self.bits(*b as u32);
            for run in run.chunk_by(equal) {
                for &key in run {
                    first[key as u32 as usize].store(run[0] as u32, Relaxed);
                }
            }
        });
        first.into_par_iter().map(AtomicU32::into_inner).collect()
    }
}

/// The orientation of the texture on a triangle.
#[derive(Clone, Copy, Default)]
pub struct Face {
    /// Unit directions of increasing u and v, or zero.
    pub along_u: Vec3,
    pub along_v: Vec3,
    /// Whether the texture is not mirrored.
    pub preserving: bool,
    /// Whether the texture defines no directions, so that the triangle uses those around it.
    pub flat: bool,
    /// Whether two corners coincide, so that the triangle is invisible.
    pub degenerate: bool,
}

/// The directions of a triangle's texture by equations 18 and 19 of MikkTSpace.
fn face(positions: [Vec3; 3], uvs: [Vec2; 3]) -> Face {
    let [a, b, c] = positions;
    if a == b || b == c || c == a {
        return Face { degenerate: true, ..Face::default() };
    }
    let (d1, d2) = (uvs[1] - uvs[0], uvs[2] - uvs[0]);
    let (e1, e2) = (b - a, c - a);
    let area = d1.x * d2.y - d1.y * d2.x;
    let s = d2.y * e1 - d1.y * e2;
    let t = -d2.x * e1 + d1.x * e2;
    let preserving = area > 0.0;
    let mut face = Face { preserving, flat: true, ..Face::default() };
    if is_not_zero(area) {
        let sign = if preserving { 1.0 } else { -1.0 };
        face.along_u = unit_or_zero(s) * sign;
        face.along_v = unit_or_zero(t) * sign;
        let sizes = [s, t].map(|d| d.length() / area.abs());
        face.flat = !sizes.into_iter().all(is_not_zero);
    }
    face
}

fn is_not_zero(x: f32) -> bool {
    x.abs() > f32::MIN_POSITIVE
}

pub fn unit_or_zero(v: Vec3) -> Vec3 {
    if v.to_array().into_iter().any(is_not_zero) { v * v.length().recip() } else { v }
}

/// A mesh with equal elements merged. Corner `3 t + k` is corner `k` of triangle `t`. A vertex is identified by its first element.
pub struct Welded<'a> {
    pub elements: Elements<'a>,
    /// The vertex of each element.
    pub vertex_of: Vec<u32>,
    /// The vertices of each triangle.
    triangles: Vec<[u32; 3]>,
    pub faces: Vec<Face>,
    /// For each vertex, the index of its first corner in `corners`; one extra entry marks the end.
    first: Vec<u32>,
    corners: Vec<u32>,
}

impl<'a> Welded<'a> {
    /// None if there are too many corners for 32-bit indices.
    pub fn new(elements: Elements<'a>) -> Option<Self> {
        let count = elements.mesh.triangles.len();
        u32::try_from(count.checked_mul(3)?).ok()?;
        let vertex_of = elements.weld();
        let triangle = |t| elements.of_triangle(t).map(|e| vertex_of[e as usize]);
        let all = (0..count).into_par_iter();
        let triangles: Vec<[u32; 3]> = all.map(triangle).collect();
        let face_of = |corners: &[u32; 3]| {
            let positions = corners.map(|v| elements.position(v));
            face(positions, corners.map(|v| elements.uv(v)))
        };
        let faces: Vec<Face> = triangles.par_iter().map(face_of).collect();
        let (first, corners) = corners_of_vertices(elements.count(), &triangles, &faces);
        Some(Self { elements, vertex_of, triangles, faces, first, corners })
    }

    /// Upper bound of vertex indices, not all of which are used.
    pub fn vertex_count(&self) -> usize {
        self.first.len() - 1
    }

    /// The corners at a vertex, in ascending order, without corners of degenerate triangles.
    pub fn around(&self, vertex: u32, out: &mut Vec<u32>) {
        let vertex = vertex as usize;
        let range = self.first[vertex] as usize..self.first[vertex + 1] as usize;
        out.clear();
        out.extend_from_slice(&self.corners[range]);
        out.sort_unstable();
    }

    pub fn triangle(&self, face: u32) -> [u32; 3] {
        self.triangles[face as usize]
    }

    pub fn face(&self, corner: u32) -> &Face {
        &self.faces[corner as usize / 3]
    }

    /// The vertices after and before a corner in its triangle.
    pub fn ends(&self, corner: u32) -> [u32; 2] {
        let triangle = self.triangles[corner as usize / 3];
        match corner % 3 {
            0 => [triangle[1], triangle[2]],
            1 => [triangle[2], triangle[0]],
            _ => [triangle[0], triangle[1]],
        }
    }
}

/// For each vertex, the index of its first corner, and the corners. The corners of a vertex have no particular order.
fn corners_of_vertices(count: usize, triangles: &[[u32; 3]], faces: &[Face]) -> (Vec<u32>, Vec<u32>) {
    let counts: Vec<AtomicU32> = (0..=count).into_par_iter().map(|_| AtomicU32::new(0)).collect();
    let visit = |corner_at: &(dyn Fn(u32, u32) + Sync)| {
        let good = triangles.par_iter().zip(faces).enumerate();
        let good = good.filter(|(_, (_, face))| !face.degenerate);
        good.for_each(|(t, (triangle, _))| {
            for (k, &vertex) in triangle.iter().enumerate() {
                corner_at(vertex, (3 * t + k) as u32);
            }
        });
    };
    visit(&|vertex, _| {
        counts[vertex as usize].fetch_add(1, Relaxed);
    });
    let mut sum = 0;
    let begin = |count: &AtomicU32| {
        let own = count.load(Relaxed);
        count.store(sum, Relaxed);
        sum += own;
        sum - own
    };
    let first: Vec<u32> = counts.iter().map(begin).collect();
    let corners: Vec<AtomicU32> = (0..sum).into_par_iter().map(|_| AtomicU32::new(0)).collect();
    visit(&|vertex, corner| {
        let place = counts[vertex as usize].fetch_add(1, Relaxed);
        corners[place as usize].store(corner, Relaxed);
    });
    let corners = corners.into_par_iter().map(AtomicU32::into_inner).collect();
    (first, corners)
}
