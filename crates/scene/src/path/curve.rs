//! Curves in space, measured by arc length, for placements and movements along them.

use glam::{DVec3, Vec3};

/// Nodes and weights of Gauss-Legendre quadrature with five points over [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.0, 0.568_888_888_888_888_9),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// Maximum relative difference between the length of a piece and the sum of its halves.
const LENGTH_TOLERANCE: f64 = 1e-8;
/// Cosine of the greatest angle by which a piece turns.
const GREATEST_TURN: f64 = 0.9;
/// Pieces shorter than this share of the whole curve are not divided: they contain a cusp.
const SHORTEST_PIECE: f64 = 1e-8;
/// Maximum number of times a segment is halved. At a cusp, each halving adds a piece.
const MOST_HALVINGS: u32 = 40;

/// Reasons why points do not define a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurveError {
    #[error("the curve has {found} points: give it {least} or more")]
    TooFew { found: usize, least: usize },
    #[error(
        "a Bézier curve of {found} points: give it 4, 7, 10, .. points, with two control points between the points that it passes"
    )]
    BezierCount { found: usize },
    /// Coincident neighbours, counted from 0.
    #[error("points {first} and {second} are the same: remove one")]
    Coincident { first: usize, second: usize },
    #[error("the curve is too large: its points must be finite, and so must its length")]
    TooLarge,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    pub position: Vec3,
    /// Unit vector along the curve, in the direction of increasing distance.
    pub tangent: Vec3,
}

impl CurvePoint {
    /// The horizontal unit vector to the right of the curve's direction. +Z where the curve is vertical.
    pub fn right(&self) -> Vec3 {
        self.tangent.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::Z)
    }
}

/// The point of a curve that is nearest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoint {
    /// Distance along the curve from its start.
    pub along: f32,
    pub position: Vec3,
}

/// A curve of cubic segments, in scene units. Distances along it are arc lengths from its start, so equal steps give constant speed.
#[derive(Clone, Debug)]
pub struct Curve {
    segments: Vec<Segment>,
    pieces: Vec<Piece>,
    length: f64,
    closed: bool,
}

impl Curve {
    /// The centripetal Catmull-Rom spline through `points`, which has neither cusps nor loops between neighbours (Yuksel et al.,
    /// "Parameterization and applications of Catmull-Rom curves", 2011). A closed spline continues from the last point to the first. An
    /// open spline continues at its ends as if the neighbours were reflected.
    ///
    /// # Errors
    /// Fewer than two points (three if closed), coincident neighbours, or points that are too far from the origin.
    pub fn catmull_rom(points: &[Vec3], closed: bool) -> Result<Self, CurveError> {
        check(points, closed)?;
        let points = doubles(points);
        let count = points.len();
        let at = |i: isize| match i {
            _ if closed => points[i.rem_euclid(count as isize) as usize],
            -1 => points[0] * 2.0 - points[1],
            i => points.get(i as usize).copied().unwrap_or(points[count - 1] * 2.0 - points[count - 2]),
        };
        let pieces = if closed { count } else { count - 1 } as isize;
        let segments = (0..pieces).map(|i| Segment::catmull_rom([at(i - 1), at(i), at(i + 1), at(i + 2)]));
        Self::of_segments(segments.collect(), closed)
    }

    /// Cubic Bézier segments: the first point, then two control points and the end of each segment. Closed if the last point equals the
    /// first.
    ///
    /// # Errors
    /// A number of points other than 4, 7, 10, .., segments without length, or points that are too far from the origin.
    pub fn bezier(points: &[Vec3]) -> Result<Self, CurveError> {
        let found = points.len();
        if found < 4 || found % 3 != 1 {
            return Err(CurveError::BezierCount { found });
        }
        check_finite(points)?;
        let controls = (0..found - 1).step_by(3).map(|i| (i, &points[i..i + 4]));
        for (first, c) in controls.clone() {
            if c.iter().all(|p| *p == c[0]) {
                return Err(CurveError::Coincident { first, second: first + 3 });
            }
        }
        let segment = |(_, c): (usize, &[Vec3])| Segment::bezier([c[0], c[1], c[2], c[3]].map(|p| p.as_dvec3()));
        Self::of_segments(controls.map(segment).collect(), points[0] == points[found - 1])
    }

