//! Curves of files as strands of straight segments.

use glam::{Vec3, Vec4};
use throng_scene::CurvePoint;
use throng_usd::{CurveBasis, CurveWrap};

/// Greatest distance between a curve and its segments, in multiples of the curve's radius.
pub const TOLERANCE: f32 = 0.05;
/// Maximum number of straight segments per cubic one.
pub const MOST_PIECES: usize = 32;

/// A place on a curve: number of a cubic or linear segment, and the share of the way through it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveSite {
    pub segment: usize,
    pub share: f32,
}

/// The parameters of a curve of `count` control points.
#[derive(Clone, Copy, Debug)]
pub struct Spline {
    pub basis: CurveBasis,
    pub wrap: CurveWrap,
    pub count: usize,
}

impl Spline {
    /// Number of segments; 0 for too few points.
    pub fn segments(&self) -> usize {
        self.basis.segments(self.wrap, self.count)
    }

    /// Value of a control point; the points before the first one and after the last continue a pinned curve.
    fn control<const N: usize>(&self, value: &impl Fn(usize) -> [f32; N], index: isize) -> [f32; N] {
        let count = self.count as isize;
        let at = |index: isize| value(index.rem_euclid(count) as usize);
        let mirrored = |end: isize, inner: isize| {
            let (end, inner) = (at(end), at(inner));
            std::array::from_fn(|i| 2.0 * end[i] - inner[i])
        };
        match self.wrap {
            CurveWrap::Pinned if index < 0 => mirrored(0, 1),
            CurveWrap::Pinned if index >= count => mirrored(count - 1, count - 2),
            _ => at(index),
        }
    }

    /// Control points of a segment and their weights.
    fn window<const N: usize>(&self, value: impl Fn(usize) -> [f32; N], segment: usize) -> [[f32; N]; 4] {
        let first = match (self.basis, self.wrap) {
            (CurveBasis::Linear, _) => segment as isize,
            (CurveBasis::Bezier, _) => 3 * segment as isize,
            (_, CurveWrap::Pinned) => segment as isize - 1,
            _ => segment as isize,
        };
        [0, 1, 2, 3].map(|i| self.control(&value, first + i))
    }

    /// Weights of the control points of a segment.
    fn weights(&self, t: f32) -> [f32; 4] {
        let (s, t2, t3) = (1.0 - t, t * t, t * t * t);
        match self.basis {
            CurveBasis::Linear => [s, t, 0.0, 0.0],
            CurveBasis::Bezier => [s * s * s, 3.0 * s * s * t, 3.0 * s * t2, t3],
            CurveBasis::BSpline => {
                [s * s * s, 3.0 * t3 - 6.0 * t2 + 4.0, 3.0 * (t + t2 - t3) + 1.0, t3].map(|weight| weight / 6.0)
            }
            CurveBasis::CatmullRom => [2.0 * t2 - t3 - t, 3.0 * t3 - 5.0 * t2 + 2.0, 4.0 * t2 - 3.0 * t3 + t, t3 - t2]
                .map(|weight| 0.5 * weight),
        }
    }

    /// A value that control points have, at a place on the curve. `value` returns the value of a control point.
    pub fn value<const N: usize>(&self, value: impl Fn(usize) -> [f32; N], site: CurveSite) -> [f32; N] {
        let (window, weights) = (self.window(value, site.segment), self.weights(site.share));
        std::array::from_fn(|i| window.iter().zip(weights).map(|(value, weight)| value[i] * weight).sum())
    }

    /// Places along the curve between which straight segments represent it. `shapes` are the positions and radii of its control points, at least
    /// once, and several times if it deforms: the places are dense enough for all of them. Empty for too few points.
    pub fn sites(&self, shapes: &[Vec<[f32; 4]>]) -> Vec<CurveSite> {
        let segments = self.segments();
        let mut sites = Vec::with_capacity(segments + 1);
        for segment in 0..segments {
            let pieces = shapes.iter().map(|knots| self.pieces(&self.window(|i| knots[i], segment))).max().unwrap_or(1);
            let place = |piece: usize| CurveSite { segment, share: piece as f32 / pieces as f32 };
            sites.extend((0..pieces).map(place));
        }
        if let Some(segment) = segments.checked_sub(1) {
            sites.push(CurveSite { segment, share: 1.0 });
        }
        sites
    }

    /// Number of straight segments for a cubic one, whose distance from its chords is at most an eighth of the greatest second derivative.
    fn pieces(&self, window: &[[f32; 4]; 4]) -> usize {
        let [a, b, c, d] = window.map(Vec4::from);
        let bends = match self.basis {
            CurveBasis::Linear => return 1,
            CurveBasis::Bezier => [6.0 * (a - 2.0 * b + c), 6.0 * (b - 2.0 * c + d)],
            CurveBasis::BSpline => [a - 2.0 * b + c, b - 2.0 * c + d],
            CurveBasis::CatmullRom => [2.0 * a - 5.0 * b + 4.0 * c - d, 4.0 * b - a - 5.0 * c + 2.0 * d],
        };
        let bend = bends[0].length().max(bends[1].length());
        let radius = window.iter().map(|knot| knot[3]).fold(0.0, f32::max);
        let pieces = (bend / (8.0 * TOLERANCE * radius)).sqrt().ceil();
        // Nothing is known about a curve without a width.
        if pieces.is_finite() { pieces.clamp(1.0, MOST_PIECES as f32) as usize } else { 1 }
    }
}

/// A value that the ends of segments have, at a place on the curve. `value` returns the value of one of the `ends`.
pub fn between<const N: usize>(value: impl Fn(usize) -> [f32; N], ends: usize, site: CurveSite) -> [f32; N] {
    let (from, to) = (value(site.segment % ends), value((site.segment + 1) % ends));
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * site.share)
}

