//! Meshes that need no file: quad, box, and solids of revolution about the Y axis.

use glam::{Vec2, Vec3};
use std::{collections::HashMap, f32::consts::TAU};
use throng_scene::TriangleMesh;

/// A square with side 1 in the XZ plane, centred at the origin and facing +Y; UV (0, 0) to (`tile`, `tile`).
pub fn quad(tile: f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    push_face(&mut mesh, [Vec3::ZERO, Vec3::X, Vec3::NEG_Z], tile);
    mesh
}

/// A box centred at the origin with flat faces, each with UV (0, 0) to (`tile`, `tile`).
pub fn cuboid(size: Vec3, tile: f32) -> TriangleMesh {
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
    for p in &mut mesh.positions {
        *p = (Vec3::from(*p) * size).to_array();
    }
    mesh
}

/// A cylinder about the Y axis, centred at the origin, with smooth shading around its axis.
pub fn cylinder(radius: f32, height: f32, segments: u32, caps: bool) -> TriangleMesh {
    let (top, bottom) = (Vec2::new(radius, height * 0.5), Vec2::new(radius, height * -0.5));
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &[(bottom, Vec2::X), (top, Vec2::X)], segments);
    if caps {
        push_disc(&mut mesh, bottom, -1.0, segments);
        push_disc(&mut mesh, top, 1.0, segments);
    }
    mesh
}

/// A cone about the Y axis, centred at the origin, with its tip at the top.
pub fn cone(radius: f32, height: f32, segments: u32, caps: bool) -> TriangleMesh {
    let (top, bottom) = (Vec2::new(0.0, height * 0.5), Vec2::new(radius, height * -0.5));
    let normal = Vec2::new(height, radius).normalize_or(Vec2::X);
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &[(bottom, normal), (top, normal)], segments);
    if caps {
        push_disc(&mut mesh, bottom, -1.0, segments);
    }
    mesh
}

/// A truncated cone about the Y axis, centred at the origin, with its radii at the bottom and at the top.
pub fn frustum([low, high]: [f32; 2], height: f32, segments: u32) -> TriangleMesh {
    let (top, bottom) = (Vec2::new(high, height * 0.5), Vec2::new(low, height * -0.5));
    let normal = Vec2::new(height, low - high).normalize_or(Vec2::X);
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &[(bottom, normal), (top, normal)], segments);
    push_disc(&mut mesh, bottom, -1.0, segments);
    push_disc(&mut mesh, top, 1.0, segments);
    mesh
}

/// A capsule about the Y axis, centred at the origin: two half spheres with these radii, and the part of a cone between their equators, which
/// are `height` apart.
pub fn capsule([low, high]: [f32; 2], height: f32, segments: u32) -> TriangleMesh {
    let rings = segments / 4;
    let arc = |radius: f32, middle: f32, first: f32| {
        move |ring: u32| {
            let angle = first + ring as f32 / rings as f32 * (0.25 * TAU);
            let normal = Vec2::from_angle(angle);
            // Poles are exactly on the axis.
            let x = if (angle.abs() - 0.25 * TAU).abs() < 1e-5 { 0.0 } else { normal.x };
            (Vec2::new(x, normal.y) * radius + Vec2::new(0.0, middle), normal)
        }
    };
    let bottom = (0..=rings).map(arc(low, height * -0.5, -0.25 * TAU));
    let top = (0..=rings).map(arc(high, height * 0.5, 0.0));
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &bottom.chain(top).collect::<Vec<_>>(), segments);
    mesh
}

/// A disc in the XZ plane, centred at the origin and facing +Y; UV (0, 0) to (1, 1) over its bounding square.
pub fn disc(radius: f32, segments: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    push_disc(&mut mesh, Vec2::new(radius, 0.0), 1.0, segments);
    mesh
}

/// A torus about the Y axis, centred at the origin.
pub fn torus(radius: f32, tube: f32, segments: u32) -> TriangleMesh {
    let around = (segments / 2).max(3);
    let profile = (0..=around).map(|i| {
        let normal = turned(i, around);
        (Vec2::new(radius, 0.0) + normal * tube, normal)
    });
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &profile.collect::<Vec<_>>(), segments);
    mesh
}