    /// Straight lines from point to point, and back to the first one if closed.
    ///
    /// # Errors
    /// Returns the errors of [`Curve::catmull_rom`].
    pub fn polyline(points: &[Vec3], closed: bool) -> Result<Self, CurveError> {
        check(points, closed)?;
        let points = doubles(points);
        let ends = points.iter().skip(1).chain(closed.then_some(&points[0]));
        let segments = points.iter().zip(ends).map(|(&a, &b)| Segment([a, b - a, DVec3::ZERO, DVec3::ZERO]));
        Self::of_segments(segments.collect(), closed)
    }

    fn of_segments(segments: Vec<Segment>, closed: bool) -> Result<Self, CurveError> {
        let rough: f64 = segments.iter().map(|s| s.length(0.0, 1.0)).sum();
        let mut cutter = Cutter { pieces: Vec::new(), length: 0.0, shortest: rough * SHORTEST_PIECE };
        for (number, segment) in segments.iter().enumerate() {
            cutter.cut(segment, number, [0.0, 1.0], MOST_HALVINGS);
        }
        let Cutter { pieces, length, .. } = cutter;
        if (length as f32).is_finite() && length as f32 > 0.0 {
            Ok(Self { segments, pieces, length, closed })
        } else {
            Err(CurveError::TooLarge)
        }
    }

    /// Arc length of the whole curve.
    pub fn length(&self) -> f32 {
        self.length as f32
    }

    /// Whether the curve ends where it starts.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The point at this distance along the curve. Closed curves repeat in both directions; open curves are clamped to their ends. O(log
    /// pieces), with a few evaluations to refine.
    pub fn at(&self, distance: f32) -> CurvePoint {
        let (position, tangent) = self.at_double(f64::from(distance));
        CurvePoint { position: position.as_vec3(), tangent: tangent.as_vec3() }
    }

    fn at_double(&self, distance: f64) -> (DVec3, DVec3) {
        let distance = if self.closed { distance.rem_euclid(self.length) } else { distance.clamp(0.0, self.length) };
        let after = self.pieces.partition_point(|p| p.start <= distance);
        let piece = &self.pieces[after.clamp(1, self.pieces.len()) - 1];
        let segment = &self.segments[piece.segment as usize];
        let t = piece.parameter(segment, distance - piece.start);
        (segment.position(t), segment.tangent(t))
    }

    /// The point of the curve that is nearest to `point`; the first one if there are several. O(pieces).
    pub fn nearest(&self, point: Vec3) -> NearestPoint {
        let point = point.as_dvec3();
        let mut best = (f64::INFINITY, 0.0, DVec3::ZERO);
        for piece in &self.pieces {
            let segment = &self.segments[piece.segment as usize];
            // The distance of any part of a piece from its middle is at most the length of the piece.
            let least = segment.position(piece.middle()).distance(point) - piece.length;
            if least >= best.0 {
                continue;
            }
            let t = piece.nearest(segment, point);
            let position = segment.position(t);
            let distance = position.distance(point);
            if distance < best.0 {
                best = (distance, piece.start + segment.length(piece.from, t), position);
            }
        }
        NearestPoint { along: best.1 as f32, position: best.2.as_vec3() }
    }

    /// Points on the curve in order, from start to end. Straight lines between them deviate by at most `tolerance`, or by a
    /// hundred-thousandth of the curve's length if that is more. The points include all ends of segments.
    pub fn flattened(&self, tolerance: f32) -> Vec<Vec3> {
        let tolerance = f64::from(tolerance).max(self.length * 1e-5);
        let mut out = vec![self.segments[0].position(0.0).as_vec3()];
        for piece in &self.pieces {
            let segment = &self.segments[piece.segment as usize];
            // The deviation of a chord is an eighth of the acceleration, times the square of its width. A cubic's acceleration is greatest
            // at an end.
            let acceleration = segment.acceleration(piece.from).length().max(segment.acceleration(piece.to).length());
            let width = piece.to - piece.from;
            let steps = (width * (acceleration / (8.0 * tolerance)).sqrt()).ceil().max(1.0) as u32;
            let t = |i: u32| piece.from + width * f64::from(i) / f64::from(steps);
            out.extend((1..=steps).map(|i| segment.position(t(i)).as_vec3()));
        }
        out
    }
}

