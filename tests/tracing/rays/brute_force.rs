//! Traversal against a brute-force test of every triangle of every instance.

use crate::common::{Random, mesh, ray, scene, trace};
use glam::{Affine3, DVec3, EulerRot, Quat, Vec3};
use proptest::prelude::*;
use throng::scene::{Mesh, Shape};
use throng_abi::Ray;
use throng_device::RayKind;

/// Expected hit of a ray, computed in double precision.
#[derive(Debug)]
enum Expected {
    Miss,
    Hit(f64),
    /// The hit is within rounding distance of an edge, a limit or another surface, so either answer is accepted.
    Unclear,
}

/// Distance along the ray, and the least barycentric coordinate of the hit, which is negative outside the triangle.
fn intersect(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, f64)> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(e2);
    let det = e1.dot(p);
    let scale = e1.length() * e2.length() * direction.length();
    if det.abs() <= 1e-6 * scale {
        // The triangle is seen edge-on or has no area.
        return None;
    }
    let s = origin - a;
    let (u, q) = (s.dot(p) / det, s.cross(e1));
    let v = direction.dot(q) / det;
    Some((e2.dot(q) / det, u.min(v).min(1.0 - u - v)))
}

fn expected(triangles: &[[DVec3; 3]], ray: &Ray) -> Expected {
    let (origin, direction) = (Vec3::from(ray.origin).as_dvec3(), Vec3::from(ray.direction).as_dvec3());
    let mut nearest = f64::INFINITY;
    let mut unclear = f64::INFINITY;
    for triangle in triangles {
        let reach = triangle.iter().map(|p| (*p - origin).length()).fold(0.0, f64::max);
        match intersect(origin, direction, *triangle) {
            None => {
                // The ray may hit it anywhere along its passage.
                let closest = triangle.iter().map(|p| (*p - origin).dot(direction)).fold(f64::INFINITY, f64::min);
                unclear = unclear.min(closest.max(0.0) / direction.length_squared());
            }
            Some((t, inside)) if t > -1e-5 * reach => {
                if inside < -1e-3 {
                    continue;
                }
                if inside < 1e-3 || t < 1e-5 * reach {
                    unclear = unclear.min(t);
                } else {
                    nearest = nearest.min(t);
                }
            }
            Some(_) => {}
        }
    }
    match nearest {
        t if unclear < t * 1.001 => Expected::Unclear,
        f64::INFINITY => Expected::Miss,
        t => Expected::Hit(t),
    }
}

fn corners_in_world(mesh: &Mesh, transform: &Affine3) -> Vec<[DVec3; 3]> {
    let Shape::Triangles(m) = &mesh.shape else {
        return Vec::new();
    };
    let place = |i: u32| transform.transform_point3(m.positions[i as usize].into()).as_dvec3();
    m.triangles.iter().map(|t| t.map(place)).collect()
}

/// Absolute error bound of a distance: several float steps at the magnitude of the coordinates.
fn rounding(triangles: &[[DVec3; 3]], ray: &Ray) -> f64 {
    let origin = Vec3::from(ray.origin).as_dvec3().abs().max_element();
    let corners = triangles.as_flattened().iter();
    let magnitude = corners.fold(origin, |a, p| a.max(p.abs().max_element()));
    let length = Vec3::from(ray.direction).as_dvec3().length();
    8.0 * f64::from(f32::EPSILON) * magnitude / length
}

