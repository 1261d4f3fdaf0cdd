//! Meshes (UsdGeomMesh).

use super::{
    primvars::{self, Elements},
    skeleton::{self, SkelBound},
    values::Values,
};
use crate::{BoundaryRule, FaceVaryingRule, Interpolation, PolygonMesh, Primvar, Sampled, Scheme, Subset};
use openusd::{sdf, usd::Prim};

/// A mesh, with the numbers of its elements and the prims of its subsets.
pub struct ReadMesh {
    /// The mesh.
    pub mesh: PolygonMesh,
    /// Numbers of its elements.
    pub elements: Elements,
    /// Prims of its subsets, in their order.
    pub subsets: Vec<sdf::Path>,
}

/// Reads a mesh. `None` after a warning if it is invalid; without one if it has no faces.
pub fn read(values: &Values, prim: &Prim, skel: &SkelBound) -> Option<ReadMesh> {
    let sizes: Vec<i32> = values.get(prim, "faceVertexCounts")?;
    if sizes.is_empty() {
        return None;
    }
    let points = points(values, prim)?;
    let topology = topology(values, prim, &sizes, points.first().len());
    let (face_sizes, corners) =
        topology.map_err(|cause| values.warn(format!("{}: {cause}; the mesh is left out", prim.path()))).ok()?;
    let elements = Elements {
        faces: face_sizes.len(),
        points: points.first().len(),
        corners: corners.len(),
        ..Elements::default()
    };
    let (subsets, prims) = subsets(values, prim, elements.faces);
    let mesh = PolygonMesh {
        skin: skeleton::skin(values, prim, elements.points, skel),
        points,
        holes: holes(values, prim, elements.faces),
        left_handed: values.token(prim, "orientation").as_deref() == Some("leftHanded"),
        scheme: scheme(values, prim),
        creases: creases(values, prim, elements.points),
        sharp_points: sharp_points(values, prim, elements.points),
        boundary: boundary(values, prim),
        face_varying: face_varying(values, prim),
        smooth_triangles: values.token(prim, "triangleSubdivisionRule").as_deref() == Some("smooth"),
        normals: normals(values, prim, elements),
        uvs: primvars::texture_coordinates(values, prim, elements),
        subsets,
        face_sizes,
        corners,
    };
    Some(ReadMesh { mesh, elements, subsets: prims })
}

/// Points over time. Samples with other numbers of points than at the first time are left out.
fn points(values: &Values, prim: &Prim) -> Option<Sampled<Vec<[f32; 3]>>> {
    let first: Vec<[f32; 3]> = values.get(prim, "points").or_else(|| {
        values.warn(format!("{}: has faces but no points; the mesh is left out", prim.path()));
        None
    })?;
    let Sampled::Moving(samples) = values.sampled::<Vec<[f32; 3]>>(prim, "points")? else {
        return Some(Sampled::Still(first));
    };
    if samples.iter().any(|(_, points)| points.len() != first.len()) || changes_topology(values, prim) {
        values.warn(format!("{}: its faces change over time; the first ones are shown", prim.path()));
        return Some(Sampled::Still(first));
    }
    Some(Sampled::Moving(samples))
}

/// Whether faces at another time are others than at the first one.
fn changes_topology(values: &Values, prim: &Prim) -> bool {
    let moves = |name: &str| values.sampled::<Vec<i32>>(prim, name).is_some_and(|faces| faces.moves());
    moves("faceVertexIndices") || moves("faceVertexCounts")
}

/// Sizes of faces and points of corners.
fn topology(values: &Values, prim: &Prim, sizes: &[i32], points: usize) -> Result<(Vec<u32>, Vec<u32>), String> {
    let indices: Vec<i32> = values.get(prim, "faceVertexIndices").unwrap_or_default();
    let mut corners = 0_u64;
    let mut face_sizes = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let size = u32::try_from(size).map_err(|_| format!("has a face with {size} corners"))?;
        corners += u64::from(size);
        face_sizes.push(size);
    }
    if corners != indices.len() as u64 {
        return Err(format!("its faceVertexCounts sum to {corners}, but it has {} indices", indices.len()));
    }
    let valid = |&index: &i32| match u32::try_from(index) {
        Ok(valid) if (valid as usize) < points => Ok(valid),
        _ => Err(format!("has index {index}, but {points} points")),
    };
    Ok((face_sizes, indices.iter().map(valid).collect::<Result<_, _>>()?))
}

/// Valid holes, ascending.
fn holes(values: &Values, prim: &Prim, faces: usize) -> Vec<u32> {
    let indices: Vec<i32> = values.get(prim, "holeIndices").unwrap_or_default();
    let mut holes = valid_faces(&indices, faces);
    if holes.len() < indices.len() {
        values.warn(format!("{}: has holes that are no faces; they are ignored", prim.path()));
    }
    holes.sort_unstable();
    holes.dedup();
    holes
}

fn valid_faces(indices: &[i32], faces: usize) -> Vec<u32> {
    let valid = indices.iter().filter_map(|&index| u32::try_from(index).ok());
    valid.filter(|&index| (index as usize) < faces).collect()
}

fn scheme(values: &Values, prim: &Prim) -> Scheme {
    match values.token(prim, "subdivisionScheme").as_deref() {
        None | Some("catmullClark") => Scheme::CatmullClark,
        Some("none") => Scheme::None,
        Some("loop") => Scheme::Loop,
        Some("bilinear") => Scheme::Bilinear,
        Some(other) => {
            values.warn(format!("{}: subdivision scheme `{other}` is unknown; polygons are shown", prim.path()));
            Scheme::None
        }
    }
}

