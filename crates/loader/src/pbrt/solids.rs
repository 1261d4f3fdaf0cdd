//! Triangles of round shapes and of bilinear patches.

use glam::{Vec2, Vec3};
use throng_pbrt::Points;
use throng_scene::TriangleMesh;

/// Segments around the whole of a round shape, and along a part of a sphere.
const AROUND: u32 = 96;
const ALONG: u32 = 48;
/// Segments along each side of a patch that is not flat.
const PATCH: u32 = 8;

/// A part of a sphere.
pub fn sphere(radius: f32, heights: [f32; 2], phi_max: f32) -> TriangleMesh {
    let [low, high] = heights.map(|z| (z / radius).clamp(-1.0, 1.0).acos());
    grid(around(phi_max), ALONG, |u, v| {
        let (polar, phi) = (low + (high - low) * v, u * phi_max.to_radians());
        let normal = Vec3::new(polar.sin() * phi.cos(), polar.sin() * phi.sin(), polar.cos());
        (normal * radius, normal)
    })
}

/// The side of a cylinder.
pub fn cylinder(radius: f32, [low, high]: [f32; 2], phi_max: f32) -> TriangleMesh {
    grid(around(phi_max), 1, |u, v| {
        let phi = u * phi_max.to_radians();
        let normal = Vec3::new(phi.cos(), phi.sin(), 0.0);
        (normal * radius + Vec3::Z * (low + (high - low) * v), normal)
    })
}

/// A disc between two radii, which faces +Z.
pub fn disk([inner, outer]: [f32; 2], height: f32, phi_max: f32) -> TriangleMesh {
    grid(around(phi_max), 1, |u, v| {
        let phi = u * phi_max.to_radians();
        let radius = outer + (inner - outer) * v;
        (Vec3::new(radius * phi.cos(), radius * phi.sin(), height), Vec3::Z)
    })
}

/// Patches, flat ones as two triangles each.
pub fn bilinear(points: &Points, patches: &[[u32; 4]]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for patch in patches {
        let [a, b, c, d] = patch.map(|index| Vec3::from(points.positions[index as usize]));
        let bend = (d - b - c + a).length();
        let size = (d - a).length().max((b - c).length());
        let sides = if bend > 1e-4 * size { PATCH } else { 1 };
        let normal = |u: f32, v: f32| {
            let (along_u, along_v) = ((b - a).lerp(d - c, v), (c - a).lerp(d - b, u));
            along_u.cross(along_v).normalize_or(Vec3::Z)
        };
        let at = |values: &[[f32; 3]], u: f32, v: f32| {
            let [a, b, c, d] = patch.map(|index| Vec3::from(values[index as usize]));
            a.lerp(b, u).lerp(c.lerp(d, u), v)
        };
        let mut own = grid(sides, sides, |u, v| {
            let given = (!points.normals.is_empty()).then(|| at(&points.normals, u, v));
            (at(&points.positions, u, v), given.unwrap_or_else(|| normal(u, v)))
        });
        if !points.uvs.is_empty() {
            let [a, b, c, d] = patch.map(|index| Vec2::from(points.uvs[index as usize]));
            own.uvs.iter_mut().for_each(|uv| *uv = a.lerp(b, uv[0]).lerp(c.lerp(d, uv[0]), uv[1]).to_array());
        }
        let first = mesh.positions.len() as u32;
        mesh.positions.append(&mut own.positions);
        mesh.normals.append(&mut own.normals);
        mesh.uvs.append(&mut own.uvs);
        mesh.triangles.extend(own.triangles.iter().map(|t| t.map(|vertex| vertex + first)));
    }
    mesh
}

fn around(phi_max: f32) -> u32 {
    ((AROUND as f32 * phi_max / 360.0).ceil() as u32).max(1)
}

/// Points and normals over a grid of squares, whose texture coordinates go from 0 to 1.
fn grid(columns: u32, rows: u32, at: impl Fn(f32, f32) -> (Vec3, Vec3)) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
            let (position, normal) = at(u, v);
            mesh.positions.push(position.to_array());
            mesh.normals.push(normal.to_array());
            mesh.uvs.push([u, v]);
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let [b, c, d] = [a + 1, a + columns + 1, a + columns + 2];
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    mesh
}
