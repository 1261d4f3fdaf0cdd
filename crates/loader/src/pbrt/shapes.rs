//! Shapes as meshes.

use super::solids;
use crate::{
    LoadError, files,
    geometry::{
        normals::{face_normal, unit},
        subdivision::{Attribute, Cage, FaceVarying, Polygons, Scheme, Spread},
    },
    meshes::MeshSource,
    ply,
    usd::curves,
};
use glam::{DAffine3, DVec3, Vec3, Vec4};
use std::{f64::consts::PI, path::Path};
use throng_pbrt::{Curves, Points, Shape, ShapeKind, Triangles};
use throng_scene::{Mesh, NONE, Shape as SceneShape, TriangleMesh};
use throng_usd::{CurveBasis, CurveSet, Interpolation, Primvar, Sampled};

/// The transform from the unit sphere to a shape that is a whole sphere.
pub fn whole_sphere(shape: &Shape) -> Option<DAffine3> {
    let ShapeKind::Sphere { radius, heights, phi_max } = shape.kind else { return None };
    // The pole of textures is Z.
    let turned = DAffine3::from_rotation_x(PI / 2.0);
    let is_whole = heights == [-radius, radius] && phi_max == 360.0 && !shape.reversed;
    is_whole.then(|| DAffine3::from_scale(DVec3::splat(f64::from(radius))) * turned)
}

/// The mesh of a shape that is in no file. None if nothing of it has an area.
///
/// # Errors
/// If it cannot be subdivided. The text is a sentence.
pub fn convert(shape: &Shape) -> Result<Option<MeshSource>, String> {
    let name = &shape.name;
    let made = match &shape.kind {
        ShapeKind::Mesh(mesh) => of_points(&mesh.points, mesh.triangles.clone()),
        ShapeKind::Bilinear { points, patches } => solids::bilinear(points, patches),
        ShapeKind::Loop { cage, levels } => subdivided(cage, *levels)?,
        ShapeKind::Sphere { radius, heights, phi_max } => solids::sphere(*radius, *heights, *phi_max),
        ShapeKind::Cylinder { radius, heights, phi_max } => solids::cylinder(*radius, *heights, *phi_max),
        ShapeKind::Cone { radius, height, phi_max } => solids::cone(*radius, *height, *phi_max),
        ShapeKind::Paraboloid { radius, heights, phi_max } => solids::paraboloid(*radius, *heights, *phi_max),
        ShapeKind::Hyperboloid { ends, phi_max } => solids::hyperboloid(*ends, *phi_max),
        ShapeKind::Disk { radius, inner, height, phi_max } => solids::disk([*inner, *radius], *height, *phi_max),
        ShapeKind::Curves(own) => {
            let built = curves::build(&set(own), &curves::Look::default());
            let mesh = |shape| Mesh { name: name.clone(), shape, slot_count: 1 };
            return Ok(built.shape.map(|shape| MeshSource::of_mesh(mesh(shape), vec![NONE])));
        }
        ShapeKind::Ply(_) => return Ok(None),
    };
    let made = oriented(made, shape.reversed);
    Ok((!made.triangles.is_empty()).then(|| MeshSource::of_unsplit_shape(name, made, NONE)))
}

/// The mesh in a file, and warnings.
///
/// # Errors
/// If the file cannot be read, or has nothing with an area.
pub fn of_file(path: &Path, reversed: bool) -> Result<(MeshSource, Vec<String>), LoadError> {
    let (mesh, warnings) = ply::read_unsmoothed(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".ply").unwrap_or(&name);
    Ok((MeshSource::of_unsplit_shape(name, oriented(mesh, reversed), NONE), warnings))
}

/// The area of a mesh that is placed somewhere.
pub fn area(mesh: &Mesh, place: &DAffine3) -> f32 {
    let scale = place.matrix3.determinant().abs().powf(2.0 / 3.0);
    match &mesh.shape {
        SceneShape::Sphere => (4.0 * PI * scale) as f32,
        SceneShape::Curves(_) => 0.0,
        SceneShape::Triangles(mesh) => {
            let at = |vertex: u32| place.transform_point3(Vec3::from(mesh.positions[vertex as usize]).as_dvec3());
            let doubled = mesh.triangles.iter().map(|t| {
                let [a, b, c] = t.map(at);
                (b - a).cross(c - a).length()
            });
            (0.5 * doubled.sum::<f64>()) as f32
        }
    }
}

