//! Tests of tangents against another implementation of MikkTSpace.

use super::shared;
use crate::gltf::{GltfOptions, load_model, tangents::generate};
use bevy_mikktspace::{Geometry, StdOps, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use throng_base::math::hash_u32;
use throng_scene::{TriangleMesh, rig::Deformers};

/// A mesh, and the results of the other implementation for its corners.
struct Oracle<'a> {
    mesh: &'a TriangleMesh,
    tangents: Vec<[Option<[f32; 4]>; 3]>,
}

impl Oracle<'_> {
    fn corner(&self, face: usize, corner: usize) -> usize {
        self.mesh.triangles[face][corner] as usize
    }
}

impl Geometry<StdOps> for Oracle<'_> {
    fn num_faces(&self) -> usize {
        self.mesh.triangles.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.positions[self.corner(face, corner)]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        match self.mesh.normals.get(self.corner(face, corner)) {
            Some(normal) => *normal,
            None => {
                let positions = [0, 1, 2].map(|k| self.position(face, k));
                let normal = crate::geometry::normals::face_normal(positions);
                normal.as_vec3().to_array()
            }
        }
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.mesh.uvs[self.corner(face, corner)]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        self.tangents[face][corner] = space.map(|space| space.tangent_encoded());
    }
}

/// Number of equal corners. All corners for which the other implementation has a tangent must be equal.
fn agreement(mesh: &TriangleMesh, what: &str) -> usize {
    let mut oracle = Oracle { mesh, tangents: vec![[None; 3]; mesh.triangles.len()] };
    generate_tangents::<_, StdOps>(&mut oracle).expect("never fails");
    let mut own = mesh.clone();
    assert!(generate(&mut own, &mut Deformers::default(), 0, glam::Mat2::IDENTITY));
    assert_eq!(own.tangents.len(), own.positions.len(), "{what}");
    let mut count = 0;
    for (triangle, expected) in oracle.tangents.iter().enumerate() {
        for (k, expected) in expected.iter().enumerate() {
            let [vertex, original] = [&own, mesh].map(|m| m.triangles[triangle][k] as usize);
            assert_eq!(own.positions[vertex], mesh.positions[original], "{what}");
            let Some(expected) = expected.map(Vec4::from) else {
                continue;
            };
            if !(0.5..2.0).contains(&expected.truncate().length_squared()) {
                continue;
            }
            let found = Vec4::from(own.tangents[vertex]);
            let angle = found.truncate().distance(expected.truncate());
            assert!(
                angle < 1e-3 && found.w == expected.w,
                "{what}: corner {k} of triangle {triangle} has {found} instead of {expected}"
            );
            count += 1;
        }
    }
    count
}

fn random(seed: u32) -> f32 {
    hash_u32(seed) as f32 / u32::MAX as f32
}

/// A wavy sheet with a seam, mirrored texture coordinates, patches without coordinates, separate triangles and split vertices.
fn sheet(side: u32, with_normals: bool) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..side * side {
        let (x, y) = (i % side, i / side);
        let z = random(i) * 0.3;
        mesh.positions.push([x as f32, y as f32, z]);
        let normal = Vec3::new(random(i + 1) - 0.5, random(i + 2) - 0.5, 2.0);
        mesh.normals.push(normal.normalize().to_array());
        let u = (x as f32 - side as f32 / 2.0).abs();
        let flat = hash_u32(x / 4 + (y / 4) * 1000).is_multiple_of(9);
        mesh.uvs.push(if flat { [0.5; 2] } else { [u, y as f32 + 0.2 * random(i + 3)] });
    }
    for i in 0..(side - 1) * (side - 1) {
        let a = i % (side - 1) + i / (side - 1) * side;
        mesh.triangles.push([a, a + 1, a + side + 1]);
        mesh.triangles.push([a, a + side + 1, a + side]);
        if i.is_multiple_of(50) {
            mesh.triangles.push([a, a + 1, hash_u32(i) % (side * side)]);
        }
    }
    if !with_normals {
        mesh.normals.clear();
    }
    mesh
}

/// Triangles between few positions, normals and coordinates on a coarse grid. They include edges with many triangles, duplicate triangles,
/// triangles without area in space or texture, and mirrored and opposite ones.
fn soup(seed: u32, triangles: u32) -> TriangleMesh {
    let pick = |i: u32, what: u32, count: u32| hash_u32(seed ^ hash_u32(i * 8 + what)) % count;
    let mut mesh = TriangleMesh::default();
    let vertices = triangles / 2 + 3;
    for i in 0..vertices {
        let at = |what| pick(i, what, 3) as f32 - 1.0;
        mesh.positions.push([at(0), at(1), at(2) * 0.5]);
        let normal = if pick(i, 3, 4) == 0 { Vec3::Y } else { Vec3::Z };
        mesh.normals.push(normal.to_array());
        mesh.uvs.push([at(4), at(5)]);
    }
    let corner = |i, what| pick(i + 1_000_000, what, vertices);
    mesh.triangles = (0..triangles).map(|i| [corner(i, 0), corner(i, 1), corner(i, 2)]).collect();
    mesh
}

