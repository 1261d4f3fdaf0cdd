//! Fog: light is conserved, or attenuated as the closed forms predict.

use crate::common::{mesh, render, scene, settings, sphere};
use glam::{Affine3, Vec3};
use std::f32::consts::{FRAC_PI_2, PI};
use throng::scene::{
    Camera, CameraPath, Environment, Fog, Integrator, Light, Lobes, Material, MaterialKind, Mesh, Projection, Scene,
    Thinning,
};
use throng_device::{FrameSettings, PixelType};

const SIDE: u32 = 16;

fn fog(density: f32, albedo: f32, anisotropy: f32) -> Fog {
    Fog { density, albedo: Vec3::splat(albedo), anisotropy, thinning: None, top: None }
}

fn thinning(height: f32) -> Option<Thinning> {
    Some(Thinning { base: 0.0, height })
}

/// The plane y = 0 within `reach` of the origin.
fn ground(reach: f32) -> Mesh {
    let corner = |x: f32, z: f32| reach * Vec3::new(x, 0.0, z);
    mesh(vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)], vec![[0, 1, 2], [0, 2, 3]])
}

fn look(scene: &mut Scene, eye: Vec3, target: Vec3, fov_y: f32) {
    let projection = Projection::Perspective { fov_y };
    scene.camera = Camera { path: CameraPath::Still { eye, target }, projection, ..Camera::default() };
}

/// Mean radiance of a picture of the scene.
fn mean(scene: Scene, samples: u32, bounces: u32) -> f32 {
    let settings = FrameSettings { samples, bounces, pixels: PixelType::F32, ..settings(SIDE, SIDE, Integrator::Path) };
    let pixels: Vec<f32> = bytemuck::pod_collect_to_vec(&render(scene, &settings).pixels);
    pixels.iter().sum::<f32>() / pixels.len() as f32
}

#[track_caller]
fn assert_near(found: f32, expected: f32, tolerance: f32) {
    assert!((found - expected).abs() <= tolerance * expected, "{found}, not {expected}");
}

#[test]
fn fog_that_absorbs_nothing_is_not_seen_in_even_light() {
    for (density, anisotropy, height, eye_y) in [(0.1, 0.0, 4.0, 3.0), (0.5, 0.7, 2.0, 1.0), (0.2, -0.4, 3.0, 30.0)] {
        let mut scene = scene(vec![ground(1e4)], &[(0, Affine3::IDENTITY)]);
        scene.environment = Environment::Constant { radiance: Vec3::ONE };
        scene.fog = Some(Fog { thinning: thinning(height), ..fog(density, 1.0, anisotropy) });
        let eye = Vec3::new(0.0, eye_y, 0.0);
        look(&mut scene, eye, eye + Vec3::new(0.0, -0.1, -1.0), 1.5);
        assert_near(mean(scene, 64, 1000), 1.0, 0.02);
    }
}

#[test]
fn the_same_holds_in_a_lamp_all_around() {
    for (density, anisotropy) in [(0.05, 0.0), (0.3, 0.8)] {
        let mut scene = scene(vec![sphere()], &[(0, Affine3::from_scale(Vec3::splat(10.0)))]);
        scene.materials[0] = Material { color: Vec3::ZERO, emission: Vec3::ONE, ..Material::default() };
        scene.fog = Some(fog(density, 1.0, anisotropy));
        look(&mut scene, Vec3::new(0.0, 1.0, 4.0), Vec3::ZERO, 1.0);
        assert_near(mean(scene, 64, 1000), 1.0, 0.02);
    }
}

#[test]
fn what_is_behind_a_layer_of_fog_gets_through_it_by_lambert_and_beer() {
    let mut scene = scene(vec![ground(50.0)], &[(0, Affine3::IDENTITY)]);
    scene.materials[0] = Material { color: Vec3::ZERO, emission: Vec3::ONE, ..Material::default() };
    scene.fog = Some(Fog { top: Some(2.0), ..fog(0.4, 0.0, 0.0) });
    look(&mut scene, Vec3::new(0.0, 9.0, 0.0), Vec3::new(12.0, 0.0, 0.0), 0.001);
    // The ratio of path length to height is 15 to 9.
    assert_near(mean(scene, 256, 8), (-0.8_f32 * 15.0 / 9.0).exp(), 0.01);
}

#[test]
fn the_sky_gets_through_fog_that_thins_out() {
    let mut scene = scene(vec![sphere()], &[(0, Affine3::from_translation(Vec3::new(0.0, -50.0, 0.0)))]);
    scene.environment = Environment::Constant { radiance: Vec3::ONE };
    scene.fog = Some(Fog { thinning: thinning(6.0), ..fog(0.1, 0.0, 0.0) });
    look(&mut scene, Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 2.0, 4.0), 0.001);
    assert_near(mean(scene, 256, 8), (-0.7_f32 * 5.0 / 3.0).exp(), 0.01);
}

