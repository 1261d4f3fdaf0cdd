//! Meshes that are height fields over a grid of the XZ plane, such as large terrains. Triangles are found without a search structure.

use super::lattice;
use glam::{Affine3, Mat2, Vec2, Vec3, Vec3Swizzles};
use rayon::prelude::*;

/// Vertices or triangles per task.
const TASK: usize = 1 << 16;

/// Heights over a grid, with its placement. The cell of a point is found by two binary searches.
#[derive(Debug)]
pub struct Grid {
    /// Coordinates of columns and rows, ascending.
    xs: Vec<f32>,
    zs: Vec<f32>,
    /// Heights, row by row.
    heights: Vec<f32>,
    transform: Affine3,
    /// From the placed XZ plane to the plane of the mesh, relative to the translation of `transform`.
    inverse: Mat2,
}

impl Grid {
    /// The grid of a mesh whose vertices are in rows and columns as in terrains, placed upright. None for other meshes. Takes one pass over
    /// the mesh.
    pub fn of(positions: &[[f32; 3]], triangles: &[[u32; 3]], transform: &Affine3) -> Option<Self> {
        let m = transform.matrix3;
        let is_upright = m.x_axis.y == 0.0 && m.z_axis.y == 0.0 && m.y_axis.xz() == Vec2::ZERO;
        let columns = positions.iter().position(|p| p[2] != positions[0][2]).filter(|_| is_upright)?;
        let rows = positions.len() / columns;
        let is_full = columns > 1 && rows > 1 && rows * columns == positions.len();
        if !is_full || triangles.len() != 2 * (columns - 1) * (rows - 1) {
            return None;
        }
        let xs: Vec<f32> = positions[..columns].iter().map(|p| p[0]).collect();
        let zs: Vec<f32> = positions.iter().step_by(columns).map(|p| p[2]).collect();
        let increases = |values: &[f32]| values.windows(2).all(|pair| pair[0] < pair[1]);
        let in_place =
            |(row, points): (usize, &[[f32; 3]])| points.iter().zip(&xs).all(|(p, x)| p[0] == *x && p[2] == zs[row]);
        let as_terrain = |(i, triangle): (usize, &[u32; 3])| *triangle == lattice::triangle(i, columns);
        let is_grid = increases(&xs)
            && increases(&zs)
            && positions.par_chunks(columns).enumerate().all(in_place)
            && triangles.par_iter().enumerate().with_min_len(TASK).all(as_terrain);
        let heights = || positions.par_iter().with_min_len(TASK).map(|p| p[1]).collect();
        let inverse = Mat2::from_cols(m.x_axis.xz(), m.z_axis.xz()).inverse();
        (is_grid && inverse.is_finite()).then(|| Self { heights: heights(), xs, zs, transform: *transform, inverse })
    }

    /// The placed triangles that may be above or below a point of the XZ plane.
    pub fn around(&self, point: Vec2) -> impl Iterator<Item = [Vec3; 3]> {
        let [columns, rows] = [self.xs.len(), self.zs.len()];
        let local = self.inverse * (point - self.transform.translation.xz());
        // Rounding may lead to a neighbouring cell.
        let cells = |value: f32, lines: &[f32]| {
            let cell = lines.partition_point(|line| *line <= value);
            cell.saturating_sub(2)..(cell + 1).min(lines.len() - 1)
        };
        let (across, along) = (cells(local.x, &self.xs), cells(local.y, &self.zs));
        debug_assert!(across.end < columns && along.end < rows);
        let cells = along.flat_map(move |row| across.clone().map(move |column| row * (columns - 1) + column));
        cells
            .flat_map(move |cell| [2 * cell, 2 * cell + 1])
            .map(move |i| lattice::triangle(i, columns).map(|v| self.point(v)))
    }

    fn point(&self, vertex: u32) -> Vec3 {
        let vertex = vertex as usize;
        let (row, column) = (vertex / self.xs.len(), vertex % self.xs.len());
        self.transform.transform_point3(Vec3::new(self.xs[column], self.heights[vertex], self.zs[row]))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::ground::Ground, *};
    use crate::land::terrain::Terrain;
    use glam::Quat;

    #[test]
    fn a_grid_has_the_heights_of_its_triangles_wherever_it_is_placed() {
        let mesh = Terrain::of_noise([3, 4], 9.0, Vec3::new(30.0, 8.0, 20.0), [31, 17]).mesh();
        let turn = Quat::from_rotation_y(0.7);
        let place = Affine3::from_scale_rotation_translation(Vec3::new(2.0, 3.0, 2.0), turn, Vec3::new(5.0, 1.0, -4.0));
        let one = || [(&mesh.positions[..], &mesh.triangles[..], place)].into_iter();
        let (all, grid) = (Ground::of_triangles(one()), Grid::of(&mesh.positions, &mesh.triangles, &place).unwrap());
        let grid = Ground::of_grid(grid);
        let mut found = 0;
        for i in 0..4000u32 {
            let point = Vec2::new((i % 67) as f32, (i / 67) as f32) * 1.3 - 40.0;
            let (a, b) = (all.at(point), grid.at(point));
            assert_eq!(a.map(|a| a.height), b.map(|b| b.height), "{point}");
            found += u32::from(a.is_some());
        }
        assert!((1000..3000).contains(&found), "{found}");
        // The corners belong to the grid.
        let corner = place.transform_point3(Vec3::from(mesh.positions[0])) + Vec3::new(1e-4, 0.0, 1e-4);
        assert!(grid.at(corner.xz()).is_some());
    }

    #[test]
    fn meshes_that_are_no_height_field_and_grids_that_lean_are_no_grid() {
        let mesh = Terrain::of_noise([3, 4], 9.0, Vec3::new(30.0, 8.0, 20.0), [31, 17]).mesh();
        let is_grid = |positions: &[[f32; 3]], triangles: &[[u32; 3]], place: &Affine3| {
            Grid::of(positions, triangles, place).is_some()
        };
        assert!(is_grid(&mesh.positions, &mesh.triangles, &Affine3::IDENTITY));
        assert!(!is_grid(&mesh.positions, &mesh.triangles, &Affine3::from_rotation_x(0.1)));
        assert!(!is_grid(&mesh.positions, &mesh.triangles[1..], &Affine3::IDENTITY));
        let (mut moved, mut turned) = (mesh.positions.clone(), mesh.triangles.clone());
        moved[40][0] += 0.01;
        turned[9].rotate_left(1);
        assert!(!is_grid(&moved, &mesh.triangles, &Affine3::IDENTITY));
        assert!(!is_grid(&mesh.positions, &turned, &Affine3::IDENTITY));
        assert!(!is_grid(&[], &[], &Affine3::IDENTITY));
    }
}
