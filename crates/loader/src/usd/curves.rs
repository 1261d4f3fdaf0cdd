//! Curves of a stage as strands, or as strips of triangles if they are flat.

use super::mesh::Needs;
use crate::geometry::curves::{CurveSite, Spline, is_valid, point};
use glam::Vec3;
use std::{ops::Range, sync::Arc};
use throng_scene::{CurveProfile, Curves, Shape as SceneShape, TriangleMesh};
use throng_usd::{CurveSet, Interpolation, Primvar, Shape};

/// Diameter of curves without widths, as of points.
const WIDTH: f32 = 1.0;

/// One curve of a set: the ranges of its elements.
struct OneCurve {
    spline: Spline,
    index: usize,
    points: Range<usize>,
    ends: Range<usize>,
}

/// Converts curves. `None` if there are none with a length.
pub fn build(shape: &Shape, set: &CurveSet, needs: &Needs) -> Option<SceneShape> {
    let colors = shape.colors.as_ref().filter(|_| needs.colors);
    let opacities = shape.opacities.as_ref().filter(|_| needs.colors);
    let has_colors = colors.is_some() || opacities.is_some();
    let uvs = needs.uvs.first().and_then(|name| set.uvs.iter().find(|(own, _)| own == name)).map(|(_, uvs)| uvs);
    let (mut strands, mut strip) = (Curves::default(), Strip::default());
    for curve in curves(set) {
        let knots = knots(set, &curve);
        if !knots.iter().all(is_valid) {
            continue;
        }
        let sites = curve.spline.sites(&knots);
        if sites.len() < 2 {
            continue;
        }
        let color = |site| {
            let [r, g, b] = colors.map_or([1.0; 3], |colors| value(colors, &curve, site, |color| *color));
            let [alpha] = opacities.map_or([1.0], |opacities| value(opacities, &curve, site, |alpha| [*alpha]));
            [r, g, b, alpha]
        };
        let uv = |site| uvs.map_or([0.0; 2], |uvs| value(uvs, &curve, site, |uv| *uv));
        if let Some(normals) = &set.normals {
            let normal = |site| value(normals, &curve, site, |normal| *normal);
            strip.add(&curve.spline, &knots, &sites, normal);
            let twice = || sites.iter().flat_map(|&site| [site; 2]);
            strip.mesh.colors.extend(twice().filter(|_| has_colors).map(color));
            strip.mesh.uvs.extend(twice().filter(|_| uvs.is_some()).map(uv));
            continue;
        }
        strands.strands.push(strands.points.len() as u32);
        strands.points.extend(sites.iter().map(|&site| point(curve.spline.value(&knots, site))));
        strands.colors.extend(sites.iter().filter(|_| has_colors).map(|&site| color(site)));
        strands.uvs.extend(sites.iter().filter(|_| uvs.is_some()).map(|&site| uv(site)));
    }
    if !strip.mesh.triangles.is_empty() {
        return Some(SceneShape::Triangles(strip.mesh));
    }
    if set.ribbon {
        strands.profile = CurveProfile::Ribbon;
    }
    (!strands.points.is_empty()).then(|| SceneShape::Curves(Arc::new(strands)))
}

fn curves(set: &CurveSet) -> impl Iterator<Item = OneCurve> + '_ {
    let (mut next_point, mut next_end) = (0, 0);
    set.counts.iter().enumerate().map(move |(index, &count)| {
        let (points, own_ends) = (next_point..next_point + count as usize, set.segment_ends(count as usize));
        let ends_of_segments = next_end..next_end + own_ends;
        (next_point, next_end) = (points.end, ends_of_segments.end);
        OneCurve {
            spline: Spline { basis: set.basis, wrap: set.wrap, count: count as usize },
            index,
            points,
            ends: ends_of_segments,
        }
    })
}

/// Positions and radii of the control points of a curve.
fn knots(set: &CurveSet, curve: &OneCurve) -> Vec<[f32; 4]> {
    let radius = |place: usize| {
        let width = match &set.widths {
            None => WIDTH,
            Some(widths) => match widths.interpolation {
                // Linear widths are assigned to the points that are closest.
                Interpolation::FaceVarying => {
                    let last = (curve.ends.len() - 1) as f32;
                    let share = place as f32 / (curve.points.len() - 1).max(1) as f32;
                    let at = share * last;
                    let of = |end: f32| widths.at(curve.ends.start + end as usize).copied().unwrap_or(WIDTH);
                    of(at.floor()) + (of(at.ceil()) - of(at.floor())) * at.fract()
                }
                _ => *widths.at(element(widths, curve, place)).unwrap_or(&WIDTH),
            },
        };
        0.5 * width.max(0.0)
    };
    let points = set.points.first();
    let knot = |place: usize| {
        let [x, y, z] = points[curve.points.start + place];
        [x, y, z, radius(place)]
    };
    (0..curve.points.len()).map(knot).collect()
}

