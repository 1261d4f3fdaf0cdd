//! Finds single-sided materials that are used on closed meshes only. Light from behind cannot reach the back of such a surface, so shadow
//! rays need not distinguish its sides.

use super::normals::weld;
use rayon::prelude::*;
use std::cmp::Ordering;
use throng_scene::{Scene, Shape, TriangleMesh};

/// Sets [`Material::encloses`](throng_scene::Material::encloses) of the culled materials.
pub fn mark(scene: &mut Scene) {
    let culled: Vec<bool> = scene.materials.iter().map(|m| m.is_culled()).collect();
    if !culled.contains(&true) {
        return;
    }
    let rows = rows_of_slots(scene);
    let open: Vec<u32> = scene
        .meshes
        .par_iter()
        .zip(&rows)
        .flat_map_iter(|(mesh, rows)| match &mesh.shape {
            Shape::Triangles(triangles) => open_rows(triangles, rows, &culled),
            Shape::Curves(_) | Shape::Sphere => Vec::new(),
        })
        .collect();
    scene.materials.iter_mut().zip(culled).for_each(|(material, culled)| material.encloses = culled);
    for row in open {
        scene.materials[row as usize].encloses = false;
    }
}

/// For each mesh, the pairs of a slot and a row of the material table that instances assign to it.
fn rows_of_slots(scene: &Scene) -> Vec<Vec<(u32, u32)>> {
    let mut rows = vec![Vec::new(); scene.meshes.len()];
    let mut runs: Vec<(u32, u32)> = scene.instances.iter().map(|i| (i.mesh, i.slot_base)).collect();
    runs.par_sort_unstable();
    runs.dedup();
    for (mesh, base) in runs {
        let Some(shape) = scene.meshes.get(mesh as usize) else {
            continue;
        };
        let run = (0..shape.slot_count).filter_map(|slot| {
            let row = scene.material_slots.get((base + slot) as usize)?;
            Some((slot, *row))
        });
        rows[mesh as usize].extend(run);
    }
    rows
}

/// The rows of culled materials that are used on open or inside-out parts of the mesh.
fn open_rows(mesh: &TriangleMesh, rows: &[(u32, u32)], culled: &[bool]) -> Vec<u32> {
    let mut rows: Vec<(u32, u32)> =
        rows.iter().copied().filter(|&(_, row)| culled.get(row as usize) == Some(&true)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let weld = weld(&mesh.positions);
    let mut known: Option<(u32, bool)> = None;
    rows.sort_unstable();
    let encloses = |slot: u32| {
        let slot_of = |triangle: usize| mesh.slots.get(triangle).copied().unwrap_or(0);
        let triangles = || {
            let triangles = mesh.triangles.iter().enumerate().filter(move |(i, _)| slot_of(*i) == slot);
            triangles.map(|(_, t)| t.map(|v| weld[v as usize]))
        };
        is_closed(&triangles, weld.len()) && is_outward(mesh, triangles())
    };
    rows.retain(|&(slot, _)| match known {
        Some((last, closed)) if last == slot => !closed,
        _ => {
            let closed = encloses(slot);
            known = Some((slot, closed));
            !closed
        }
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Number of parts into which vertices are divided, and the minimum number of vertices of a part.
const PARTS: usize = 16;
const LEAST: usize = 1 << 12;

/// Whether each edge between `count` vertices is used equally often in both directions. All edges would take twice the memory of the triangles, so
/// those of a part of the vertices are compared at a time.
fn is_closed<T: Iterator<Item = [u32; 3]>>(triangles: &impl Fn() -> T, count: usize) -> bool {
    let size = count.div_ceil(PARTS).max(LEAST);
    let edges = || triangles().flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)]);
    (0..count).step_by(size).all(|first| {
        let part = first as u32..(first + size) as u32;
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for (a, b) in edges().filter(|(a, b)| part.contains(a.min(b))) {
            match a.cmp(&b) {
                Ordering::Less => there.push((a, b)),
                Ordering::Greater => back.push((b, a)),
                Ordering::Equal => {}
            }
        }
        there.par_sort_unstable();
        back.par_sort_unstable();
        there == back
    })
}

/// Whether triangles face away from the volume that they enclose.
fn is_outward(mesh: &TriangleMesh, triangles: impl Iterator<Item = [u32; 3]>) -> bool {
    let point = |v: u32| glam::Vec3::from(mesh.positions[v as usize]).as_dvec3();
    let volume = |[a, b, c]: [u32; 3]| point(a).dot(point(b).cross(point(c)));
    triangles.map(volume).sum::<f64>() > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::{Instance, Material, Mesh, NONE};

    /// Whether a single-sided material encloses a tetrahedron with these triangles, or a part of it.
    fn encloses(triangles: &[[u32; 3]]) -> bool {
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]];
        let mesh = TriangleMesh { positions, triangles: triangles.to_vec(), ..TriangleMesh::default() };
        let mut scene = Scene {
            meshes: vec![Mesh { name: String::new(), shape: Shape::Triangles(mesh), slot_count: 1 }],
            instances: vec![Instance { local: Default::default(), node: NONE, mesh: 0, slot_base: 0, motion: NONE }],
            materials: vec![Material { double_sided: false, ..Material::default() }],
            material_slots: vec![0],
            ..Scene::default()
        };
        mark(&mut scene);
        scene.materials[0].encloses
    }

    #[test]
    fn closed_meshes_that_face_outwards_enclose_and_others_do_not() {
        // The last vertex coincides with the first.
        let closed = [[0, 2, 1], [0, 1, 3], [4, 3, 2], [1, 2, 3]];
        assert!(encloses(&closed));
        assert!(!encloses(&closed[1..]));
        assert!(!encloses(&closed.map(|[a, b, c]| [a, c, b])));
    }
}