fn doubles(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

fn check(points: &[Vec3], closed: bool) -> Result<(), CurveError> {
    let (found, least) = (points.len(), if closed { 3 } else { 2 });
    if found < least {
        return Err(CurveError::TooFew { found, least });
    }
    check_finite(points)?;
    let pairs = if closed { found } else { found - 1 };
    let same = (0..pairs).find(|&i| points[i] == points[(i + 1) % found]);
    same.map_or(Ok(()), |first| Err(CurveError::Coincident { first, second: (first + 1) % found }))
}

fn check_finite(points: &[Vec3]) -> Result<(), CurveError> {
    if points.iter().all(|p| p.is_finite()) { Ok(()) } else { Err(CurveError::TooLarge) }
}

/// A cubic: the coefficients of 1, t, t² and t³, for t from 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Segment([DVec3; 4]);

impl Segment {
    fn bezier([a, b, c, d]: [DVec3; 4]) -> Self {
        Self([a, (b - a) * 3.0, (a - b * 2.0 + c) * 3.0, d - a + (b - c) * 3.0])
    }

    /// The segment from the second to the third point. Parameter intervals are the square roots of the distances between points.
    fn catmull_rom(p: [DVec3; 4]) -> Self {
        let [before, own, after] = [0, 1, 2].map(|i| p[i].distance(p[i + 1]).sqrt());
        let slopes = [(p[1] - p[0]) / before, (p[2] - p[1]) / own, (p[3] - p[2]) / after];
        let from = slopes[0] - (p[2] - p[0]) / (before + own) + slopes[1];
        let to = slopes[1] - (p[3] - p[1]) / (own + after) + slopes[2];
        let third = own / 3.0;
        Self::bezier([p[1], p[1] + from * third, p[2] - to * third, p[2]])
    }

    fn position(&self, t: f64) -> DVec3 {
        let [a, b, c, d] = self.0;
        a + (b + (c + d * t) * t) * t
    }

    fn velocity(&self, t: f64) -> DVec3 {
        let [_, b, c, d] = self.0;
        b + (c * 2.0 + d * (3.0 * t)) * t
    }

    fn acceleration(&self, t: f64) -> DVec3 {
        let [_, _, c, d] = self.0;
        c * 2.0 + d * (6.0 * t)
    }

    /// Unit tangent. Where the speed is 0, the direction in which the curve continues; at its end, the direction from which it arrives.
    fn tangent(&self, t: f64) -> DVec3 {
        let step = if t < 0.5 { 1e-4 } else { -1e-4 };
        let chord = (self.position(t + step) - self.position(t)) * step.signum();
        let velocity = self.velocity(t);
        let vanishes = velocity.length() < chord.length() * 1e-3;
        let direction = if vanishes { chord } else { velocity };
        direction.try_normalize().unwrap_or(DVec3::X)
    }

    /// Arc length between two parameters, by one quadrature.
    fn length(&self, from: f64, to: f64) -> f64 {
        let (middle, half) = ((from + to) * 0.5, (to - from) * 0.5);
        GAUSS.iter().map(|(x, weight)| weight * self.velocity(middle + half * x).length()).sum::<f64>() * half
    }
}

/// A part of a segment that bends so little that one quadrature gives its length.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Distance along the curve at which the piece begins.
    start: f64,
    length: f64,
    segment: u32,
    /// Its first and last parameter.
    from: f64,
    to: f64,
}

impl Piece {
    fn middle(&self) -> f64 {
        (self.from + self.to) * 0.5
    }

    /// The parameter at a distance from the start of the piece, found by Newton's method within a bracket.
    fn parameter(&self, segment: &Segment, distance: f64) -> f64 {
        let (mut low, mut high) = (self.from, self.to);
        let mut t = low + (high - low) * (distance / self.length).clamp(0.0, 1.0);
        for _ in 0..32 {
            let excess = segment.length(self.from, t) - distance;
            if excess.abs() <= self.length * 1e-10 {
                break;
            }
            *(if excess > 0.0 { &mut high } else { &mut low }) = t;
            let next = t - excess / segment.velocity(t).length();
            t = if next > low && next < high { next } else { (low + high) * 0.5 };
        }
        t
    }

