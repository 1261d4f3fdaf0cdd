//! Curves of a stage.

use super::{
    primvars::{self, Elements},
    values::Values,
};
use crate::{CurveBasis, CurveSet, CurveWrap, Interpolation, Primvar, Sampled};
use openusd::usd::Prim;

/// Curves, and the numbers of elements of their primvars. `None` if there are none, or after a warning.
pub fn read(values: &Values, prim: &Prim) -> Option<(CurveSet, Elements)> {
    let points: Vec<[f32; 3]> = values.get(prim, "points")?;
    let counts: Vec<i32> = values.get(prim, "curveVertexCounts").unwrap_or_default();
    let total: i64 = counts.iter().map(|&count| i64::from(count)).sum();
    if counts.iter().any(|&count| count < 0) || total != points.len() as i64 {
        let message = format!("its curveVertexCounts sum to {total}, but it has {} points", points.len());
        values.warn(format!("{}: {message}; the curves are left out", prim.path()));
        return None;
    }
    let mut curves = CurveSet {
        points: Sampled::Still(points),
        counts: counts.into_iter().map(|count| count as u32).collect(),
        basis: basis(values, prim)?,
        wrap: wrap(values, prim)?,
        ..CurveSet::default()
    };
    if values.sampled::<Vec<[f32; 3]>>(prim, "points").is_some_and(|points| points.moves()) {
        values.warn(format!("{}: its curves deform; the first shape is shown", prim.path()));
    }
    let counts = || curves.counts.iter().map(|&count| count as usize);
    let ends = counts().map(|count| curves.segment_ends(count)).sum();
    let elements =
        Elements { faces: curves.counts.len(), points: curves.points.first().len(), corners: ends, are_curves: true };
    if elements.corners == 0 || counts().all(|count| curves.basis.segments(curves.wrap, count) == 0) {
        return None;
    }
    curves.widths = either(values, prim, "widths", elements);
    curves.normals = either(values, prim, "normals", elements);
    curves.ribbon = values.has(prim, CurveSet::PROFILE)
        && values.token(prim, CurveSet::PROFILE).as_deref() == Some(CurveSet::RIBBON);
    curves.uvs = primvars::texture_coordinates(values, prim, elements);
    Some((curves, elements))
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
    values.warn(format!("{}: {name} `{value}` is unknown; the curves are left out", prim.path()));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::test_stage::TestStage;

    fn read_curves(properties: &str) -> (Option<(CurveSet, Elements)>, Vec<String>) {
        let stage = TestStage::new(&format!("def BasisCurves \"Hair\"\n{{\n{properties}\n}}\n"));
        (read(&stage.values, &stage.prim("/Hair")), stage.warnings())
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
}