fn of_points(points: &Points, triangles: Vec<[u32; 3]>) -> TriangleMesh {
    TriangleMesh {
        positions: points.positions.clone(),
        normals: points.normals.clone(),
        uvs: points.uvs.clone(),
        triangles,
        ..TriangleMesh::default()
    }
}

/// Removes triangles without an area, and makes the others face where their normals point to, or backwards if reversed.
fn oriented(mut mesh: TriangleMesh, reversed: bool) -> TriangleMesh {
    let TriangleMesh { positions, normals, triangles, .. } = &mut mesh;
    let face = |t: &[u32; 3]| face_normal(t.map(|vertex| positions[vertex as usize]));
    triangles.retain(|t| face(t) != DVec3::ZERO);
    for t in triangles.iter_mut() {
        let own = face(t);
        let sum: DVec3 =
            t.iter().filter_map(|&v| normals.get(v as usize)).map(|&normal| Vec3::from(normal).as_dvec3()).sum();
        if (own.dot(sum) < 0.0) != reversed {
            t.swap(1, 2);
        }
    }
    // Normals without a direction get that of a face.
    for t in triangles.iter() {
        let own = face(t) * if reversed { -1.0 } else { 1.0 };
        for &vertex in t {
            if let Some(normal) = normals.get_mut(vertex as usize)
                && unit(*normal).is_none()
            {
                *normal = own.as_vec3().to_array();
            }
        }
    }
    for normal in normals.iter_mut() {
        let direction = unit(*normal).unwrap_or([0.0, 0.0, 1.0]);
        *normal = if reversed { direction.map(|x| -x) } else { direction };
    }
    mesh
}

/// The limit of a Loop surface.
fn subdivided(cage: &Triangles, levels: u32) -> Result<TriangleMesh, String> {
    let differ = |t: &&[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    let triangles: Vec<[u32; 3]> = cage.triangles.iter().filter(differ).copied().collect();
    let corners: Vec<u32> = triangles.as_flattened().to_vec();
    let uv = |&corner: &u32| {
        let [u, v] = cage.points.uvs[corner as usize];
        Vec4::new(u, v, 0.0, 0.0)
    };
    let attributes = if cage.points.uvs.is_empty() {
        Vec::new()
    } else {
        let values = corners.iter().map(uv).collect();
        vec![Attribute { spread: Spread::Uvs, values, face_varying: FaceVarying::None }]
    };
    let polygons = Polygons { scheme: Scheme::Loop, ..Polygons::of_faces(vec![3; triangles.len()], corners) };
    let surface = Cage::new(cage.points.positions.clone(), polygons, attributes)?;
    files::fits(surface.bytes(levels.max(1))).map_err(|lack| format!("its subdivision {lack}"))?;
    Ok(surface.refined(levels.max(1)).map(|refined| refined.mesh).unwrap_or_default())
}

/// Curves as those of a stage.
fn set(curves: &Curves) -> CurveSet {
    // Values at both ends are linear along the curve.
    fn spread<const N: usize>(ends: &[[[f32; N]; 2]], counts: &[u32]) -> Vec<[f32; N]> {
        let of = |(&[a, b], &count): (&[[f32; N]; 2], &u32)| {
            let last = count.saturating_sub(1).max(1) as f32;
            (0..count).map(move |i| std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * i as f32 / last))
        };
        ends.iter().zip(counts).flat_map(of).collect()
    }
    let widths: Vec<[[f32; 1]; 2]> = curves.widths.iter().map(|ends| ends.map(|width| [width])).collect();
    let widths = spread(&widths, &curves.counts).into_iter().map(|[width]| width).collect();
    let normals = spread(&curves.normals, &curves.counts);
    CurveSet {
        points: Sampled::Still(curves.points.clone()),
        counts: curves.counts.clone(),
        basis: if curves.b_spline { CurveBasis::BSpline } else { CurveBasis::Bezier },
        widths: Some(per_point(widths)),
        normals: (!normals.is_empty()).then(|| per_point(normals)),
        ..CurveSet::default()
    }
}

fn per_point<T>(values: Vec<T>) -> Primvar<T> {
    Primvar { interpolation: Interpolation::Vertex, values, indices: Vec::new() }
}
