//! Meshes of a stage as cages of subdivision surfaces.

use super::{
    clock::Clock,
    deform,
    mesh::{Attributes, Element, Needs, id, slots},
};
use crate::{
    cages::MeshCage,
    geometry::subdivision::{Attribute, Boundary, Cage, FaceVarying, Polygons, Scheme, Spread},
};
use glam::Vec4;
use std::sync::Arc;
use throng_scene::desc::Subdivision;
use throng_usd::{
    self as usd, BoundaryRule, FaceVaryingRule, Interpolation, PolygonMesh, Primvar, Shape, SkeletonPose,
};

/// How the subdivision surfaces of a stage are refined.
pub struct Subdivisions<'a> {
    pub level: Subdivision,
    pub clock: &'a Clock,
    /// Whether materials displace the mesh.
    pub is_displaced: bool,
}

impl Subdivisions<'_> {
    /// The cage of a mesh that is refined. Otherwise its triangles stay, with a warning if it should be refined.
    pub fn cage(
        &self,
        shape: &Shape,
        mesh: &PolygonMesh,
        needs: &Needs,
        skeleton: Option<&SkeletonPose>,
        warnings: &mut Vec<String>,
    ) -> Option<MeshCage> {
        let level = match self.level {
            Subdivision::Level(0) => return None,
            // Smaller triangles would show the same surface.
            Subdivision::Auto if mesh.scheme == usd::Scheme::Bilinear && !self.is_displaced => return None,
            Subdivision::Level(level) => Some(level),
            Subdivision::Auto => None,
        };
        let (points, deformers) = deform::of_cage(mesh, skeleton, self.clock);
        match of(shape, mesh, needs, points)? {
            Ok(cage) => {
                if is_triangulated(mesh) {
                    let line = "Loop's scheme divides triangles only; its other faces are divided as triangles";
                    warnings.push(format!("{}: {line}", shape.name));
                }
                Some(MeshCage { cage, deformers: deformers.map(Arc::new), level })
            }
            Err(cause) => {
                warnings.push(format!("{}: {cause}; its cage is drawn", shape.name));
                None
            }
        }
    }
}

/// The cage of a mesh with these points. None if the mesh has no scheme, or if it has no faces.
///
/// # Errors
/// As [`Cage::new`].
pub fn of(shape: &Shape, mesh: &PolygonMesh, needs: &Needs, points: Vec<[f32; 3]>) -> Option<Result<Cage, String>> {
    if mesh.scheme == usd::Scheme::None {
        return None;
    }
    let faces = Faces::of(mesh);
    if faces.sizes.is_empty() {
        return None;
    }
    let slots = slots(mesh);
    let attributes = attributes(shape, mesh, needs, &faces, &slots);
    let polygons = Polygons {
        scheme: if mesh.scheme == usd::Scheme::Loop { Scheme::Loop } else { Scheme::CatmullClark },
        linear: mesh.scheme == usd::Scheme::Bilinear,
        smooth_triangles: mesh.smooth_triangles,
        boundary: match mesh.boundary {
            BoundaryRule::None => Boundary::None,
            BoundaryRule::EdgeOnly => Boundary::Edges,
            BoundaryRule::EdgeAndCorner => Boundary::EdgesAndCorners,
        },
        corners: faces.corners.iter().map(|&corner| mesh.corners[corner as usize]).collect(),
        creases: mesh.creases.clone(),
        points: mesh.sharp_points.clone(),
        drawn: faces.of.iter().map(|face| mesh.holes.binary_search(face).is_err()).collect(),
        slots: if slots.is_empty() { slots } else { faces.of.iter().map(|&face| slots[face as usize]).collect() },
        sizes: faces.sizes,
    };
    Some(Cage::new(points, polygons, attributes))
}

/// Whether faces are drawn that the scheme does not divide, so that their triangles are divided instead.
pub fn is_triangulated(mesh: &PolygonMesh) -> bool {
    mesh.scheme == usd::Scheme::Loop && mesh.face_sizes.iter().any(|&size| size > 3)
}

/// The faces of a cage: counter-clockwise, without repeated points, and for Loop's scheme as triangles.
#[derive(Default)]
struct Faces {
    sizes: Vec<u32>,
    /// The mesh's corner of each corner.
    corners: Vec<u32>,
    /// The mesh's face of each face.
    of: Vec<u32>,
}

