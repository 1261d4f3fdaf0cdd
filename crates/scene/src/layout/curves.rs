//! Curves: hair, grass and fibres as chains of segments.

use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;
/// Points are stored in the kernels' layout.
pub use throng_abi::CurvePoint;
use throng_base::math::Aabb;

/// Shape of the segments of curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CurveProfile {
    /// The convex hull of the spheres around both ends: a cone with spherical ends.
    #[default]
    Round,
    /// A flat strip that faces each ray, shaded like a round segment. Cheaper than [`Self::Round`], and the same from afar.
    Ribbon,
}

/// Strands in object space, each a chain of straight segments with a radius at every point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Points of all strands, one strand after the other. A segment connects a point with the next one of its strand, and has the index of its first
    /// point as its number.
    pub points: Vec<CurvePoint>,
    /// Index of the first point of each strand, in ascending order. The last strand ends with the last point.
    pub strands: Vec<u32>,
    /// Shape of the segments.
    pub profile: CurveProfile,
    /// Texture coordinates: one per point, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// Linear colour and alpha that multiply the material's: one per point, or empty.
    pub colors: Vec<[f32; 4]>,
}

impl Curves {
    /// The points of each strand.
    pub fn strand_ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ends = self.strands.iter().skip(1).map(|&end| end as usize).chain([self.points.len()]);
        self.strands.iter().zip(ends).map(|(&start, end)| start as usize..end)
    }

    /// Numbers of all segments, in ascending order.
    pub fn segments(&self) -> impl Iterator<Item = u32> + '_ {
        self.strand_ranges().flat_map(|points| points.start as u32..points.end.saturating_sub(1) as u32)
    }

    /// Number of segments.
    pub fn segment_count(&self) -> usize {
        self.strand_ranges().map(|points| points.len().saturating_sub(1)).sum()
    }

    /// The points at other positions, of which there is one per point.
    pub fn posed_points(&self, positions: &[[f32; 3]]) -> Vec<CurvePoint> {
        let pairs = self.points.par_iter().zip(positions).with_min_len(1 << 14);
        pairs.map(|(point, &position)| CurvePoint { position, ..*point }).collect()
    }

    /// Point of a segment's axis at share `u` of the way to its last point.
    pub fn axis_point(&self, segment: u32, u: f32) -> Vec3 {
        let [from, to] = [0, 1].map(|end| Vec3::from(self.points[segment as usize + end].position));
        from.lerp(to, u)
    }

    /// Bounds of all strands.
    pub fn bounds(&self) -> Aabb {
        self.points.par_iter().with_min_len(1 << 14).map(sphere_bounds).reduce(|| Aabb::EMPTY, Aabb::union)
    }

    /// Whether strands are divided as described, and attributes have the right length.
    pub(crate) fn is_whole(&self) -> bool {
        let count = self.points.len();
        let fits = |attributes: usize| attributes == 0 || attributes == count;
        let ascends = self.strands.first().is_none_or(|&first| first == 0) && self.strands.is_sorted();
        let ends = self.strands.last().map_or(count == 0, |&last| last as usize <= count);
        ascends && ends && fits(self.uvs.len()) && fits(self.colors.len())
    }
}

/// Bounds of the sphere around a point.
pub fn sphere_bounds(point: &CurvePoint) -> Aabb {
    let center = Vec3::from(point.position);
    Aabb { min: center - point.radius, max: center + point.radius }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strands() -> Curves {
        let point = |x: f32, radius| CurvePoint { position: [x, 0.0, 0.0], radius };
        let points = vec![point(0.0, 1.0), point(4.0, 0.5), point(10.0, 0.1), point(11.0, 0.1), point(12.0, 0.2)];
        Curves { points, strands: vec![0, 2], ..Curves::default() }
    }

    #[test]
    fn segments_do_not_join_strands() {
        let curves = strands();
        assert_eq!(curves.strand_ranges().collect::<Vec<_>>(), [0..2, 2..5]);
        assert_eq!(curves.segments().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(curves.segment_count(), 3);
    }

    #[test]
    fn bounds_contain_the_spheres_of_both_ends() {
        let bounds = strands().bounds();
        assert_eq!((bounds.min, bounds.max), (Vec3::splat(-1.0), Vec3::new(12.2, 1.0, 1.0)));
    }

    #[test]
    fn strands_that_leave_the_points_are_found() {
        let whole = |change: fn(&mut Curves)| {
            let mut curves = strands();
            change(&mut curves);
            curves.is_whole()
        };
        assert!(whole(|_| ()));
        assert!(!whole(|c| c.strands[1] = 6));
        assert!(!whole(|c| c.strands[0] = 1));
        assert!(!whole(|c| c.colors.push([1.0; 4])));
    }
}
