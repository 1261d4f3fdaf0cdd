//! Faces of mesh files. Concave faces, which a fan does not cover, are split by ear clipping. Faces with a corner that is not finite are
//! omitted.

use earcut::Earcut;
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of corners of a polygon that is split, since the work is quadratic. Larger polygons stay fans.
const MOST_CORNERS: usize = 1 << 14;
/// Share of a polygon's area by which a triangle of its fan may be reversed due to rounding.
const ROUNDING: f64 = 1e-6;

/// Triangles that replace a file's own.
#[derive(Debug, PartialEq)]
pub struct Mended<C> {
    pub triangles: Vec<[C; 3]>,
    /// For each of `triangles`, the index of a triangle in the file that belongs to the same face.
    pub sources: Vec<u32>,
    /// Number of omitted faces.
    pub left_out: usize,
}

/// Repairs a list of triangles in which each of `polygons` is a fan. `position` returns the position of a corner. None if nothing has to
/// change.
pub fn mended<C: Copy + Send + Sync>(
    triangles: &[[C; 3]],
    polygons: &[Range<u32>],
    all_finite: bool,
    position: impl Fn(C) -> [f32; 3] + Sync,
) -> Option<Mended<C>> {
    let other = |polygon: &Range<u32>| {
        let fan = &triangles[polygon.start as usize..polygon.end as usize];
        let corners: Vec<C> = fan[0][..2].iter().copied().chain(fan.iter().map(|t| t[2])).collect();
        let positions: Vec<[f32; 3]> = corners.iter().map(|&c| position(c)).collect();
        if !positions.iter().all(is_finite) {
            return Some((polygon.clone(), Vec::new()));
        }
        let split = split(&positions)?;
        Some((polygon.clone(), split.iter().map(|t| t.map(|i| corners[i])).collect()))
    };
    let others: Vec<(Range<u32>, Vec<[C; 3]>)> = polygons.par_iter().filter_map(other).collect();
    if all_finite && others.is_empty() {
        return None;
    }
    let mut mended = Mended { triangles: Vec::with_capacity(triangles.len()), sources: Vec::new(), left_out: 0 };
    let mut next = 0;
    let stay = |mended: &mut Mended<C>, range: Range<u32>| {
        for index in range {
            let triangle = triangles[index as usize];
            if all_finite || triangle.iter().all(|&c| is_finite(&position(c))) {
                mended.add(triangle, index)
            } else {
                mended.left_out += 1
            }
        }
    };
    for (polygon, split) in others {
        stay(&mut mended, next..polygon.start);
        mended.left_out += usize::from(split.is_empty());
        split.into_iter().for_each(|triangle| mended.add(triangle, polygon.start));
        next = polygon.end;
    }
    stay(&mut mended, next..triangles.len() as u32);
    Some(mended)
}

impl<C> Mended<C> {
    fn add(&mut self, triangle: [C; 3], source: u32) {
        self.triangles.push(triangle);
        self.sources.push(source);
    }

    /// Maps values of the file's triangles to the new triangles; empty if `of_file` is empty.
    pub fn values<T: Copy>(&self, of_file: &[T]) -> Vec<T> {
        if of_file.is_empty() {
            Vec::new()
        } else {
            self.sources.iter().map(|&source| of_file[source as usize]).collect()
        }
    }
}

/// Whether all coordinates are finite.
pub fn is_finite(position: &[f32; 3]) -> bool {
    position.iter().all(|x| x.is_finite())
}

