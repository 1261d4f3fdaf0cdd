//! Heights of triangles above points of the XZ plane.

use super::{cells::Cells, grid::Grid};
use crate::files;
use glam::{Affine3, DVec3, Vec2, Vec3, Vec3Swizzles};
use rayon::prelude::*;

/// Bytes of memory per triangle that is not part of a grid.
const BYTES_PER_TRIANGLE: u64 = 120;
/// Minimum number of triangles for which a mesh is stored as a grid, if it is one. A grid takes less memory.
const LARGE: usize = 1 << 21;

/// Triangles for height queries from above.
#[derive(Debug, Default)]
pub struct Ground {
    triangles: Vec<[Vec3; 3]>,
    cells: Cells,
    grids: Vec<Grid>,
}

/// The intersection of a vertical line with the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundPoint {
    pub height: f32,
    /// Unit normal of the triangle, flipped to point upwards.
    pub normal: Vec3,
}

impl Ground {
    /// The ground of all meshes, each given by its positions, triangles and transform. Vertical triangles have no height and are omitted.
    ///
    /// # Errors
    /// If memory does not suffice. The text is the end of a sentence.
    pub fn new<'a>(meshes: impl Iterator<Item = (&'a [[f32; 3]], &'a [[u32; 3]], Affine3)>) -> Result<Self, String> {
        let (mut grids, mut others) = (Vec::new(), Vec::new());
        for (positions, indices, transform) in meshes {
            let grid = (indices.len() >= LARGE).then(|| Grid::of(positions, indices, &transform)).flatten();
            match grid {
                Some(grid) => grids.push(grid),
                None => others.push((positions, indices, transform)),
            }
        }
        let triangles: u64 = others.iter().map(|(_, indices, _)| indices.len() as u64).sum();
        files::fits(triangles.saturating_mul(BYTES_PER_TRIANGLE))?;
        Ok(Self { grids, ..Self::of_triangles(others.into_iter()) })
    }

    /// The triangles of all meshes, given as in [`Self::new`].
    pub(super) fn of_triangles<'a>(meshes: impl Iterator<Item = (&'a [[f32; 3]], &'a [[u32; 3]], Affine3)>) -> Self {
        let mut triangles = Vec::new();
        for (positions, indices, transform) in meshes {
            let at = |v: u32| transform.transform_point3(Vec3::from(positions[v as usize]));
            let placed = indices.par_iter().map(|t| t.map(at));
            triangles.par_extend(placed.filter(|[a, b, c]| (b - a).xz().perp_dot((c - a).xz()) != 0.0));
        }
        let bounds = |t: &[Vec3; 3]| {
            let [a, b, c] = t.map(Vec3::xz);
            [a.min(b).min(c), a.max(b).max(c)]
        };
        let boxes: Vec<[Vec2; 2]> = triangles.par_iter().map(bounds).collect();
        Self { cells: Cells::new(&boxes), triangles, grids: Vec::new() }
    }

    #[cfg(test)]
    pub(super) fn of_grid(grid: Grid) -> Self {
        Self { grids: vec![grid], ..Self::default() }
    }

    /// The highest point above or below a point of the XZ plane; none outside the ground.
    pub fn at(&self, point: Vec2) -> Option<GroundPoint> {
        let listed = self.cells.at(point).iter().map(|&number| self.triangles[number as usize]);
        let all = listed.chain(self.grids.iter().flat_map(|grid| grid.around(point)));
        let hits = all.filter_map(|triangle| Some((triangle, height(&triangle, point)?)));
        let (triangle, height) = hits.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let [a, b, c] = triangle.map(|p| p.as_dvec3());
        let normal = (b - a).cross(c - a);
        let upwards = if normal.y < 0.0 { -normal } else { normal };
        Some(GroundPoint { height, normal: upwards.normalize_or(DVec3::Y).as_vec3() })
    }
}

/// Height of a triangle, including its edges, at a point of the XZ plane.
fn height(triangle: &[Vec3; 3], point: Vec2) -> Option<f32> {
    let [a, b, c] = triangle.map(|p| p.xz().as_dvec2() - point.as_dvec2());
    let weights = [b.perp_dot(c), c.perp_dot(a), a.perp_dot(b)];
    let sum: f64 = weights.iter().sum();
    let inside = weights.iter().all(|w| *w >= 0.0) || weights.iter().all(|w| *w <= 0.0);
    let height = weights.iter().zip(triangle).map(|(w, p)| w * f64::from(p.y)).sum::<f64>() / sum;
    (inside && height.is_finite()).then_some(height as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_of_several_is_found_and_none_beside_them() {
        let positions = [[0.0f32, 1.0, 0.0], [4.0, 1.0, 0.0], [0.0, 3.0, 4.0]];
        let mesh = |y: f32| (&positions[..], &[[0, 1, 2]][..], Affine3::from_translation(Vec3::Y * y));
        let ground = Ground::of_triangles([mesh(0.0), mesh(5.0), mesh(2.0)].into_iter());
        let point = ground.at(Vec2::new(1.0, 2.0)).unwrap();
        assert!((point.height - 7.0).abs() < 1e-6 && point.normal.y > 0.0);
        assert!(point.normal.dot(Vec3::new(0.0, 2.0, 4.0)).abs() < 1e-5);
        assert!(ground.at(Vec2::new(0.0, 0.0)).is_some() && ground.at(Vec2::new(3.0, 3.0)).is_none());
    }

    #[test]
    fn there_are_no_gaps_between_triangles() {
        let positions: Vec<[f32; 3]> =
            (0..40 * 40).map(|i| [(i % 40) as f32 * 0.37, 0.0, (i / 40) as f32 * 0.41]).collect();
        let quad = |i: u32| [[i, i + 40, i + 1], [i + 1, i + 40, i + 41]];
        let triangles: Vec<[u32; 3]> = (0..39 * 39).flat_map(|i| quad(i % 39 + i / 39 * 40)).collect();
        let ground =
            Ground::of_triangles([(&positions[..], &triangles[..], Affine3::from_rotation_y(0.3))].into_iter());
        let turn = Vec2::from_angle(-0.3);
        for i in 0..20_000 {
            let p = Vec2::new((i % 141) as f32 / 141.0 * 14.4, (i / 141) as f32 / 142.0 * 15.9) + 0.01;
            assert!(ground.at(turn.rotate(p)).is_some_and(|g| g.height == 0.0), "{p}");
        }
    }
}
