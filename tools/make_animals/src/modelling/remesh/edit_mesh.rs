//! The mesh during remeshing: its topology, and requested edge lengths.

use super::{SLIVER, Surface};
use crate::modelling::mesher::Mesh;
use glam::Vec3;
use rayon::prelude::*;

/// Corners of a removed triangle.
pub const DEAD: [u32; 3] = [u32::MAX; 3];

/// The mesh during remeshing, with the triangles around each vertex.
pub struct EditMesh {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub around: Vec<Vec<u32>>,
    /// Requested edge length at each vertex.
    pub wanted: Vec<f32>,
    /// Common factor of the surface's edge lengths.
    pub scale: f32,
}

/// An edge with its two triangles and the vertices opposite to it. Seen from outside, the first triangle contains the edge from `a` to `b`.
#[derive(Clone, Copy)]
pub struct Edge {
    pub a: u32,
    pub b: u32,
    pub triangles: [u32; 2],
    pub opposite: [u32; 2],
}

impl EditMesh {
    pub fn new(mesh: &Mesh, wanted: f32) -> Self {
        let mut around = vec![Vec::new(); mesh.points.len()];
        for (i, triangle) in mesh.triangles.iter().enumerate() {
            for &corner in triangle {
                around[corner as usize].push(i as u32);
            }
        }
        Self {
            points: mesh.points.clone(),
            triangles: mesh.triangles.clone(),
            around,
            wanted: vec![wanted; mesh.points.len()],
            scale: 1.0,
        }
    }

    /// Evaluates the requested edge length at every vertex and smooths it, so that neighbouring triangles have similar sizes.
    pub fn measure(&mut self, surface: &dyn Surface) {
        const GROWTH: f32 = 0.45;
        const SWEEPS: usize = 12;
        let scale = self.scale;
        self.wanted = self
            .points
            .par_iter()
            .zip(&self.around)
            .map(|(&p, around)| if around.is_empty() { f32::INFINITY } else { surface.edge_length(p) * scale })
            .collect();
        let edges = self.edges();
        for _ in 0..SWEEPS {
            for &(a, b) in &edges {
                let reach = self.point(a).distance(self.point(b)) * GROWTH;
                let (a, b) = (a as usize, b as usize);
                let (wanted_a, wanted_b) = (self.wanted[a], self.wanted[b]);
                self.wanted[a] = wanted_a.min(wanted_b + reach);
                self.wanted[b] = wanted_b.min(wanted_a + reach);
            }
        }
    }

    /// Number of vertices of a uniform mesh with the requested edge lengths.
    pub fn expected_vertices(&self) -> f32 {
        let live = self.triangles.iter().filter(|corners| **corners != DEAD);
        live.map(|&corners| {
            let wanted: f32 = corners.iter().map(|&c| self.wanted[c as usize]).sum::<f32>() / 3.0;
            self.area_normal(corners).length() / (3f32.sqrt() * wanted * wanted)
        })
        .sum()
    }

    pub fn point(&self, vertex: u32) -> Vec3 {
        self.points[vertex as usize]
    }

    pub fn corners(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Normal of a triangle; its length is twice the area.
    pub fn area_normal(&self, corners: [u32; 3]) -> Vec3 {
        let [a, b, c] = corners.map(|corner| self.point(corner));
        (b - a).cross(c - a)
    }

    pub fn shape(&self, corners: [u32; 3]) -> f32 {
        shape_of(corners.map(|corner| self.point(corner)))
    }

    /// Every edge once, as a pair with the smaller vertex first.
    pub fn edges(&self) -> Vec<(u32, u32)> {
        let live = self.triangles.iter().filter(|corners| **corners != DEAD);
        live.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).filter(|(a, b)| a < b).collect()
    }

    /// Finds an edge; None if it does not exist or is not manifold.
    pub fn edge(&self, a: u32, b: u32) -> Option<Edge> {
        let mut edge = Edge { a, b, triangles: [u32::MAX; 2], opposite: [u32::MAX; 2] };
        for &triangle in &self.around[a as usize] {
            let corners = self.corners(triangle);
            for i in 0..3 {
                let (from, to) = (corners[i], corners[(i + 1) % 3]);
                let side = match (from == a && to == b, from == b && to == a) {
                    (true, _) => 0,
                    (_, true) => 1,
                    _ => continue,
                };
                edge.triangles[side] = triangle;
                edge.opposite[side] = corners[(i + 2) % 3];
            }
        }
        (!edge.triangles.contains(&u32::MAX)).then_some(edge)
    }

    pub fn neighbours(&self, vertex: u32) -> Vec<u32> {
        let mut found: Vec<u32> = self.around[vertex as usize]
            .iter()
            .flat_map(|&triangle| self.corners(triangle))
            .filter(|&corner| corner != vertex)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub fn length_ratio(&self, a: u32, b: u32) -> f32 {
        let wanted = (self.wanted[a as usize] + self.wanted[b as usize]) * 0.5;
        self.point(a).distance(self.point(b)) / wanted
    }

    /// Edges for which `keep` returns true, with their length relative to the requested one, shortest first.
    pub fn measured_edges(&self, keep: impl Fn(f32) -> bool + Sync) -> Vec<(f32, u32, u32)> {
        let mut edges: Vec<(f32, u32, u32)> = self
            .edges()
            .into_par_iter()
            .map(|(a, b)| (self.length_ratio(a, b), a, b))
            .filter(|(ratio, ..)| keep(*ratio))
            .collect();
        edges.par_sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        edges
    }

    /// Whether all triangles around `vertex` keep their orientation and quality if it moves to `place`. Triangles with the vertex `gone`
    /// are ignored.
    pub fn stays_unfolded(&self, vertex: u32, gone: u32, place: Vec3) -> bool {
        const LEAST_COSINE: f32 = 0.4;
        const LEAST_SHAPE: f32 = 0.12;
        let ring: Vec3 =
            self.around[vertex as usize].iter().map(|&triangle| self.area_normal(self.corners(triangle))).sum();
        self.around[vertex as usize].iter().all(|&triangle| {
            let corners = self.corners(triangle);
            if corners.contains(&gone) {
                return true;
            }
            let before = self.area_normal(corners);
            let moved = corners.map(|c| if c == vertex { place } else { self.point(c) });
            let after = (moved[1] - moved[0]).cross(moved[2] - moved[0]);
            let shape = self.shape(corners);
            let reference = if shape < SLIVER { ring } else { before };
            reference.dot(after) > LEAST_COSINE * reference.length() * after.length()
                && shape_of(moved) > LEAST_SHAPE.min(shape)
        })
    }

    /// The finished mesh, with vertices in order of first use.
    pub fn compact(&self) -> Mesh {
        let mut numbers = vec![u32::MAX; self.points.len()];
        let mut mesh = Mesh::default();
        for &corners in self.triangles.iter().filter(|corners| **corners != DEAD) {
            mesh.triangles.push(corners.map(|corner| {
                let number = &mut numbers[corner as usize];
                if *number == u32::MAX {
                    *number = mesh.points.len() as u32;
                    mesh.points.push(self.point(corner));
                }
                *number
            }));
        }
        mesh
    }
}

/// Quality of a triangle: 1 if equilateral, 0 if degenerate.
fn shape_of(corners: [Vec3; 3]) -> f32 {
    let [a, b, c] = corners;
    let sides2 = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    let area2 = (b - a).cross(c - a).length();
    area2 * 2.0 * 3f32.sqrt() / sides2.max(1e-12)
}
