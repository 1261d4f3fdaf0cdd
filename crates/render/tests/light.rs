//! Tests light sampling in the kernels, compiled for the baseline variant.

use glam::{Affine3, Quat, Vec3};
use std::{f32::consts::PI, sync::Arc};
use throng_base::math::hash_unit;
use throng_device::{
    CpuDevice, Device, FrameSettings,
    fake::settings,
    light::probe::{Probe, Strategy},
};
use throng_loader as loader;
use throng_render::Poser;
use throng_scene::{
    Environment, FloatImage, Instance, Integrator, Light, Material, Mesh, NONE, Scene, Shape, Stars, TriangleMesh,
    desc::{Color, DiscLight, Finite, LightDesc, Point, PointLight, RectangleLight, SceneFile},
};

fn sphere() -> Mesh {
    Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 }
}

/// A square of side 2 in the XZ plane, and a triangle beside it with the second material.
fn panel() -> Mesh {
    let corners = [
        [-1.0, 0.0, -1.0],
        [-1.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [1.0, 0.0, -1.0],
        [4.0, 0.0, 0.0],
        [4.0, 1.0, 1.0],
        [4.0, -0.5, 1.0],
    ];
    Mesh {
        name: "panel".into(),
        shape: Shape::Triangles(TriangleMesh {
            positions: corners.to_vec(),
            triangles: vec![[0, 1, 2], [0, 2, 3], [4, 5, 6]],
            slots: vec![0, 0, 1],
            ..Default::default()
        }),
        slot_count: 2,
    }
}

fn glowing(radiance: Vec3) -> Material {
    Material { emission: radiance, ..Default::default() }
}

/// A scene with emissive instances of a sphere (mesh 0) and of panels (mesh 1), with the given transforms.
fn shining(placements: &[(u32, Affine3)]) -> Scene {
    let instances =
        placements.iter().map(|&(mesh, local)| Instance { local, node: NONE, mesh, slot_base: 0, motion: NONE });
    Scene {
        meshes: vec![sphere(), panel()],
        instances: instances.collect(),
        materials: vec![glowing(Vec3::new(3.0, 2.0, 1.0)), glowing(Vec3::splat(8.0))],
        material_slots: vec![0, 1],
        ..Default::default()
    }
}

fn at(x: f32, y: f32, z: f32, scale: f32) -> Affine3 {
    Affine3::from_scale_rotation_translation(Vec3::splat(scale), Quat::IDENTITY, Vec3::new(x, y, z))
}

fn ask<T>(scene: Scene, ask: impl FnOnce(&mut Probe) -> T) -> T {
    let scene = Arc::new(scene);
    let mut device = CpuDevice::with_variant("baseline").unwrap();
    device.load(scene.clone()).unwrap();
    let frame = Poser::new(scene, device.node_layout()).repose(1);
    let settings = FrameSettings { integrator: Integrator::Path, ..settings() };
    device.probe(&frame, &settings, ask).unwrap()
}

/// Direction `index` of `count` directions that are spread evenly over the sphere.
fn spread(index: u32, count: u32) -> Vec3 {
    let y = 1.0 - (2.0 * index as f32 + 1.0) / count as f32;
    let turn = (f64::from(index) * 0.618_033_988_749_895).fract() as f32;
    let (sin, cos) = (turn * 2.0 * PI).sin_cos();
    let radius = (1.0 - y * y).max(0.0).sqrt();
    Vec3::new(radius * cos, y, radius * sin)
}

const BANDS: usize = 12;

/// Index of the bin that contains a direction; the sphere is divided into 12 × 24 bins.
fn bin(d: Vec3) -> usize {
    let row = ((d.y * 0.5 + 0.5) * BANDS as f32) as usize;
    let turn = 0.5 + d.z.atan2(d.x) / (2.0 * PI);
    let column = (turn * 2.0 * BANDS as f32) as usize;
    row.min(BANDS - 1) * 2 * BANDS + column.min(2 * BANDS - 1)
}

/// Tests that the pdfs at `position` integrate to 1, that each sample's pdf equals the pdf computed for its direction, and that samples are
/// distributed accordingly (Pearson's χ² test).
fn samples_follow_their_pdf(scene: Scene, position: Vec3) {
    const SAMPLES: u32 = 40_000;
    const DIRECTIONS: u32 = 1_000_000;
    ask(scene, |probe| {
        let mut expected = [0f64; 2 * BANDS * BANDS];
        for i in 0..DIRECTIONS {
            let d = spread(i, DIRECTIONS);
            let pdf: f32 = probe.pdfs(position, Vec3::ZERO, d).iter().sum();
            expected[bin(d)] += f64::from(pdf * 4.0 * PI) / f64::from(DIRECTIONS);
        }
        let total: f64 = expected.iter().sum();
        assert!((total - 1.0).abs() < 0.01, "pdfs add up to {total}");
        let mut found = [0f64; 2 * BANDS * BANDS];
        let mut strays = 0;
        for i in 0..SAMPLES {
            let u = [0, 1, 2].map(|axis| hash_unit(axis, i));
            let Some(sample) = probe.sample(position, Vec3::ZERO, u) else {
                continue;
            };
            assert!((sample.direction.length() - 1.0).abs() < 1e-4);
            let pdfs = probe.pdfs(position, Vec3::ZERO, sample.direction);
            let agrees = |d: &f32| (d / sample.pdf - 1.0).abs() < 2e-3;
            strays += u32::from(!pdfs.iter().any(agrees));
            found[bin(sample.direction)] += 1.0;
        }
        // At edges, rounding may direct a sample past its light.
        assert!(strays < SAMPLES / 500, "{strays} samples have another pdf");
        let mut sum = 0.0;
        let mut bins = 0;
        for (found, expected) in found.iter().zip(expected) {
            let expected = expected * f64::from(SAMPLES) / total;
            if expected >= 8.0 {
                sum += (found - expected) * (found - expected) / expected;
                bins += 1;
            }
        }
        // The limit is the mean plus five standard deviations, plus the error of the sum over directions.
        let freedom = f64::from(bins);
        let limit = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
        assert!(sum < limit, "χ² is {sum} for {bins} bins");
    });
}

fn image_sky() -> Environment {
    let (width, height) = (16, 8);
    let texel = |i: u32| {
        let bright = if i == 37 { 60.0 } else { 0.2 + (i % 5) as f32 * 0.2 };
        [bright, bright * 0.5, 0.3]
    };
    Environment::Image {
        pixels: FloatImage { width, height, data: (0..width * height).map(texel).collect() },
        rotation: 0.7,
        stars: Stars::default(),
    }
}

fn gradient_sky() -> Environment {
    Environment::Gradient { zenith: Vec3::new(0.2, 0.4, 1.0), horizon: Vec3::splat(0.8), nadir: Vec3::splat(0.1) }
}

const HIGH: Vec3 = Vec3::new(0.3, 0.8, 0.2);

fn sun(direction: Vec3, angular_radius: f32) -> Light {
    Light::Sun { direction: direction.normalize(), irradiance: Vec3::new(4.0, 3.5, 3.0), angular_radius }
}

#[test]
fn directions_to_an_image_are_sampled_by_its_light() {
    let scene = Scene { environment: image_sky(), ..Default::default() };
    samples_follow_their_pdf(scene, Vec3::ZERO);
}

#[test]
fn a_gradient_and_suns_are_sampled_side_by_side() {
    let scene = Scene {
        environment: gradient_sky(),
        lights: vec![sun(HIGH, 0.3), sun(Vec3::NEG_X, 0.5)],
        ..Default::default()
    };
    samples_follow_their_pdf(scene, Vec3::ZERO);
}

#[test]
fn a_sphere_is_sampled_by_the_cone_that_it_fills_however_it_is_stretched() {
    let stretched = Affine3::from_scale_rotation_translation(
        Vec3::new(2.0, 0.5, 1.0),
        Quat::from_rotation_z(0.5),
        Vec3::new(1.0, 2.0, 0.5),
    );
    samples_follow_their_pdf(shining(&[(0, stretched)]), Vec3::ZERO);
    let inside = stretched.transform_point3(Vec3::new(0.3, 0.2, -0.5));
    samples_follow_their_pdf(shining(&[(0, stretched)]), inside);
}

#[test]
fn triangles_are_sampled_by_area_and_radiance_however_they_are_stretched() {
    let stretched = Affine3::from_scale_rotation_translation(
        Vec3::new(2.0, 1.5, 0.7),
        Quat::from_rotation_x(0.4),
        Vec3::new(0.0, 2.0, 0.5),
    );
    samples_follow_their_pdf(shining(&[(1, stretched)]), Vec3::ZERO);
}

#[test]
fn many_emitters_are_sampled_through_the_tree() {
    // The spheres lie in a shell around the point, so that few hide another.
    let place = |i: u32| {
        let p = spread(i, 300) * (3.0 + 4.0 * hash_unit(9, i));
        (0, at(p.x, p.y, p.z, 0.1 + 0.15 * hash_unit(8, i)))
    };
    let places: Vec<(u32, Affine3)> = (0..300).map(place).collect();
    samples_follow_their_pdf(shining(&places), Vec3::new(0.2, 0.1, 0.0));
}

/// Tests that sampling lights, sampling directions, and their weighted combination give equal irradiance.
fn strategies_agree(scene: Scene, position: Vec3, normal: Vec3) {
    ask(scene, |probe| {
        let mut estimate = |strategy, samples| {
            let sum: f64 = probe.irradiance(position, normal, strategy, samples, 7).iter().sum();
            sum
        };
        let both = estimate(Strategy::Both, 1 << 20);
        let lights = estimate(Strategy::Lights, 1 << 20);
        let directions = estimate(Strategy::Directions, 1 << 22);
        for (name, other) in [("lights", lights), ("directions", directions)] {
            assert!((other / both - 1.0).abs() < 0.003, "{name}: {other}, both {both}");
        }
    });
}

#[test]
fn strategies_agree_under_a_picture_with_a_sun_and_something_in_the_way() {
    let mut scene = shining(&[(0, at(0.5, 1.0, 0.2, 0.4)), (1, at(-1.0, 2.0, -0.5, 0.5))]);
    scene.environment = image_sky();
    scene.lights = vec![sun(HIGH, 0.25)];
    strategies_agree(scene, Vec3::ZERO, Vec3::new(0.1, 1.0, 0.2).normalize());
}

#[test]
fn strategies_agree_among_many_emitters_and_at_a_panel() {
    let place = |i: u32| {
        let p = [0, 1, 2].map(|axis| 4.0 * hash_unit(axis, i) - 2.0);
        (i % 2, at(p[0], p[1] + 3.0, p[2], 0.2))
    };
    let mut places: Vec<(u32, Affine3)> = (0..100).map(place).collect();
    places.push((1, at(0.0, 0.6, 0.0, 0.5)));
    let mut scene = shining(&places);
    scene.environment = gradient_sky();
    strategies_agree(scene, Vec3::ZERO, Vec3::Y);
}

#[test]
fn point_and_spot_lights_are_sampled_beside_what_shines() {
    let mut scene = shining(&[(0, at(50.0, 2.0, 0.0, 0.5))]);
    let down = |position: Vec3, outer: f32| Light::Spot {
        position,
        direction: Vec3::NEG_Y,
        intensity: Vec3::splat(9.0),
        inner: 0.5 * outer,
        outer,
        radius: 0.0,
        range: None,
    };
    scene.lights = vec![
        Light::Point { position: Vec3::new(0.0, 2.0, 0.0), intensity: Vec3::splat(4.0), range: None },
        down(Vec3::new(0.0, 3.0, 0.0), 0.4),
        // The point is outside the cone of the next light, and half-way into the edge of the last one.
        down(Vec3::new(3.0, 3.0, 0.0), 0.7),
        down(Vec3::new(1.0, 2.0, 0.0), (0.8f32).acos()),
    ];
    let edge = {
        let cosine = 2.0 / 5f32.sqrt();
        let (inner, outer) = ((0.5 * 0.8f32.acos()).cos(), 0.8);
        let share = ((cosine - outer) / (inner - outer)).clamp(0.0, 1.0).powi(2);
        9.0 * share / 5.0 * cosine
    };
    let expected = 3.0 * f64::from(4.0 / 4.0 + 9.0 / 9.0 + edge);
    ask(scene, |probe| {
        let found: f64 = probe.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 1 << 18, 1).iter().sum();
        assert!((found / expected - 1.0).abs() < 0.01, "{found} is not {expected}");
    });
}

