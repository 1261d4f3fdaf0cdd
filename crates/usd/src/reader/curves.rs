//! Curves of a stage.

use super::{
    primvars::{self, Elements},
    values::Values,
};
use crate::{CurveBasis, CurveSet, CurveWrap, Interpolation, MOST_ORDER, Nurbs, Primvar, Sampled};
use openusd::usd::Prim;

/// Curves, and the numbers of elements of their primvars. `are_nurbs` for prims of type `NurbsCurves`. `None` if there are none, or after a warning.
pub fn read(values: &Values, prim: &Prim, are_nurbs: bool) -> Option<(CurveSet, Elements)> {
    let first: Vec<[f32; 3]> = values.get(prim, "points")?;
    let counts = counts(values, prim, first.len())?;
    let mut curves = CurveSet { points: points(values, prim, first)?, counts, ..CurveSet::default() };
    if are_nurbs {
        curves.nurbs = Some(nurbs(values, prim, &curves)?);
    } else {
        (curves.basis, curves.wrap) = (basis(values, prim)?, wrap(values, prim)?);
    }
    let numbers = || 0..curves.counts.len();
    let elements = Elements {
        faces: curves.counts.len(),
        points: curves.points.first().len(),
        corners: numbers().map(|number| curves.segment_ends(number)).sum(),
        are_curves: true,
    };
    if elements.corners == 0 || numbers().all(|number| curves.segments(number) == 0) {
        return None;
    }
    curves.widths = either(values, prim, "widths", elements);
    curves.normals = either(values, prim, "normals", elements);
    curves.ribbon = values.has(prim, CurveSet::PROFILE)
        && values.token(prim, CurveSet::PROFILE).as_deref() == Some(CurveSet::RIBBON);
    curves.uvs = primvars::texture_coordinates(values, prim, elements);
    Some((curves, elements))
}

/// Number of points of each curve. `None` after a warning if these are not all points.
fn counts(values: &Values, prim: &Prim, points: usize) -> Option<Vec<u32>> {
    let counts: Vec<i32> = values.get(prim, "curveVertexCounts").unwrap_or_default();
    let total: i64 = counts.iter().map(|&count| i64::from(count)).sum();
    if counts.iter().any(|&count| count < 0) || total != points as i64 {
        let message = format!("its curveVertexCounts sum to {total}, but it has {points} points");
        return left_out(values, prim, &message);
    }
    Some(counts.into_iter().map(|count| count as u32).collect())
}

/// Points over time. If their number changes, only `first`, those at the first time, after a warning.
fn points(values: &Values, prim: &Prim, first: Vec<[f32; 3]>) -> Option<Sampled<Vec<[f32; 3]>>> {
    let Sampled::Moving(samples) = values.sampled::<Vec<[f32; 3]>>(prim, "points")? else {
        return Some(Sampled::Still(first));
    };
    let counts = values.sampled::<Vec<i32>>(prim, "curveVertexCounts");
    if samples.iter().any(|(_, points)| points.len() != first.len()) || counts.is_some_and(|counts| counts.moves()) {
        values.warn(format!("{}: its numbers of points change over time; the first curves are shown", prim.path()));
        return Some(Sampled::Still(first));
    }
    Some(Sampled::Moving(samples))
}

/// Orders, knots, ranges and weights of NURBS curves. `None` after a warning if they do not fit the curves.
fn nurbs(values: &Values, prim: &Prim, curves: &CurveSet) -> Option<Nurbs> {
    let refuse = |cause: &str| left_out(values, prim, cause);
    let orders: Vec<i32> = values.get(prim, "order").unwrap_or_default();
    let knots: Vec<f64> = values.get(prim, "knots").unwrap_or_default();
    let ranges: Vec<[f64; 2]> = values.get(prim, "ranges").unwrap_or_default();
    let weights: Vec<f64> = values.get(prim, "pointWeights").unwrap_or_default();
    if orders.len() != curves.counts.len() {
        return refuse(&format!("it has {} orders for {} curves", orders.len(), curves.counts.len()));
    }
    if let Some(order) = orders.iter().find(|order| !(2..=MOST_ORDER as i32).contains(*order)) {
        return refuse(&format!("order {order} is not 2 to {MOST_ORDER}"));
    }
    let orders: Vec<u32> = orders.into_iter().map(|order| order as u32).collect();
    let wanted: usize = orders.iter().zip(&curves.counts).map(|(order, count)| (order + count) as usize).sum();
    if knots.len() != wanted {
        return refuse(&format!("it has {} knots, but its points and orders need {wanted}", knots.len()));
    }
    let mut nurbs = Nurbs { orders, knots, ranges, weights };
    let Some(whole) = whole_ranges(&nurbs, &curves.counts) else { return refuse("knots of a curve do not ascend") };
    if nurbs.ranges.len() != whole.len() {
        if !nurbs.ranges.is_empty() {
            let line = format!("has {} ranges for {} curves; whole curves are shown", nurbs.ranges.len(), whole.len());
            values.warn(format!("{}: {line}", prim.path()));
        }
        nurbs.ranges = whole;
    }
    let points = curves.points.first().len();
    if !nurbs.weights.is_empty() && (nurbs.weights.len() != points || nurbs.weights.iter().any(|&w| w < 0.0)) {
        return refuse(&format!("its pointWeights are not {points} numbers of at least 0"));
    }
    Some(nurbs)
}