    /// The parameter of the piece that is nearest to a point: the best of a few samples, refined by Newton's method.
    fn nearest(&self, segment: &Segment, point: DVec3) -> f64 {
        let squared = |t: f64| segment.position(t).distance_squared(point);
        let width = self.to - self.from;
        let (mut best, mut least) = (self.from, squared(self.from));
        let mut keep = |t: f64| {
            let found = squared(t);
            if found < least {
                (best, least) = (t, found);
            }
            best
        };
        for i in 1..=4 {
            keep(self.from + width * f64::from(i) / 4.0);
        }
        let mut t = keep(self.from);
        for _ in 0..5 {
            let (off, velocity) = (segment.position(t) - point, segment.velocity(t));
            let slope = velocity.length_squared() + off.dot(segment.acceleration(t));
            let step = if slope > 0.0 { off.dot(velocity) / slope } else { 0.0 };
            t = (t - step).clamp(self.from, self.to);
            keep(t);
        }
        keep(t)
    }
}

/// Divides segments into pieces.
struct Cutter {
    pieces: Vec<Piece>,
    /// Total length of the pieces so far.
    length: f64,
    shortest: f64,
}

impl Cutter {
    fn cut(&mut self, segment: &Segment, number: usize, [from, to]: [f64; 2], halvings: u32) {
        let middle = (from + to) * 0.5;
        let length = segment.length(from, to);
        let halves = segment.length(from, middle) + segment.length(middle, to);
        let is_exact = (length - halves).abs() <= length * LENGTH_TOLERANCE;
        let [start, half, end] = [from, middle, to].map(|t| segment.tangent(t));
        let is_straight = start.dot(half).min(half.dot(end)) >= GREATEST_TURN;
        if halvings == 0 || length <= self.shortest || (is_exact && is_straight) {
            self.pieces.push(Piece { start: self.length, length, segment: number as u32, from, to });
            self.length += length;
        } else {
            self.cut(segment, number, [from, middle], halvings - 1);
            self.cut(segment, number, [middle, to], halvings - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::curve::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        [-100.0f32..100.0, -5.0f32..5.0, -100.0f32..100.0].prop_map(Vec3::from)
    }

    /// Points whose spacing varies a thousandfold.
    fn uneven_points(least: usize) -> impl Strategy<Value = Vec<Vec3>> {
        let step = (0.01f32..10.0, point());
        prop::collection::vec(step, least..12).prop_map(|steps| {
            let mut p = Vec3::ZERO;
            steps
                .iter()
                .map(|(size, d)| {
                    p += d.normalize_or(Vec3::X) * *size * *size;
                    p
                })
                .collect()
        })
    }

    /// The greatest deviation of |d position / d distance| from 1, away from corners and cusps.
    fn unevenness(curve: &Curve) -> f64 {
        let step = curve.length * 1e-6;
        let at = |d: f64| curve.at_double(d);
        let samples = (0..2000).map(|i| (f64::from(i) + 0.37) / 2000.0 * (curve.length - 2.0 * step) + step);
        let speeds = samples.filter_map(|d| {
            let ((p, before), (q, after)) = (at(d - step), at(d + step));
            (before.dot(after) > 0.999).then(|| p.distance(q) / (2.0 * step))
        });
        speeds.map(|speed| (speed - 1.0).abs()).fold(0.0, f64::max)
    }

    /// The nearest distance among many points of the curve.
    fn brute_force(curve: &Curve, p: Vec3) -> f32 {
        let at = |i: u32| curve.at(curve.length() * i as f32 / 20_000.0).position.distance(p);
        (0..=20_000).map(at).fold(f32::INFINITY, f32::min)
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn catmull_rom_has_constant_speed(points in uneven_points(3), closed: bool) {
            let curve = Curve::catmull_rom(&points, closed).unwrap();
            prop_assert!(unevenness(&curve) < 0.005, "{}", unevenness(&curve));
        }

        #[test]
        fn bezier_has_constant_speed(points in uneven_points(4)) {
            let points = &points[..1 + (points.len() - 1) / 3 * 3];
            let curve = Curve::bezier(points).unwrap();
            prop_assert!(unevenness(&curve) < 0.005, "{}", unevenness(&curve));
        }

        #[test]
        fn the_spline_passes_its_points(points in prop::collection::vec(point(), 3..9), closed: bool) {
            let curve = Curve::catmull_rom(&points, closed).unwrap();
            for p in points {
                prop_assert!(curve.nearest(p).position.distance(p) < 1e-3);
            }
        }

        #[test]
        fn nearest_finds_what_a_search_of_all_points_finds(points in prop::collection::vec(point(), 4..9), p in point()) {
            let curve = Curve::catmull_rom(&points, true).unwrap();
            let nearest = curve.nearest(p);
            prop_assert!(curve.at(nearest.along).position.distance(nearest.position) < 1e-2);
            prop_assert!(nearest.position.distance(p) <= brute_force(&curve, p) + 1e-3);
        }

        #[test]
        fn flattened_curves_are_as_near_as_asked(points in prop::collection::vec(point(), 4..9)) {
            let curve = Curve::catmull_rom(&points, false).unwrap();
            let flat = Curve::polyline(&curve.flattened(0.1), false).unwrap();
            for i in 0..200 {
                let p = curve.at(curve.length() * i as f32 / 200.0).position;
                prop_assert!(flat.nearest(p).position.distance(p) < 0.101);
            }
        }
    }

    #[test]
    fn a_circle_of_beziers_has_its_circumference() {
        let k = 0.552_285f32;
        let quarter = |a: Vec3, b: Vec3| [a + b * k, b + a * k, b];
        let corners = [Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z];
        let points: Vec<Vec3> =
            [Vec3::X].into_iter().chain((0..4).flat_map(|i| quarter(corners[i], corners[(i + 1) % 4]))).collect();
        let circle = Curve::bezier(&points).unwrap();
        assert!(circle.is_closed() && (circle.length() - std::f32::consts::TAU).abs() < 2e-3);
        let quarter = circle.at(circle.length() * 1.25);
        assert!(quarter.position.distance(Vec3::Z) < 1e-5 && quarter.tangent.distance(Vec3::NEG_X) < 1e-4);
    }

    #[test]
    fn open_curves_are_clamped_and_closed_ones_go_round() {
        let square = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, 1.0), Vec3::Z];
        let (open, closed) = (Curve::polyline(&square, false).unwrap(), Curve::polyline(&square, true).unwrap());
        assert_eq!((open.length(), closed.length()), (3.0, 4.0));
        assert_eq!((open.at(-1.0).position, open.at(9.0).position), (Vec3::ZERO, Vec3::Z));
        assert!(closed.at(-0.25).position.distance(Vec3::Z * 0.25) < 1e-6);
        assert!(closed.at(5.5).position.distance(Vec3::new(1.0, 0.0, 0.5)) < 1e-6);
        assert_eq!((closed.at(0.5).tangent, closed.at(1.5).tangent), (Vec3::X, Vec3::Z));
    }

