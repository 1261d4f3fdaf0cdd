//! Integrators on scenes with known answers.

use crate::common::{ball, mesh, render, scene, settings, sphere};
use glam::{Affine3, Quat, Vec3};
use throng::scene::{
    Camera, CameraPath, Environment, Integrator, Light, Material, MaterialKind, Mesh, Projection, Scene,
};

fn look(eye: Vec3, target: Vec3) -> Camera {
    Camera {
        path: CameraPath::Still { eye, target },
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 0.6 },
        ..Camera::default()
    }
}

fn pixel(pixels: &[u8], width: u32, x: u32, y: u32) -> [u8; 3] {
    let at = (y * width + x) as usize * 3;
    [pixels[at], pixels[at + 1], pixels[at + 2]]
}

fn center(scene: Scene, integrator: Integrator, samples: u32) -> [u8; 3] {
    let mut settings = settings(17, 17, integrator);
    settings.samples = samples;
    pixel(&render(scene, &settings).pixels, 17, 8, 8)
}

fn srgb(linear: f32) -> u8 {
    ((1.055 * linear.powf(1.0 / 2.4) - 0.055) * 255.0 + 0.5) as u8
}

fn quad() -> Mesh {
    let corners = vec![
        Vec3::new(-5.0, 0.0, -5.0),
        Vec3::new(-5.0, 0.0, 5.0),
        Vec3::new(5.0, 0.0, 5.0),
        Vec3::new(5.0, 0.0, -5.0),
    ];
    mesh(corners, vec![[0, 1, 2], [0, 2, 3]])
}

fn floor_under(lights: Vec<Light>) -> Scene {
    let mut scene = scene(vec![quad()], &[(0, Affine3::IDENTITY)]);
    scene.materials[0].color = Vec3::splat(0.5);
    scene.lights = lights;
    scene.camera = look(Vec3::new(0.5, 4.0, 3.0), Vec3::new(0.5, 0.0, 0.0));
    scene
}

fn close(found: [u8; 3], expected: u8, tolerance: u8) {
    assert!(found.iter().all(|c| c.abs_diff(expected) <= tolerance), "{found:?} is not {expected}");
}

#[test]
fn a_floor_under_a_constant_sky_reflects_its_albedo() {
    let mut scene = floor_under(vec![]);
    scene.environment = Environment::Constant { radiance: Vec3::splat(0.8) };
    close(center(scene, Integrator::Whitted, 4), srgb(0.4), 1);
}

#[test]
fn a_sun_lights_by_the_cosine_of_its_angle() {
    let direction = Vec3::new(0.0, 0.6, 0.8);
    let sun = Light::Sun { direction, irradiance: Vec3::splat(2.0), angular_radius: 0.0 };
    close(center(floor_under(vec![sun]), Integrator::Whitted, 4), srgb(0.5 * 2.0 * 0.6 / std::f32::consts::PI), 1);
}

#[test]
fn a_point_light_falls_off_with_the_square_of_the_distance() {
    let lamp =
        |height: f32| Light::Point { position: Vec3::new(0.5, height, 0.0), intensity: Vec3::splat(4.0), range: None };
    for height in [1.5, 3.0] {
        let expected = 0.5 * 4.0 / (height * height * std::f32::consts::PI);
        close(center(floor_under(vec![lamp(height)]), Integrator::Whitted, 16), srgb(expected), 2);
    }
}

#[test]
fn whitted_lights_by_lamps_as_by_points_with_a_cosine_on_the_way() {
    let lamp = |direction| Light::Lamp {
        position: Vec3::new(0.5, 3.0, 0.0),
        direction,
        intensity: Vec3::splat(4.0),
        radius: 0.05,
    };
    let below = srgb(0.5 * 4.0 / (9.0 * std::f32::consts::PI));
    for (direction, expected) in [(None, below), (Some(Vec3::NEG_Y), below), (Some(Vec3::Y), 0)] {
        close(center(floor_under(vec![lamp(direction)]), Integrator::Whitted, 16), expected, 2);
    }
}

#[test]
fn many_lights_give_the_same_as_their_sum() {
    let sun = |irradiance| Light::Sun { direction: Vec3::Y, irradiance: Vec3::splat(irradiance), angular_radius: 0.0 };
    let one = center(floor_under(vec![sun(1.6)]), Integrator::Whitted, 4);
    let sixteen = center(floor_under(vec![sun(0.1); 16]), Integrator::Whitted, 4);
    close(sixteen, one[0], 1);
}