/// A smooth unit sphere centred at the origin, with this number of sides around the Y axis.
pub fn ball(segments: u32) -> TriangleMesh {
    let rings = segments / 2;
    let profile = (0..=rings).map(|ring| {
        let point = Vec2::from_angle((ring as f32 / rings as f32 - 0.5) * (0.5 * TAU));
        // Poles are exactly on the axis.
        let point = if ring.is_multiple_of(rings) { Vec2::new(0.0, point.y) } else { point };
        (point, point)
    });
    let mut mesh = TriangleMesh::default();
    push_turned(&mut mesh, &profile.collect::<Vec<_>>(), segments);
    mesh
}

/// Positions without repetitions, in the order of first use, and triangles between them.
pub fn welded(mesh: &TriangleMesh) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let mut points = Vec::new();
    let mut known = HashMap::new();
    // Adding 0 turns -0 into 0.
    let mut point = |v: u32| {
        let p = mesh.positions[v as usize];
        *known.entry(p.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
            points.push(p);
            points.len() as u32 - 1
        })
    };
    // Vertices are added first, because a triangle need not start with the first one.
    (0..mesh.positions.len() as u32).for_each(|v| {
        point(v);
    });
    let triangles = mesh.triangles.iter().map(|t| t.map(&mut point)).collect();
    (points, triangles)
}

/// A unit square centred at `center`, spanned by `u` and `v`, which faces their cross product.
fn push_face(mesh: &mut TriangleMesh, [center, u, v]: [Vec3; 3], tile: f32) {
    let base = mesh.positions.len() as u32;
    for (a, b) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
        mesh.positions.push((center + u * (a - 0.5) + v * (b - 0.5)).to_array());
        mesh.normals.push(u.cross(v).to_array());
        mesh.uvs.push([a * tile, b * tile]);
    }
    mesh.triangles.extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
}

/// Cosine and sine of `part` of a full turn divided into `parts`. The end equals the start exactly.
fn turned(part: u32, parts: u32) -> Vec2 {
    Vec2::from_angle((part % parts) as f32 * (TAU / parts as f32))
}

/// Rotates a profile about the Y axis. The profile lists points (distance from the axis, height) with their normals. Its front is to the
/// right of its direction. u runs around the axis, v along the profile.
fn push_turned(mesh: &mut TriangleMesh, profile: &[(Vec2, Vec2)], segments: u32) {
    let base = mesh.positions.len() as u32;
    let row = segments + 1;
    for (step, (point, normal)) in profile.iter().enumerate() {
        for part in 0..row {
            let turn = turned(part, segments);
            let at = |p: &Vec2| [p.x * turn.x, p.y, -p.x * turn.y];
            mesh.positions.push(at(point));
            mesh.normals.push(at(normal));
            mesh.uvs.push([part as f32 / segments as f32, step as f32 / (profile.len() - 1) as f32]);
        }
    }
    for (step, pair) in (0..).zip(profile.windows(2)) {
        for a in (0..segments).map(|part| base + step * row + part) {
            let [b, c, d] = [a + 1, a + row + 1, a + row];
            // At the axis, one of the two triangles has no area.
            mesh.triangles.extend((pair[0].0.x != 0.0).then_some([a, b, c]));
            mesh.triangles.extend((pair[1].0.x != 0.0).then_some([a, c, d]));
        }
    }
}

