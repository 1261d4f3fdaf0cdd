//! Flat shading for meshes that are joined with smooth ones: vertices are no longer shared by triangles.

use glam::Vec3;
use throng_scene::{
    TriangleMesh,
    rig::{Deformers, MorphTarget},
};

/// Gives each triangle three separate vertices with the normal of its plane. Morph targets lose their normals, which a flat mesh does not
/// need.
pub fn unweld(mesh: &TriangleMesh, deformers: &Deformers) -> (TriangleMesh, Deformers) {
    let corners: Vec<usize> = mesh.triangles.as_flattened().iter().map(|&v| v as usize).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let flat = TriangleMesh {
        positions: pick(&mesh.positions, &corners, 1),
        triangles: triangles.collect(),
        normals: normals(mesh),
        uvs: pick(&mesh.uvs, &corners, 1),
        uvs1: pick(&mesh.uvs1, &corners, 1),
        colors: pick(&mesh.colors, &corners, 1),
        tangents: pick(&mesh.tangents, &corners, 1),
        slots: mesh.slots.clone(),
    };
    let influences = deformers.joints_per_vertex as usize;
    let target = |target: &MorphTarget| MorphTarget {
        positions: pick(&target.positions, &corners, 1),
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    let moved = Deformers {
        joints_per_vertex: deformers.joints_per_vertex,
        joints: pick(&deformers.joints, &corners, influences),
        weights: pick(&deformers.weights, &corners, influences),
        targets: deformers.targets.iter().map(target).collect(),
    };
    (flat, moved)
}

/// The runs of `size` elements that belong to each of `vertices`; empty if `of` is empty.
fn pick<T: Copy>(of: &[T], vertices: &[usize], size: usize) -> Vec<T> {
    let run = |&vertex: &usize| of.get(vertex * size..(vertex + 1) * size);
    vertices.iter().filter_map(run).flatten().copied().collect()
}

fn normals(mesh: &TriangleMesh) -> Vec<[f32; 3]> {
    let normal = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|v| Vec3::from(mesh.positions[v as usize]));
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        [normal.to_array(); 3]
    };
    mesh.triangles.iter().flat_map(normal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_triangle_gets_vertices_with_all_that_belongs_to_them() {
        let mesh = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            triangles: vec![[0, 1, 2], [0, 3, 1]],
            uvs: vec![[0.0; 2], [1.0; 2], [2.0; 2], [3.0; 2]],
            ..TriangleMesh::default()
        };
        let deformers = Deformers {
            joints_per_vertex: 4,
            joints: (0..16).collect(),
            weights: vec![0.25; 16],
            targets: vec![MorphTarget {
                positions: vec![[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]],
                ..MorphTarget::default()
            }],
        };
        let (flat, moved) = unweld(&mesh, &deformers);
        assert_eq!(flat.triangles, [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(flat.positions[4], [0.0, 0.0, 1.0]);
        assert_eq!((flat.normals[0], flat.normals[5]), ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]));
        assert_eq!((flat.uvs[4], moved.targets[0].positions[4]), ([3.0; 2], [3.0; 3]));
        assert_eq!(moved.joints[16..20], [12, 13, 14, 15]);
        assert!(flat.colors.is_empty());
    }
}
