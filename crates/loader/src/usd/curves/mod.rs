//! Curves of a stage as strands, or as strips of triangles if they are flat.

mod one;
mod strip;

use super::mesh::Needs;
use crate::{
    geometry::curves::{CurveSite, is_valid, point},
    model::offsets,
};
use one::{OneCurve, curves};
use std::sync::Arc;
use strip::Strips;
use throng_base::math::MortonGrid;
use throng_scene::{CurveProfile, Curves, Shape as SceneShape, rig::MorphTarget};
use throng_usd::{CurveSet, Primvar, Sampled, Shape};

/// Curves as geometry.
#[derive(Default)]
pub struct Built {
    /// Strands or strips in their first shape. None if no curve has a length.
    pub shape: Option<SceneShape>,
    /// Positions of the points or vertices at each time after the first one. Empty if the curves keep their shape.
    pub later: Vec<Vec<[f32; 3]>>,
    /// Number of curves that are left out, because their points are not finite or too far away.
    pub invalid: usize,
}

/// Colours, opacities and texture coordinates that curves get.
#[derive(Clone, Copy, Default)]
pub struct Look<'a> {
    pub colors: Option<&'a Primvar<[f32; 3]>>,
    pub opacities: Option<&'a Primvar<f32>>,
    pub uvs: Option<&'a Primvar<[f32; 2]>>,
}

impl<'a> Look<'a> {
    /// The look that materials with these needs show.
    pub fn new(shape: &'a Shape, set: &'a CurveSet, needs: &Needs) -> Self {
        let named = needs.uvs.first().and_then(|name| set.uvs.iter().find(|(own, _)| own == name));
        Self {
            colors: shape.colors.as_ref().filter(|_| needs.colors),
            opacities: shape.opacities.as_ref().filter(|_| needs.colors),
            uvs: named.map(|(_, uvs)| uvs),
        }
    }

    /// Adds the colours and texture coordinates of places on a curve.
    fn add(
        &self,
        curve: &OneCurve,
        sites: impl Iterator<Item = CurveSite> + Clone,
        (colors, uvs): (&mut Vec<[f32; 4]>, &mut Vec<[f32; 2]>),
    ) {
        if self.colors.is_some() || self.opacities.is_some() {
            colors.extend(sites.clone().map(|site| {
                let [r, g, b] = self.colors.map_or([1.0; 3], |colors| curve.value(colors, site, |color| *color));
                let [alpha] = self.opacities.map_or([1.0], |opacities| curve.value(opacities, site, |alpha| [*alpha]));
                [r, g, b, alpha]
            }));
        }
        if let Some(own) = self.uvs {
            uvs.extend(sites.map(|site| curve.value(own, site, |uv| *uv)));
        }
    }
}

/// Converts curves.
pub fn build(set: &CurveSet, look: &Look) -> Built {
    let times: Vec<&[[f32; 3]]> = match &set.points {
        Sampled::Still(points) => vec![points],
        Sampled::Moving(samples) => samples.iter().map(|(_, points)| &points[..]).collect(),
    };
    let profile = if set.ribbon { CurveProfile::Ribbon } else { CurveProfile::Round };
    let (mut strands, mut strips, mut out) =
        (Curves { profile, ..Curves::default() }, Strips::default(), Built::default());
    out.later.resize(times.len() - 1, Vec::new());
    // In an order in which neighbours are close: rays then read adjacent points.
    let mut all: Vec<_> = curves(set).collect();
    let grid = MortonGrid::over(all.iter().map(|curve| curve.start(times[0])));
    all.sort_by_cached_key(|curve| grid.code(curve.start(times[0])));
    for curve in all {
        let radii = curve.radii(set);
        let knots: Vec<Vec<[f32; 4]>> = times.iter().map(|points| curve.knots(points, &radii)).collect();
        let are_valid = |shapes: &[Vec<[f32; 4]>]| shapes.iter().flatten().all(is_valid);
        let sites = if are_valid(&knots) { curve.sites(&knots) } else { Vec::new() };
        let at = |knots: &Vec<[f32; 4]>| sites.iter().map(|&site| curve.at(|i| knots[i], site)).collect();
        let places: Vec<Vec<[f32; 4]>> = knots.iter().map(at).collect();
        if !are_valid(&knots) || !are_valid(&places) {
            out.invalid += 1;
            continue;
        }
        if sites.len() < 2 {
            continue;
        }
        if let Some(normals) = &set.normals {
            let normals: Vec<_> = sites.iter().map(|&site| curve.value(normals, site, |normal| *normal)).collect();
            strips.add(&places, &normals);
            let twice = sites.iter().flat_map(|&site| [site; 2]);
            look.add(&curve, twice, (&mut strips.mesh.colors, &mut strips.mesh.uvs));
            continue;
        }
        strands.strands.push(strands.points.len() as u32);
        strands.points.extend(places[0].iter().map(|&place| point(place)));
        for (later, places) in out.later.iter_mut().zip(&places[1..]) {
            later.extend(places.iter().map(|&[x, y, z, _]| [x, y, z]));
        }
        look.add(&curve, sites.iter().copied(), (&mut strands.colors, &mut strands.uvs));
    }
    if !strips.mesh.triangles.is_empty() {
        (out.shape, out.later) = (Some(SceneShape::Triangles(strips.mesh)), strips.later);
    } else if !strands.points.is_empty() {
        out.shape = Some(SceneShape::Curves(Arc::new(strands)));
    }
    out
}