/// A disc about the Y axis. `rim` is its radius and height; it faces +Y if `side` is 1, and -Y if it is -1.
fn push_disc(mesh: &mut TriangleMesh, rim: Vec2, side: f32, segments: u32) {
    let base = mesh.positions.len() as u32;
    let points = (0..segments).map(|part| turned(part, segments)).chain([Vec2::ZERO]);
    for p in points {
        mesh.positions.push([p.x * rim.x, rim.y, -p.y * rim.x]);
        mesh.normals.push([0.0, side, 0.0]);
        mesh.uvs.push([0.5 + 0.5 * p.x, 0.5 + 0.5 * p.y * side]);
    }
    for part in 0..segments {
        let (a, b) = (base + part, base + (part + 1) % segments);
        let middle = base + segments;
        mesh.triangles.push(if side > 0.0 { [a, b, middle] } else { [b, a, middle] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::normals::face_normal;

    fn faces_agree_with_normals(mesh: &TriangleMesh, most: f32) -> bool {
        mesh.triangles.iter().all(|t| {
            let n = face_normal(t.map(|v| mesh.positions[v as usize])).as_vec3();
            t.iter().all(|&v| n.distance(mesh.normals[v as usize].into()) < most)
        })
    }

    /// The volume enclosed by the triangles; negative if they face inwards.
    fn volume(mesh: &TriangleMesh) -> f32 {
        let sixth = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| Vec3::from(mesh.positions[v as usize]));
            a.dot(b.cross(c)) / 6.0
        };
        mesh.triangles.iter().map(sixth).sum()
    }

    #[test]
    fn the_quad_faces_up() {
        let q = quad(3.0);
        assert!(faces_agree_with_normals(&q, 1e-6) && q.normals[0] == [0.0, 1.0, 0.0]);
        assert_eq!(q.uvs[2], [3.0, 3.0]);
    }

    #[test]
    fn the_box_faces_outwards_and_has_eight_corners() {
        let b = cuboid(Vec3::ONE, 1.0);
        assert!(faces_agree_with_normals(&b, 1e-6));
        assert!(b.positions.iter().zip(&b.normals).all(|(p, n)| Vec3::from(*p).dot((*n).into()) == 0.5));
        assert_eq!(welded(&b).0.len(), 8);
        let long = cuboid(Vec3::new(4.0, 3.0, 2.0), 1.0);
        assert!(faces_agree_with_normals(&long, 1e-6) && (volume(&long) - 24.0).abs() < 1e-4);
    }

    #[test]
    fn round_shapes_face_outwards_and_have_their_volume() {
        let pi = std::f32::consts::PI;
        let shapes = [
            (cylinder(2.0, 3.0, 256, true), 12.0 * pi, 256 * 4),
            (cone(2.0, 3.0, 256, true), 4.0 * pi, 256 * 2),
            (torus(2.0, 0.5, 256), pi * pi, 256 * 128 * 2),
            (frustum([2.0, 1.0], 3.0, 256), 7.0 * pi, 256 * 4),
            (capsule([1.0, 1.0], 2.0, 256), 2.0 * pi + 4.0 / 3.0 * pi, 256 * 128 * 2),
            (ball(256), 4.0 / 3.0 * pi, 256 * 127 * 2),
        ];
        for (mesh, expected, triangles) in shapes {
            assert!((volume(&mesh) / expected - 1.0).abs() < 2e-3, "{} {expected}", volume(&mesh));
            assert!(faces_agree_with_normals(&mesh, 0.05));
            assert_eq!((mesh.triangles.len(), mesh.uvs.len()), (triangles, mesh.positions.len()));
        }
    }

    #[test]
    fn a_disc_has_the_uvs_of_a_quad_and_faces_up() {
        let (disc, quad) = (disc(0.5, 4), quad(1.0));
        assert!(faces_agree_with_normals(&disc, 1e-6));
        let at = |mesh: &TriangleMesh, uv: &[f32; 2]| {
            let corners = [0, 1, 3].map(|v| (Vec3::from(mesh.positions[v]), mesh.uvs[v]));
            let (u, v) = (corners[1].0 - corners[0].0, corners[2].0 - corners[0].0);
            corners[0].0 + u * uv[0] + v * uv[1]
        };
        for (p, uv) in disc.positions.iter().zip(&disc.uvs) {
            assert!(at(&quad, uv).distance(Vec3::from(*p)) < 1e-5);
        }
    }

    #[test]
    fn welding_closes_seams() {
        let (points, triangles) = welded(&cylinder(1.0, 1.0, 8, true));
        assert_eq!((points.len(), triangles.len()), (18, 32));
        assert!(triangles.iter().flatten().all(|&v| v < 18));
    }
}
