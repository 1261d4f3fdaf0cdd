//! Displaced vertices, and their normals on the displaced surface.

use super::deform::{Chunk, in_range};
use crate::{
    TriangleMesh,
    rig::{Displacement, SAME_NORMAL},
};
use glam::Vec3A;
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Vertices per task.
const VERTICES: usize = 4096;

/// Displaces a mesh that does not deform. Deterministic, parallel.
pub fn displace(displacement: &Displacement, mesh: &mut TriangleMesh) {
    let TriangleMesh { positions, normals, tangents, .. } = mesh;
    displace_vertices(displacement, Chunk { first: 0, positions, normals, tangents });
}

/// Moves vertices along their normals, and computes normals of the displaced surface. Vertices without normals move along the mean normals
/// of their faces, and get none. Returns the bounds of all positions. Deterministic, parallel.
pub(super) fn displace_vertices(displacement: &Displacement, out: Chunk<'_>) -> Aabb {
    let Chunk { positions, normals, tangents, .. } = out;
    let has_normals = !normals.is_empty();
    let mut own = if has_normals { Vec::new() } else { vec![[0.0, 1.0, 0.0]; positions.len()] };
    let normals = if has_normals { normals } else { &mut own };
    if displacement.from_faces {
        face_normals(displacement, positions, normals);
    }
    displacement.points.iter().for_each(|group| share_direction(group, normals));
    let bounds = move_along(normals, &displacement.heights, positions);
    if has_normals {
        face_normals(displacement, positions, normals);
        straighten(tangents, normals);
    }
    bounds
}

/// Gives vertices at one point the mean of their distinct normals. Opposite normals, of two surfaces that touch, stay.
fn share_direction(group: &[u32], normals: &mut [[f32; 3]]) {
    let normal = |vertex: &u32| Vec3A::from(normals[*vertex as usize]);
    let is_repeated = |at: usize| group[..at].iter().any(|other| normal(other).dot(normal(&group[at])) >= SAME_NORMAL);
    let distinct = (0..group.len()).filter(|&at| !is_repeated(at)).map(|at| normal(&group[at]));
    if let Some(mean) = distinct.sum::<Vec3A>().try_normalize() {
        group.iter().for_each(|&vertex| normals[vertex as usize] = mean.into());
    }
}

fn move_along(normals: &[[f32; 3]], heights: &[f32], positions: &mut [[f32; 3]]) -> Aabb {
    let moved = positions.par_chunks_mut(VERTICES).zip(normals.par_chunks(VERTICES)).zip(heights.par_chunks(VERTICES));
    let boxes: Vec<Aabb> = moved
        .map(|((positions, normals), heights)| {
            let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
            for ((position, &normal), &height) in positions.iter_mut().zip(normals).zip(heights) {
                let moved = in_range(Vec3A::from(*position) + Vec3A::from(normal) * height);
                *position = moved.into();
                (min, max) = (min.min(moved), max.max(moved));
            }
            Aabb { min: min.into(), max: max.into() }
        })
        .collect();
    boxes.into_iter().fold(Aabb::EMPTY, Aabb::union)
}

/// Computes the unit normals of all vertices as means of the normals of their faces. A vertex whose faces have no area keeps its normal.
fn face_normals(displacement: &Displacement, positions: &[[f32; 3]], normals: &mut [[f32; 3]]) {
    let sum = |vertex: usize| mean_normal(displacement.rings.of(vertex), positions, vertex);
    normals.par_iter_mut().with_min_len(VERTICES).enumerate().for_each(|(vertex, normal)| {
        if let Some(mean) = sum(vertex).try_normalize() {
            *normal = mean.into();
        }
    });
    for group in displacement.smooth.iter() {
        let all: Vec3A = group.iter().map(|&vertex| sum(vertex as usize)).sum();
        if let Some(mean) = all.try_normalize() {
            group.iter().for_each(|&vertex| normals[vertex as usize] = mean.into());
        }
    }
}

/// The sum of the normals of the triangles at a vertex, with the weights that make it exact on spheres (Max, "Weights for computing vertex
/// normals from facet normals", 1999).
#[inline]
fn mean_normal(ring: &[u32], positions: &[[f32; 3]], vertex: usize) -> Vec3A {
    let middle = Vec3A::from(positions[vertex]);
    let (mut sum, mut before) = (Vec3A::ZERO, Vec3A::ZERO);
    for &neighbour in ring {
        // Zero between two rings.
        let edge = positions.get(neighbour as usize).map_or(Vec3A::ZERO, |&end| Vec3A::from(end) - middle);
        let square = edge.length_squared();
        // Divided first, because products of four short edges are out of the range of floats.
        let edge = if square.is_normal() { edge / square } else { Vec3A::ZERO };
        sum += before.cross(edge);
        before = edge;
    }
    sum
}