impl Faces {
    fn of(mesh: &PolygonMesh) -> Self {
        let mut faces = Self::default();
        let mut start = 0;
        for (face, &size) in (0..).zip(&mesh.face_sizes) {
            let mut corners: Vec<u32> = (start..start + size).collect();
            start += size;
            corners.dedup_by_key(|corner| mesh.corners[*corner as usize]);
            let ends = corners.first().zip(corners.last()).map(|(a, b)| [a, b].map(|&c| mesh.corners[c as usize]));
            if corners.len() > 1 && ends.is_some_and(|[first, last]| first == last) {
                corners.pop();
            }
            if mesh.left_handed {
                corners.reverse();
            }
            match corners.len() {
                0..3 => {}
                count if count > 3 && mesh.scheme == usd::Scheme::Loop => {
                    (1..count - 1).for_each(|i| faces.add(face, &[corners[0], corners[i], corners[i + 1]]));
                }
                _ => faces.add(face, &corners),
            }
        }
        faces
    }

    fn add(&mut self, face: u32, corners: &[u32]) {
        self.sizes.push(corners.len() as u32);
        self.corners.extend(corners);
        self.of.push(face);
    }
}

fn attributes(shape: &Shape, mesh: &PolygonMesh, needs: &Needs, faces: &Faces, slots: &[u32]) -> Vec<Attribute> {
    let sets = Attributes::new(shape, mesh, needs);
    let elements: Vec<Element> = faces
        .sizes
        .iter()
        .zip(&faces.of)
        .flat_map(|(&size, &face)| {
            let is_white = slots.get(face as usize).is_some_and(|slot| needs.white.contains(slot));
            std::iter::repeat_n((face, is_white), size as usize)
        })
        .zip(&faces.corners)
        .map(|((face, is_white), &corner)| Element {
            point: mesh.corners[corner as usize],
            corner,
            face,
            cluster: 0,
            is_white,
        })
        .collect();
    let mut all = Vec::new();
    for (primvar, spread) in sets.uvs.iter().zip([Spread::Uvs, Spread::Uvs1]) {
        let value = |&element: &Element| primvar.values.get(id(primvar, element) as usize);
        let values = elements.iter().map(|element| {
            let [u, v] = value(element).copied().unwrap_or_default();
            Vec4::new(u, v, 0.0, 0.0)
        });
        all.push(Attribute { spread, values: values.collect(), face_varying: rule(mesh, &[primvar.interpolation]) });
    }
    let kind = [sets.colors.map(|primvar| primvar.interpolation), sets.opacities.map(|primvar| primvar.interpolation)];
    let kinds: Vec<Interpolation> = kind.into_iter().flatten().collect();
    if !kinds.is_empty() {
        let values = elements.iter().map(|&element| color(&sets, element));
        all.push(Attribute { spread: Spread::Colors, values: values.collect(), face_varying: rule(mesh, &kinds) });
    }
    all
}

fn color(sets: &Attributes, element: Element) -> Vec4 {
    fn value<T: Copy>(primvar: Option<&Primvar<T>>, element: Element) -> Option<T> {
        let primvar = primvar.filter(|_| !element.is_white)?;
        primvar.values.get(id(primvar, element) as usize).copied()
    }
    let [r, g, b] = value(sets.colors, element).unwrap_or([1.0; 3]);
    Vec4::new(r, g, b, value(sets.opacities, element).unwrap_or(1.0))
}

/// How values with these interpolations are refined together.
fn rule(mesh: &PolygonMesh, kinds: &[Interpolation]) -> FaceVarying {
    let has = |kind: Interpolation| kinds.contains(&kind);
    if has(Interpolation::FaceVarying) {
        return match mesh.face_varying {
            FaceVaryingRule::None => FaceVarying::None,
            FaceVaryingRule::CornersOnly => FaceVarying::Corners,
            FaceVaryingRule::CornersPlus1 => FaceVarying::CornersPlus1,
            FaceVaryingRule::CornersPlus2 => FaceVarying::CornersPlus2,
            FaceVaryingRule::Boundaries => FaceVarying::Boundaries,
            FaceVaryingRule::All => FaceVarying::All,
        };
    }
    if has(Interpolation::Vertex) { FaceVarying::None } else { FaceVarying::All }
}
