//! Strips along curves.

use super::{ground::Ground, lattice::Lattice};
use glam::{Vec3, Vec3Swizzles};
use rayon::prelude::*;
use throng_scene::{TriangleMesh, curve::Curve};

/// Maximum number of steps along a ribbon.
pub const MOST_STEPS: f32 = 1_000_000.0;

/// The shape of a ribbon, in scene units.
#[derive(Clone, Copy, Debug)]
pub struct Ribbon {
    pub width: f32,
    /// Height above the curve or the ground.
    pub lift: f32,
    /// Maximum length of its segments, along and across.
    pub step: f32,
    /// Start and end along the curve.
    pub range: [f32; 2],
}

impl Ribbon {
    /// Creates a strip that is level across, or follows `ground`. Seen along the curve, u is 0 at the left and 1 at the right; v increases
    /// along the curve, in units of the width.
    ///
    /// # Errors
    /// The first point that is outside the ground.
    pub fn mesh(&self, curve: &Curve, ground: Option<&Ground>) -> Result<TriangleMesh, Vec3> {
        let [from, to] = self.range;
        let rows = ((to - from) / self.step).ceil().clamp(1.0, MOST_STEPS) as usize;
        let across = if ground.is_some() { (self.width / self.step).ceil().clamp(1.0, 64.0) as usize } else { 1 };
        let point = |i: usize| {
            let (row, column) = (i / (across + 1), i % (across + 1));
            let place = curve.at(from + (to - from) * (row as f32 / rows as f32));
            let side = self.width * (0.5 - column as f32 / across as f32);
            self.on_ground(place.position + place.right() * side, ground)
        };
        let count = (rows + 1) * (across + 1);
        let points: Vec<Vec3> = (0..count).into_par_iter().map(point).collect::<Result<_, _>>()?;
        let closed = curve.is_closed() && to - from >= curve.length();
        let length = (to - from) / self.width;
        let uv = |row, column| [1.0 - column as f32 / across as f32, length * (row as f32 / rows as f32)];
        let columns = across + 1;
        let point = |row: usize, column: usize| points[row * columns + column];
        Ok(Lattice { point, rows: rows + 1, columns, closed }.mesh(uv))
    }

    /// The radius and position of the first bend that is too tight for the ribbon's width, so that the ribbon overlaps itself.
    pub fn too_tight(&self, curve: &Curve) -> Option<(f32, Vec3)> {
        let [from, to] = self.range;
        // With smaller steps, rounding errors of directions would look like bends.
        let looks = (16.0 * (to - from) / self.width).clamp(64.0, 4096.0) as usize;
        let step = (to - from) / looks as f32;
        let at = |look: usize| curve.at(from + step * look as f32);
        (1..=looks).find_map(|look| {
            let (before, here) = (at(look - 1), at(look));
            let turn = before.right().xz().angle_to(here.right().xz()).abs();
            let radius = before.position.xz().distance(here.position.xz()) / turn;
            (radius < 0.5 * self.width).then_some((radius, here.position))
        })
    }

    fn on_ground(&self, point: Vec3, ground: Option<&Ground>) -> Result<Vec3, Vec3> {
        let height = match ground {
            Some(ground) => ground.at(point.xz()).ok_or(point)?.height,
            None => point.y,
        };
        Ok(Vec3::new(point.x, height + self.lift, point.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3;

    fn ribbon(length: f32) -> Ribbon {
        Ribbon { width: 2.0, lift: 0.5, step: 0.5, range: [0.0, length] }
    }

    #[test]
    fn a_ribbon_faces_up_and_has_its_width_and_uvs() {
        let curve = Curve::polyline(&[Vec3::ZERO, Vec3::X * 8.0], false).unwrap();
        let mesh = ribbon(8.0).mesh(&curve, None).unwrap();
        assert_eq!((mesh.positions.len(), mesh.positions[0], mesh.uvs[0]), (34, [0.0, 0.5, 1.0], [1.0, 0.0]));
        assert_eq!((mesh.positions[33], mesh.uvs[33]), ([8.0, 0.5, -1.0], [0.0, 4.0]));
        assert!(mesh.normals.iter().all(|n| *n == [0.0, 1.0, 0.0]));
        let [a, b, c] = mesh.triangles[0].map(|v| Vec3::from(mesh.positions[v as usize]));
        assert!((b - a).cross(c - a).y > 0.0);
    }

    #[test]
    fn a_ribbon_follows_the_ground_and_tells_where_it_leaves_it() {
        let positions = [[-9.0f32, 0.0, -9.0], [-9.0, 0.0, 9.0], [9.0, 18.0, -9.0], [9.0, 18.0, 9.0]];
        let triangles = [[0u32, 1, 2], [2, 1, 3]];
        let ground = Ground::new([(&positions[..], &triangles[..], Affine3::IDENTITY)].into_iter()).unwrap();
        let curve = Curve::polyline(&[Vec3::ZERO, Vec3::X * 20.0], false).unwrap();
        let mesh = ribbon(8.0).mesh(&curve, Some(&ground)).unwrap();
        assert!(mesh.positions.iter().all(|p| (p[1] - p[0] - 9.5).abs() < 1e-4));
        assert!(ribbon(12.0).mesh(&curve, Some(&ground)).is_err_and(|p| p.x > 9.0));
    }

    #[test]
    fn a_ribbon_that_is_wider_than_its_bend_is_found() {
        let points = [[0.0, 0.0], [5.0, 0.0], [5.0, 5.0]].map(|[x, z]| Vec3::new(x, 0.0, z));
        let curve = Curve::catmull_rom(&points, false).unwrap();
        let too_tight = |width: f32| Ribbon { width, ..ribbon(curve.length()) }.too_tight(&curve);
        assert!(too_tight(1.0).is_none());
        let (radius, at) = too_tight(100.0).unwrap();
        assert!(radius < 50.0 && at.is_finite(), "{radius} {at}");
    }

    #[test]
    fn a_closed_ribbon_has_no_seam() {
        let corners = [Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::new(0.0, 1.0, -1.0)].map(|p| p * 10.0);
        let curve = Curve::catmull_rom(&corners, true).unwrap();
        let mesh = ribbon(curve.length()).mesh(&curve, None).unwrap();
        let last = mesh.positions.len() - 2;
        for i in 0..2 {
            let (p, q) = (Vec3::from(mesh.positions[i]), Vec3::from(mesh.positions[last + i]));
            assert!(p.distance(q) < 1e-3 && Vec3::from(mesh.normals[i]).distance(mesh.normals[last + i].into()) < 1e-2);
        }
    }
}