/// Radiance that fog scatters once towards `eye` along `direction`, by numerical integration. `arriving` returns the irradiance at a point
/// and the light's direction of travel.
fn scattered_once(fog: &Fog, eye: Vec3, direction: Vec3, reach: f32, arriving: impl Fn(Vec3) -> (f32, Vec3)) -> f32 {
    const STEPS: u32 = 100_000;
    let thinning = fog.thinning.unwrap();
    let density = |y: f32| fog.density * (-((y - thinning.base) / thinning.height).max(0.0)).exp();
    let (mut passed, mut sum) = (0.0_f64, 0.0);
    let step = reach / STEPS as f32;
    for i in 0..STEPS {
        let point = eye + direction * ((i as f32 + 0.5) * step);
        let extinction = density(point.y) * step;
        let (irradiance, towards) = arriving(point);
        let (g, cosine) = (fog.anisotropy, -direction.dot(towards));
        let phase = (1.0 - g * g) / (4.0 * PI * (1.0 + g * g - 2.0 * g * cosine).powf(1.5));
        let here = (-(passed + f64::from(extinction) * 0.5)).exp();
        sum += here * f64::from(extinction * fog.albedo.x * phase * irradiance);
        passed += f64::from(extinction);
    }
    sum as f32
}

#[test]
fn a_sun_and_a_lamp_shine_through_fog_as_integrals_say() {
    let foggy = Fog { thinning: thinning(5.0), ..fog(0.08, 0.9, 0.4) };
    let (eye, target) = (Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 3.0, -9.0));
    let direction = (target - eye).normalize();
    let lit = |light: Light| {
        let below = Affine3::from_translation(Vec3::new(0.0, -50.0, 0.0));
        let mut scene = scene(vec![sphere()], &[(0, below)]);
        scene.lights = vec![light];
        scene.fog = Some(foggy);
        look(&mut scene, eye, target, 0.001);
        mean(scene, 1024, 0)
    };
    let towards = Vec3::new(0.3, 0.5, 0.2).normalize();
    let sun = Light::Sun { direction: towards, irradiance: Vec3::splat(3.0), angular_radius: 0.0 };
    // Optical depth of the fog above a height, towards the sun.
    let above = |y: f32| 0.08 * 5.0 * (-y / 5.0).exp() / towards.y;
    let expected = scattered_once(&foggy, eye, direction, 400.0, |point| (3.0 * (-above(point.y)).exp(), -towards));
    assert_near(lit(sun), expected, 0.01);

    let position = Vec3::new(4.0, 2.0, -6.0);
    let lamp = Light::Point { position, intensity: Vec3::splat(50.0), range: None };
    let from_lamp = |point: Vec3| {
        let to = point - position;
        let mean_density = |a: f32, b: f32| {
            if (b - a).abs() < 1e-4 {
                0.08 * (-a / 5.0).exp()
            } else {
                0.08 * 5.0 * ((-a / 5.0).exp() - (-b / 5.0).exp()) / (b - a)
            }
        };
        let passed = (-mean_density(position.y, point.y) * to.length()).exp();
        (50.0 / to.length_squared() * passed, to.normalize())
    };
    let expected = scattered_once(&foggy, eye, direction, 400.0, from_lamp);
    assert_near(lit(lamp), expected, 0.02);
}

#[test]
fn inside_of_glass_there_is_no_fog() {
    let wall = Affine3::from_translation(Vec3::new(0.0, 0.0, -10.0)) * Affine3::from_rotation_x(FRAC_PI_2);
    let mut scene = scene(vec![sphere(), ground(50.0)], &[(0, Affine3::from_scale(Vec3::splat(4.0))), (1, wall)]);
    let clear = Lobes { roughness: 0.0, ior: 1.0, transmission: 1.0, thin: 0, ..Lobes::default() };
    let glass = Material { kind: MaterialKind::Layered, color: Vec3::ONE, lobes: clear, ..Material::default() };
    scene.materials = vec![glass, Material { color: Vec3::ZERO, emission: Vec3::ONE, ..Material::default() }];
    scene.material_slots = vec![0, 1];
    scene.instances[1].slot_base = 1;
    scene.fog = Some(fog(0.1, 0.0, 0.0));
    look(&mut scene, Vec3::new(0.0, 0.0, 10.0), Vec3::ZERO, 0.001);
    assert_near(mean(scene, 256, 8), (-0.1_f32 * (20.0 - 8.0)).exp(), 0.01);
}

#[test]
fn fog_without_density_leaves_every_bit() {
    let picture = |fog: Option<Fog>| {
        let mut scene = scene(vec![sphere(), ground(9.0)], &[(0, Affine3::IDENTITY), (1, Affine3::IDENTITY)]);
        scene.environment = Environment::Constant { radiance: Vec3::ONE };
        scene.lights = vec![Light::Sun { direction: Vec3::Y, irradiance: Vec3::ONE, angular_radius: 0.1 }];
        scene.fog = fog;
        look(&mut scene, Vec3::new(0.0, 2.0, 6.0), Vec3::ZERO, 0.8);
        let settings = FrameSettings { pixels: PixelType::F32, samples: 4, ..settings(SIDE, SIDE, Integrator::Path) };
        render(scene, &settings).pixels
    };
    let clear = picture(None);
    assert!(clear == picture(Some(fog(0.0, 1.0, 0.3))));
    assert!(clear != picture(Some(fog(0.1, 1.0, 0.3))));
}