/// A sphere with a seam and poles, whose coordinates are mirrored at the meridian. If `hard` is set, all edges between faces are hard.
fn sphere(rows: u32, hard: bool) -> TriangleMesh {
    let columns = 2 * rows;
    let mut mesh = TriangleMesh::default();
    for i in 0..=rows {
        for j in 0..=columns {
            let (u, v) = (j as f32 / columns as f32, i as f32 / rows as f32);
            let (sin, cos) = (u * std::f32::consts::TAU).sin_cos();
            let (high, deep) = (v * std::f32::consts::PI).sin_cos();
            let place = Vec3::new(cos * high, deep, sin * high);
            mesh.positions.push(place.to_array());
            mesh.normals.push(place.normalize().to_array());
            mesh.uvs.push([(u - 0.5).abs(), v]);
        }
    }
    for i in 0..rows {
        for j in 0..columns {
            let a = i * (columns + 1) + j;
            let b = a + columns + 1;
            mesh.triangles.extend([[a, a + 1, b], [b, a + 1, b + 1]]);
        }
    }
    if hard {
        harden(&mut mesh);
    }
    mesh
}

/// Gives each pair of triangles separate vertices with one normal.
fn harden(mesh: &mut TriangleMesh) {
    let old = std::mem::take(mesh);
    for pair in old.triangles.chunks(2) {
        let corners = pair[0].map(|v| Vec3::from(old.positions[v as usize]));
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        for triangle in pair {
            let first = mesh.positions.len() as u32;
            for vertex in triangle.map(|v| v as usize) {
                mesh.positions.push(old.positions[vertex]);
                mesh.normals.push(normal.normalize_or(Vec3::Y).to_array());
                mesh.uvs.push(old.uvs[vertex]);
            }
            mesh.triangles.push([first, first + 1, first + 2]);
        }
    }
}

#[test]
fn seams_mirrors_flat_patches_and_strays_are_as_in_the_original() {
    for with_normals in [true, false] {
        let mesh = sheet(60, with_normals);
        let count = agreement(&mesh, &format!("a sheet, normals: {with_normals}"));
        assert!(count > 3 * mesh.triangles.len() * 8 / 10, "{count}");
    }
}

#[test]
fn spheres_with_soft_and_hard_edges_are_as_in_the_original() {
    for hard in [false, true] {
        let mesh = sphere(24, hard);
        let count = agreement(&mesh, &format!("a sphere, hard: {hard}"));
        // At the poles, half of the triangles have no area.
        assert!(count > 3 * mesh.triangles.len() * 9 / 10, "{count}");
    }
}

#[test]
fn tangled_triangles_are_as_in_the_original() {
    let mut count = 0;
    for seed in 0..150 {
        for triangles in [4, 12, 40, 150] {
            let mesh = soup(seed, triangles);
            count += agreement(&mesh, &format!("soup {seed} of {triangles}"));
            let flat = TriangleMesh { normals: Vec::new(), ..mesh };
            count += agreement(&flat, &format!("flat soup {seed} of {triangles}"));
        }
    }
    assert!(count > 50_000, "{count}");
}

#[test]
fn a_vertex_of_very_many_corners_is_as_in_the_original() {
    const RIM: u32 = 500;
    let mut mesh = TriangleMesh {
        positions: vec![[0.0; 3]],
        normals: vec![[0.0, 0.0, 1.0]; RIM as usize + 1],
        uvs: vec![[0.0; 2]],
        ..TriangleMesh::default()
    };
    for i in 0..RIM {
        let angle = i as f32 / RIM as f32 * std::f32::consts::TAU;
        let place = Vec2::from_angle(angle);
        mesh.positions.push([place.x, place.y, 0.1 * random(i)]);
        mesh.uvs.push((place * (1.0 + random(i + 9))).to_array());
        // Some triangles are duplicated, and some reversed.
        let triangle = [0, 1 + i, 1 + (i + 1) % RIM];
        mesh.triangles.push(triangle);
        if i % 7 == 0 {
            mesh.triangles.push([0, triangle[2], triangle[1]]);
        }
        if i % 11 == 0 {
            mesh.triangles.push(triangle);
        }
    }
    assert_eq!(agreement(&mesh, "a fan"), 3 * mesh.triangles.len());
}

#[test]
fn a_helmet_is_as_in_the_original() {
    let Some(path) = shared::find("FlightHelmet/FlightHelmet.gltf") else {
        return;
    };
    let options = GltfOptions { skip_tangents: true, ..GltfOptions::default() };
    let model = load_model(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    for mesh in &model.meshes {
        let count = agreement(&mesh.mesh, &mesh.name);
        assert!(count > 3 * mesh.mesh.triangles.len() * 99 / 100, "{count}");
    }
}