#[test]
fn what_is_unlit_lights_nothing() {
    let mut scene = shining(&[(0, at(0.0, 2.0, 0.0, 1.0))]);
    scene.materials[0].unlit = true;
    ask(scene, |probe| {
        let sample = probe.sample(Vec3::ZERO, Vec3::Y, [0.5; 3]);
        assert!(sample.is_none(), "{sample:?}");
        let both = probe.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 256, 1);
        assert_eq!(both, [0.0; 3]);
    });
}

/// A scene with only `light` and a ball below the ground.
fn lamp(light: LightDesc) -> Scene {
    let below = r#"(meshes: {"ball": Sphere}, instances: [Single(of: "ball", translate: (0, -9, 0))])"#;
    let file: SceneFile = below.parse().unwrap();
    loader::build("lamp", &SceneFile { lights: vec![light], ..file }).unwrap()
}

/// Tests that sampling lights, directions and both give this irradiance at the origin, on a surface that faces up.
fn lights_the_ground(light: LightDesc, expected: f32) {
    ask(lamp(light), |probe| {
        for (strategy, samples) in
            [(Strategy::Lights, 1 << 14), (Strategy::Directions, 1 << 18), (Strategy::Both, 1 << 14)]
        {
            let [found, ..] = probe.irradiance(Vec3::ZERO, Vec3::Y, strategy, samples, 3);
            assert!((found / f64::from(expected) - 1.0).abs() < 0.01, "{strategy:?}: {found} is not {expected}");
        }
    });
}