/// The parameters that each curve is defined for. `None` if knots do not ascend.
fn whole_ranges(nurbs: &Nurbs, counts: &[u32]) -> Option<Vec<[f64; 2]>> {
    let mut rest = &nurbs.knots[..];
    let range = |(&order, &count): (&u32, &u32)| {
        let (own, others) = rest.split_at((order + count) as usize);
        rest = others;
        let [first, last] = [order - 1, count].map(|knot| own[knot as usize]);
        own.is_sorted().then_some([first, last])
    };
    nurbs.orders.iter().zip(counts).map(range).collect()
}

fn left_out<T>(values: &Values, prim: &Prim, cause: &str) -> Option<T> {
    values.warn(format!("{}: {cause}; the curves are left out", prim.path()));
    None
}

/// A value that is a primvar or, in older files, an attribute.
fn either<T>(values: &Values, prim: &Prim, name: &str, elements: Elements) -> Option<Primvar<T>>
where
    Vec<T>: super::values::FromUsd,
{
    let newer = primvars::read(values, prim, &format!("primvars:{name}"), Interpolation::Vertex, elements);
    newer.or_else(|| primvars::read(values, prim, name, Interpolation::Vertex, elements))
}

fn basis(values: &Values, prim: &Prim) -> Option<CurveBasis> {
    if values.token(prim, "type").as_deref() == Some("linear") {
        return Some(CurveBasis::Linear);
    }
    Some(match values.token(prim, "basis").as_deref() {
        None | Some("bezier") => CurveBasis::Bezier,
        Some("bspline") => CurveBasis::BSpline,
        Some("catmullRom") => CurveBasis::CatmullRom,
        Some(other) => return unknown(values, prim, "basis", other),
    })
}

fn wrap(values: &Values, prim: &Prim) -> Option<CurveWrap> {
    Some(match values.token(prim, "wrap").as_deref() {
        None | Some("nonperiodic") => CurveWrap::NonPeriodic,
        Some("pinned") => CurveWrap::Pinned,
        Some("periodic") => CurveWrap::Periodic,
        Some(other) => return unknown(values, prim, "wrap", other),
    })
}

