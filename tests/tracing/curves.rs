//! Curves against a test of every segment in double precision, and light around them.

use crate::common::{Random, render_on_each, scene, settings, trace};
use glam::{Affine3, DVec3, EulerRot, Quat, Vec3};
use std::sync::Arc;
use throng::scene::{
    Camera, CameraPath, CurveProfile, Curves, Environment, Integrator, Mesh, Projection, Scene, Shape,
};
use throng_abi::{CurvePoint, Ray};
use throng_device::{PixelType, RayKind};

fn mesh_of(curves: Curves) -> Mesh {
    Mesh { name: "curves".into(), shape: Shape::Curves(Arc::new(curves)), slot_count: 1 }
}

/// Random strands in the cube [-1, 1]³. `width` is the greatest radius.
fn strands(count: u32, points: u32, width: f32, profile: CurveProfile, seed: u32) -> Curves {
    let mut random = Random::new(seed);
    let mut curves = Curves { profile, ..Curves::default() };
    for _ in 0..count {
        curves.strands.push(curves.points.len() as u32);
        let mut at = random.cube();
        for _ in 0..points {
            curves.points.push(CurvePoint { position: at.into(), radius: width * random.unit() });
            at += random.cube() * 0.3;
        }
    }
    curves
}

/// The distance at which a ray of unit direction enters the union of the spheres along a segment, found among many of the spheres. NaN if
/// it starts inside or passes too closely to tell.
fn enter_spheres(points: [CurvePoint; 2], origin: DVec3, direction: DVec3) -> f64 {
    let [from, to] = points.map(|p| (Vec3::from(p.position).as_dvec3(), f64::from(p.radius)));
    let enter = |u: f64| {
        let (center, radius) = (from.0.lerp(to.0, u), from.1 + (to.1 - from.1) * u);
        let nearest = (center - origin).dot(direction);
        let miss2 = (origin + direction * nearest - center).length_squared();
        // How deep the ray is inside of the sphere, in multiples of what rounding may hide.
        (nearest - (radius * radius - miss2).max(0.0).sqrt(), (radius - miss2.sqrt()) / hidden(radius))
    };
    let deepest = minimum(|u| -enter(u).1);
    if deepest.1 > 1.0 {
        return f64::INFINITY;
    }
    if deepest.1 > -1.0 {
        return f64::NAN;
    }
    // The ray passes the spheres between two ends.
    let end = |mut out: f64| {
        let mut inside = deepest.0;
        for _ in 0..60 {
            let middle = 0.5 * (out + inside);
            *(if enter(middle).1 >= 0.0 { &mut inside } else { &mut out }) = middle;
        }
        if enter(out).1 >= 0.0 { out } else { inside }
    };
    let (first, last) = (end(0.0), end(1.0));
    minimum(|share| enter(first + (last - first) * share).0).1
}

/// Distance from the silhouette of a fibre below which rounding may decide on a hit.
fn hidden(radius: f64) -> f64 {
    1e-3 * radius + 4e-6
}

/// The place and value of the minimum of a function over [0, 1] that has one valley.
fn minimum(f: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut best = (0.0, f64::INFINITY);
    let (mut from, mut to) = (0.0, 1.0);
    for _ in 0..7 {
        let step = (to - from) / 24.0;
        for i in 0..=24 {
            let u = f64::min(from + step * f64::from(i), 1.0);
            if f(u) < best.1 {
                best = (u, f(u));
            }
        }
        (from, to) = (f64::max(best.0 - 2.0 * step, 0.0), f64::min(best.0 + 2.0 * step, 1.0));
    }
    best
}

/// The distance at which a ray of unit direction passes the axis of a ribbon within its width. NaN at its edge.
fn cross_ribbon(points: [CurvePoint; 2], origin: DVec3, direction: DVec3) -> f64 {
    let [from, to] = points.map(|p| (Vec3::from(p.position).as_dvec3(), f64::from(p.radius)));
    let at = |u: f64| from.0.lerp(to.0, u) - origin;
    let miss = |u: f64| (at(u) - direction * at(u).dot(direction)).length();
    let (u, closest) = minimum(miss);
    let radius = from.1 + (to.1 - from.1) * u;
    match (closest - radius) / hidden(radius) {
        outside if outside > 1.0 => f64::INFINITY,
        outside if outside < -1.0 => at(u).dot(direction),
        _ => f64::NAN,
    }
}