const WHITE: Color = Color::new(2.0, 2.0, 2.0);
const ABOVE: Point = Point(Vec3::new(0.0, 1.5, 0.0));
const DOWN: Point = Point(Vec3::NEG_Y);

#[test]
fn a_disc_above_the_ground_lights_it_by_its_radiance_and_the_angle_that_it_fills() {
    let (radius, height) = (0.8f32, 1.5f32);
    let light = |direction: Point| {
        LightDesc::Disc(DiscLight { position: ABOVE, direction, radius: Finite(radius), intensity: WHITE, name: None })
    };
    let radiance = 2.0 / (PI * radius * radius);
    lights_the_ground(light(DOWN), PI * radiance * radius * radius / (radius * radius + height * height));
    ask(lamp(light(Point(Vec3::Y))), |probe| {
        let behind = probe.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 1 << 10, 3);
        assert_eq!(behind, [0.0; 3], "its back is dark");
    });
}

#[test]
fn a_rectangle_above_the_ground_lights_it_by_its_form_factor() {
    let (width, depth, height) = (3.0f32, 1.0f32, 1.5f32);
    let light = LightDesc::Rectangle(RectangleLight {
        position: ABOVE,
        direction: DOWN,
        size: (Finite(width), Finite(depth)),
        intensity: WHITE,
        up: Some(Point(Vec3::new(1.0, 1.0, 0.0))),
        name: None,
    });
    // For each quarter, which has a corner above the point.
    let (a, b) = (0.5 * width / height, 0.5 * depth / height);
    let term = |a: f32, b: f32| a / (1.0 + a * a).sqrt() * (b / (1.0 + a * a).sqrt()).atan();
    let radiance = 2.0 / (width * depth);
    lights_the_ground(light, 4.0 * radiance * 0.5 * (term(a, b) + term(b, a)));
}