/// Sharp edges: chains of points, with a sharpness for each chain or for each of its edges.
fn creases(values: &Values, prim: &Prim, points: usize) -> Vec<([u32; 2], f32)> {
    let indices: Vec<i32> = values.get(prim, "creaseIndices").unwrap_or_default();
    let lengths: Vec<i32> = values.get(prim, "creaseLengths").unwrap_or_default();
    let sharpness: Vec<f32> = values.get(prim, "creaseSharpnesses").unwrap_or_default();
    let lengths: Vec<usize> = lengths.iter().map(|&length| usize::try_from(length).unwrap_or_default()).collect();
    let edge_count: usize = lengths.iter().map(|length| length.saturating_sub(1)).sum();
    let fits = lengths.iter().try_fold(0_usize, |sum, length| sum.checked_add(*length)) == Some(indices.len());
    if !fits || (sharpness.len() != lengths.len() && sharpness.len() != edge_count) {
        values.warn(format!("{}: the numbers of its creases do not match; they are ignored", prim.path()));
        return Vec::new();
    }
    let per_edge = sharpness.len() == edge_count;
    let (mut creases, mut rest, mut lost) = (Vec::new(), &indices[..], 0);
    for (number, &length) in lengths.iter().enumerate() {
        let (chain, others) = rest.split_at(length);
        rest = others;
        for pair in chain.windows(2) {
            let own = sharpness[if per_edge { creases.len() + lost } else { number }];
            match [pair[0], pair[1]].map(|index| u32::try_from(index).ok().filter(|&i| (i as usize) < points)) {
                [Some(a), Some(b)] if a != b && own.is_finite() => creases.push(([a, b], own)),
                _ => lost += 1,
            }
        }
    }
    if lost > 0 {
        values.warn(format!("{}: {lost} creases are between no points; they are ignored", prim.path()));
    }
    creases
}

fn sharp_points(values: &Values, prim: &Prim, points: usize) -> Vec<(u32, f32)> {
    let indices: Vec<i32> = values.get(prim, "cornerIndices").unwrap_or_default();
    let sharpness: Vec<f32> = values.get(prim, "cornerSharpnesses").unwrap_or_default();
    let pairs = indices.iter().zip(&sharpness);
    let valid = pairs.filter_map(|(&index, &own)| Some((u32::try_from(index).ok()?, own)));
    let valid: Vec<(u32, f32)> = valid.filter(|(index, own)| (*index as usize) < points && own.is_finite()).collect();
    if valid.len() < indices.len().max(sharpness.len()) {
        values.warn(format!("{}: some of its sharp corners are no points; they are ignored", prim.path()));
    }
    valid
}

fn boundary(values: &Values, prim: &Prim) -> BoundaryRule {
    match values.token(prim, "interpolateBoundary").as_deref() {
        Some("none") => BoundaryRule::None,
        Some("edgeOnly") => BoundaryRule::EdgeOnly,
        None | Some("edgeAndCorner") => BoundaryRule::EdgeAndCorner,
        Some(other) => {
            values.warn(format!("{}: interpolateBoundary `{other}` is unknown; it is edgeAndCorner", prim.path()));
            BoundaryRule::EdgeAndCorner
        }
    }
}

fn face_varying(values: &Values, prim: &Prim) -> FaceVaryingRule {
    match values.token(prim, "faceVaryingLinearInterpolation").as_deref() {
        Some("none") => FaceVaryingRule::None,
        Some("cornersOnly") => FaceVaryingRule::CornersOnly,
        None | Some("cornersPlus1") => FaceVaryingRule::CornersPlus1,
        Some("cornersPlus2") => FaceVaryingRule::CornersPlus2,
        Some("boundaries") => FaceVaryingRule::Boundaries,
        Some("all") => FaceVaryingRule::All,
        Some(other) => {
            let line = format!("faceVaryingLinearInterpolation `{other}` is unknown; it is cornersPlus1");
            values.warn(format!("{}: {line}", prim.path()));
            FaceVaryingRule::CornersPlus1
        }
    }
}

/// The normals at the first time. `primvars:normals` replaces `normals`.
fn normals(values: &Values, prim: &Prim, elements: Elements) -> Option<Primvar<[f32; 3]>> {
    let newer = primvars::read(values, prim, "primvars:normals", Interpolation::Constant, elements);
    newer.or_else(|| primvars::read(values, prim, "normals", Interpolation::Vertex, elements))
}

/// Subsets that bind materials, and their prims.
fn subsets(values: &Values, mesh: &Prim, faces: usize) -> (Vec<Subset>, Vec<sdf::Path>) {
    let mut taken = vec![false; faces];
    let (mut subsets, mut prims) = (Vec::new(), Vec::new());
    for prim in mesh.children().unwrap_or_default() {
        let is_subset = values.type_name(&prim).as_str() == "GeomSubset" && prim.is_active().unwrap_or(false);
        if !is_subset || values.token(&prim, "familyName").as_deref() != Some("materialBind") {
            continue;
        }
        if let Some(element) = values.token(&prim, "elementType").filter(|element| element != "face") {
            values.warn(format!("{}: subsets of elements `{element}` are not supported; ignored", prim.path()));
            continue;
        }
        let indices: Vec<i32> = values.get(&prim, "indices").unwrap_or_default();
        let valid = valid_faces(&indices, faces);
        let all = indices.len();
        let own: Vec<u32> =
            valid.into_iter().filter(|&face| !std::mem::replace(&mut taken[face as usize], true)).collect();
        if own.len() < all {
            let count = all - own.len();
            values.warn(format!("{}: {count} faces do not exist or are in another subset; ignored", prim.path()));
        }
        subsets.push(Subset { name: prim.path().name().unwrap_or_default().to_owned(), faces: own });
        prims.push(prim.path().clone());
    }
    (subsets, prims)
}
