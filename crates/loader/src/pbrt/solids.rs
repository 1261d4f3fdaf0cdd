//! Triangles of round shapes and of bilinear patches.

use glam::{Mat3, Vec2, Vec3};
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
    turned(phi_max, ALONG, |v| {
        let polar = low + (high - low) * v;
        // The sine of π is slightly negative.
        let (sin, cos) = (polar.sin().max(0.0), polar.cos());
        [Vec3::new(sin, 0.0, cos) * radius, Vec3::new(-cos, 0.0, sin)]
    })
}

/// The side of a cylinder.
pub fn cylinder(radius: f32, [low, high]: [f32; 2], phi_max: f32) -> TriangleMesh {
    turned(phi_max, 1, |v| [Vec3::new(radius, 0.0, low + (high - low) * v), Vec3::Z])
}

/// A disc between two radii, which faces +Z.
pub fn disk([inner, outer]: [f32; 2], height: f32, phi_max: f32) -> TriangleMesh {
    turned(phi_max, 1, |v| [Vec3::new(outer + (inner - outer) * v, 0.0, height), Vec3::NEG_X])
}

/// The side of a cone.
pub fn cone(radius: f32, height: f32, phi_max: f32) -> TriangleMesh {
    hyperboloid([[radius, 0.0, 0.0], [0.0, 0.0, height]], phi_max)
}

/// A part of a paraboloid, whose radius is given at its upper end.
pub fn paraboloid(radius: f32, [low, high]: [f32; 2], phi_max: f32) -> TriangleMesh {
    let scale = radius / high.max(f32::MIN_POSITIVE).sqrt();
    turned(phi_max, ALONG, |v| {
        let root = (low + (high - low) * v).sqrt();
        [Vec3::new(scale * root, 0.0, root * root), Vec3::new(scale, 0.0, 2.0 * root)]
    })
}

/// The surface of a segment that turns about +Z.
pub fn hyperboloid(ends: [[f32; 3]; 2], phi_max: f32) -> TriangleMesh {
    let [a, b] = ends.map(Vec3::from);
    turned(phi_max, ALONG, |v| [a.lerp(b, v), b - a])
}

/// The surface of a curve that turns about +Z. `at` returns a point of it and its direction.
fn turned(phi_max: f32, rows: u32, at: impl Fn(f32) -> [Vec3; 2]) -> TriangleMesh {
    let columns = ((AROUND as f32 * phi_max / 360.0).ceil() as u32).max(1);
    grid(columns, rows, |u, v| {
        let [point, direction] = at(v);
        let across = Vec3::new(-point.y, point.x, 0.0).normalize_or(Vec3::Y);
        let turn = Mat3::from_rotation_z(u * phi_max.to_radians());
        (turn * point, turn * across.cross(direction).normalize_or(Vec3::Z))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether all normals are as expected at the positions.
    fn faces(mesh: &TriangleMesh, expected: impl Fn(Vec3) -> Vec3) -> bool {
        let pairs = mesh.positions.iter().zip(&mesh.normals);
        mesh.normals.len() == mesh.positions.len()
            && pairs.into_iter().all(|(at, normal)| Vec3::from(*normal).distance(expected(Vec3::from(*at))) < 1e-4)
    }

    #[test]
    fn round_shapes_face_outwards() {
        assert!(faces(&sphere(2.0, [-2.0, 2.0], 360.0), |at| at / 2.0));
        assert!(faces(&cylinder(2.0, [-1.0, 1.0], 90.0), |at| at.with_z(0.0) / 2.0));
        assert!(faces(&disk([0.0, 2.0], 1.0, 360.0), |_| Vec3::Z));
        // x² + y² = z has its gradient along (2x, 2y, -1).
        assert!(faces(&paraboloid(2.0, [0.0, 4.0], 360.0), |at| Vec3::new(2.0 * at.x, 2.0 * at.y, -1.0).normalize()));
        // x² + y² - z² = 1, by a segment that is askew.
        let ends = [[1.0, -1.0, -1.0], [1.0, 1.0, 1.0]];
        assert!(faces(&hyperboloid(ends, 360.0), |at| Vec3::new(at.x, at.y, -at.z).normalize()));
        let cone = cone(1.0, 1.0, 360.0);
        assert!(cone.normals.iter().all(|normal| (normal[2] - 0.5f32.sqrt()).abs() < 1e-4));
    }
}
