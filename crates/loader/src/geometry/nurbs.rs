//! NURBS curves: values at their parameters, and the places between which straight segments represent them.

use super::curves::{CurveSite, MOST_PIECES, TOLERANCE};
use glam::Vec4;
use throng_usd::MOST_ORDER;

/// The parameters of a NURBS curve. Its segments are the spans between knots in which it is defined.
#[derive(Clone, Copy, Debug)]
pub struct NurbsCurve<'a> {
    /// Its degree plus 1.
    pub order: usize,
    /// Ascending knots, as many as its control points and its order together.
    pub knots: &'a [f64],
    /// Parameters at which it begins and ends.
    pub range: [f64; 2],
    /// Weights of its control points; empty if they are equal.
    pub weights: &'a [f64],
}

/// Values of the basis functions of a span, as many as the curve's order.
type Basis = [f64; MOST_ORDER as usize];

impl NurbsCurve<'_> {
    /// Number of segments; 0 for too few points.
    fn segments(&self) -> usize {
        (self.knots.len() + 1).saturating_sub(2 * self.order)
    }

    /// Basis functions of the control points `segment..segment + order`, with their weights (Piegl and Tiller 1997, algorithm A2.2, equation 4.2).
    fn basis(&self, site: CurveSite) -> Basis {
        let span = site.segment + self.order - 1;
        let knot = |index: usize| self.knots[index];
        let u = knot(span) + (knot(span + 1) - knot(span)) * f64::from(site.share);
        let mut basis = [0.0; MOST_ORDER as usize];
        basis[0] = 1.0;
        for degree in 1..self.order {
            let mut saved = 0.0;
            for (i, value) in basis.iter_mut().take(degree).enumerate() {
                let (right, left) = (knot(span + i + 1) - u, u - knot(span + 1 + i - degree));
                let share = *value / (right + left);
                *value = saved + right * share;
                saved = left * share;
            }
            basis[degree] = saved;
        }
        let weights = self.weights.iter().skip(site.segment).take(self.order);
        basis.iter_mut().zip(weights).for_each(|(basis, weight)| *basis *= weight);
        let sum: f64 = basis[..self.order].iter().sum();
        basis.map(|basis| basis / sum)
    }

    /// A value that control points have, at a place on the curve. `value` returns the value of a control point.
    pub fn value<const N: usize>(&self, value: impl Fn(usize) -> [f32; N], site: CurveSite) -> [f32; N] {
        let basis = self.basis(site);
        let mut sum = [0.0; N];
        for (i, weight) in basis[..self.order].iter().enumerate() {
            let own = value(site.segment + i);
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * f64::from(own));
        }
        sum.map(|sum| sum as f32)
    }

    /// Places as [`Spline::sites`](super::curves::Spline::sites). Spans without a length have none.
    pub fn sites(&self, shapes: &[Vec<[f32; 4]>]) -> Vec<CurveSite> {
        let mut sites = Vec::new();
        let mut last = None;
        for segment in 0..self.segments() {
            let Some([from, to]) = self.shares(segment) else { continue };
            let pieces = shapes.iter().map(|knots| self.pieces(knots, segment, [from, to])).max().unwrap_or(1);
            let place = |piece: usize| CurveSite { segment, share: from + (to - from) * piece as f32 / pieces as f32 };
            sites.extend((0..pieces).map(place));
            last = Some(CurveSite { segment, share: to });
        }
        sites.extend(last);
        sites
    }

    /// The part of a span that is in the curve's range. None if it has no length.
    fn shares(&self, segment: usize) -> Option<[f32; 2]> {
        let span = segment + self.order - 1;
        let [from, to] = [self.knots[span], self.knots[span + 1]];
        let [first, last] = [from.max(self.range[0]), to.min(self.range[1])];
        (last > first).then(|| [first, last].map(|u| ((u - from) / (to - from)) as f32))
    }

    /// Number of straight segments for a span, so that they are close to the curve at three places each.
    fn pieces(&self, knots: &[[f32; 4]], segment: usize, [from, to]: [f32; 2]) -> usize {
        let own = &knots[segment..segment + self.order];
        let allowed = TOLERANCE * own.iter().map(|knot| knot[3]).fold(0.0, f32::max);
        let at = |share: f32| {
            let site = CurveSite { segment, share: from + (to - from) * share };
            Vec4::from(self.value(|i| knots[i], site))
        };
        let is_close = |pieces: usize| {
            let place = |piece: usize, share: f32| at((piece as f32 + share) / pieces as f32);
            (0..pieces).all(|piece| {
                let (start, end) = (place(piece, 0.0), place(piece, 1.0));
                [0.25, 0.5, 0.75].iter().all(|&t| place(piece, t).distance(start.lerp(end, t)) <= allowed)
            })
        };
        // Nothing is known about a curve without a width, and lines are exact.
        if allowed == 0.0 || (self.order == 2 && self.weights.is_empty()) {
            return 1;
        }
        // A curve of a high degree may cross its chord at all three places.
        let mut pieces = self.order.saturating_sub(3).next_power_of_two().min(MOST_PIECES);
        while pieces < MOST_PIECES && !is_close(pieces) {
            pieces *= 2;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::curves::Spline;
    use glam::Vec3;
    use throng_usd::{CurveBasis, CurveWrap};

    const KNOTS: [[f32; 4]; 5] =
        [[0.0, 0.0, 0.0, 0.1], [1.0, 2.0, 0.0, 0.2], [3.0, 2.0, 1.0, 0.1], [4.0, 0.0, 0.0, 0.05], [5.0, 1.0, 1.0, 0.1]];

    /// A circle of radius 1 as nine control points of degree 2.
    fn circle() -> (Vec<[f32; 4]>, Vec<f64>, Vec<f64>) {
        let corners = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]];
        let points = corners.map(|[x, y]| [x as f32, y as f32, 0.0, 0.02]).to_vec();
        let weights = (0..9).map(|i| if i % 2 == 1 { 0.5_f64.sqrt() } else { 1.0 }).collect();
        (points, vec![0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0], weights)
    }

    #[test]
    fn uniform_knots_give_a_b_spline_and_repeated_ones_bezier_curves() {
        let uniform: Vec<f64> = (0..9).map(f64::from).collect();
        let ends = [0.0, 0.0, 0.0, 0.0, 3.0, 3.0, 3.0, 3.0];
        for share in [0.0, 0.3, 0.5, 1.0] {
            for segment in [0, 1] {
                let site = CurveSite { segment, share };
                let nurbs = NurbsCurve { order: 4, knots: &uniform, range: [3.0, 5.0], weights: &[] };
                let spline = Spline { basis: CurveBasis::BSpline, wrap: CurveWrap::NonPeriodic, count: 5 };
                let [a, b] = [nurbs.value(|i| KNOTS[i], site), spline.value(|i| KNOTS[i], site)].map(Vec4::from);
                assert!(a.distance(b) < 1e-6, "{a} {b}");
            }
            let site = CurveSite { segment: 0, share };
            let nurbs = NurbsCurve { order: 4, knots: &ends, range: [0.0, 3.0], weights: &[] };
            let spline = Spline { basis: CurveBasis::Bezier, wrap: CurveWrap::NonPeriodic, count: 4 };
            let [a, b] = [nurbs.value(|i| KNOTS[i], site), spline.value(|i| KNOTS[i], site)].map(Vec4::from);
            assert!(a.distance(b) < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn a_rational_circle_is_round_and_its_chords_are_close_to_it() {
        let (points, knots, weights) = circle();
        let nurbs = NurbsCurve { order: 3, knots: &knots, range: [0.0, 4.0], weights: &weights };
        let sites = nurbs.sites(std::slice::from_ref(&points));
        let places: Vec<Vec3> =
            sites.iter().map(|&site| Vec4::from(nurbs.value(|i| points[i], site)).truncate()).collect();
        assert!(places.iter().all(|place| (place.length() - 1.0).abs() < 1e-6), "{places:?}");
        assert_eq!((places[0], places.len()), (Vec3::X, 4 * 32 + 1));
        assert!(places.windows(2).all(|pair| pair[0].midpoint(pair[1]).length() > 1.0 - 0.05 * 0.02));
        let half = NurbsCurve { range: [0.5, 2.5], ..nurbs };
        let sites = half.sites(std::slice::from_ref(&points));
        let [first, last] = [sites[0], sites[sites.len() - 1]].map(|site| half.value(|i| points[i], site));
        assert!(
            (first[0] - first[1]).abs() < 1e-6 && (last[0] - last[1]).abs() < 1e-6 && last[0] < 0.0,
            "{first:?} {last:?}"
        );
    }

    #[test]
    fn too_few_points_and_empty_ranges_have_no_places() {
        let nurbs = NurbsCurve { order: 4, knots: &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], range: [3.0, 2.0], weights: &[] };
        assert!(nurbs.sites(&[KNOTS[..2].to_vec()]).is_empty());
        let uniform: Vec<f64> = (0..9).map(f64::from).collect();
        assert!(
            NurbsCurve { order: 4, knots: &uniform, range: [6.0, 7.0], weights: &[] }
                .sites(&[KNOTS.to_vec()])
                .is_empty()
        );
    }
}
