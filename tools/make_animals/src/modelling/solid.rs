//! Meshes a solid: first on a fine grid, then with evenly spaced vertices on the exact surface.

use super::mesher::{self, Mesh};
use super::remesh::{self, Surface};
use super::sdf::Bounds;
use glam::Vec3;
use rayon::prelude::*;

/// A solid that can be meshed.
pub trait Solid: Sync {
    /// Signed distance to the skin.
    fn distance(&self, p: Vec3) -> f32;
    /// A box around the whole solid, with a margin.
    fn bounds(&self) -> Bounds;
    /// Lower limit of `edge_length`.
    fn shortest_edge(&self) -> f32;
    /// Greatest edge length of the mesh at `p`, up to a common factor: short at sharp bends and prominent parts, long on flat areas.
    fn edge_length(&self, p: Vec3) -> f32;

    /// Size of the finest detail, relative to the dragon's.
    fn fineness(&self) -> f32 {
        1.0
    }

    /// Whether the solid has parts thinner than the mesh's edges.
    fn has_sheets(&self) -> bool {
        false
    }

    /// Gradient of the distance, by central differences over `step`.
    fn gradient(&self, p: Vec3, step: f32) -> Vec3 {
        gradient(&|p| self.distance(p), p, step)
    }
}

/// Meshes a solid with about `vertices` vertices, starting from a grid of cells of size `cell`.
pub fn mesh(solid: &impl Solid, cell: f32, vertices: f32) -> Mesh {
    let fine = mesher::mesh(&|p| solid.distance(p), solid.bounds(), cell);
    remesh::remesh(&fine, &Skin(solid), vertices)
}

/// Vertex normals: the mean of the distance field's gradient, which has more detail than the mesh, and the triangles' normals, which are
/// reliable at sharp rims and tips.
pub fn normals(solid: &impl Solid, mesh: &Mesh) -> Vec<Vec3> {
    const STEP: f32 = 0.02;
    mesh.points
        .par_iter()
        .zip(face_normals(mesh))
        .map(|(&p, face)| {
            let face = face.normalize_or(Vec3::Y);
            let field = solid.gradient(p, STEP * solid.fineness()).normalize_or(face);
            (field + face).normalize_or(face)
        })
        .collect()
}

/// Sum of the adjacent triangles' normals for each vertex, weighted by the angle at the vertex.
pub fn face_normals(mesh: &Mesh) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; mesh.points.len()];
    for corners in &mesh.triangles {
        let points = corners.map(|corner| mesh.points[corner as usize]);
        let normal = (points[1] - points[0]).cross(points[2] - points[0]).normalize_or_zero();
        for i in 0..3 {
            let [here, next, last] = [0, 1, 2].map(|step| points[(i + step) % 3]);
            let angle = (next - here).angle_between(last - here);
            sums[corners[i] as usize] += normal * angle;
        }
    }
    sums
}

/// Gradient of a distance, by central differences over `step`.
pub fn gradient(distance: &dyn Fn(Vec3) -> f32, p: Vec3, step: f32) -> Vec3 {
    let along = |axis: Vec3| distance(p + axis * step) - distance(p - axis * step);
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)) / (2.0 * step)
}

/// Curvature of a distance's surface at `p`, in radians per unit of length, in the direction in which the normal turns fastest.
pub fn curvature(distance: &dyn Fn(Vec3) -> f32, p: Vec3, fineness: f32) -> f32 {
    const REACH: f32 = 0.025;
    const STEP: f32 = 0.01;
    let reach = REACH * fineness;
    let normal = |p: Vec3| gradient(distance, p, STEP * fineness).normalize_or(Vec3::Y);
    let (u, v) = normal(p).any_orthonormal_pair();
    [u, v]
        .into_iter()
        .map(|way| normal(p + way * reach).distance(normal(p - way * reach)) / (2.0 * reach))
        .fold(1e-3, f32::hypot)
}

/// A solid's surface, for the remesher.
struct Skin<'a, S>(&'a S);

impl<S: Solid> Skin<'_, S> {
    fn gradient(&self, p: Vec3) -> Vec3 {
        const STEP: f32 = 0.006;
        self.0.gradient(p, STEP * self.0.fineness())
    }
}

impl<S: Solid> Surface for Skin<'_, S> {
    fn shortest_edge(&self) -> f32 {
        self.0.shortest_edge()
    }

    fn edge_length(&self, p: Vec3) -> f32 {
        self.0.edge_length(p)
    }

    fn project(&self, p: Vec3, facing: Vec3) -> Vec3 {
        const NEWTON_STEPS: usize = 2;
        const LEAST_SLOPE: f32 = 0.5;
        // In the middle of a sheet, the nearest surface may be the other side.
        if self.0.has_sheets() && self.gradient(p).dot(facing) < 0.0 {
            return p;
        }
        (0..NEWTON_STEPS).fold(p, |p, _| {
            let slope = self.gradient(p);
            let slope2 = slope.length_squared().max(LEAST_SLOPE * LEAST_SLOPE);
            p - slope * (self.0.distance(p) / slope2)
        })
    }
}
