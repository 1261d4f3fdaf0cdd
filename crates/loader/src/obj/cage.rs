//! Polygons of an OBJ file as a subdivision surface.

use super::{Corner, ObjData, mesh::ObjMesh};
use crate::{
    LoadError,
    cages::{self, MeshCage},
    geometry::subdivision::{Attribute, Cage, FaceVarying, Faces, Polygons, Spread},
};
use glam::Vec4;
use std::collections::HashMap;
use throng_scene::desc::{Subdivision, SubdivisionScheme};

/// Refines the polygons of a file. Also returns the cage if its level is chosen later. The surface then
/// replaces the file's triangles and positions for scattering.
///
/// # Errors
/// As [`cages::of_file`].
pub fn subdivided(
    data: &mut ObjData,
    (subdivision, scheme): (Subdivision, SubdivisionScheme),
) -> Result<(ObjMesh, Option<Box<MeshCage>>), LoadError> {
    let faces = Faces::for_scheme(scheme, &data.triangles, &data.polygons, |corner: Corner| corner.v);
    let (mut slot_materials, mut slot_of) = (Vec::new(), HashMap::new());
    let slots = faces.triangles.iter().map(|&triangle| {
        let material = data.triangle_materials[triangle as usize];
        *slot_of.entry(material).or_insert_with(|| {
            slot_materials.push(material);
            slot_materials.len() as u32 - 1
        })
    });
    let slots: Vec<u32> = slots.collect();
    let mut attributes = Vec::new();
    if !data.uvs.is_empty() {
        let uv = |corner: &Corner| data.uvs.get(corner.vt as usize).copied().unwrap_or_default();
        let values = faces.corners.iter().map(uv).map(|[u, v]| Vec4::new(u, v, 0.0, 0.0)).collect();
        attributes.push(Attribute { spread: Spread::Uvs, values, face_varying: FaceVarying::default() });
    }
    if !data.colors.is_empty() {
        let color = |corner: &Corner| data.colors.get(corner.v as usize).copied().unwrap_or([1.0; 4]);
        let values = faces.corners.iter().map(color).map(Vec4::from).collect();
        attributes.push(Attribute { spread: Spread::Colors, values, face_varying: FaceVarying::None });
    }
    let mut polygons = Polygons::of_faces(faces.sizes, faces.corners.iter().map(|corner| corner.v).collect());
    polygons.scheme = scheme.into();
    if slot_materials.len() > 1 {
        polygons.slots = slots;
    }
    let cage = Cage::new(data.positions.clone(), polygons, attributes);
    let (mesh, cage) = cages::of_file(&data.path, cage, subdivision)?;
    (data.positions, data.triangles) = (Vec::new(), Vec::new());
    Ok((ObjMesh { mesh, slot_materials, dropped: 0 }, cage))
}
