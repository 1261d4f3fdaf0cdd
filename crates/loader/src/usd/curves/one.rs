//! One curve of a set: its control points, and the values of primvars on it.

use crate::geometry::{
    curves::{CurveSite, Spline, between},
    nurbs::NurbsCurve,
};
use glam::Vec3;
use std::ops::Range;
use throng_usd::{CurveSet, Interpolation, Nurbs, Primvar};

/// Diameter of curves without widths, as of points.
const WIDTH: f32 = 1.0;

/// One curve of a set: its parameters, and the ranges of its elements.
pub struct OneCurve<'a> {
    kind: Kind<'a>,
    index: usize,
    points: Range<usize>,
    ends: Range<usize>,
}

enum Kind<'a> {
    Spline(Spline),
    Nurbs(Box<NurbsCurve<'a>>),
}

/// The curves of a set, in order.
pub fn curves(set: &CurveSet) -> impl Iterator<Item = OneCurve<'_>> {
    let (mut next_point, mut next_end, mut next_knot) = (0, 0, 0);
    set.counts.iter().enumerate().map(move |(index, &count)| {
        let points = next_point..next_point + count as usize;
        let ends = next_end..next_end + set.segment_ends(index);
        (next_point, next_end) = (points.end, ends.end);
        let kind = match &set.nurbs {
            Some(nurbs) => {
                let first = next_knot;
                next_knot += (count + nurbs.orders[index]) as usize;
                Kind::Nurbs(Box::new(nurbs_curve(nurbs, index, first..next_knot, points.clone())))
            }
            None => Kind::Spline(Spline { basis: set.basis, wrap: set.wrap, count: count as usize }),
        };
        OneCurve { kind, index, points, ends }
    })
}

fn nurbs_curve(nurbs: &Nurbs, index: usize, knots: Range<usize>, points: Range<usize>) -> NurbsCurve<'_> {
    NurbsCurve {
        order: nurbs.orders[index] as usize,
        knots: &nurbs.knots[knots],
        range: nurbs.ranges[index],
        weights: nurbs.weights.get(points).unwrap_or_default(),
    }
}

impl OneCurve<'_> {
    /// The first control point, of those of the whole set.
    pub fn start(&self, points: &[[f32; 3]]) -> Vec3 {
        points.get(self.points.start).map_or(Vec3::ZERO, |&point| point.into())
    }

    /// Radii of the control points.
    pub fn radii(&self, set: &CurveSet) -> Vec<f32> {
        let radius = |place: usize| {
            let width = match &set.widths {
                None => WIDTH,
                Some(widths) => match widths.interpolation {
                    // Linear widths are assigned to the points that are closest.
                    Interpolation::FaceVarying => {
                        let last = self.ends.len().saturating_sub(1) as f32;
                        let share = place as f32 / (self.points.len() - 1).max(1) as f32;
                        let at = share * last;
                        let of = |end: f32| widths.at(self.ends.start + end as usize).copied().unwrap_or(WIDTH);
                        of(at.floor()) + (of(at.ceil()) - of(at.floor())) * at.fract()
                    }
                    _ => *widths.at(self.element(widths, place)).unwrap_or(&WIDTH),
                },
            };
            0.5 * width.max(0.0)
        };
        (0..self.points.len()).map(radius).collect()
    }

    /// Positions and radii of the control points, of which `points` are the positions of the whole set.
    pub fn knots(&self, points: &[[f32; 3]], radii: &[f32]) -> Vec<[f32; 4]> {
        let pairs = points[self.points.clone()].iter().zip(radii);
        pairs.map(|(&[x, y, z], &radius)| [x, y, z, radius]).collect()
    }

    /// Index of the value of a primvar for a control point.
    fn element<T>(&self, primvar: &Primvar<T>, place: usize) -> usize {
        match primvar.interpolation {
            Interpolation::Constant => 0,
            Interpolation::Uniform => self.index,
            Interpolation::Vertex | Interpolation::FaceVarying => self.points.start + place,
        }
    }

    /// The places between which straight segments represent the curve in all these shapes.
    pub fn sites(&self, shapes: &[Vec<[f32; 4]>]) -> Vec<CurveSite> {
        match &self.kind {
            Kind::Spline(spline) => spline.sites(shapes),
            Kind::Nurbs(nurbs) => nurbs.sites(shapes),
        }
    }

    /// A value that control points have, at a place.
    pub fn at<const N: usize>(&self, value: impl Fn(usize) -> [f32; N], site: CurveSite) -> [f32; N] {
        match &self.kind {
            Kind::Spline(spline) => spline.value(value, site),
            Kind::Nurbs(nurbs) => nurbs.value(value, site),
        }
    }

    /// The value of a primvar at a place.
    pub fn value<T, const N: usize>(
        &self,
        primvar: &Primvar<T>,
        site: CurveSite,
        get: impl Fn(&T) -> [f32; N],
    ) -> [f32; N] {
        let at = |index: usize| primvar.at(index).map_or([0.0; N], &get);
        match primvar.interpolation {
            Interpolation::Constant => at(0),
            Interpolation::Uniform => at(self.index),
            Interpolation::Vertex => self.at(|place| at(self.points.start + place), site),
            Interpolation::FaceVarying => between(|end| at(self.ends.start + end), self.ends.len(), site),
        }
    }
}
