//! Cages with known surfaces.

use super::*;
use glam::Vec3;
use proptest::prelude::*;
use std::sync::Arc;
use throng_scene::{
    NONE,
    anim::{Deformed, RigPose},
    rig::{Deformers, DeformingMesh, Local, MorphTarget, Piece, RefitPolicy, Rig, RigNode},
};

/// A cage of faces without attributes.
fn polygons(scheme: Scheme, sizes: &[u32], corners: &[u32]) -> Polygons {
    Polygons { scheme, ..Polygons::of_faces(sizes.to_vec(), corners.to_vec()) }
}

const CUBE: [u32; 24] = [0, 1, 3, 2, 2, 3, 7, 6, 6, 7, 5, 4, 4, 5, 1, 0, 2, 6, 4, 0, 7, 3, 1, 5];

/// The points of a cube between -1 and 1: x varies fastest.
fn cube_points() -> Vec<[f32; 3]> {
    (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|bit| 2.0 * bit as f32 - 1.0)).collect()
}

fn cube() -> Polygons {
    // Faces of `CUBE` are clockwise seen from outside.
    let corners: Vec<u32> = CUBE.chunks(4).flat_map(|face| face.iter().rev().copied()).collect();
    polygons(Scheme::CatmullClark, &[4; 6], &corners)
}

fn octahedron() -> (Vec<[f32; 3]>, Polygons) {
    let points = vec![[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
    let corners = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
    (points, polygons(Scheme::Loop, &[3; 8], &corners))
}

fn grid(n: u32, height: impl Fn(f32, f32) -> f32) -> (Vec<[f32; 3]>, Polygons) {
    let at = |i: u32| i % (n + 1);
    let point = |i: u32| {
        let (x, y) = (at(i) as f32, (i / (n + 1)) as f32);
        [x, y, height(x, y)]
    };
    let points = (0..(n + 1) * (n + 1)).map(point).collect();
    let corner = |x: u32, y: u32| y * (n + 1) + x;
    let face = |i: u32| {
        let (x, y) = (i % n, i / n);
        [corner(x, y), corner(x + 1, y), corner(x + 1, y + 1), corner(x, y + 1)]
    };
    let corners: Vec<u32> = (0..n * n).flat_map(face).collect();
    (points, polygons(Scheme::CatmullClark, &vec![4; (n * n) as usize], &corners))
}

fn refined(points: Vec<[f32; 3]>, polygons: Polygons, level: u32) -> Refined {
    let cage = Cage::new(points, polygons, Vec::new()).unwrap_or_else(|cause| panic!("{cause}"));
    let count = cage.triangle_count(level);
    let refined = cage.refined(level).unwrap_or_else(|| panic!("there is nothing"));
    assert_eq!(refined.mesh.triangles.len() as u64, count);
    refined
}

/// The distance of a vertex of the mesh to a point.
fn distance_to(mesh: &TriangleMesh, point: [f32; 3]) -> f32 {
    let distances = mesh.positions.iter().map(|&own| Vec3::from(own).distance(Vec3::from(point)));
    distances.fold(f32::INFINITY, f32::min)
}

/// Volume within the triangles, which is positive if they are counter-clockwise.
fn volume(mesh: &TriangleMesh) -> f32 {
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| Vec3::from(mesh.positions[vertex as usize]));
        a.dot(b.cross(c)) / 6.0
    };
    mesh.triangles.iter().map(of).sum()
}

#[test]
fn a_cube_has_the_limit_points_of_opensubdiv() {
    let mesh = refined(cube_points(), cube(), 1).mesh;
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (26, 48));
    // Limits of a corner, an edge and a face, by bpy's OpenSubdiv.
    for point in [[0.5; 3], [0.0, 0.609_567_9, 0.609_567_9], [0.0, 0.0, 0.839_506_3]] {
        assert!(distance_to(&mesh, point) < 1e-6, "{point:?}");
    }
    for (position, normal) in mesh.positions.iter().zip(&mesh.normals) {
        assert!(Vec3::from(*position).normalize().dot(Vec3::from(*normal)) > 0.9, "{position:?} {normal:?}");
    }
    assert!(volume(&mesh) > 0.0);
}