/// Compares hits of random rays in instances of `curves` with a test of all their segments.
fn agrees_with_brute_force(curves: &Curves, size: f32, seed: u32) {
    let mut random = Random::new(seed);
    let mut place = || {
        let [x, y, z] = [0, 1, 2].map(|_| random.range(0.0, 7.0));
        let rotation = Quat::from_euler(EulerRot::XYZ, x, y, z);
        Affine3::from_scale_rotation_translation(
            Vec3::splat(size * random.range(0.5, 2.0)),
            rotation,
            random.cube() * size,
        )
    };
    let places = [place(), place()];
    let mut random = Random::new(seed + 1);
    let rays: Vec<Ray> = (0..1000)
        .map(|_| {
            let origin = random.cube().normalize_or(Vec3::X) * 6.0 * size;
            let direction = random.cube() * size - origin;
            crate::common::ray(origin, direction * random.range(0.1, 10.0))
        })
        .collect();
    let mesh = mesh_of(curves.clone());
    let hits = trace(scene(vec![mesh], &[(0, places[0]), (0, places[1])]), RayKind::Closest, &rays);
    let any = trace(scene(vec![mesh_of(curves.clone())], &[(0, places[0]), (0, places[1])]), RayKind::Any, &rays);
    let (mut found, mut unclear) = (0, 0);
    for ((ray, hit), any) in rays.iter().zip(&hits).zip(&any) {
        let mut distances = Vec::new();
        for place in &places {
            let inverse = place.inverse();
            let origin = inverse.transform_point3(ray.origin.into()).as_dvec3();
            let along = inverse.transform_vector3(ray.direction.into()).as_dvec3();
            let unit = along.normalize();
            for segment in curves.segments() {
                let points = [0, 1].map(|end| curves.points[segment as usize + end]);
                let distance = match curves.profile {
                    CurveProfile::Round => enter_spheres(points, origin, unit),
                    CurveProfile::Ribbon => cross_ribbon(points, origin, unit),
                };
                distances.push(distance / along.length());
            }
        }
        if distances.iter().any(|t| t.is_nan()) {
            unclear += 1;
            continue;
        }
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(any.t >= 0.0, nearest.is_finite(), "{ray:?}: {any:?}, not {nearest}");
        assert_eq!(hit.t >= 0.0, nearest.is_finite(), "{ray:?}: {hit:?}, not {nearest}");
        if nearest.is_finite() {
            assert!((f64::from(hit.t) - nearest).abs() < 2e-5 * nearest, "{ray:?}: {hit:?}, not {nearest}");
            found += 1;
        }
    }
    assert!(found > 10 && unclear < 300, "{found} hits, {unclear} unclear");
}

#[test]
fn rays_hit_round_segments_where_they_enter_the_spheres_along_them() {
    agrees_with_brute_force(&strands(25, 4, 0.1, CurveProfile::Round, 1), 1.0, 2);
    agrees_with_brute_force(&strands(25, 4, 0.3, CurveProfile::Round, 3), 1e-3, 4);
    agrees_with_brute_force(&strands(60, 6, 0.01, CurveProfile::Round, 5), 1e3, 6);
}

#[test]
fn rays_hit_ribbons_that_face_them() {
    agrees_with_brute_force(&strands(25, 4, 0.1, CurveProfile::Ribbon, 7), 1.0, 8);
    agrees_with_brute_force(&strands(60, 6, 0.01, CurveProfile::Ribbon, 9), 1e3, 10);
}

/// A view of the unit cube.
fn seen(curves: Curves, environment: Environment, place: Affine3, distance: f32) -> Scene {
    let mut scene = scene(vec![mesh_of(curves)], &[(0, place)]);
    scene.camera = Camera {
        path: CameraPath::Still { eye: place.translation + Vec3::new(0.0, 0.0, distance), target: place.translation },
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 0.6 },
        ..Camera::default()
    };
    scene.environment = environment;
    scene
}

/// A straight fibre is convex, so that white ones look like the uniform light around them. Ribbons of two segments do not face the same way, and
/// cut into each other at their joint.
#[test]
fn light_leaves_a_fibre_without_meeting_it_again() {
    for profile in [CurveProfile::Round, CurveProfile::Ribbon] {
        for (size, offset) in [(1.0, Vec3::ZERO), (1e-3, Vec3::new(0.3, -0.2, 0.5)), (1e3, Vec3::new(2e3, 1e3, 0.0))] {
            let point = |t: f32, radius| CurvePoint { position: (Vec3::new(0.9, 0.5, 0.2) * t).into(), radius };
            let points = vec![point(-1.0, 0.2), point(-0.2, 0.2), point(0.5, 0.1), point(1.0, 0.01)];
            let curves = Curves { points, strands: vec![0], profile, ..Curves::default() };
            let place = Affine3::from_scale_rotation_translation(Vec3::splat(size), Quat::IDENTITY, offset);
            let white = Environment::Constant { radiance: Vec3::ONE };
            let mut settings = settings(96, 96, Integrator::Path);
            settings.pixels = PixelType::F32;
            settings.samples = 4;
            for rendered in render_on_each(seen(curves, white, place, 4.0 * size), &settings) {
                let values: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
                let dark = values.iter().filter(|&&value| (value - 1.0).abs() > 1e-3).count();
                let most = values.len() / if profile == CurveProfile::Round { 2000 } else { 100 };
                assert!(dark <= most, "{profile:?} of size {size}: {dark} values");
            }
        }
    }
}

/// Both profiles look alike from afar, and as a tube of triangles does.
#[test]
fn ribbons_are_as_bright_as_round_fibres() {
    let mean = |profile| {
        let curves = strands(60, 8, 0.02, profile, 12);
        let sky = Environment::Gradient { zenith: Vec3::ONE, horizon: Vec3::splat(0.3), nadir: Vec3::ZERO };
        let mut settings = settings(64, 64, Integrator::Path);
        (settings.pixels, settings.samples) = (PixelType::F32, 16);
        let rendered = &render_on_each(seen(curves, sky, Affine3::IDENTITY, 6.0), &settings)[0];
        let values: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
        values.iter().sum::<f32>() / values.len() as f32
    };
    let (round, ribbon) = (mean(CurveProfile::Round), mean(CurveProfile::Ribbon));
    assert!((ribbon / round - 1.0).abs() < 0.02, "{round} {ribbon}");
}