/// Index of the value of a primvar for a point of a curve.
fn element<T>(primvar: &Primvar<T>, curve: &OneCurve, place: usize) -> usize {
    match primvar.interpolation {
        Interpolation::Constant => 0,
        Interpolation::Uniform => curve.index,
        Interpolation::Vertex | Interpolation::FaceVarying => curve.points.start + place,
    }
}

/// The value of a primvar at a place on a curve.
fn value<T, const N: usize>(
    primvar: &Primvar<T>,
    curve: &OneCurve,
    site: CurveSite,
    get: impl Fn(&T) -> [f32; N],
) -> [f32; N] {
    let at = |index: usize| primvar.at(index).map_or([0.0; N], &get);
    match primvar.interpolation {
        Interpolation::Constant => at(0),
        Interpolation::Uniform => at(curve.index),
        Interpolation::Vertex => {
            let values: Vec<[f32; N]> = curve.points.clone().map(at).collect();
            curve.spline.value(&values, site)
        }
        Interpolation::FaceVarying => {
            let values: Vec<[f32; N]> = curve.ends.clone().map(at).collect();
            curve.spline.between(&values, site)
        }
    }
}

/// Flat curves: two vertices per place, across the normal.
#[derive(Default)]
struct Strip {
    mesh: TriangleMesh,
}

impl Strip {
    fn add(
        &mut self,
        spline: &Spline,
        knots: &[[f32; 4]],
        sites: &[CurveSite],
        normal: impl Fn(CurveSite) -> [f32; 3],
    ) {
        let first = self.mesh.positions.len() as u32;
        let at: Vec<[f32; 4]> = sites.iter().map(|&site| spline.value(knots, site)).collect();
        let place = |index: usize| Vec3::from_slice(&at[index]);
        for (index, &site) in sites.iter().enumerate() {
            let (before, after) = (index.saturating_sub(1), (index + 1).min(at.len() - 1));
            let along = place(after) - place(before);
            let up = Vec3::from(normal(site)).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
            let across = along.cross(up).normalize_or(up.any_orthonormal_vector()) * at[index][3].max(0.0);
            self.mesh.positions.extend([place(index) + across, place(index) - across].map(|p| p.to_array()));
            self.mesh.normals.extend([up.to_array(); 2]);
        }
        for pair in 0..sites.len() as u32 - 1 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + 2 * pair + i);
            self.mesh.triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::{CurveBasis, Sampled, ShapeKind};

    fn shape(set: CurveSet) -> Shape {
        Shape {
            name: "/hair".into(),
            kind: ShapeKind::Curves(Box::new(set)),
            double_sided: true,
            colors: None,
            opacities: None,
        }
    }

    fn set() -> CurveSet {
        CurveSet {
            points: Sampled::Still(vec![[0.0; 3], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 3.0, 0.0]]),
            counts: vec![2, 3],
            basis: CurveBasis::Linear,
            widths: Some(Primvar {
                interpolation: Interpolation::Uniform,
                values: vec![0.2, 0.4],
                indices: Vec::new(),
            }),
            ..CurveSet::default()
        }
    }

    #[test]
    fn linear_curves_are_strands_of_their_points() {
        let set = set();
        let Some(SceneShape::Curves(curves)) = build(&shape(set.clone()), &set, &Needs::default()) else {
            panic!("curves")
        };
        assert_eq!(curves.strands, [0, 2]);
        assert_eq!(curves.points.iter().map(|point| point.radius).collect::<Vec<_>>(), [0.1, 0.1, 0.2, 0.2, 0.2]);
        assert_eq!(curves.points[4].position, [1.0, 3.0, 0.0]);
    }

    #[test]
    fn curves_with_normals_are_flat() {
        let normals =
            Primvar { interpolation: Interpolation::Constant, values: vec![[0.0, 0.0, 1.0]], indices: Vec::new() };
        let set = CurveSet { normals: Some(normals), ..set() };
        let Some(SceneShape::Triangles(mesh)) = build(&shape(set.clone()), &set, &Needs::default()) else {
            panic!("triangles")
        };
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (10, 6));
        assert_eq!(mesh.positions[..2], [[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]]);
        let [a, b, c] = mesh.triangles[0].map(|v| Vec3::from(mesh.positions[v as usize]));
        assert!((b - a).cross(c - a).z > 0.0);
    }
}
