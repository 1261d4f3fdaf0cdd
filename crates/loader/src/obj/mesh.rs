//! Converts the separate lists of an OBJ file to one mesh, with one vertex per distinct (position, UV, normal) and one slot per material.

use super::{Corner, ObjData};
use crate::geometry::normals::{Fans, face_normal, unit};
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

/// Creates one mesh from the whole file. Faces without normals are smoothed up to `smooth_angle` radians.
///
/// The result is empty if no triangle has an area.
pub fn build(data: &ObjData, smooth_angle: f32) -> ObjMesh {
    let kept: Vec<u32> = (0..data.triangles.len() as u32).into_par_iter().filter(|&t| has_area(data, t)).collect();
    let normals = corner_normals(data, &kept, smooth_angle);
    let mut out = Unifier { data, mesh: TriangleMesh::default(), vertex_of: HashMap::new() };
    let (mut slot_materials, mut slot_of) = (Vec::new(), HashMap::new());
    for (&t, normals) in kept.iter().zip(&normals) {
        let corners = data.triangles[t as usize];
        let triangle = std::array::from_fn(|i| out.vertex(corners[i], normals[i]));
        out.mesh.triangles.push(triangle);
        let material = data.triangle_materials[t as usize];
        let slot = *slot_of.entry(material).or_insert_with(|| {
            slot_materials.push(material);
            slot_materials.len() as u32 - 1
        });
        out.mesh.slots.push(slot);
    }
    let mut mesh = out.mesh;
    if slot_materials.len() < 2 {
        mesh.slots = Vec::new();
    }
    ObjMesh { mesh, slot_materials, dropped: data.triangles.len() - kept.len() }
}

/// The file's triangles as indices of positions, for scattering points on vertices.
pub fn position_triangles(data: &ObjData) -> Vec<[u32; 3]> {
    data.triangles.iter().map(|t| t.map(|c| c.v)).collect()
}

fn has_area(data: &ObjData, triangle: u32) -> bool {
    face_normal(data.triangles[triangle as usize].map(|c| data.positions[c.v as usize])) != DVec3::ZERO
}

fn corner_normals(data: &ObjData, kept: &[u32], smooth_angle: f32) -> Vec<[[f32; 3]; 3]> {
    let own: Vec<Option<[f32; 3]>> = data.normals.iter().map(|&n| unit(n)).collect();
    let given = |c: &Corner| own.get(c.vn as usize).copied().flatten();
    let complete = kept.iter().all(|&t| data.triangles[t as usize].iter().all(|c| given(c).is_some()));
    let positions: Vec<[u32; 3]> = kept.iter().map(|&t| data.triangles[t as usize].map(|c| c.v)).collect();
    let fans = (!complete).then(|| Fans::new(&data.positions, &positions));
    // The margin keeps exactly coplanar faces smooth at 0 degrees despite rounding.
    let limit = f64::from(smooth_angle).cos() - 1e-9;
    kept.par_iter()
        .enumerate()
        .map(|(i, &t)| {
            data.triangles[t as usize].map(|c| match (given(&c), &fans) {
                (Some(n), _) => n,
                (None, Some(fans)) => fans.corner_normal(i as u32, c.v, limit),
                (None, None) => [0.0, 1.0, 0.0],
            })
        })
        .collect()
}

struct Unifier<'a> {
    data: &'a ObjData,
    mesh: TriangleMesh,
    vertex_of: HashMap<(u32, [u32; 2], [u32; 3]), u32>,
}

impl Unifier<'_> {
    fn vertex(&mut self, corner: Corner, normal: [f32; 3]) -> u32 {
        let next = self.mesh.positions.len() as u32;
        let uv = self.data.uvs.get(corner.vt as usize);
        let uv = uv.copied().unwrap_or_default();
        let key = (corner.v, uv.map(f32::to_bits), normal.map(f32::to_bits));
        let index = *self.vertex_of.entry(key).or_insert(next);
        if index == next {
            let position = self.data.positions[corner.v as usize];
            self.mesh.positions.push(position);
            self.mesh.normals.push(normal);
            if !self.data.uvs.is_empty() {
                self.mesh.uvs.push(uv);
            }
            self.mesh.colors.extend(self.data.colors.get(corner.v as usize));
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obj::scan;
    use std::path::Path;

    fn mesh(text: &str) -> ObjMesh {
        let data = scan::scan(Path::new("a.obj"), text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        build(&data, 60f32.to_radians())
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
