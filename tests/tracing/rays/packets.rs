//! CPU ray packets against single rays: `trace` compares all variants, one of which has no packets.

use crate::common::{Random, ball, mesh, ray, scene, sphere, trace};
use glam::{Affine3, Quat, Vec3};
use throng::scene::Scene;
use throng_abi::Ray;
use throng_device::RayKind;

const PACKET: usize = 16;

fn crowd() -> Scene {
    let mut random = Random::new(3);
    let (positions, triangles) = ball(2);
    let placements: Vec<(u32, Affine3)> = (0..600)
        .map(|i| {
            let turn = Quat::from_rotation_y(random.range(0.0, 7.0));
            let scale = Vec3::new(random.range(0.1, 0.8), 0.3, random.range(0.001, 0.5));
            let place = 10.0 * random.cube();
            let placed = Affine3::from_scale_rotation_translation(scale, turn, place);
            (i % 2, placed)
        })
        .collect();
    scene(vec![mesh(positions, triangles), sphere()], &placements)
}

/// Packets of rays whose directions have equal signs, from origins up to `spread` apart.
fn bundles(count: usize, spread: f32, aimed: bool) -> Vec<Ray> {
    let mut random = Random::new(spread.to_bits());
    let mut rays = Vec::new();
    for _ in 0..count {
        let (target, toward) = (10.0 * random.cube(), random.cube());
        for _ in 0..PACKET {
            let off = random.cube();
            let along = toward + 0.1 * toward.abs() * off;
            let place = target - 15.0 * toward + spread * random.cube();
            let direction = if aimed { target + off - place } else { along };
            rays.push(ray(place, direction));
        }
    }
    rays
}

#[test]
fn packets_find_what_their_rays_find_alone() {
    for spread in [0.0, 1e-3, 1.0, 30.0] {
        let rays = bundles(300, spread, false);
        let hits = trace(crowd(), RayKind::Closest, &rays);
        let met = hits.iter().filter(|hit| hit.t >= 0.0).count();
        assert!(met > rays.len() / 50, "{met} hits");
        trace(crowd(), RayKind::Any, &rays);
    }
}

#[test]
fn origins_far_from_each_other_lose_no_hits() {
    for spread in [1e4, 1e6, 1e9] {
        trace(crowd(), RayKind::Closest, &bundles(200, spread, true));
        trace(crowd(), RayKind::Any, &bundles(200, spread, true));
    }
}

#[test]
fn packets_along_axes_and_shorter_lists_find_the_same() {
    let mut random = Random::new(9);
    let axes = [Vec3::X, Vec3::NEG_Y, Vec3::new(-0.0, 0.0, 1.0), Vec3::new(1.0, 1e-20, -0.0)];
    for axis in axes {
        for count in [1, 4, 5, 16, 17, 40] {
            let rays: Vec<Ray> = (0..count).map(|_| ray(10.0 * random.cube() - 20.0 * axis, axis)).collect();
            trace(crowd(), RayKind::Closest, &rays);
        }
    }
}

#[test]
fn directions_of_any_length_find_the_same() {
    let rays = bundles(100, 1.0, false);
    let hits = trace(crowd(), RayKind::Closest, &rays);
    assert!(hits.iter().any(|hit| hit.t >= 0.0));
    for length in [-80, -60, 60, 100].map(|exponent| 2.0_f32.powi(exponent)) {
        let stretched =
            rays.iter().map(|ray| Ray { direction: ray.direction.map(|component| component * length), ..*ray });
        let stretched: Vec<Ray> = stretched.collect();
        let found = trace(crowd(), RayKind::Closest, &stretched);
        for (hit, found) in hits.iter().zip(&found) {
            // A power of two changes only exponents.
            let t = if hit.t < 0.0 { hit.t } else { hit.t / length };
            assert_eq!((found.instance, found.prim), (hit.instance, hit.prim));
            assert_eq!(found.t, t, "times {length:e}");
        }
    }
}

/// Packets from outside and inside meshes, whose rays are `apart` at the surface: in one leaf, over several leaves, or over the whole mesh.
#[test]
fn packets_that_stay_together_within_a_mesh_find_the_same() {
    let (positions, triangles) = ball(4);
    let mut random = Random::new(12);
    let placements: Vec<(u32, Affine3)> = (0..20)
        .map(|_| {
            let scale = Vec3::ONE + 0.8 * random.cube();
            let turn = Quat::from_rotation_y(random.range(0.0, 7.0));
            let place = 3.0 * random.cube();
            (0, Affine3::from_scale_rotation_translation(scale, turn, place))
        })
        .collect();
    for apart in [0.0, 1e-5, 1e-3, 0.01, 0.1, 1.0] {
        let mut rays = Vec::new();
        for _ in 0..400 {
            let place = random.range(0.0, 8.0) * random.cube();
            let target = 3.0 * random.cube();
            for _ in 0..PACKET {
                let off = apart * random.cube();
                rays.push(ray(place + random.range(0.0, 1.0) * off, target + off - place));
            }
        }
        let scene = || scene(vec![mesh(positions.clone(), triangles.clone())], &placements);
        let hits = trace(scene(), RayKind::Closest, &rays);
        let met = hits.iter().filter(|hit| hit.t >= 0.0).count();
        assert!(met > rays.len() / 2, "{met} hits");
        trace(scene(), RayKind::Any, &rays);
    }
}