/// Triangulates a polygon that its fan would not cover, as indices of corners. None if the fan is valid, or if no triangulation is found.
fn split(corners: &[[f32; 3]]) -> Option<Vec<[usize; 3]>> {
    let [first, ..] = corners else { return None };
    if !(4..=MOST_CORNERS).contains(&corners.len()) {
        return None;
    }
    let first = DVec3::from(first.map(f64::from));
    let corners: Vec<DVec3> = corners.iter().map(|c| DVec3::from(c.map(f64::from)) - first).collect();
    let fan = || corners.windows(2).map(|pair| pair[0].cross(pair[1]));
    let normal: DVec3 = fan().sum();
    let least = -ROUNDING * normal.length_squared();
    if !normal.is_finite() || normal == DVec3::ZERO || fan().all(|part| part.dot(normal) >= least) {
        return None;
    }
    let [x, y, z] = normal.abs().to_array();
    let flat = |c: &DVec3| {
        if z >= x.max(y) {
            [c.x, c.y]
        } else if y >= x {
            [c.z, c.x]
        } else {
            [c.y, c.z]
        }
    };
    let mut indices: Vec<u32> = Vec::new();
    Earcut::new().earcut(corners.iter().map(flat), &[], &mut indices);
    let oriented = |&[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [a, b, c].map(|i| i as usize);
        let area = (corners[b] - corners[a]).cross(corners[c] - corners[a]).dot(normal);
        (area != 0.0).then_some(if area > 0.0 { [a, b, c] } else { [a, c, b] })
    };
    let triangles: Vec<[usize; 3]> = indices.as_chunks().0.iter().filter_map(oriented).collect();
    (!triangles.is_empty()).then_some(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An L with six corners, which the fan from its fifth corner leaves.
    const L: [[f32; 3]; 6] = [[1., 0., 0.], [1., 0.25, 0.], [0.25, 0.25, 0.], [0.25, 1., 0.], [0., 1., 0.], [0.; 3]];

    fn area(corners: &[[f32; 3]], triangles: &[[usize; 3]]) -> DVec3 {
        let of = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|i| DVec3::from(corners[i].map(f64::from)));
            (b - a).cross(c - a) / 2.0
        };
        triangles.iter().map(of).sum()
    }

    fn fan(count: usize) -> Vec<[usize; 3]> {
        (2..count).map(|i| [0, i - 1, i]).collect()
    }

    #[test]
    fn convex_polygons_stay_fans() {
        let square = [[0.; 3], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
        let with_midpoints = [[0.; 3], [0.1, 0., 0.], [1., 0., 0.], [1., 0.3, 0.], [1., 1., 0.], [0., 1., 0.]];
        let bent = [[0.; 3], [1., 0., 0.2], [1., 1., 0.], [0., 1., 0.3]];
        assert_eq!([split(&square), split(&with_midpoints), split(&bent)], [None, None, None]);
        // A dart that is entirely visible from its first corner.
        assert_eq!(split(&[[0., -0.4, 0.], [1., -1., 0.], [0., 1., 0.], [-1., -1., 0.]]), None);
    }

    #[test]
    fn concave_polygons_are_covered_once_from_any_first_corner_in_any_plane() {
        for turn in 0..6 {
            for axis in 0..3 {
                for flip in [false, true] {
                    let mut corners = L;
                    corners.rotate_left(turn);
                    corners.iter_mut().for_each(|c| c.rotate_left(axis));
                    if flip {
                        corners.reverse();
                    }
                    let triangles = split(&corners).unwrap_or_else(|| fan(6));
                    let sizes: f64 = triangles.iter().map(|t| area(&corners, &[*t]).length()).sum();
                    assert!((sizes - 0.4375).abs() < 1e-9, "{corners:?} {triangles:?}");
                    assert!(area(&corners, &triangles).abs_diff_eq(area(&corners, &fan(6)), 1e-9));
                }
            }
        }
    }

    #[test]
    fn faces_with_corners_that_are_not_finite_are_left_out_whole() {
        let mut positions = vec![[0.; 3], [1., 0., 0.], [1., 1., 0.], [f32::NAN; 3], [f32::INFINITY; 3]];
        let triangles = [[0u32, 1, 2], [0, 2, 3], [0, 1, 2], [1, 2, 4]];
        let position = |v: u32| positions[v as usize];
        let mended = mended(&triangles, std::slice::from_ref(&(0..2)), false, position).unwrap();
        assert_eq!((&mended.triangles[..], &mended.sources[..], mended.left_out), (&[[0, 1, 2]][..], &[2][..], 2));
        positions.truncate(3);
        assert_eq!(super::mended(&triangles[..1], &[], true, |v: u32| positions[v as usize]), None);
    }

    #[test]
    fn the_values_of_faces_follow_their_triangles() {
        let corners = [[0u32, 1, 2], [5, 0, 1], [5, 1, 2], [5, 2, 3], [5, 3, 4], [2, 1, 0]];
        let mut turned = L;
        turned.rotate_left(1);
        let position = |v: u32| turned[v as usize];
        let mended = mended(&corners, std::slice::from_ref(&(1..5)), true, position).unwrap();
        assert_eq!(mended.values(&['a', 'b', 'b', 'b', 'b', 'c']), ['a', 'b', 'b', 'b', 'b', 'c']);
        assert!(mended.values::<u8>(&[]).is_empty());
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn random_polygons_end_in_triangles_of_theirs(
            corners in prop::collection::vec(prop::array::uniform3(-3i8..3), 3..40),
        ) {
            let corners: Vec<[f32; 3]> = corners.iter().map(|c| c.map(f32::from)).collect();
            for triangle in split(&corners).unwrap_or_default() {
                prop_assert!(triangle.iter().all(|&i| i < corners.len()));
            }
        }
    }
}