#[test]
fn a_blocker_casts_a_shadow_and_a_mirrored_instance_does_too() {
    for scale in [1.0, -1.0] {
        let sun = Light::Sun { direction: Vec3::Y, irradiance: Vec3::splat(2.0), angular_radius: 0.0 };
        let mut scene = floor_under(vec![sun]);
        let (positions, triangles) = ball(2);
        scene.meshes.push(mesh(positions, triangles));
        let blocker = Affine3::from_scale_rotation_translation(
            Vec3::new(scale, 1.0, 1.0),
            Quat::IDENTITY,
            Vec3::new(0.5, 30.0, 0.0),
        );
        scene.instances.push(throng::scene::Instance { local: blocker, mesh: 1, ..scene.instances[0] });
        close(center(scene, Integrator::Whitted, 4), 0, 0);
    }
}

#[test]
fn a_mirrored_instance_keeps_its_front_face_and_normal() {
    for scale in [1.0, -1.0] {
        let (positions, triangles) = ball(5);
        let transform = Affine3::from_scale(Vec3::new(scale, 1.0, 1.0));
        let mut scene = scene(vec![mesh(positions, triangles)], &[(0, transform)]);
        scene.camera = look(Vec3::new(0.0, 0.0, 6.0), Vec3::ZERO);
        let [x, y, z] = center(scene, Integrator::Normal, 64);
        assert!(x.abs_diff(128) < 6 && y.abs_diff(128) < 6 && z > 250, "{x} {y} {z}");
    }
}

#[test]
fn a_normal_turns_with_its_squashed_instance() {
    // At the top of a tilted, squashed ball: normals follow the inverse transpose of the transform.
    let transform =
        Affine3::from_scale_rotation_translation(Vec3::new(3.0, 0.2, 3.0), Quat::from_rotation_x(0.5), Vec3::ZERO);
    let normal = Quat::from_rotation_x(0.5) * Vec3::Y;
    for body in [sphere(), {
        let (positions, triangles) = ball(6);
        mesh(positions, triangles)
    }] {
        let mut scene = scene(vec![body], &[(0, transform)]);
        scene.camera = look(normal * 20.0, Vec3::ZERO);
        scene.camera.projection = Projection::Perspective { fov_y: 0.02 };
        let found = center(scene, Integrator::Normal, 16);
        for k in 0..3 {
            let expected = (normal[k] * 0.5 + 0.5) * 255.0;
            assert!((f32::from(found[k]) - expected).abs() < 3.0, "{found:?} {normal}");
        }
    }
}

/// Two mirrors, with the camera between them.
fn mirrors_facing_each_other(size: f32) -> Scene {
    let wall = |z: f32, turn: f32| {
        let rotation = Quat::from_rotation_y(turn) * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        (0, Affine3::from_scale_rotation_translation(Vec3::splat(size), rotation, Vec3::new(0.0, 0.0, z)))
    };
    let mut scene = scene(vec![quad()], &[wall(-1.0, 0.0), wall(1.0, 0.0)]);
    scene.materials[0] = Material { kind: MaterialKind::Mirror, color: Vec3::splat(0.5), ..Default::default() };
    scene.environment = Environment::Constant { radiance: Vec3::ONE };
    scene.camera = look(Vec3::ZERO, Vec3::new(0.0, 0.0, -1.0));
    scene
}

#[test]
fn mirrors_multiply_their_tints_and_the_last_one_shows_the_environment() {
    let mut settings = settings(17, 17, Integrator::Whitted);
    for bounces in 0..5 {
        settings.bounces = bounces;
        let rendered = render(mirrors_facing_each_other(100.0), &settings);
        close(pixel(&rendered.pixels, 17, 8, 8), srgb(0.5f32.powi(bounces as i32 + 1)), 1);
    }
}

#[test]
fn paths_without_shadow_rays_leave_mirrors_after_many_bounces() {
    // The size is not a multiple of a tile, and paths are longer than the number of waves whose shadow rays are traced together.
    let mut settings = settings(17, 17, Integrator::Path);
    settings.bounces = 40;
    let mut scene = mirrors_facing_each_other(0.5);
    scene.materials[0].color = Vec3::ONE;
    let rendered = render(scene, &settings);
    // At the centre, this number of bounces does not leave the mirrors.
    close(pixel(&rendered.pixels, 17, 8, 8), 0, 0);
    for corner in [0, 16] {
        close(pixel(&rendered.pixels, 17, corner, corner), 255, 0);
    }
}

#[test]
fn an_emitter_shows_its_radiance() {
    let mut scene = floor_under(vec![]);
    scene.materials[0] = Material { color: Vec3::ZERO, emission: Vec3::splat(0.3), ..Default::default() };
    close(center(scene, Integrator::Whitted, 1), srgb(0.3), 0);
}

