//! Subdivision of triangles by height, so that a mesh has enough vertices to bend.

use glam::{Vec3, Vec4};
use std::collections::HashMap;
use throng_scene::TriangleMesh;

/// Maximum number of times that an edge is halved.
const MOST_ROUNDS: u32 = 8;

/// Subdivides the mesh until edges span at most `most` in height. The decision for an edge depends only on that edge, so no gaps appear.
pub fn lowered(mesh: &TriangleMesh, most: f32) -> TriangleMesh {
    let mut mesh = mesh.clone();
    for _ in 0..MOST_ROUNDS {
        let height = |v: u32| mesh.positions[v as usize][1];
        let is_long = |a: u32, b: u32| (height(a) - height(b)).abs() > most;
        let long: Vec<[bool; 3]> =
            mesh.triangles.iter().map(|&[a, b, c]| [is_long(a, b), is_long(b, c), is_long(c, a)]).collect();
        if !long.as_flattened().contains(&true) {
            break;
        }
        mesh = cut(mesh, &long);
    }
    mesh
}

/// Halves the edges that are marked as long.
fn cut(mut mesh: TriangleMesh, long: &[[bool; 3]]) -> TriangleMesh {
    let (triangles, slots) = (std::mem::take(&mut mesh.triangles), std::mem::take(&mut mesh.slots));
    let mut middles = HashMap::new();
    for (number, (&triangle, long)) in triangles.iter().zip(long).enumerate() {
        let before = mesh.triangles.len();
        let mut middle = |i: usize| {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| add_middle(&mut mesh, a, b))
        };
        // The corners of the triangle, starting with corner `i`.
        let from = |i: usize| [triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]];
        let cut: Vec<[u32; 3]> = match long.iter().filter(|long| **long).count() {
            0 => vec![triangle],
            1 => {
                let i = long.iter().position(|long| *long).unwrap_or(0);
                let ([a, b, c], m) = (from(i), middle(i));
                vec![[a, m, c], [m, b, c]]
            }
            2 => {
                // Starts with the edge after the one that is not halved.
                let i = (long.iter().position(|long| !long).unwrap_or(0) + 1) % 3;
                let ([a, b, c], m, n) = (from(i), middle(i), middle((i + 1) % 3));
                vec![[m, b, n], [a, m, n], [a, n, c]]
            }
            _ => {
                let ([a, b, c], [k, m, n]) = (triangle, [middle(0), middle(1), middle(2)]);
                vec![[a, k, n], [k, b, m], [n, m, c], [k, m, n]]
            }
        };
        mesh.triangles.extend(cut);
        if let Some(&slot) = slots.get(number) {
            mesh.slots.resize(mesh.slots.len() + mesh.triangles.len() - before, slot);
        }
    }
    mesh
}

/// Adds the vertex in the middle of two others.
fn add_middle(mesh: &mut TriangleMesh, a: u32, b: u32) -> u32 {
    let (a, b) = (a as usize, b as usize);
    let number = mesh.positions.len() as u32;
    fn between<const N: usize>(values: &mut Vec<[f32; N]>, a: usize, b: usize) {
        if let (Some(&x), Some(&y)) = (values.get(a), values.get(b)) {
            values.push(std::array::from_fn(|i| 0.5 * (x[i] + y[i])));
        }
    }
    between(&mut mesh.positions, a, b);
    between(&mut mesh.uvs, a, b);
    between(&mut mesh.uvs1, a, b);
    between(&mut mesh.colors, a, b);
    let unit = |x: Vec3, y: Vec3| (x + y).try_normalize().unwrap_or(x);
    if let (Some(&x), Some(&y)) = (mesh.normals.get(a), mesh.normals.get(b)) {
        mesh.normals.push(unit(x.into(), y.into()).to_array());
    }
    if let (Some(&x), Some(&y)) = (mesh.tangents.get(a), mesh.tangents.get(b)) {
        let [x, y] = [x, y].map(Vec4::from);
        mesh.tangents.push(unit(x.truncate(), y.truncate()).extend(x.w).to_array());
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes::{cone, cuboid};

    /// The area, and the enclosed volume.
    fn measures(mesh: &TriangleMesh) -> [f32; 2] {
        let corners = mesh.triangles.iter().map(|t| t.map(|v| Vec3::from(mesh.positions[v as usize])));
        corners.fold([0.0; 2], |[area, volume], [a, b, c]| {
            [area + (b - a).cross(c - a).length() * 0.5, volume + a.dot(b.cross(c)) / 6.0]
        })
    }

    #[test]
    fn cut_meshes_have_low_edges_and_the_surface_that_they_had() {
        let slotted = TriangleMesh { slots: (0..12).map(|i| i % 3).collect(), ..cuboid(Vec3::new(1.0, 9.0, 2.0), 1.0) };
        for mesh in [cone(0.5, 3.0, 24, true), slotted] {
            let most = if mesh.slots.is_empty() { 0.2 } else { 1.3 };
            let low = lowered(&mesh, most);
            for t in &low.triangles {
                let [a, b, c] = t.map(|v| low.positions[v as usize][1]);
                assert!([a - b, b - c, c - a].iter().all(|edge| edge.abs() <= most));
            }
            let (before, after) = (measures(&mesh), measures(&low));
            assert!(before.iter().zip(after).all(|(a, b)| (a / b - 1.0).abs() < 1e-4), "{before:?} {after:?}");
            assert_eq!((low.normals.len(), low.uvs.len()), (low.positions.len(), low.positions.len()));
            assert_eq!(low.slots.len(), if mesh.slots.is_empty() { 0 } else { low.triangles.len() });
        }
        assert_eq!(lowered(&cuboid(Vec3::ONE, 1.0), 1.0).triangles.len(), 12, "what is low stays");
    }
}
