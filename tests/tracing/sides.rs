//! Sides of surfaces: front and back faces, vertex normals that face away, and shadow rays that leave smooth meshes.

use crate::common::{ball, mesh, render, scene, settings};
use glam::{Affine3, Vec3};
use throng::scene::{
    Camera, CameraPath, Environment, Integrator, Light, Lobes, Material, MaterialKind, Projection, Scene, Shape,
};
use throng_device::{FrameSettings, PixelType};

const RED: Vec3 = Vec3::new(1.0, 0.0, 0.0);
const GREEN: Vec3 = Vec3::new(0.0, 1.0, 0.0);

/// A red wall, seen along -Z, and a single-sided green wall before it, whose corners are clockwise for the camera.
fn two_walls(before: Affine3) -> Scene {
    let corner = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let corners = || vec![corner(-5.0, -5.0), corner(5.0, -5.0), corner(0.0, 9.0)];
    let [front, back] = [[0, 1, 2], [0, 2, 1]].map(|triangle| mesh(corners(), vec![triangle]));
    let mut scene = scene(vec![front, back], &[(0, Affine3::IDENTITY), (1, before)]);
    let material = |color: Vec3, double_sided: bool| Material { color, double_sided, ..Material::default() };
    scene.materials = vec![material(RED, false), material(GREEN, false)];
    scene.material_slots = vec![0, 1];
    scene.instances[1].slot_base = 1;
    scene.environment = Environment::Constant { radiance: Vec3::ZERO };
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 20.0), target: Vec3::ZERO },
        projection: Projection::Perspective { fov_y: 0.01 },
        ..Camera::default()
    };
    scene
}

fn floats(scene: Scene, settings: &FrameSettings) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(&render(scene, settings).pixels)
}

fn middle(scene: Scene, integrator: Integrator) -> Vec3 {
    let settings = FrameSettings { pixels: PixelType::F32, samples: 4, ..settings(3, 3, integrator) };
    Vec3::from_slice(&floats(scene, &settings)[12..15])
}

fn raised() -> Affine3 {
    Affine3::from_translation(Vec3::new(0.0, 0.0, 1.0))
}

#[test]
fn the_back_of_a_single_sided_wall_is_not_there() {
    assert_eq!(middle(two_walls(raised()), Integrator::Albedo), RED);
    let mut both = two_walls(raised());
    both.materials[1].double_sided = true;
    assert_eq!(middle(both, Integrator::Albedo), GREEN);
}

#[test]
fn a_mirrored_instance_keeps_its_front_face() {
    let mirrored = |scale: Vec3| raised() * Affine3::from_scale(scale);
    assert_eq!(middle(two_walls(mirrored(Vec3::new(-1.0, 1.0, 1.0))), Integrator::Albedo), RED);
    assert_eq!(middle(two_walls(mirrored(Vec3::new(1.0, 1.0, -1.0))), Integrator::Albedo), GREEN);
}

#[test]
fn light_from_behind_a_single_sided_wall_passes_and_light_from_its_front_does_not() {
    let lit = |direction: Vec3, integrator: Integrator, flip: f32| {
        let mut scene = two_walls(raised() * Affine3::from_scale(Vec3::new(1.0, 1.0, flip)));
        scene.lights = vec![Light::Sun { direction, irradiance: Vec3::ONE, angular_radius: 0.0 }];
        middle(scene, integrator)
    };
    for integrator in [Integrator::Whitted, Integrator::Path] {
        // The green wall faces the red one, so the light in front comes from behind it.
        let passed = lit(Vec3::new(0.1, 0.0, 1.0).normalize(), integrator, 1.0);
        assert!(passed.x > 0.1 && passed.y == 0.0, "{integrator}: {passed}");
        // The green wall faces the light.
        let own = lit(Vec3::new(0.1, 0.0, 1.0).normalize(), integrator, -1.0);
        assert!(own.y > 0.1 && own.x == 0.0, "{integrator}: {own}");
    }
}

/// A ball of few faces with normals of a sphere, lit from the side by the sun.
fn smooth_ball(levels: u32, winding: bool, outwards: f32) -> Scene {
    let (positions, mut triangles) = ball(levels);
    if !winding {
        triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    let normals = positions.iter().map(|&p| (p * outwards).to_array()).collect();
    let mut scene = scene(vec![mesh(positions, triangles)], &[(0, Affine3::IDENTITY)]);
    if let Shape::Triangles(triangles) = &mut scene.meshes[0].shape {
        triangles.normals = normals;
    }
    scene.environment = Environment::Constant { radiance: Vec3::ZERO };
    scene.lights = vec![Light::Sun { direction: SUN.normalize(), irradiance: Vec3::ONE, angular_radius: 0.0 }];
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 7.0), target: Vec3::ZERO },
        projection: Projection::Perspective { fov_y: 0.35 },
        ..Camera::default()
    };
    scene
}

const SUN: Vec3 = Vec3::new(1.0, 0.35, 0.0);

#[test]
fn normals_against_the_winding_change_nothing() {
    for integrator in [Integrator::Whitted, Integrator::Path] {
        let settings = FrameSettings { pixels: PixelType::F32, ..settings(24, 24, integrator) };
        let right = floats(smooth_ball(2, true, 1.0), &settings);
        assert!(right.iter().any(|&x| x > 0.2));
        for (winding, outwards) in [(false, 1.0), (true, -1.0), (false, -1.0)] {
            let other = floats(smooth_ball(2, winding, outwards), &settings);
            let mean: f32 = right.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum::<f32>() / right.len() as f32;
            assert!(mean < 1e-3, "{integrator}, {winding}, {outwards}: {mean}");
        }
    }
}