/// Compares all rays, and returns the number of rays with a clear answer.
fn check(meshes: Vec<Mesh>, placements: &[(u32, Affine3)], rays: &[Ray]) -> usize {
    let triangles: Vec<_> =
        placements.iter().flat_map(|(mesh, t)| corners_in_world(&meshes[*mesh as usize], t)).collect();
    let closest = trace(scene(meshes.clone(), placements), RayKind::Closest, rays);
    let any = trace(scene(meshes, placements), RayKind::Any, rays);
    let mut clear = 0;
    for (i, ray) in rays.iter().enumerate() {
        match expected(&triangles, ray) {
            Expected::Unclear => continue,
            Expected::Miss => assert!(closest[i].t < 0.0 && any[i].t < 0.0, "{ray:?} should miss: {:?}", closest[i]),
            Expected::Hit(t) => {
                let found = f64::from(closest[i].t);
                assert!(
                    (found - t).abs() <= 1e-3 * t + rounding(&triangles, ray),
                    "{ray:?} should hit at {t}: {:?}",
                    closest[i]
                );
                assert!(any[i].t > 0.0, "{ray:?} should be blocked");
            }
        }
        clear += 1;
    }
    clear
}

/// Arrangement of the triangles in a random mesh.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Soup,
    Coincident,
    Line,
    Flat,
    Degenerate,
    HugeAndTiny,
    Needles,
}

/// A random mesh. In a `strip`, each triangle shares two corners with the previous one.
fn random_mesh(kind: Kind, count: usize, strip: bool, seed: u32) -> Mesh {
    let mut random = Random::new(seed);
    let mut positions = Vec::new();
    let first = [random.cube(), random.cube(), random.cube()];
    for i in 0..count {
        let center = random.cube();
        let size = match kind {
            Kind::HugeAndTiny => 10f32.powf(random.range(-6.0, 1.5)),
            _ => 0.3,
        };
        let mut corners = [0; 3].map(|_| center + random.cube() * size);
        match kind {
            Kind::Coincident => corners = first,
            Kind::Line => corners = corners.map(|c| Vec3::new(c.x * 10.0, c.y * 0.01, 0.01 * c.z)),
            Kind::Needles => corners[2] = corners[0] + random.cube() * 1e-3,
            Kind::Flat => corners = corners.map(|c| Vec3::new(c.x, 0.25, c.z)),
            Kind::Degenerate if i % 2 == 0 => corners[2] = corners[0] * 0.5 + corners[1] * 0.5,
            Kind::Degenerate if i % 3 == 0 => corners = [corners[0]; 3],
            _ => {}
        }
        positions.extend(corners);
    }
    let step = if strip { 1 } else { 3 };
    // Some triangles of strips have a repeated corner.
    let corners = |i: u32| match i {
        _ if strip && i % 11 == 5 => [i, i, i + 2],
        _ => [step * i, step * i + 1, step * i + 2],
    };
    let triangles: Vec<_> = (0..count as u32).map(corners).collect();
    positions.truncate(step as usize * count + 2);
    mesh(positions, triangles)
}

fn random_transform(random: &mut Random, spread: f32) -> Affine3 {
    let rotation =
        Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), random.range(0.0, 7.0));
    let mirror = if random.unit() < 0.5 { -1.0 } else { 1.0 };
    let scale = Vec3::new(mirror * random.range(0.3, 2.0), random.range(0.3, 2.0), random.range(0.3, 2.0));
    Affine3::from_scale_rotation_translation(scale, rotation, random.cube() * spread)
}

fn random_rays(random: &mut Random, count: usize, spread: f32) -> Vec<Ray> {
    let one = |i: usize| {
        let origin = random.cube() * spread * 2.0;
        // Some directions are axis-parallel, and some are not of unit length.
        let direction = match i % 8 {
            0 => Vec3::from_array(std::array::from_fn(|k| if k == i / 8 % 3 { 1.0 } else { 0.0 })),
            1 => -Vec3::from_array(std::array::from_fn(|k| if k == i / 8 % 3 { 2.5 } else { 0.0 })),
            _ => random.cube() * spread - origin,
        };
        ray(origin, direction)
    };
    (0..count).map(one).collect()
}