#[test]
fn creases_of_a_cube_agree_with_opensubdiv() {
    let points = cube_points().into_iter().map(|[x, y, z]| [z, y, x]).collect();
    let mut cube = polygons(Scheme::CatmullClark, &[4; 6], &CUBE);
    let soft = [[1, 3], [3, 7], [7, 5], [5, 1]].map(|edge| (edge, 2.5));
    cube.creases = soft.into_iter().chain([[6, 2], [4, 6]].map(|edge| (edge, 10.0))).collect();
    cube.points = vec![(0, 1.5)];
    let mesh = refined(points, cube, 3).mesh;
    // Points at level 3 by the subdivision modifier of bpy 5.0.1, with its limit surface and quality 8.
    let expected = [
        [-0.533_229, 0.459_752, -0.577_563],
        [-0.124_253, 0.839_964, -0.857_543],
        [-0.777_577, -0.530_176, 0.502_032],
        [-0.333_067, 0.824_355, -0.179_824],
        [0.896_734, -0.181_844, 0.259_893],
        [0.640_512, 0.404_22, -0.990_855],
        [-0.638_618, 0.400_933, 0.994_792],
    ];
    for point in expected {
        assert!(distance_to(&mesh, point) < 2e-6, "{point:?} {}", distance_to(&mesh, point));
    }
}

#[test]
fn limits_do_not_depend_on_the_level() {
    let mut creased = cube();
    creased.creases = vec![([4, 5], 2.5), ([5, 7], 2.5), ([0, 1], 10.0), ([1, 3], 0.7), ([0, 2], 4.4)];
    creased.points = vec![(6, 1.5), (2, 10.0)];
    let pyramid = polygons(Scheme::CatmullClark, &[3, 3, 3, 3, 4], &[0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 3, 2, 1, 0]);
    let pyramid_points = vec![[-1., -1., 0.], [1., -1., 0.], [1., 1., 0.], [-1., 1., 0.], [0., 0., 1.5]];
    let (points, mut octahedron) = octahedron();
    octahedron.creases = vec![([0, 2], 10.0), ([2, 4], 1.3), ([1, 3], 3.2)];
    let bumps = grid(3, |x, y| (2.0 * x).sin() * y);
    for (points, polygons) in [(cube_points(), creased), (pyramid_points, pyramid), (points, octahedron), bumps] {
        let coarse = refined(points.clone(), polygons.clone(), 1).mesh;
        for level in 2..5 {
            let fine = refined(points.clone(), polygons.clone(), level).mesh;
            for &point in &coarse.positions {
                assert!(distance_to(&fine, point) < 2e-6, "level {level}: {point:?} {}", distance_to(&fine, point));
            }
        }
    }
}

#[test]
fn weights_sum_to_one_and_tangents_to_zero() {
    let (points, mut polygons) = grid(3, |_, _| 0.0);
    polygons.creases = vec![([5, 6], 2.2), ([6, 10], 10.0)];
    for refined in [refined(points, polygons, 3), refined(octahedron().0, octahedron().1, 2)] {
        for pattern in &refined.surface.stencils.patterns {
            let rows = (0..).map(|row| pattern.row(row)).take_while(|row| !row.is_empty());
            for row in rows {
                let sums = row.iter().fold([0.0; 3], |sum, weights| std::array::from_fn(|i| sum[i] + weights[i]));
                assert!((sums[0] - 1.0).abs() < 1e-5 && sums[1].abs() < 1e-4 && sums[2].abs() < 1e-4, "{sums:?}");
            }
        }
    }
}

#[test]
fn boundaries_are_cubic_b_splines() {
    // The points of the boundary are on a line whose y is the B-spline with these values.
    let heights = [0.0, 1.0, -1.0, 2.0, 0.5];
    let (mut points, polygons) = grid(4, |_, _| 0.0);
    (0..5).for_each(|x| points[x][1] = heights[x] - 3.0);
    let mesh = refined(points, polygons, 1).mesh;
    for x in 1..4 {
        let y = (heights[x - 1] + 4.0 * heights[x] + heights[x + 1]) / 6.0 - 3.0;
        assert!(distance_to(&mesh, [x as f32, y, 0.0]) < 1e-6, "{x}");
        let middle = |a: f32, b: f32| (a + b) / 2.0;
        if (1..3).contains(&x) {
            let [a, b, c, d] = std::array::from_fn(|i| heights[x - 1 + i]);
            let y = (a + 23.0 * b + 23.0 * c + d) / 48.0 - 3.0;
            assert!(distance_to(&mesh, [middle(x as f32, x as f32 + 1.0), y, 0.0]) < 1e-6, "{x}");
        }
    }
    assert!(distance_to(&mesh, [0.0, -3.0, 0.0]) < 1e-6, "a corner stays");
}

#[test]
fn smooth_grids_are_bicubic_and_reproduce_planes() {
    let (points, polygons) = grid(5, |x, y| 2.0 * x - y + 0.5);
    let mesh = refined(points, polygons, 3).mesh;
    let up = Vec3::new(-2.0, 1.0, 1.0).normalize();
    for (&[x, y, z], &normal) in mesh.positions.iter().zip(&mesh.normals) {
        assert!((z - (2.0 * x - y + 0.5)).abs() < 1e-5);
        assert!(Vec3::from(normal).dot(up) > 0.9999, "{normal:?}");
    }
}

