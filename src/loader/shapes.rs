//! The meshes that need no file: quad, box and disc.

use crate::scene::TriangleMesh;
use glam::Vec3;
use std::f32::consts::TAU;

/// A square of side 1 in the XZ plane about the origin, facing +Y; UV (0, 0) to (`tile`, `tile`).
pub fn quad(tile: f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    push_face(&mut mesh, [Vec3::ZERO, Vec3::X, Vec3::NEG_Z], tile);
    mesh
}

/// The unit cube about the origin with flat faces, each with UV (0, 0) to (`tile`, `tile`).
pub fn cuboid(tile: f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let faces = [
        (Vec3::NEG_Z, Vec3::Y),
        (Vec3::Z, Vec3::Y),
        (Vec3::X, Vec3::NEG_Z),
        (Vec3::X, Vec3::Z),
        (Vec3::X, Vec3::Y),
        (Vec3::NEG_X, Vec3::Y),
    ];
    for (u, v) in faces {
        push_face(&mut mesh, [u.cross(v) * 0.5, u, v], tile);
    }
    mesh
}

/// A polygon in the XZ plane about the origin, facing +Y, with the area of the disc of radius 1; UVs as of the square around that.
pub fn disc() -> TriangleMesh {
    const CORNERS: u32 = 64;
    let turn = TAU / CORNERS as f32;
    let radius = (turn / turn.sin()).sqrt();
    let mut mesh = TriangleMesh { positions: vec![[0.0; 3]], uvs: vec![[0.5; 2]], ..TriangleMesh::default() };
    for corner in 0..CORNERS {
        let (sin, cos) = (corner as f32 * turn).sin_cos();
        mesh.positions.push([cos * radius, 0.0, -sin * radius]);
        mesh.uvs.push([0.5 + 0.5 * cos, 0.5 + 0.5 * sin]);
        mesh.triangles.push([0, corner + 1, (corner + 1) % CORNERS + 1]);
    }
    mesh.normals = vec![[0.0, 1.0, 0.0]; mesh.positions.len()];
    mesh
}

/// Eight corners, each once, for points on the vertices of a box.
pub fn cuboid_corners() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let mesh = cuboid(1.0);
    let mut corners: Vec<[f32; 3]> = Vec::new();
    let mut corner = |v: u32| {
        let p = mesh.positions[v as usize];
        let found = corners.iter().position(|c| *c == p).unwrap_or(corners.len());
        if found == corners.len() {
            corners.push(p);
        }
        found as u32
    };
    let triangles = mesh.triangles.iter().map(|t| t.map(&mut corner)).collect();
    (corners, triangles)
}

/// A unit square about `center` spanned by `u` and `v`, facing their cross product.
fn push_face(mesh: &mut TriangleMesh, [center, u, v]: [Vec3; 3], tile: f32) {
    let base = mesh.positions.len() as u32;
    for (a, b) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
        mesh.positions.push((center + u * (a - 0.5) + v * (b - 0.5)).to_array());
        mesh.normals.push(u.cross(v).to_array());
        mesh.uvs.push([a * tile, b * tile]);
    }
    mesh.triangles.extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
}

#[cfg(test)]
mod tests {
    use super::{super::normals::face_normal, *};

    fn faces_agree_with_normals(mesh: &TriangleMesh) -> bool {
        mesh.triangles.iter().all(|t| {
            let n = face_normal(t.map(|v| mesh.positions[v as usize])).as_vec3();
            t.iter().all(|&v| n.distance(mesh.normals[v as usize].into()) < 1e-6)
        })
    }

    #[test]
    fn the_quad_faces_up() {
        let q = quad(3.0);
        assert!(faces_agree_with_normals(&q) && q.normals[0] == [0.0, 1.0, 0.0]);
        assert_eq!(q.uvs[2], [3.0, 3.0]);
    }

    #[test]
    fn the_disc_faces_up_and_has_its_area() {
        let disc = disc();
        let corner = |v: u32| Vec3::from(disc.positions[v as usize]);
        let area = |t: &[u32; 3]| 0.5 * (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])).y;
        let area: f32 = disc.triangles.iter().map(area).sum();
        assert!(faces_agree_with_normals(&disc) && (area / std::f32::consts::PI - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_box_faces_outwards_and_has_eight_corners() {
        let b = cuboid(1.0);
        assert!(faces_agree_with_normals(&b));
        assert!(b.positions.iter().zip(&b.normals).all(|(p, n)| Vec3::from(*p).dot((*n).into()) == 0.5));
        assert_eq!(cuboid_corners().0.len(), 8);
    }
}