proptest! {
    #![proptest_config(crate::common::same_cases(48))]

    #[test]
    fn one_mesh_of_any_kind(
        kind in prop::sample::select(vec![
            Kind::Soup, Kind::Coincident, Kind::Line, Kind::Flat, Kind::Degenerate, Kind::HugeAndTiny,
            Kind::Needles,
        ]),
        count in 1usize..200,
        strip in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let rays = random_rays(&mut Random::new(seed ^ 1), 300, 1.0);
        check(vec![random_mesh(kind, count, strip, seed)], &[(0, Affine3::IDENTITY)], &rays);
    }

    #[test]
    fn many_instances_of_several_meshes(instances in 0usize..120, seed in any::<u32>()) {
        let mut random = Random::new(seed);
        let meshes: Vec<Mesh> = (0..3).map(|i| random_mesh(Kind::Soup, 10, i == 1, seed ^ i)).collect();
        let placements: Vec<_> = (0..instances).map(|i| (i as u32 % 3, random_transform(&mut random, 5.0))).collect();
        let rays = random_rays(&mut random, 300, 5.0);
        check(meshes, &placements, &rays);
    }
}

#[test]
fn most_rays_have_a_clear_answer() {
    let rays = random_rays(&mut Random::new(5), 2000, 1.0);
    let clear = check(vec![random_mesh(Kind::Soup, 100, false, 4)], &[(0, Affine3::IDENTITY)], &rays);
    assert!(clear > 1800, "only {clear} of 2000");
}

#[test]
fn of_coincident_surfaces_the_first_instance_and_triangle_wins() {
    let twice = mesh(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2], [0, 1, 2]]);
    let placements = vec![(0, Affine3::IDENTITY); 50];
    let rays = [ray(Vec3::new(0.2, 0.2, 1.0), Vec3::NEG_Z)];
    let hit = trace(scene(vec![twice], &placements), RayKind::Closest, &rays)[0];
    assert_eq!((hit.instance, hit.prim, hit.t), (0, 0, 1.0));
}

#[test]
fn a_ray_stays_within_its_limits() {
    let wall =
        mesh(vec![Vec3::new(-9.0, -9.0, 0.0), Vec3::new(9.0, -9.0, 0.0), Vec3::new(0.0, 9.0, 0.0)], vec![[0, 1, 2]]);
    let limited = |t_min, t_max| Ray { t_min, t_max, ..ray(Vec3::new(0.0, 0.0, 2.0), Vec3::NEG_Z) };
    let rays = [limited(0.0, 1.9), limited(2.1, 9.0), limited(0.0, 2.0), limited(2.0, 9.0)];
    let hits = trace(scene(vec![wall], &[(0, Affine3::IDENTITY)]), RayKind::Closest, &rays);
    assert_eq!(hits.iter().map(|h| h.t).collect::<Vec<_>>(), [-1.0, -1.0, 2.0, 2.0]);
}

#[test]
fn an_empty_scene_is_all_misses() {
    let hits = trace(scene(vec![], &[]), RayKind::Closest, &[ray(Vec3::ZERO, Vec3::X)]);
    assert_eq!(hits[0].t, -1.0);
}

#[test]
fn a_squashed_and_mirrored_sphere_is_hit_where_its_equation_says() {
    let transform = Affine3::from_scale_rotation_translation(
        Vec3::new(-2.0, 0.5, 1.0),
        Quat::from_rotation_z(0.7),
        Vec3::new(10.0, -3.0, 0.5),
    );
    let mut random = Random::new(8);
    let rays: Vec<Ray> = (0..2000)
        .map(|_| {
            let origin = random.cube() * 20.0;
            ray(origin, transform.translation + random.cube() * 2.0 - origin)
        })
        .collect();
    let hits = trace(scene(vec![crate::common::sphere()], &[(0, transform)]), RayKind::Closest, &rays);
    let inverse = transform.inverse();
    let mut hit_count = 0;
    for (ray, hit) in rays.iter().zip(&hits).filter(|(_, hit)| hit.t >= 0.0) {
        let on_surface = inverse.transform_point3(Vec3::from(ray.origin) + Vec3::from(ray.direction) * hit.t);
        assert!((on_surface.length() - 1.0).abs() < 2e-4, "{ray:?} {on_surface}");
        hit_count += 1;
    }
    assert!(hit_count > 300, "{hit_count}");
}