#[test]
fn regular_loop_vertices_have_the_known_limit() {
    let (points, octahedron) = octahedron();
    let mesh = refined(points, octahedron, 2).mesh;
    // Valence 4: beta = (5/8 - (3/8)^2) / 4, and each neighbour has 1 / (4 + 3 / (8 beta)).
    let beta = (0.625 - 0.140_625) / 4.0;
    let part = 1.0 / (4.0 + 3.0 / (8.0 * beta));
    assert!(distance_to(&mesh, [0.0, 0.0, 1.0 - 4.0 * part]) < 1e-6);
    assert!(volume(&mesh) > 0.0);
}

#[test]
fn sharp_edges_have_two_normals_and_one_position() {
    let mut sharp = cube();
    sharp.creases = sharp.corners.chunks(4).flat_map(|f| (0..4).map(|i| ([f[i], f[(i + 1) % 4]], 10.0))).collect();
    let mesh = refined(cube_points(), sharp, 2).mesh;
    assert_eq!(mesh.positions.len(), 6 * 25);
    for (position, normal) in mesh.positions.iter().zip(&mesh.normals) {
        let axis = Vec3::from(*normal);
        assert!((axis.abs().max_element() - 1.0).abs() < 1e-5 && axis.dot(Vec3::from(*position)) > 0.999, "{normal:?}");
    }
}

#[test]
fn seams_keep_positions_together_and_values_apart() {
    let (points, polygons) = grid(4, |x, y| (x * y).sin());
    let island = |corner: usize| if corner / 4 % 4 < 2 { 0.0 } else { 5.0 };
    let values: Vec<Vec4> = (0..polygons.corners.len())
        .map(|corner| {
            let [x, y, _] = points[polygons.corners[corner] as usize];
            Vec4::new(x + island(corner), y, 0.0, 0.0)
        })
        .collect();
    for face_varying in [FaceVarying::None, FaceVarying::CornersPlus1, FaceVarying::Boundaries, FaceVarying::All] {
        let attribute = Attribute { spread: Spread::Uvs, values: values.clone(), face_varying };
        let cage = Cage::new(points.clone(), polygons.clone(), vec![attribute]).unwrap();
        let mesh = cage.refined(2).unwrap().mesh;
        // A seam of 4 edges has 17 vertices twice.
        assert_eq!(mesh.positions.len(), 17 * 17 + 17);
        let on_seam = |vertex: &usize| (mesh.positions[*vertex][0] - 2.0).abs() < 1e-6;
        let seam: Vec<usize> = (0..mesh.positions.len()).filter(on_seam).collect();
        for &vertex in &seam {
            let [u, v] = mesh.uvs[vertex];
            // Without linear corners, those of the islands are round.
            let is_straight = (u - 2.0).abs() < 1e-5 || (u - 7.0).abs() < 1e-5;
            assert!(is_straight || face_varying == FaceVarying::None, "{face_varying:?} {u}");
            let others =
                seam.iter().filter(|&&other| other != vertex && mesh.positions[other] == mesh.positions[vertex]);
            assert_eq!(others.count(), 1, "{v}");
        }
    }
}

#[test]
fn holes_shape_their_neighbours_but_are_not_drawn() {
    let (points, mut polygons) = grid(3, |x, y| x * y);
    let whole = refined(points.clone(), polygons.clone(), 2).mesh;
    polygons.drawn[4] = false;
    let mesh = refined(points.clone(), polygons.clone(), 2).mesh;
    assert_eq!(mesh.triangles.len(), whole.triangles.len() / 9 * 8);
    assert!(mesh.positions.iter().all(|&point| distance_to(&whole, point) < 1e-6));
    polygons.boundary = Boundary::None;
    polygons.drawn[4] = true;
    assert_eq!(refined(points, polygons, 1).mesh.triangles.len(), 8, "only the face within is drawn");
}

#[test]
fn surfaces_that_are_no_manifolds_have_no_gaps() {
    // Three faces at one edge.
    let points = vec![
        [0., 0., 0.],
        [0., 1., 0.],
        [1., 0., 0.],
        [1., 1., 0.3],
        [-1., 0., 0.],
        [-1., 1., 0.],
        [0., 0., 1.],
        [0.2, 1., 1.],
    ];
    let fin = polygons(Scheme::CatmullClark, &[4; 3], &[0, 2, 3, 1, 4, 0, 1, 5, 0, 6, 7, 1]);
    let mesh = refined(points, fin, 3).mesh;
    let on_edge = mesh.positions.iter().filter(|p| p[0] == 0.0 && p[2] == 0.0).count();
    assert_eq!(on_edge, 3 * 9);
    let crowded: Vec<u32> = (1..=300).flat_map(|i| [0, i, i + 1]).collect();
    let cage = Cage::new(vec![[0.0; 3]; 302], polygons(Scheme::CatmullClark, &[3; 300], &crowded), Vec::new());
    assert!(cage.is_err_and(|cause| cause.contains("300 faces meet")));
}