    #[test]
    fn the_tangent_exists_where_the_speed_vanishes() {
        let points = [Vec3::ZERO, Vec3::ZERO, Vec3::X, Vec3::X];
        let curve = Curve::bezier(&points).unwrap();
        assert_eq!((curve.at(0.0).tangent, curve.at(1.0).tangent), (Vec3::X, Vec3::X));
        assert!((curve.at(0.25).position.x - 0.25).abs() < 1e-6);
    }

    #[test]
    fn points_that_make_no_curve_are_refused() {
        let (x, y) = (Vec3::X, Vec3::Y);
        assert_eq!(Curve::catmull_rom(&[x], false).unwrap_err(), CurveError::TooFew { found: 1, least: 2 });
        assert_eq!(Curve::polyline(&[x, y], true).unwrap_err(), CurveError::TooFew { found: 2, least: 3 });
        let same = CurveError::Coincident { first: 1, second: 2 };
        assert_eq!(Curve::catmull_rom(&[x, y, y], false).unwrap_err(), same);
        let around = CurveError::Coincident { first: 2, second: 0 };
        assert_eq!(Curve::polyline(&[x, y, x], true).unwrap_err(), around);
        assert_eq!(Curve::bezier(&[x; 5]).unwrap_err(), CurveError::BezierCount { found: 5 });
        assert_eq!(Curve::bezier(&[x; 4]).unwrap_err(), CurveError::Coincident { first: 0, second: 3 });
        assert_eq!(Curve::polyline(&[x, x * f32::NAN], false).unwrap_err(), CurveError::TooLarge);
        assert_eq!(Curve::polyline(&[x * -3e38, x * 3e38], false).unwrap_err(), CurveError::TooLarge);
    }
}
