//! Converts the separate lists of an OBJ file to one mesh, with one vertex per distinct (position, UV, normal) and one slot per material.

use super::{Corner, ObjData};
use crate::{
    geometry::{
        distinct::Distinct,
        normals::face_normal,
        split::{self, OfFaces},
    },
    meshes::retain,
};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::HashMap;
use throng_scene::TriangleMesh;

/// A renderable mesh and the materials of its slots.
pub struct ObjMesh {
    pub mesh: TriangleMesh,
    /// For each slot, the index into the file's materials, or [`NONE`](throng_scene::NONE).
    pub slot_materials: Vec<u32>,
    /// Number of triangles without area, which are omitted.
    pub dropped: usize,
}

/// Creates one mesh from the whole file, whose lists become empty. Faces without normals are smoothed up to `smooth_angle` radians.
///
/// The result is empty if no triangle has an area.
pub fn build(data: &mut ObjData, smooth_angle: f32) -> ObjMesh {
    let all = data.triangles.len();
    let kept: Vec<bool> = data.triangles.par_iter().map(|triangle| has_area(data, triangle)).collect();
    retain(&mut data.triangles, &kept);
    retain(&mut data.triangle_materials, &kept);
    let dropped = all - data.triangles.len();
    let (slot_materials, slots) = slots(std::mem::take(&mut data.triangle_materials));
    let (normals, mut corners) = (std::mem::take(&mut data.normals), Vec::new());
    if !normals.is_empty() {
        corners = data.triangles.iter().map(|t| t.map(|c| c.vn)).collect();
    }
    let faces = OfFaces { normals: Some((&normals[..], &corners[..])), ..OfFaces::default() };
    let mesh = TriangleMesh { slots, ..vertices(data) };
    ObjMesh { mesh: split::smooth(mesh, faces, smooth_angle), slot_materials, dropped }
}

/// The file's triangles as indices of positions, for scattering points on vertices.
pub fn position_triangles(data: &ObjData) -> Vec<[u32; 3]> {
    data.triangles.iter().map(|t| t.map(|c| c.v)).collect()
}

fn has_area(data: &ObjData, triangle: &[Corner; 3]) -> bool {
    face_normal(triangle.map(|c| data.positions[c.v as usize])) != DVec3::ZERO
}

/// The material of each slot, and the slots of triangles with these materials; empty if there is only one.
fn slots(mut materials: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let (mut slot_materials, mut slot_of) = (Vec::new(), HashMap::new());
    for material in &mut materials {
        *material = *slot_of.entry(*material).or_insert_with(|| {
            slot_materials.push(*material);
            slot_materials.len() as u32 - 1
        });
    }
    if slot_materials.len() < 2 {
        materials = Vec::new();
    }
    (slot_materials, materials)
}

/// The triangles without normals, with one vertex per distinct position and UV.
fn vertices(data: &mut ObjData) -> TriangleMesh {
    let ObjData { positions, uvs, colors, triangles, .. } = data;
    let (positions, uvs) = (std::mem::take(positions), std::mem::take(uvs));
    let (colors, corners) = (std::mem::take(colors), std::mem::take(triangles));
    if uvs.is_empty() {
        let triangles = corners.iter().map(|t| t.map(|c| c.v)).collect();
        return TriangleMesh { positions, triangles, colors, ..TriangleMesh::default() };
    }
    let (mut distinct, mut vertices) = (Distinct::with_capacity(positions.len()), Vec::new());
    let mut vertex = |corner: Corner| {
        let key = |(v, vt): (u32, u32)| {
            let [s, t] = uvs[vt as usize].map(f32::to_bits);
            [v, s, t]
        };
        let next = vertices.len() as u32;
        let index = distinct.index(key((corner.v, corner.vt)), next, |known| key(vertices[known as usize]));
        if index == next {
            vertices.push((corner.v, corner.vt));
        }
        index
    };
    let triangles = corners.iter().map(|t| t.map(&mut vertex)).collect();
    drop(corners);
    TriangleMesh {
        positions: vertices.iter().map(|&(v, _)| positions[v as usize]).collect(),
        triangles,
        uvs: vertices.iter().map(|&(_, vt)| uvs[vt as usize]).collect(),
        colors: vertices.iter().filter_map(|&(v, _)| colors.get(v as usize).copied()).collect(),
        ..TriangleMesh::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{obj::scan, pieces::Pieces};
    use std::path::Path;

    fn mesh(text: &str) -> ObjMesh {
        let data = scan::scan(Path::new("a.obj"), Pieces::of(text.as_bytes()));
        build(&mut data.unwrap_or_else(|e| panic!("{e}")), 60f32.to_radians())
    }

    const SQUARE: &str = "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nvt 0 0\nvt 1 1\nvn 0 3 0\n";

    #[test]
    fn corners_that_agree_share_a_vertex() {
        let m = mesh(&format!("{SQUARE}f 1/1/1 2/1/1 3/1/1\nf 1/1/1 3/2/1 4/1/1\n"));
        assert_eq!(m.mesh.positions.len(), 5);
        assert_eq!(m.mesh.normals[0], [0.0, 1.0, 0.0]);
        assert!(m.mesh.slots.is_empty());
    }

    #[test]
    fn colours_of_vertices_are_srgb_and_part_vertices_at_one_place() {
        let m =
            mesh("v 0 0 0 1 0.5 0\nv 0 0 1 1 1 1 0.25\nv 1 0 1\nv 0 0 0 0 0 1\nv 1 0 0 nan 0 0\nf 1 2 3\nf 4 3 5\n");
        let colors = m.mesh.colors;
        assert!((colors[0][1] - 0.214).abs() < 0.001 && colors[0][0] == 1.0, "{:?}", colors[0]);
        assert_eq!(colors[1..], [[1., 1., 1., 0.25], [1.; 4], [0., 0., 1., 1.], [1.; 4]]);
        let bytes = mesh("v 0 0 0 255 0 0\nv 0 0 1 0 255 0\nv 1 0 1 0 0 128\nf 1 2 3\n").mesh.colors;
        assert!(bytes[0] == [1., 0., 0., 1.] && (bytes[2][2] - 0.216).abs() < 0.001, "{bytes:?}");
        // A single weight, or numbers in a comment after the coordinates, are no colour.
        assert!(mesh("v 0 0 0 1\nv 0 0 1 # 1 1 1\nv 1 0 1\nf 1 2 3\n").mesh.colors.is_empty());
    }

    #[test]
    fn a_face_without_normals_gets_its_own_among_faces_with_them() {
        let m = mesh(&format!("{SQUARE}f 1//1 2//1 3//1\nf 1 3 4\n"));
        assert_eq!(m.mesh.normals.len(), 4);
        assert!(m.mesh.normals.iter().all(|n| *n == [0.0, 1.0, 0.0]));
    }

    #[test]
    fn materials_become_slots_in_order_of_use_and_flat_faces_are_dropped() {
        let m = mesh(&format!("{SQUARE}usemtl z\nf 1 2 2\nusemtl b\nf 1 2 3\nusemtl a\nf 1 3 4\n"));
        assert_eq!((m.slot_materials, m.mesh.slots, m.dropped), (vec![1, 2], vec![0, 1], 1));
    }
}