/// Morph targets of curves in `shape`, whose points or vertices are at `later` positions at later times, and the number of these points.
pub fn targets(shape: &SceneShape, later: &[Vec<[f32; 3]>]) -> (Vec<MorphTarget>, usize) {
    let rest: Vec<[f32; 3]> = match shape {
        SceneShape::Triangles(mesh) => mesh.positions.clone(),
        SceneShape::Curves(curves) => curves.points.iter().map(|point| point.position).collect(),
        SceneShape::Sphere => Vec::new(),
    };
    (later.iter().map(|moved| offsets(moved, rest.iter().copied())).collect(), rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use throng_usd::{CurveBasis, Interpolation, Nurbs};

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
        let Some(SceneShape::Curves(curves)) = build(&set, &Look::default()).shape else { panic!("curves") };
        assert_eq!(curves.strands, [0, 2]);
        assert_eq!(curves.points.iter().map(|point| point.radius).collect::<Vec<_>>(), [0.1, 0.1, 0.2, 0.2, 0.2]);
        assert_eq!(curves.points[4].position, [1.0, 3.0, 0.0]);
    }

    #[test]
    fn curves_with_normals_are_flat() {
        let normals =
            Primvar { interpolation: Interpolation::Constant, values: vec![[0.0, 0.0, 1.0]], indices: Vec::new() };
        let set = CurveSet { normals: Some(normals), ..set() };
        let Some(SceneShape::Triangles(mesh)) = build(&set, &Look::default()).shape else { panic!("triangles") };
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (10, 6));
        assert_eq!(mesh.positions[..2], [[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]]);
        let [a, b, c] = mesh.triangles[0].map(|v| Vec3::from(mesh.positions[v as usize]));
        assert!((b - a).cross(c - a).z > 0.0);
    }

    #[test]
    fn curves_that_move_keep_their_places_in_all_shapes() {
        let raised = |by: f32| set().points.first().iter().map(|&[x, y, z]| [x, y, z + by]).collect::<Vec<_>>();
        let set = CurveSet {
            points: Sampled::Moving(vec![(1.0, raised(0.0)), (2.0, raised(1.0)), (3.0, raised(4.0))]),
            ..set()
        };
        let built = build(&set, &Look::default());
        assert_eq!(built.later.len(), 2);
        assert_eq!(built.later[1], raised(4.0));
    }

    #[test]
    fn curves_that_are_not_finite_are_counted() {
        let mut set = set();
        if let Sampled::Still(points) = &mut set.points {
            points[1][1] = f32::NAN;
        }
        let built = build(&set, &Look::default());
        let Some(SceneShape::Curves(curves)) = built.shape else { panic!("curves") };
        assert_eq!((built.invalid, curves.points.len()), (1, 3));
    }

    #[test]
    fn nurbs_have_values_of_their_own_points() {
        let linear = Nurbs {
            orders: vec![2, 3],
            knots: vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            ranges: vec![[0.0, 1.0]; 2],
            weights: Vec::new(),
        };
        let varying = Primvar {
            interpolation: Interpolation::FaceVarying,
            values: vec![0.2, 0.4, 2.0, 4.0],
            indices: Vec::new(),
        };
        let set = CurveSet { nurbs: Some(linear), widths: Some(varying), ..set() };
        let Some(SceneShape::Curves(curves)) = build(&set, &Look::default()).shape else { panic!("curves") };
        let radii: Vec<f32> = curves.points.iter().map(|point| point.radius).collect();
        assert_eq!((curves.strands[1], &radii[..3]), (2, &[0.1, 0.2, 1.0][..]));
        let last = curves.points[curves.points.len() - 1];
        assert_eq!((last.position, last.radius), ([1.0, 3.0, 0.0], 2.0));
    }
}