fn unknown<T>(values: &Values, prim: &Prim, name: &str, value: &str) -> Option<T> {
    left_out(values, prim, &format!("{name} `{value}` is unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::test_stage::TestStage;

    fn read_curves(properties: &str) -> (Option<(CurveSet, Elements)>, Vec<String>) {
        read_type("BasisCurves", properties)
    }

    fn read_type(type_name: &str, properties: &str) -> (Option<(CurveSet, Elements)>, Vec<String>) {
        let stage = TestStage::new(&format!("def {type_name} \"Hair\"\n{{\n{properties}\n}}\n"));
        (read(&stage.values, &stage.prim("/Hair"), type_name == "NurbsCurves"), stage.warnings())
    }

    const POINTS: &str = "point3f[] points = [(0,0,0), (1,0,0), (2,0,0), (3,0,0), (0,1,0), (1,1,0), (2,1,0), (3,1,0)]
        int[] curveVertexCounts = [4, 4]";

    #[test]
    fn curves_have_their_basis_and_a_width_per_end_of_a_segment() {
        let (read, warnings) = read_curves(&format!(
            "{POINTS}
            uniform token type = \"cubic\"
            uniform token basis = \"catmullRom\"
            uniform token wrap = \"pinned\"
            float[] widths = [1, 2, 3, 4, 5, 6, 7, 8] (interpolation = \"varying\")"
        ));
        let (curves, elements) = read.expect("curves");
        assert_eq!((curves.basis, curves.wrap), (CurveBasis::CatmullRom, CurveWrap::Pinned));
        assert_eq!(curves.widths.map(|widths| widths.interpolation), Some(Interpolation::FaceVarying));
        assert_eq!((elements.faces, elements.points, elements.corners), (2, 8, 8));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn a_bezier_curve_of_four_points_has_two_ends_of_segments() {
        let (read, _) = read_curves(&format!("{POINTS}\nfloat[] widths = [1, 2, 3, 4] (interpolation = \"varying\")"));
        let (curves, elements) = read.expect("curves");
        assert_eq!(elements.corners, 4);
        assert_eq!(curves.widths.map(|widths| widths.values), Some(vec![1.0, 2.0, 3.0, 4.0]));
    }

    #[test]
    fn counts_that_do_not_fit_leave_the_curves_out() {
        let (read, warnings) = read_curves("point3f[] points = [(0,0,0), (1,0,0)]\nint[] curveVertexCounts = [3]");
        assert!(read.is_none());
        assert!(warnings[0].contains("curveVertexCounts sum to 3"), "{warnings:?}");
    }

    #[test]
    fn nurbs_have_orders_knots_ranges_and_weights() {
        let knots = "double[] knots = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 2, 2, 2]\nint[] order = [4, 3]";
        let (read, warnings) = read_type(
            "NurbsCurves",
            &format!(
                "{POINTS}\n{knots}\ndouble2[] ranges = [(0, 1), (0.5, 2)]
                double[] pointWeights = [1, 1, 1, 1, 1, 2, 2, 1]
                float[] widths = [1, 2, 3, 4, 5] (interpolation = \"varying\")"
            ),
        );
        let (curves, elements) = read.expect("curves");
        let nurbs = curves.nurbs.as_ref().expect("nurbs");
        assert_eq!((nurbs.orders.as_slice(), nurbs.ranges[1], nurbs.weights.len()), (&[4, 3][..], [0.5, 2.0], 8));
        assert_eq!([0, 1].map(|number| curves.segments(number)), [1, 2]);
        assert_eq!((elements.corners, curves.widths.map(|widths| widths.values.len())), (5, Some(5)));
        assert!(warnings.is_empty(), "{warnings:?}");
        let (read, _) = read_type("NurbsCurves", &format!("{POINTS}\n{knots}"));
        assert_eq!(read.and_then(|(curves, _)| curves.nurbs).expect("nurbs").ranges, [[0.0, 1.0], [0.0, 2.0]]);
    }

    #[test]
    fn nurbs_that_do_not_fit_their_points_are_left_out() {
        for (properties, cause) in [
            ("int[] order = [4]", "it has 1 orders for 2 curves"),
            ("int[] order = [4, 1]", "order 1 is not 2 to 32"),
            ("int[] order = [4, 4]\ndouble[] knots = [0, 1]", "it has 2 knots, but its points and orders need 16"),
            (
                "int[] order = [4, 4]\ndouble[] knots = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 7, 6]",
                "knots of a curve do not ascend",
            ),
        ] {
            let (read, warnings) = read_type("NurbsCurves", &format!("{POINTS}\n{properties}"));
            assert!(read.is_none());
            assert_eq!(warnings, [format!("/Hair: {cause}; the curves are left out")]);
        }
    }

    #[test]
    fn points_move_over_time_unless_their_number_changes() {
        let points = |last: &str| {
            format!(
                "point3f[] points.timeSamples = {{ 1: [(0,0,0), (1,0,0)], 2: {last} }}
                int[] curveVertexCounts = [2]\nuniform token type = \"linear\""
            )
        };
        let (read, warnings) = read_curves(&points("[(0,0,0), (1,1,0)]"));
        assert!(warnings.is_empty() && read.expect("curves").0.points.moves());
        let (read, warnings) = read_curves(&points("[(0,0,0), (1,1,0), (2,2,0)]"));
        assert!(!read.expect("curves").0.points.moves());
        assert_eq!(warnings, ["/Hair: its numbers of points change over time; the first curves are shown"]);
    }
}