/// A point of a strand. Radii that a basis overshoots are 0.
pub fn point(knot: [f32; 4]) -> CurvePoint {
    let [x, y, z, radius] = knot;
    CurvePoint { position: [x, y, z], radius: radius.max(0.0) }
}

/// Whether a knot can be drawn.
pub fn is_valid(knot: &[f32; 4]) -> bool {
    let position = Vec3::new(knot[0], knot[1], knot[2]);
    position.is_finite() && position.abs().max_element() < 1e18 && knot[3].is_finite() && knot[3] < 1e18
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOTS: [[f32; 4]; 5] =
        [[0.0, 0.0, 0.0, 0.1], [1.0, 2.0, 0.0, 0.2], [3.0, 2.0, 1.0, 0.1], [4.0, 0.0, 0.0, 0.05], [5.0, 1.0, 1.0, 0.1]];

    fn at(basis: CurveBasis, wrap: CurveWrap, segment: usize, share: f32) -> Vec4 {
        let spline = Spline { basis, wrap, count: KNOTS.len() };
        spline.value(|i| KNOTS[i], CurveSite { segment, share }).into()
    }

    #[test]
    fn curves_pass_through_the_points_that_their_basis_says() {
        let [a, b, c, d, e] = KNOTS.map(Vec4::from);
        assert_eq!(at(CurveBasis::Linear, CurveWrap::NonPeriodic, 1, 0.5), 0.5 * (b + c));
        assert_eq!(at(CurveBasis::Bezier, CurveWrap::NonPeriodic, 0, 0.0), a);
        assert_eq!(at(CurveBasis::Bezier, CurveWrap::NonPeriodic, 0, 1.0), d);
        assert!(
            (at(CurveBasis::Bezier, CurveWrap::NonPeriodic, 0, 0.5) - (a + 3.0 * b + 3.0 * c + d) / 8.0).length()
                < 1e-6
        );
        assert_eq!(at(CurveBasis::CatmullRom, CurveWrap::NonPeriodic, 0, 0.0), b);
        assert_eq!(at(CurveBasis::CatmullRom, CurveWrap::NonPeriodic, 1, 1.0), d);
        assert_eq!(at(CurveBasis::CatmullRom, CurveWrap::Pinned, 0, 0.0), a);
        assert_eq!(at(CurveBasis::CatmullRom, CurveWrap::Periodic, 4, 0.0), a);
        assert!((at(CurveBasis::BSpline, CurveWrap::NonPeriodic, 0, 0.0) - (a + 4.0 * b + c) / 6.0).length() < 1e-6);
        assert!((at(CurveBasis::BSpline, CurveWrap::NonPeriodic, 0, 1.0) - (b + 4.0 * c + d) / 6.0).length() < 1e-6);
        assert!((at(CurveBasis::BSpline, CurveWrap::Pinned, 3, 1.0) - e).length() < 1e-6);
        assert!((at(CurveBasis::BSpline, CurveWrap::Pinned, 0, 0.0) - a).length() < 1e-6);
    }

    #[test]
    fn segments_are_counted_as_usd_does() {
        let count = |basis, wrap, count| Spline { basis, wrap, count }.segments();
        assert_eq!(count(CurveBasis::Linear, CurveWrap::NonPeriodic, 5), 4);
        assert_eq!(count(CurveBasis::Linear, CurveWrap::Periodic, 5), 5);
        assert_eq!(count(CurveBasis::Bezier, CurveWrap::NonPeriodic, 7), 2);
        assert_eq!(count(CurveBasis::Bezier, CurveWrap::Periodic, 6), 2);
        assert_eq!(count(CurveBasis::BSpline, CurveWrap::NonPeriodic, 5), 2);
        assert_eq!(count(CurveBasis::BSpline, CurveWrap::Periodic, 5), 5);
        assert_eq!(count(CurveBasis::CatmullRom, CurveWrap::Pinned, 5), 4);
        assert_eq!(count(CurveBasis::BSpline, CurveWrap::NonPeriodic, 2), 0);
    }

    #[test]
    fn chords_stay_close_to_the_curve() {
        for basis in [CurveBasis::Bezier, CurveBasis::BSpline, CurveBasis::CatmullRom] {
            let spline = Spline { basis, wrap: CurveWrap::NonPeriodic, count: KNOTS.len() };
            let sites = spline.sites(&[KNOTS.to_vec()]);
            for pair in sites.windows(2).filter(|pair| pair[0].segment == pair[1].segment) {
                let [from, to] = [pair[0], pair[1]].map(|site| Vec4::from(spline.value(|i| KNOTS[i], site)));
                let share = 0.5 * (pair[0].share + pair[1].share);
                let middle = Vec4::from(spline.value(|i| KNOTS[i], CurveSite { share, ..pair[0] }));
                assert!((middle - 0.5 * (from + to)).length() <= 1.01 * TOLERANCE * 0.2, "{basis:?}");
            }
            assert!(sites.len() > 8 && sites.last().is_some_and(|site| site.share == 1.0));
        }
    }

    #[test]
    fn a_curve_that_bends_later_has_segments_for_it() {
        let straight: Vec<[f32; 4]> = (0..4).map(|i| [i as f32, 0.0, 0.0, 0.1]).collect();
        let spline = Spline { basis: CurveBasis::Bezier, wrap: CurveWrap::NonPeriodic, count: 4 };
        assert_eq!(spline.sites(std::slice::from_ref(&straight)).len(), 2);
        assert_eq!(spline.sites(&[straight, KNOTS[..4].to_vec()]), spline.sites(&[KNOTS[..4].to_vec()]));
    }
}
