//! Meshes whose vertices are in rows and columns.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use throng_scene::TriangleMesh;

/// Points in rows, from which a mesh is created. The direction along rows, the direction along columns and the normal form a right-handed
/// system.
pub struct Lattice<P> {
    /// Returns the point of a row and a column.
    pub point: P,
    /// Number of rows, at least two.
    pub rows: usize,
    /// Number of points in each row, at least two.
    pub columns: usize,
    /// Whether the last row coincides with the first one.
    pub closed: bool,
}

/// Triangle `number` between points in rows of `columns`; there are two triangles per cell, row by row.
pub fn triangle(number: usize, columns: usize) -> [u32; 3] {
    let (cell, next) = (number / 2, columns as u32);
    let corner = (cell / (columns - 1) * columns + cell % (columns - 1)) as u32;
    match number % 2 {
        0 => [corner, corner + next, corner + 1],
        _ => [corner + 1, corner + next, corner + next + 1],
    }
}

impl<P: Fn(usize, usize) -> Vec3 + Sync> Lattice<P> {
    /// The mesh with smooth normals; `uv` returns the UV of a row and column. Needs no temporary memory.
    pub fn mesh(&self, uv: impl Fn(usize, usize) -> [f32; 2] + Sync) -> TriangleMesh {
        TriangleMesh {
            positions: self.vertices(|row, column| (self.point)(row, column).to_array()),
            triangles: self.triangles(),
            normals: self.vertices(|row, column| self.normal(row, column)),
            uvs: self.vertices(uv),
            ..TriangleMesh::default()
        }
    }

    fn vertices<T: Send>(&self, of: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let columns = self.columns;
        (0..self.rows * columns).into_par_iter().map(|i| of(i / columns, i % columns)).collect()
    }

    /// Two triangles per cell. Their number is known, so they are written directly to their final place.
    fn triangles(&self) -> Vec<[u32; 3]> {
        let count = 2 * (self.columns - 1) * (self.rows - 1);
        (0..count).into_par_iter().map(|i| triangle(i, self.columns)).collect()
    }

    fn at(&self, row: usize, column: usize) -> DVec3 {
        (self.point)(row, column).as_dvec3()
    }

    /// Normal from the differences of the neighbouring points.
    fn normal(&self, row: usize, column: usize) -> [f32; 3] {
        let last = self.rows - 1;
        let across = self.at(row, (column + 1).min(self.columns - 1)) - self.at(row, column.saturating_sub(1));
        let (before, after) = match self.closed {
            true if row == 0 || row == last => (last - 1, 1),
            _ => (row.saturating_sub(1), (row + 1).min(last)),
        };
        let along = self.at(after, column) - self.at(before, column);
        along.cross(across).normalize_or(DVec3::Y).as_vec3().to_array()
    }
}