#[test]
fn a_ball_lights_from_outside_like_a_point_in_its_middle() {
    for radius in [0.01, 0.5, 1.2] {
        let light = LightDesc::Point(PointLight {
            position: ABOVE,
            intensity: WHITE,
            radius: Finite(radius),
            range: None,
            name: None,
        });
        ask(lamp(light), |probe| {
            let [found, ..] = probe.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 1 << 14, 3);
            assert!((found / (2.0 / 2.25) - 1.0).abs() < 0.01, "{radius}: {found}");
        });
    }
}

#[test]
fn lights_with_a_range_end_there_as_the_extension_says() {
    let (position, intensity) = (Vec3::new(0.0, 2.0, 0.0), Vec3::splat(8.0));
    let point = |range| Light::Point { position, intensity, range };
    let spot =
        |range| Light::Spot { position, direction: Vec3::NEG_Y, intensity, inner: 0.5, outer: 1.0, radius: 0.0, range };
    let irradiance = |light| {
        let scene = Scene { lights: vec![light], ..Default::default() };
        ask(scene, |p| p.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 1 << 8, 3)[0])
    };
    // 8 / 2² · max(1 − (2 / range)⁴, 0).
    for (range, expected) in [(None, 2.0), (Some(4.0), 1.875), (Some(2.5), 1.1808), (Some(2.0), 0.0), (Some(0.5), 0.0)]
    {
        for light in [point(range), spot(range)] {
            let found = irradiance(light);
            assert!((found - expected).abs() < 1e-4, "{range:?}: {found} for {expected}");
        }
    }
}

#[test]
fn a_spot_with_a_radius_lights_like_a_point_far_away_and_less_sharply_at_its_edge() {
    let spot = |height: f32, outer: f32, radius: f32, x: f32| Scene {
        lights: vec![Light::Spot {
            position: Vec3::new(x, height, 0.0),
            direction: Vec3::NEG_Y,
            intensity: Vec3::splat(height * height),
            inner: outer,
            outer,
            radius,
            range: None,
        }],
        ..Default::default()
    };
    let irradiance = |scene| ask(scene, |p| p.irradiance(Vec3::ZERO, Vec3::Y, Strategy::Both, 1 << 12, 3)[0]);
    assert!((irradiance(spot(50.0, 0.1, 0.5, 0.0)) - 1.0).abs() < 1e-3);
    let at_the_edge = 2.0 * 0.5f32.tan();
    let half = irradiance(spot(2.0, 0.5, 0.1, at_the_edge)) / irradiance(spot(2.0, 1.0, 0.1, at_the_edge));
    assert!((0.4..0.6).contains(&half), "{half}");
    assert_eq!(irradiance(spot(2.0, 0.5, 0.1, 2.0 * at_the_edge)), 0.0);
}