#[test]
fn a_lamp_right_above_a_floor_lights_what_is_beside_it() {
    // Near the origin, and at the distance of a room measured in centimetres.
    for floor in [0.0, 800.0] {
        let (height, away, radiance) = (0.9f32, 3.0f32, 20.0);
        let plane = |x: f32, y: f32| {
            let scale = Vec3::splat(5.0);
            Affine3::from_scale_rotation_translation(scale, Quat::IDENTITY, Vec3::new(x, y, 0.0))
        };
        // The lamp's edge is at a distance of `away`, and the lamp extends nearly to infinity.
        let lamp = plane(25.0 + away, floor + height);
        let mut scene = scene(vec![quad()], &[(0, plane(0.0, floor)), (0, lamp)]);
        scene.materials.push(Material { color: Vec3::ZERO, emission: Vec3::splat(radiance), ..Default::default() });
        scene.material_slots = vec![0, 1];
        scene.instances[1].slot_base = 1;
        scene.camera = look(Vec3::Y * (floor + 4.0), Vec3::Y * floor);
        scene.camera.projection = Projection::Perspective { fov_y: 0.05 };
        let mut settings = settings(2, 2, Integrator::Path);
        settings.samples = 1 << 14;
        // The form factor of a half-plane.
        let expected = radiance * 0.5 * (1.0 - away / away.hypot(height));
        let pixels = render(scene, &settings).pixels;
        close(pixel(&pixels, 2, 0, 0), srgb(expected), 4);
    }
}

#[test]
fn a_sun_without_size_has_no_disc_and_no_black_spot() {
    let direction = Vec3::new(0.3, 0.5, -1.0).normalize();
    let mut scene = scene(vec![], &[]);
    scene.environment = Environment::Constant { radiance: Vec3::splat(0.2) };
    scene.lights = vec![Light::Sun { direction, irradiance: Vec3::splat(3.0), angular_radius: 0.0 }];
    scene.camera = look(Vec3::ZERO, direction);
    let pixels = render(scene, &settings(64, 64, Integrator::Whitted)).pixels;
    assert!(pixels.iter().all(|&p| p == srgb(0.2)));
}

#[test]
fn the_debugging_views_do_not_depend_on_the_exposure() {
    for view in [Integrator::Normal, Integrator::Depth, Integrator::Instance] {
        let mut bright = settings(16, 16, view);
        bright.exposure = 8.0;
        let plain = render(floor_under(vec![]), &settings(16, 16, view)).pixels;
        assert_eq!(render(floor_under(vec![]), &bright).pixels, plain);
    }
}

#[test]
fn extreme_brightness_is_white() {
    let mut scene = scene(vec![], &[]);
    scene.environment = Environment::Constant { radiance: Vec3::splat(1e30) };
    let mut settings = settings(8, 8, Integrator::Whitted);
    (settings.exposure, settings.tone_map) = (64.0, throng::scene::ToneMap::Aces);
    assert!(render(scene, &settings).pixels.iter().all(|&p| p == 255));
}

#[test]
fn albedo_depth_instance_and_steps_show_the_first_hit() {
    let views = [Integrator::Albedo, Integrator::Depth, Integrator::Instance, Integrator::Steps];
    let found = views.map(|view| center(floor_under(vec![]), view, 1));
    close(found[0], srgb(0.5), 1);
    assert!(found[1].iter().all(|&c| c > 0 && c < 255 && c == found[1][0]), "depth {:?}", found[1]);
    assert_ne!(found[2], [0, 0, 0], "instance");
    assert!(found[3][2] > 30, "steps {:?}", found[3]);
}

/// A quad of 10 x 10, seen from two distances. Parallel rays give the same view, and 10 of 20 units fill half of the picture.
#[test]
fn an_orthographic_camera_sees_sizes_and_no_distances() {
    let seen = |distance: f32| {
        let mut scene = scene(vec![quad()], &[(0, Affine3::IDENTITY)]);
        scene.camera = Camera {
            path: CameraPath::Still { eye: Vec3::Y * distance, target: Vec3::ZERO },
            up: Vec3::NEG_Z,
            projection: Projection::Orthographic { height: 20.0 },
            ..Camera::default()
        };
        let mut settings = settings(40, 40, Integrator::Normal);
        settings.samples = 1;
        render(scene, &settings).pixels
    };
    let near = seen(1.0);
    assert_eq!(near, seen(500.0));
    let is_hit = |x, y| pixel(&near, 40, x, y) != pixel(&near, 40, 0, 0);
    for inside in [(12, 12), (27, 12), (20, 20), (12, 27)] {
        assert!(is_hit(inside.0, inside.1), "{inside:?}");
    }
    for outside in [(7, 20), (32, 20), (20, 7), (20, 32)] {
        assert!(!is_hit(outside.0, outside.1), "{outside:?}");
    }
}
