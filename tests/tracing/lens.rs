//! Lenses and panoramas: where light from a small lamp appears in the picture.

use super::common::{render, scene, settings, sphere};
use glam::{Affine3, Vec2, Vec3};
use throng::scene::{Aperture, Camera, CameraPath, Focus, Integrator, Iris, Lens, Material, Projection, Scene};
use throng_device::PixelType;

const SIZE: u32 = 64;
const FOV_Y: f32 = 0.6;
const DEPTH: f32 = 2.0;
const LAMP_RADIUS: f32 = 0.06;

/// A lamp at `place`, seen by a camera at the origin that looks along -Z.
fn lamp_at(place: Vec3, lens: Option<Lens>) -> Scene {
    let transform = Affine3::from_translation(place) * Affine3::from_scale(Vec3::splat(LAMP_RADIUS));
    let mut scene = scene(vec![sphere()], &[(0, transform)]);
    scene.materials[0] = Material { color: Vec3::ZERO, emission: Vec3::splat(100.0), ..Material::default() };
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::ZERO, target: Vec3::NEG_Z },
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: FOV_Y },
        lens,
        ..Camera::default()
    };
    scene
}

fn lens(radius: f32, focus: f32, iris: Iris) -> Lens {
    Lens { aperture: Aperture::Radius(radius), focus: Focus::Distance(focus), iris }
}

/// Distribution of light: its centre in pixels relative to the picture's centre, and its variance along x and y.
fn spread(scene: Scene) -> (Vec2, Vec2) {
    let mut settings = settings(SIZE, SIZE, Integrator::Path);
    settings.samples = 1024;
    settings.pixels = PixelType::F32;
    let rendered = render(scene, &settings);
    let floats = rendered.pixels.chunks_exact(4);
    let values: Vec<f64> = floats.map(|b| f64::from(f32::from_ne_bytes([b[0], b[1], b[2], b[3]]))).collect();
    let place = |i: usize| {
        let (x, y) = (i as u32 % SIZE, i as u32 / SIZE);
        let middle = 0.5 * f64::from(SIZE);
        (f64::from(x) + 0.5 - middle, f64::from(y) + 0.5 - middle)
    };
    let moment = |f: &dyn Fn(f64, f64) -> f64| {
        let weighted = |(i, pixel): (usize, &[f64])| pixel[0] * f(place(i).0, place(i).1);
        values.chunks_exact(3).enumerate().map(weighted).sum::<f64>()
    };
    let all = moment(&|_, _| 1.0);
    let (x, y) = (moment(&|x, _| x) / all, moment(&|_, y| y) / all);
    let square_x = moment(&|px, _| (px - x) * (px - x)) / all;
    let square_y = moment(&|_, py| (py - y) * (py - y)) / all;
    (Vec2::new(x as f32, y as f32), Vec2::new(square_x as f32, square_y as f32))
}

fn pixels_per_unit() -> f32 {
    SIZE as f32 / (2.0 * DEPTH * (0.5 * FOV_Y).tan())
}

/// Variance caused by the lamp's size and the pixel filter alone.
fn sharp() -> f32 {
    0.25 * (LAMP_RADIUS * pixels_per_unit()).powi(2) + 0.25
}

#[test]
fn what_is_out_of_focus_becomes_a_disc_of_the_size_of_the_circle_of_confusion() {
    for focus in [4.0, 1.25] {
        let radius = 0.5;
        let scene = lamp_at(Vec3::NEG_Z * DEPTH, Some(lens(radius, focus, Iris::default())));
        let (middle, square) = spread(scene);
        let disc = radius * (1.0 - DEPTH / focus) * pixels_per_unit();
        let expected = 0.25 * disc * disc + sharp();
        assert!(middle.length() < 0.15, "{middle}");
        for found in [square.x, square.y] {
            assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        }
    }
}

#[test]
fn what_is_in_focus_is_as_sharp_as_to_a_pinhole() {
    let lens = lens(0.5, DEPTH, Iris::default());
    let (_, open) = spread(lamp_at(Vec3::NEG_Z * DEPTH, Some(lens)));
    let (_, pinhole) = spread(lamp_at(Vec3::NEG_Z * DEPTH, None));
    assert!((open / pinhole - 1.0).abs().max_element() < 0.1, "{open} {pinhole}");
}

/// The plane in focus is flat, also off the axis.
#[test]
fn sharpness_is_a_matter_of_depth_and_not_of_distance() {
    let lens = lens(0.5, DEPTH, Iris::default());
    let aside = Vec3::new(0.4, 0.3, -DEPTH);
    let (middle, square) = spread(lamp_at(aside, Some(lens)));
    let expected = Vec2::new(0.4, -0.3) * pixels_per_unit();
    assert!(middle.distance(expected) < 0.1, "{middle} {expected}");
    assert!(square.max_element() < 1.2 * sharp(), "{square}");
}

#[test]
fn blades_make_polygons_and_a_ratio_makes_them_narrow() {
    let (radius, focus) = (0.5, 4.0);
    let iris = Iris { blades: 6, rotation: 0.3, ratio: 2.0 };
    let (_, square) = spread(lamp_at(Vec3::NEG_Z * DEPTH, Some(lens(radius, focus, iris))));
    let corner = radius * (1.0 - DEPTH / focus) * pixels_per_unit();
    // The variance of a regular hexagon is 5/24 of the squared distance to a corner, for any rotation.
    let expected = Vec2::new(0.25, 1.0) * (5.0 / 24.0 * corner * corner) + sharp();
    assert!((square / expected - 1.0).abs().max_element() < 0.05, "{square} {expected}");
}

#[test]
fn panoramas_have_forward_in_the_middle_and_right_a_quarter_of_their_width_beside_it() {
    for (place, expected) in [
        (Vec3::NEG_Z, Vec2::ZERO),
        (Vec3::X, Vec2::new(0.25, 0.0)),
        (Vec3::NEG_X, Vec2::new(-0.25, 0.0)),
        (Vec3::new(0.0, 1.0, -1.0), Vec2::new(0.0, -0.25)),
    ] {
        for lens in [None, Some(lens(0.05, 1.0, Iris::default()))] {
            let sharp = lens.is_none();
            let mut scene = lamp_at(place * 2.0, lens);
            scene.camera.projection = Projection::Equirectangular;
            let (middle, square) = spread(scene);
            let middle = middle / SIZE as f32;
            assert!(middle.distance(expected) < 0.003, "{place}: {middle} {expected}");
            // Discs smaller than a pixel, widened by the filter.
            assert!(square.x < if sharp { 0.6 } else { 1.5 }, "{place}: {square}");
        }
    }
}