/// Makes tangents perpendicular to normals.
fn straighten(tangents: &mut [[f32; 4]], normals: &[[f32; 3]]) {
    tangents.par_iter_mut().zip(normals).for_each(|([x, y, z, _], &normal)| {
        let (tangent, normal) = (Vec3A::new(*x, *y, *z), Vec3A::from(normal));
        let straight = (tangent - normal * normal.dot(tangent)).try_normalize();
        [*x, *y, *z] = straight.unwrap_or_else(|| normal.any_orthonormal_vector()).into();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Vec2, Vec3};
    use std::f32::consts::{PI, TAU};

    /// A sphere with a seam of texture coordinates, whose vertices exist twice there.
    fn sphere(rings: u32, segments: u32, radius: f32) -> TriangleMesh {
        let mut mesh = TriangleMesh::default();
        for ring in 0..=rings {
            for segment in 0..=segments {
                let turn = Vec2::from_angle((segment % segments) as f32 / segments as f32 * TAU);
                let down = Vec2::from_angle(ring as f32 / rings as f32 * PI);
                let across = if ring % rings == 0 { 0.0 } else { down.y };
                let normal = Vec3::new(across * turn.x, down.x, -across * turn.y);
                mesh.positions.push((normal * radius).to_array());
                mesh.normals.push(normal.to_array());
                mesh.uvs.push([segment as f32 / segments as f32, 1.0 - ring as f32 / rings as f32]);
                let (a, b) = (ring * (segments + 1) + segment, (ring + 1) * (segments + 1) + segment);
                if ring < rings && segment < segments {
                    mesh.triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
                }
            }
        }
        mesh
    }

    #[test]
    fn a_sphere_stays_a_sphere_with_a_larger_radius_and_exact_normals() {
        let mut mesh = sphere(16, 32, 2.0);
        let displacement = Displacement::new(&mesh, vec![0.5; mesh.positions.len()]);
        displace(&displacement, &mut mesh);
        for (&position, &normal) in mesh.positions.iter().zip(&mesh.normals) {
            let (position, normal) = (Vec3::from(position), Vec3::from(normal));
            assert!((position.length() - 2.5).abs() < 1e-5, "{position}");
            assert!(normal.distance(position / 2.5) < 2e-5, "{normal} at {position}");
        }
    }

    #[test]
    fn seams_stay_closed_and_smooth_though_heights_differ() {
        let mut mesh = sphere(16, 32, 1.0);
        let heights: Vec<f32> = mesh.uvs.iter().map(|[u, v]| 0.3 * u + 0.1 * (9.0 * v).sin()).collect();
        let displacement = Displacement::new(&mesh, heights);
        displace(&displacement, &mut mesh);
        for ring in 0..=16 {
            let (left, right) = (ring * 33, ring * 33 + 32);
            assert_eq!(mesh.positions[left], mesh.positions[right], "ring {ring}");
            assert_eq!(mesh.normals[left], mesh.normals[right], "ring {ring}");
        }
    }

    #[test]
    fn a_cube_with_sharp_edges_does_not_open() {
        let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|i: u32| [i & 1, i >> 1 & 1, i >> 2].map(|x| x as f32 - 0.5));
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let mut mesh = TriangleMesh::default();
        for side in sides {
            let [a, b, c] = [0, 1, 2].map(|i| Vec3::from(corners[side[i]]));
            let (first, normal) = (mesh.positions.len() as u32, (b - a).cross(c - a));
            mesh.positions.extend(side.map(|corner| corners[corner]));
            mesh.normals.extend([normal.to_array(); 4]);
            mesh.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t: [u32; 3]| t.map(|i| first + i)));
        }
        let before = mesh.clone();
        let displacement = Displacement::new(&mesh, vec![0.3; 24]);
        displace(&displacement, &mut mesh);
        for ((&position, &corner), normals) in
            mesh.positions.iter().zip(&before.positions).zip(mesh.normals.iter().zip(&before.normals))
        {
            let wanted = Vec3::from(corner) * (1.0 + 0.3 / 0.75_f32.sqrt());
            assert!(Vec3::from(position).distance(wanted) < 1e-6, "{position:?} {wanted}");
            assert!(Vec3::from(*normals.0).distance(Vec3::from(*normals.1)) < 1e-6, "edges stay sharp");
        }
    }

    #[test]
    fn a_plane_moves_to_a_ramp_with_the_slope_in_its_normals_and_tangents() {
        let grid: Vec<[f32; 2]> = (0..81).map(|i| [(i % 9) as f32 / 8.0, (i / 9) as f32 / 8.0]).collect();
        let quads = (0..64).map(|i| i / 8 * 9 + i % 8);
        let mut mesh = TriangleMesh {
            positions: grid.iter().map(|[u, v]| [*u, 0.0, -v]).collect(),
            tangents: vec![[1.0, 0.0, 0.0, 1.0]; 81],
            normals: vec![[0.0, 1.0, 0.0]; 81],
            triangles: quads.flat_map(|a| [[a, a + 1, a + 10], [a, a + 10, a + 9]]).collect(),
            ..TriangleMesh::default()
        };
        let flat = TriangleMesh { normals: Vec::new(), tangents: Vec::new(), ..mesh.clone() };
        let heights: Vec<f32> = grid.iter().map(|[u, _]| 0.75 * u).collect();
        displace(&Displacement::new(&mesh, heights.clone()), &mut mesh);
        for (i, [u, v]) in grid.iter().enumerate() {
            let position = Vec3::from(mesh.positions[i]);
            assert!(position.distance(Vec3::new(*u, 0.75 * u, -v)) < 1e-6);
            assert!(Vec3::from(mesh.normals[i]).distance(Vec3::new(-0.6, 0.8, 0.0)) < 1e-6);
            let [x, y, z, sign] = mesh.tangents[i];
            assert!(Vec3::new(x, y, z).distance(Vec3::new(0.8, 0.6, 0.0)) < 1e-6 && sign == 1.0);
        }
        let mut without = flat.clone();
        displace(&Displacement::new(&flat, heights), &mut without);
        assert_eq!((without.positions, without.normals.len()), (mesh.positions, 0));
    }
}
