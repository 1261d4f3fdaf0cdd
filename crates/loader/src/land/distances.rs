//! Distance queries in the XZ plane against convex outlines and lines.

use super::cells::Cells;
use glam::{Affine3, Vec2, Vec3, Vec3Swizzles};

/// Convex outlines, points and line segments in the XZ plane.
#[derive(Debug, Default)]
pub struct Outlines {
    points: Vec<Vec2>,
    /// End of each outline in `points`.
    ends: Vec<usize>,
}

impl Outlines {
    /// Adds a line through the points.
    pub fn add_line(&mut self, points: &[Vec3]) {
        for pair in points.windows(2) {
            self.points.extend([pair[0].xz(), pair[1].xz()]);
            self.ends.push(self.points.len());
        }
    }

    /// Adds the outline, seen from above, of a box placed by `transform`.
    pub fn add_box(&mut self, [min, max]: [Vec3; 2], transform: &Affine3) {
        let corner = |i: usize| {
            let pick = |axis: usize| if i >> axis & 1 == 0 { min[axis] } else { max[axis] };
            transform.transform_point3(Vec3::new(pick(0), pick(1), pick(2))).xz()
        };
        self.points.extend(convex_hull(std::array::from_fn::<Vec2, 8, _>(corner).to_vec()));
        self.ends.push(self.points.len());
    }

    fn outline(&self, number: usize) -> &[Vec2] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.points[start..self.ends[number]]
    }

    /// Prepares queries with the distance `reach`.
    pub fn within(self, reach: f32) -> Within {
        let grown = |number: usize| {
            let start = [Vec2::INFINITY, Vec2::NEG_INFINITY];
            let [min, max] = self.outline(number).iter().fold(start, |all, p| [all[0].min(*p), all[1].max(*p)]);
            [min - reach, max + reach]
        };
        let boxes: Vec<[Vec2; 2]> = (0..self.ends.len()).map(grown).collect();
        Within { cells: Cells::new(&boxes), outlines: self, reach }
    }
}

/// Outlines, and the distance for queries.
#[derive(Debug)]
pub struct Within {
    outlines: Outlines,
    cells: Cells,
    reach: f32,
}

impl Within {
    /// Whether a point is inside an outline, or closer to one than the reach, in the XZ plane.
    pub fn contains(&self, point: Vec3) -> bool {
        let point = point.xz();
        let near = |&number: &u32| distance(self.outlines.outline(number as usize), point) < self.reach;
        self.cells.at(point).iter().any(near)
    }
}

/// Distance of a point from a line or from a convex outline in counter-clockwise order; 0 inside.
fn distance(outline: &[Vec2], point: Vec2) -> f32 {
    let edges = || outline.iter().zip(outline.iter().cycle().skip(1));
    if outline.len() > 2 && edges().all(|(a, b)| (b - a).perp_dot(point - a) >= 0.0) {
        return 0.0;
    }
    edges().map(|(&a, &b)| point.distance(a + (b - a) * along([a, b], point))).fold(f32::INFINITY, f32::min)
}

/// Position on a line segment closest to a point, from 0 at its start to 1 at its end.
pub fn along([a, b]: [Vec2; 2], point: Vec2) -> f32 {
    let line = b - a;
    let share = (point - a).dot(line) / line.length_squared();
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The convex hull of points in counter-clockwise order, without points on its edges (Andrew's monotone chain).
fn convex_hull(mut points: Vec<Vec2>) -> Vec<Vec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = Vec2>| {
        let mut chain: Vec<Vec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(p - a) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let lower = half(&mut points.iter().copied());
    let upper = half(&mut points.iter().rev().copied());
    [lower, upper].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        [-20.0f32..20.0, -2.0f32..2.0, -20.0f32..20.0].prop_map(Vec3::from)
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn the_grid_finds_what_a_search_of_all_lines_finds(
            line in prop::collection::vec(point(), 2..40), reach in 0.1f32..5.0, asked in prop::collection::vec(point(), 50)
        ) {
            let mut outlines = Outlines::default();
            outlines.add_line(&line);
            let within = outlines.within(reach);
            for p in asked {
                let least = line.windows(2).map(|w| distance(&[w[0].xz(), w[1].xz()], p.xz())).fold(f32::MAX, f32::min);
                prop_assert_eq!(within.contains(p), least < reach);
            }
        }
    }

    #[test]
    fn a_rotated_box_is_measured_from_its_own_sides() {
        let mut outlines = Outlines::default();
        outlines.add_box([Vec3::splat(-1.0), Vec3::ONE], &Affine3::from_rotation_y(45f32.to_radians()));
        let within = outlines.within(0.5);
        let diagonal = Vec3::new(1.0, 7.0, 1.0);
        assert!(within.contains(Vec3::ZERO) && within.contains(Vec3::X * 1.9) && !within.contains(Vec3::X * 1.92));
        assert!(within.contains(diagonal) && !within.contains(diagonal * 1.08));
    }

    #[test]
    fn what_is_seen_from_the_side_is_a_line() {
        let mut outlines = Outlines::default();
        outlines.add_box([Vec3::ZERO, Vec3::new(4.0, 3.0, 0.0)], &Affine3::IDENTITY);
        let within = outlines.within(1.0);
        assert!(within.contains(Vec3::new(2.0, 0.0, 0.9)) && !within.contains(Vec3::new(2.0, 0.0, 1.1)));
    }
}
