//! Panes: thin smooth glass that light passes without refraction, both towards a surface and towards the camera.

use crate::common::{mesh, render, scene, settings, sphere};
use glam::{Affine3, Vec3};
use throng::scene::{
    Camera, CameraPath, Environment, Integrator, Light, Lobes, Material, MaterialKind, Projection, Scene,
};
use throng_device::{FrameSettings, PixelType};

/// Albedo of the floor, low enough to neglect interreflection with the pane.
const FLOOR: f32 = 0.05;

fn quad(half: f32) -> throng::scene::Mesh {
    let corner = |x: f32, z: f32| Vec3::new(x * half, 0.0, z * half);
    mesh(vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)], vec![[0, 1, 2], [0, 2, 3]])
}

fn glass(color: Vec3, roughness: f32) -> Material {
    let lobes = Lobes { transmission: 1.0, roughness, thin: 1, ..Lobes::default() };
    Material { kind: MaterialKind::Layered, color, lobes, ..Material::default() }
}

/// A floor below one sheet of each of these materials, seen from just above the floor.
fn below(sheets: &[Material]) -> Scene {
    let height = |i: usize| Affine3::from_translation(Vec3::Y * (1.0 + 0.25 * i as f32));
    let mut placements = vec![(0, Affine3::IDENTITY)];
    placements.extend((0..sheets.len()).map(|i| (1, height(i))));
    let mut scene = scene(vec![quad(20.0), quad(6.0)], &placements);
    let floor = Material { color: Vec3::splat(FLOOR), ..Material::default() };
    scene.materials = [&[floor], sheets].concat();
    scene.material_slots = (0..=sheets.len() as u32).collect();
    for (slot, instance) in scene.instances.iter_mut().enumerate() {
        instance.slot_base = slot as u32;
    }
    scene.environment = Environment::Constant { radiance: Vec3::ZERO };
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::new(0.0, 0.5, 0.0), target: Vec3::ZERO },
        up: Vec3::Z,
        projection: Projection::Orthographic { height: 0.5 },
        ..Camera::default()
    };
    scene
}

fn sun(degrees: f32) -> Light {
    Light::Sun { direction: Vec3::Y, irradiance: Vec3::ONE, angular_radius: 0.5 * degrees.to_radians() }
}

fn pixels(scene: Scene, samples: u32, bounces: u32) -> Vec<Vec3> {
    let settings = FrameSettings { samples, bounces, pixels: PixelType::F32, ..settings(12, 12, Integrator::Path) };
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&render(scene, &settings).pixels);
    values.as_chunks::<3>().0.iter().copied().map(Vec3::from).collect()
}

fn mean(pixels: &[Vec3]) -> Vec3 {
    pixels.iter().sum::<Vec3>() / pixels.len() as f32
}

/// Irradiance of the floor below the sheets, relative to that without sheets.
fn share(sheets: &[Material], lights: &[Light], environment: f32, (samples, bounces): (u32, u32)) -> Vec3 {
    let lit = |sheets: &[Material]| {
        let mut scene = below(sheets);
        scene.lights = lights.to_vec();
        scene.environment = Environment::Constant { radiance: Vec3::splat(environment) };
        mean(&pixels(scene, samples, bounces))
    };
    lit(sheets) / lit(&[])
}

#[track_caller]
fn assert_near(found: Vec3, expected: Vec3, most: f32) {
    assert!((found - expected).abs().max_element() <= most, "{found} is not {expected}");
}

/// Colour of a pane.
const TINT: Vec3 = Vec3::new(1.0, 0.2, 0.2);

#[test]
fn a_sun_of_any_size_shines_through_a_pane_and_takes_its_colour() {
    let pane = [glass(TINT, 0.0)];
    let wide = share(&pane, &[sun(5.0)], 0.0, (256, 4));
    for degrees in [0.0, 0.53] {
        assert_near(share(&pane, &[sun(degrees)], 0.0, (64, 4)), wide, 0.01);
    }
    assert!(wide.x > 0.93 && (wide.y / wide.x - 0.2).abs() < 0.02, "{wide}");
}

#[test]
fn small_suns_behind_panes_make_no_fireflies() {
    let mut scene = below(&[glass(TINT, 0.0)]);
    scene.lights = vec![sun(0.53)];
    let pixels = pixels(scene, 16, 4);
    let mean = mean(&pixels).x;
    for pixel in pixels {
        assert!((pixel.x / mean - 1.0).abs() < 0.2, "{pixel}, mean {mean}");
    }
}

#[test]
fn panes_dim_one_after_another_and_walls_behind_them_block() {
    let pane = glass(TINT, 0.0);
    let one = share(&[pane], &[sun(0.0)], 0.0, (16, 4));
    assert_near(share(&[pane, pane], &[sun(0.0)], 0.0, (16, 4)), one * one, 0.01);
    // Some light is scattered by the floor next to the sheet.
    assert_near(share(&[pane, Material::default()], &[sun(0.0)], 0.0, (16, 4)), Vec3::ZERO, 0.005);
    assert_near(share(&[Material::default(), pane], &[sun(0.0)], 0.0, (16, 4)), Vec3::ZERO, 0.005);
}

/// Sampled light and hit light are counted once in total, for any bounce limit.
#[test]
fn skies_and_lamps_behind_panes_count_once() {
    let clear = [glass(Vec3::ONE, 0.0)];
    let all = share(&clear, &[], 1.0, (1024, 8));
    // The mean transmittance over the hemisphere, for a pane that covers the whole sky.
    assert!(all.x > 0.8 && all.x < 0.97, "{all}");
    assert_near(share(&clear, &[], 1.0, (1024, 0)), all, 0.02);
    assert_near(share(&clear, &[sun(0.0)], 1.0, (256, 0)), share(&clear, &[sun(0.0)], 1.0, (256, 8)), 0.02);
    let lamp = |sheets: &[Material]| {
        let mut scene = below(sheets);
        let at = Affine3::from_translation(Vec3::Y * 3.0) * Affine3::from_scale(Vec3::splat(0.3));
        scene.meshes.push(sphere());
        scene.instances.push(throng::scene::Instance {
            local: at,
            mesh: 2,
            slot_base: scene.material_slots.len() as u32,
            ..scene.instances[0]
        });
        scene.material_slots.push(scene.materials.len() as u32);
        scene.materials.push(Material { color: Vec3::ZERO, emission: Vec3::splat(20.0), ..Material::default() });
        mean(&pixels(scene, 256, 4))
    };
    let sharp = share(&clear, &[sun(0.0)], 0.0, (16, 4));
    assert_near(lamp(&clear) / lamp(&[]), sharp, 0.02);
}

#[test]
fn rough_sheets_still_spread_the_light() {
    let spread = share(&[glass(Vec3::ONE, 0.5)], &[sun(0.0)], 0.0, (256, 4));
    assert!(spread.x > 0.3 && spread.x < 1.1, "{spread}");
}
