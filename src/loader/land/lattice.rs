//! Meshes whose vertices are in rows and columns.

use crate::scene::TriangleMesh;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Points in rows, and how they become a mesh. Its front is where rows, columns and the normal are a right-handed system in this order.
pub struct Lattice {
    pub points: Vec<Vec3>,
    /// Number of points in each row; there are at least two, and two rows.
    pub columns: usize,
    /// Whether the last row is where the first one is.
    pub closed: bool,
}

impl Lattice {
    /// The mesh with smooth normals, and a UV for each row and column.
    pub fn mesh(&self, uv: impl Fn(usize, usize) -> [f32; 2] + Sync) -> TriangleMesh {
        let (columns, rows) = (self.columns, self.rows());
        let numbers = || (0..rows * columns).into_par_iter().map(|i| (i / columns, i % columns));
        let quads = (0..(rows - 1) * (columns - 1)).into_par_iter();
        let first = |i: usize| (i / (columns - 1) * columns + i % (columns - 1)) as u32;
        let next = columns as u32;
        let pair = |i| [[i, i + next, i + 1], [i + 1, i + next, i + next + 1]];
        TriangleMesh {
            positions: self.points.par_iter().map(|p| p.to_array()).collect(),
            triangles: quads.flat_map_iter(|i| pair(first(i))).collect(),
            normals: numbers().map(|(row, column)| self.normal(row, column)).collect(),
            uvs: numbers().map(|(row, column)| uv(row, column)).collect(),
            ..TriangleMesh::default()
        }
    }

    fn rows(&self) -> usize {
        self.points.len() / self.columns
    }

    fn point(&self, row: usize, column: usize) -> DVec3 {
        self.points[row * self.columns + column].as_dvec3()
    }

    /// Normal of the neighbours' differences.
    fn normal(&self, row: usize, column: usize) -> [f32; 3] {
        let last = self.rows() - 1;
        let across = self.point(row, (column + 1).min(self.columns - 1)) - self.point(row, column.saturating_sub(1));
        let (before, after) = match self.closed {
            true if row == 0 || row == last => (last - 1, 1),
            _ => (row.saturating_sub(1), (row + 1).min(last)),
        };
        let along = self.point(after, column) - self.point(before, column);
        along.cross(across).normalize_or(DVec3::Y).as_vec3().to_array()
    }
}