#[test]
fn a_moved_cage_moves_its_vertices() {
    let refined = refined(cube_points(), cube(), 2);
    let by = |[x, y, z]: [f32; 3]| [2.0 * x + 1.0, y - 0.5 * x, z + 3.0];
    let moved: Vec<[f32; 3]> = cube_points().into_iter().map(by).collect();
    let mut mesh = refined.mesh.clone();
    throng_scene::anim::refine(&refined.surface, &moved, &mut mesh);
    for (&before, &after) in refined.mesh.positions.iter().zip(&mesh.positions) {
        assert!(Vec3::from(by(before)).distance(Vec3::from(after)) < 1e-5);
    }
}

#[test]
fn shapes_of_a_deforming_cage_have_positions_normals_and_tangents() {
    let Refined { mut mesh, mut surface } = refined(cube_points(), cube(), 2);
    let across = |normal: &[f32; 3]| Vec3::from(*normal).any_orthonormal_vector().extend(-1.0).to_array();
    mesh.tangents = mesh.normals.iter().map(across).collect();
    throng_scene::anim::bind_tangents(&mut surface, &mesh.tangents);
    // The cage is turned about z by a quarter.
    let offsets = cube_points().into_iter().map(|[x, y, _]| [-y - x, x - y, 0.0]).collect();
    let target = MorphTarget { positions: offsets, ..MorphTarget::default() };
    let local = Local::Matrix(glam::Affine3::IDENTITY);
    let node = RigNode { name: String::new(), parent: NONE, local, weights: vec![1.0], visible: true };
    let rig = Rig { nodes: vec![node], ..Rig::default() };
    let piece = Piece {
        vertex_count: mesh.positions.len() as u32,
        node: 0,
        placed: false,
        skin: NONE,
        deformers: Arc::new(Deformers { targets: vec![target], ..Deformers::default() }),
        surface: Some(Arc::new(surface)),
    };
    let deforming =
        DeformingMesh { mesh: 0, actor: 0, refit: RefitPolicy::default(), pieces: vec![piece], displacement: None };
    let (mut pose, mut out) = (RigPose::default(), Deformed::default());
    pose.evaluate(&rig, &[], 0.0);
    throng_scene::anim::shape(&mesh, &deforming, &rig, &pose, &mut out);
    let turned = |[x, y, z]: [f32; 3]| Vec3::new(-y, x, z);
    for vertex in 0..mesh.positions.len() {
        assert!(turned(mesh.positions[vertex]).distance(out.positions[vertex].into()) < 1e-5);
        assert!(turned(mesh.normals[vertex]).distance(out.normals[vertex].into()) < 1e-4);
        let ([x, y, z, _], [a, b, c, sign]) = (mesh.tangents[vertex], out.tangents[vertex]);
        assert!(turned([x, y, z]).distance(Vec3::new(a, b, c)) < 1e-3 && sign == -1.0);
        let position = Vec3::from(out.positions[vertex]);
        assert!(position.cmpge(out.bounds.min).all() && position.cmple(out.bounds.max).all());
    }
}

proptest! {
    #![proptest_config(throng_testing::same_cases(64))]

    #[test]
    fn random_faces_become_finite_vertices(
        faces in prop::collection::vec(prop::collection::vec(0_u32..7, 3..6), 1..12),
        creases in prop::collection::vec((0_u32..7, 0_u32..7, 0.0_f32..12.0), 0..6),
        has_loops in any::<bool>(),
        level in 1_u32..4,
    ) {
        let is_sound = |face: &Vec<u32>| (0..face.len()).all(|i| face[i] != face[(i + 1) % face.len()]);
        let faces: Vec<Vec<u32>> = faces.into_iter().map(|mut face| {
            face.truncate(if has_loops { 3 } else { 5 });
            face
        }).filter(is_sound).collect();
        prop_assume!(!faces.is_empty());
        let points: Vec<[f32; 3]> = (0..7).map(|i| [i as f32, (i * i % 5) as f32, (3 * i % 4) as f32]).collect();
        let scheme = if has_loops { Scheme::Loop } else { Scheme::CatmullClark };
        let sizes: Vec<u32> = faces.iter().map(|face| face.len() as u32).collect();
        let mut all = polygons(scheme, &sizes, &faces.concat());
        all.creases = creases.into_iter().map(|(a, b, sharpness)| ([a, b], sharpness)).collect();
        let mesh = refined(points, all, level).mesh;
        prop_assert!(mesh.positions.as_flattened().iter().chain(mesh.normals.as_flattened()).all(|x| x.is_finite()));
        let count = mesh.positions.len() as u32;
        prop_assert!(mesh.triangles.as_flattened().iter().all(|&vertex| vertex < count));
    }
}