/// Counts pixels that are completely covered by a surface with vertex normals: those that face the sun with a cosine above `least`, and
/// those among them with less than a fifth of the light of a smooth surface.
fn dark_pixels(scene: &Scene, integrator: Integrator, least: f32) -> (usize, usize) {
    let settings =
        |integrator| FrameSettings { pixels: PixelType::F32, samples: 4, bounces: 0, ..settings(64, 64, integrator) };
    let light = floats(scene.clone(), &settings(integrator));
    let normals = floats(scene.clone(), &settings(Integrator::Normal));
    let (mut lit, mut dark) = (0, 0);
    for (light, normal) in light.as_chunks::<3>().0.iter().zip(normals.as_chunks::<3>().0) {
        let normal = Vec3::from(*normal) * 2.0 - 1.0;
        let cosine = normal.dot(SUN.normalize());
        if (normal.length() - 1.0).abs() < 0.02 && cosine > least {
            lit += 1;
            dark += usize::from(light[0] < 0.2 * cosine / std::f32::consts::PI);
        }
    }
    (lit, dark)
}

/// A sheet of few faces, bent to an arch over X, seen and lit from the side opposite to its normals.
fn arch() -> Scene {
    let (columns, step) = (10u32, 0.24);
    let at = |x: f32| (0.6 - 0.35 * x * x, Vec3::new(0.7 * x, 0.0, 1.0).normalize());
    let mut scene = smooth_ball(0, true, 1.0);
    let Shape::Triangles(sheet) = &mut scene.meshes[0].shape else { unreachable!() };
    *sheet = Default::default();
    for column in 0..=columns {
        let x = (column as f32 - 0.5 * columns as f32) * step;
        let (z, normal) = at(x);
        sheet.positions.extend([[x, -1.0, z], [x, 1.0, z]]);
        sheet.normals.extend([(-normal).to_array(); 2]);
    }
    sheet
        .triangles
        .extend((0..columns).flat_map(|c| [[2 * c, 2 * c + 1, 2 * c + 2], [2 * c + 2, 2 * c + 1, 2 * c + 3]]));
    scene
}

#[test]
fn light_on_smooth_meshes_ends_where_their_normals_say() {
    let mut stretched = smooth_ball(1, true, 1.0);
    stretched.instances[0].local = Affine3::from_scale(Vec3::new(0.8, 1.0, 1.7));
    let mut shiny = smooth_ball(1, true, 1.0);
    let lobes = Lobes { roughness: 0.8, ..Lobes::default() };
    shiny.materials[0] = Material { kind: MaterialKind::Layered, color: Vec3::ONE, lobes, ..Material::default() };
    let mut lamp = smooth_ball(1, true, 1.0);
    lamp.lights = vec![Light::Point { position: SUN.normalize() * 1000.0, intensity: Vec3::splat(1e6), range: None }];
    let scenes = [
        ("of 32 faces", smooth_ball(1, true, 1.0)),
        ("of 128 faces", smooth_ball(2, true, 1.0)),
        ("from its back", smooth_ball(1, true, -1.0)),
        ("stretched", stretched),
        ("shiny", shiny),
        ("lit by a lamp", lamp),
        ("a thin arch", arch()),
    ];
    for (what, scene) in scenes {
        for integrator in [Integrator::Whitted, Integrator::Path] {
            let (lit, dark) = dark_pixels(&scene, integrator, 0.3);
            assert!(lit > 300 && dark == 0, "{what}, {integrator}: {dark} of {lit} are dark");
            let (lit, dark) = dark_pixels(&scene, integrator, 0.05);
            assert!(dark * 40 <= lit, "{what}, {integrator}: {dark} of {lit} near the end are dark");
        }
    }
}

/// Sunlight on the far side of a leaf, whose back is green, is the only light.
#[test]
fn light_behind_a_leaf_shines_through() {
    let mut scene = two_walls(Affine3::from_translation(Vec3::Z * -1.0));
    let lobes = Lobes {
        specular: 0.0,
        diffuse_transmission: 0.4,
        diffuse_transmission_color: GREEN.into(),
        ..Lobes::default()
    };
    scene.materials[0] = Material { kind: MaterialKind::Layered, lobes, ..Material::default() };
    scene.instances.truncate(1);
    scene.lights = vec![Light::Sun { direction: Vec3::NEG_Z, irradiance: Vec3::ONE, angular_radius: 0.0 }];
    let found = middle(scene, Integrator::Path);
    assert!(found.abs_diff_eq(GREEN * 0.4 / std::f32::consts::PI, 1e-3), "{found}");
}

/// Metal that absorbs nothing has the radiance of its surroundings, and no sample has a multiple of it. The normals of a ball of 32 faces are up to 35
/// degrees off these.
#[test]
fn polished_metal_on_few_faces_has_no_fireflies() {
    for roughness in [0.08, 0.16, 0.4] {
        let mut scene = smooth_ball(1, true, 1.0);
        let lobes = Lobes { metallic: 1.0, roughness, ..Lobes::default() };
        scene.materials[0] = Material { kind: MaterialKind::Layered, color: Vec3::ONE, lobes, ..Material::default() };
        scene.environment = Environment::Constant { radiance: Vec3::splat(0.5) };
        scene.lights = Vec::new();
        let settings = FrameSettings { pixels: PixelType::F32, ..settings(128, 128, Integrator::Path) };
        let found = floats(scene, &settings);
        let greatest = found.iter().copied().fold(0.0, f32::max);
        let mean = found.iter().sum::<f32>() / found.len() as f32;
        assert!(greatest < 2.5, "roughness {roughness}: {greatest}");
        assert!((0.48..0.502).contains(&mean), "roughness {roughness}: {mean}");
    }
}
