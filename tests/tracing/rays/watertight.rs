//! No ray passes through a closed surface: ten million rays from inside are aimed at shared edges and vertices of plain meshes, instances
//! and assemblies.

use crate::common::{Random, ball, mesh, ray, scene, trace};
use glam::{Affine3, EulerRot, Quat, Vec3};
use throng::scene::{Assembly, Instance, NONE};
use throng_abi::Ray;
use throng_device::RayKind;

type Shape = (Vec<Vec3>, Vec<[u32; 3]>);

/// A cube of 12 triangles, whose edges lie in the planes of its bounding boxes.
fn cube() -> Shape {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - Vec3::ONE;
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    ((0..8).map(corner).collect(), faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// A ball whose vertices are moved in and out. Every point near the centre can still see the whole inside.
fn crumpled() -> Shape {
    let (positions, triangles) = ball(5);
    let mut random = Random::new(3);
    (positions.into_iter().map(|p| p * random.range(0.9, 1.1)).collect(), triangles)
}

/// Rays from near the centre to points on edges, to vertices, and slightly next to them.
fn aimed_rays((positions, triangles): &Shape, transform: &Affine3, count: usize, seed: u32) -> Vec<Ray> {
    let mut random = Random::new(seed);
    let one = |_| {
        let triangle = triangles[(random.unit() * triangles.len() as f32) as usize];
        let corner = (random.unit() * 3.0) as usize % 3;
        let (a, b) = (positions[triangle[corner] as usize], positions[triangle[(corner + 1) % 3] as usize]);
        let along = match (random.unit() * 4.0) as u32 {
            0 => 0.0,
            1 => 0.5,
            _ => random.unit(),
        };
        let nudge = if random.unit() < 0.3 { random.cube() * 1e-6 } else { Vec3::ZERO };
        let inside = if random.unit() < 0.3 { Vec3::ZERO } else { random.cube() * 0.2 };
        let origin = transform.transform_point3(inside);
        let direction = transform.transform_point3(a + (b - a) * along + nudge) - origin;
        ray(origin, direction.normalize())
    };
    (0..count).map(one).collect()
}

fn rotation(random: &mut Random) -> Quat {
    Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), random.range(0.0, 7.0))
}

fn leaks(shape: &Shape, transform: Affine3, count: usize, seed: u32) -> usize {
    let rays = aimed_rays(shape, &transform, count, seed);
    let scene = scene(vec![mesh(shape.0.clone(), shape.1.clone())], &[(0, transform)]);
    trace(scene, RayKind::Closest, &rays).iter().filter(|hit| hit.t < 0.0).count()
}

#[test]
fn ten_million_rays_at_edges_and_vertices_find_no_leak() {
    let shapes = [ball(0), ball(5), cube(), crumpled()];
    let mut random = Random::new(9);
    let mut transforms = vec![Affine3::IDENTITY];
    for exponent in [-4, -2, 0, 2, 4] {
        let size = 10f32.powi(exponent);
        for mirror in [1.0, -1.0] {
            let rotation = rotation(&mut random);
            let scale = Vec3::new(mirror, random.range(0.5, 1.0), random.range(0.5, 1.0)) * size;
            // The distance is limited so that the instance is not smaller than a few thousand float steps.
            transforms.push(Affine3::from_scale_rotation_translation(scale, rotation, random.cube() * 100.0 * size));
        }
    }
    let per_case = 10_000_000 / (shapes.len() * transforms.len()) + 1;
    for (s, shape) in shapes.iter().enumerate() {
        for (t, transform) in transforms.iter().enumerate() {
            let seed = (s * 100 + t) as u32;
            assert_eq!(leaks(shape, *transform, per_case, seed), 0, "shape {s}, transform {t}: {transform:?}");
        }
    }
}

/// Counts leaks under four transforms: three of assemblies and one of an instance.
fn leaks_under_four_levels(shape: &Shape, levels: [Affine3; 4], count: usize, seed: u32) -> usize {
    let whole = levels[0] * levels[1] * levels[2] * levels[3];
    let rays = aimed_rays(shape, &whole, count, seed);
    let mut nested = scene(vec![mesh(shape.0.clone(), shape.1.clone())], &[]);
    for (level, local) in (0u32..).zip(levels) {
        let mesh = if level == 3 { 0 } else { 1 + level };
        nested.instances.push(Instance { local, node: NONE, mesh, slot_base: 0, motion: NONE });
        if level > 0 {
            nested.assemblies.push(Assembly { name: String::new(), instances: level..level + 1 });
        }
    }
    trace(nested, RayKind::Closest, &rays).iter().filter(|hit| hit.t < 0.0).count()
}

#[test]
fn ten_million_rays_find_no_leak_under_four_levels_of_transforms() {
    let shapes = [ball(0), ball(5), cube(), crumpled()];
    let mut random = Random::new(10);
    let cases = 10;
    for (s, shape) in shapes.iter().enumerate() {
        for case in 0..cases {
            // The combined scale of all levels ranges from a millionth to a million.
            let size = 10f32.powf((case as f32 / (cases - 1) as f32 - 0.5) * 3.0);
            let levels = [0; 4].map(|_| {
                let rotation = rotation(&mut random);
                let mirror = if random.unit() < 0.5 { -1.0 } else { 1.0 };
                let scale = Vec3::new(mirror, random.range(0.5, 1.0), random.range(0.5, 1.0)) * size;
                Affine3::from_scale_rotation_translation(scale, rotation, random.cube() * 10.0 * size)
            });
            let seed = (s * 100 + case) as u32;
            let count = 10_000_000 / (shapes.len() * cases);
            assert_eq!(leaks_under_four_levels(shape, levels, count, seed), 0, "shape {s}, case {case}: {levels:?}");
        }
    }
}
