//! Motion blur equals the mean of many pictures of moments while the shutter is open.

use crate::common::{ball, mesh, render, scene, settings, sphere};
use glam::{Affine3, Quat, Vec3};
use std::{path::Path, sync::Arc};
use throng::{
    loader::load,
    scene::{
        Aperture, Camera, CameraKey, CameraPath, CurvePoint, CurveProfile, Curves, Ease, Ends, Environment, Flight,
        Focus, Integrator, Iris, Key, Keyframe, Lens, LensTracks, Light, Material, Mesh, Motion, MotionPart, NONE,
        Node, Parametrisation, Phase, Rotations, Scene, Shape, Shutter, Track,
    },
};
use throng_device::{CpuDevice, Delivery, Device, FrameSettings, PixelType};
use throng_render::{PoseSettings, Poser};

const SIDE: u32 = 48;
/// Number of moments whose mean is taken.
const MOMENTS: u32 = 64;
const SAMPLES: u32 = 512;
/// Side of the compared blocks, in pixels.
const BLOCK: usize = 8;

fn floor() -> Mesh {
    let corners = [(-9.0, -9.0), (-9.0, 9.0), (9.0, 9.0), (9.0, -9.0)];
    let corners = corners.map(|(x, z)| Vec3::new(x, -1.0, z));
    mesh(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]])
}

fn motion(part: MotionPart) -> Motion {
    Motion { parts: vec![part], phase: Phase::Same }
}

fn key(time: f64, x: f32, scale: f32) -> Key<Keyframe> {
    let value = Keyframe {
        translation: Vec3::X * x,
        rotation: Quat::from_rotation_y(x),
        angles: Vec3::Y * x,
        scale: Vec3::splat(scale),
    };
    Key { time, value, ease: Ease::Linear }
}

/// A spinning blade, a ball that a group swings about a distant axis, a sphere that moves and grows, and a floor; one frame per second.
/// `glow` is the emission of the sphere and the ball.
fn moving(glow: f32) -> Scene {
    let (positions, triangles) = ball(2);
    let at =
        |place: Vec3, size: Vec3| Affine3::from_scale_rotation_translation(size, Quat::from_rotation_z(0.3), place);
    let meshes = vec![floor(), mesh(positions, triangles), sphere()];
    let placements = [
        (0, Affine3::IDENTITY),
        (1, at(Vec3::new(-1.3, 0.3, 0.0), Vec3::new(1.2, 0.3, 0.3))),
        (1, at(Vec3::new(3.0, 0.0, 0.5), Vec3::splat(0.5))),
        (2, at(Vec3::new(0.0, 0.2, -1.0), Vec3::new(0.5, 0.7, 0.5))),
    ];
    let mut scene = scene(meshes, &placements);
    let spin = MotionPart::Spin { axis: Vec3::Z, period: 2.5 };
    let swing = MotionPart::Sway { axis: Vec3::new(0.0, 0.8, 0.6), angle: 0.9, period: 3.0 };
    let track = Track { keys: vec![key(0.0, 0.0, 1.0), key(1.1, 1.0, 1.5), key(2.0, 0.5, 0.7)], ends: Ends::Hold };
    let keys = MotionPart::Keyframes { track, rotations: Rotations::Slerp };
    scene.motions = [spin, swing, keys].map(motion).into();
    scene.nodes =
        vec![Node { local: Affine3::from_translation(Vec3::X * -1.0), parent: NONE, motion: 1, follows: None }];
    scene.instances[1].motion = 0;
    scene.instances[2].node = 0;
    scene.instances[3].motion = 2;
    let colors = [[0.5, 0.5, 0.5], [0.8, 0.3, 0.2], [0.9, 0.8, 0.3]];
    scene.materials = colors
        .iter()
        .zip([0.0, 0.0, glow])
        .map(|(&color, glow)| Material {
            // Emitters reflect nothing, as for lamps.
            color: if glow > 0.0 { Vec3::ZERO } else { color.into() },
            emission: Vec3::splat(glow),
            ..Material::default()
        })
        .collect();
    scene.material_slots = vec![0, 1, 2];
    for (instance, slot) in scene.instances.iter_mut().zip([0, 1, 2, 2]) {
        instance.slot_base = slot;
    }
    scene.camera =
        Camera { path: CameraPath::Still { eye: Vec3::new(0.0, 1.5, 6.0), target: Vec3::ZERO }, ..Camera::default() };
    scene.environment =
        Environment::Gradient { zenith: Vec3::new(0.2, 0.4, 0.8), horizon: Vec3::splat(0.6), nadir: Vec3::splat(0.1) };
    scene.lights = vec![Light::Point { position: Vec3::new(2.0, 4.0, 3.0), intensity: Vec3::splat(20.0), range: None }];
    scene.settings.fps = 1.0;
    scene.settings.start = 0.9;
    scene
}

fn shutter() -> Shutter {
    Shutter::new(-0.2, 0.5).unwrap()
}

fn linear(integrator: Integrator) -> FrameSettings {
    FrameSettings { samples: SAMPLES, bounces: 3, pixels: PixelType::F32, ..settings(SIDE, SIDE, integrator) }
}

/// The first frame on the fastest CPU variant, as floats.
fn picture(scene: &Scene, settings: &FrameSettings) -> Vec<f32> {
    let mut device = CpuDevice::new().unwrap();
    let scene = Arc::new(scene.clone());
    device.load(scene.clone()).unwrap();
    let mut poser = Poser::new(scene, device.node_layout());
    poser.configure(PoseSettings { close_to_camera: false, ..PoseSettings::of(settings) });
    device.submit(poser.pose(1).frame, settings, Delivery::default()).unwrap();
    let pixels = device.collect(&|| false).unwrap().pixels;
    bytemuck::pod_collect_to_vec(&pixels)
}

/// The mean of pictures at equally spaced moments while the shutter is open.
fn mean_of_moments(scene: &Scene, settings: &FrameSettings) -> Vec<f32> {
    let [open, close] = shutter().span().map(f64::from);
    let mut mean = vec![0.0; (SIDE * SIDE * 3) as usize];
    for moment in 0..MOMENTS {
        let mut scene = scene.clone();
        let share = (f64::from(moment) + 0.5) / f64::from(MOMENTS);
        scene.settings.start += (open + (close - open) * share) / scene.settings.fps;
        let settings = FrameSettings { samples: settings.samples / MOMENTS * 2, seed: moment, ..settings.clone() };
        for (mean, value) in mean.iter_mut().zip(picture(&scene, &settings)) {
            *mean += value / MOMENTS as f32;
        }
    }
    mean
}

/// Mean luminance of each block.
fn blocks(picture: &[f32]) -> Vec<f32> {
    let side = SIDE as usize;
    let of = |block: usize| {
        let (x, y) = (block % (side / BLOCK) * BLOCK, block / (side / BLOCK) * BLOCK);
        let pixels = (0..BLOCK * BLOCK).map(|i| (y + i / BLOCK) * side + x + i % BLOCK);
        let sums = pixels.map(|pixel| picture[3 * pixel..3 * pixel + 3].iter().sum::<f32>());
        sums.sum::<f32>() / (3 * BLOCK * BLOCK) as f32
    };
    (0..(side / BLOCK).pow(2)).map(of).collect()
}

/// Root mean square of the relative errors of blocks.
fn error(found: &[f32], expected: &[f32]) -> f32 {
    let errors = found.iter().zip(expected).map(|(a, b)| (a - b) / (b.abs() + 0.02));
    let squares = errors.map(|error| error * error).sum::<f32>();
    (squares / found.len() as f32).sqrt()
}

/// The tolerance covers noise of a few thousandths. The picture without blur must differ more.
#[track_caller]
fn assert_is_the_mean(found: &[f32], expected: &[f32], moment: &[f32], what: &str) {
    let (blurred, still) = (error(found, expected), error(moment, expected));
    assert!(blurred < 0.01, "{what}: {blurred} off");
    assert!(4.0 * blurred < still, "{what}: {blurred} off, without blur {still}");
    let bias = found.iter().sum::<f32>() / expected.iter().sum::<f32>() - 1.0;
    assert!(bias.abs() < 0.004, "{what}: {bias} too bright");
}

#[track_caller]
fn assert_is_the_mean_of_moments(scene: &Scene, integrator: Integrator) {
    let still = linear(integrator);
    let blurred = FrameSettings { shutter: Some(shutter()), ..still.clone() };
    assert_is_the_mean(
        &blocks(&picture(scene, &blurred)),
        &blocks(&mean_of_moments(scene, &still)),
        &blocks(&picture(scene, &still)),
        &format!("{integrator:?}"),
    );
}

#[test]
fn a_blurred_picture_is_the_mean_of_pictures_of_moments() {
    for integrator in [
        Integrator::Path,
        Integrator::Whitted,
        Integrator::Ao,
        Integrator::Normal,
        Integrator::Albedo,
        Integrator::Depth,
    ] {
        assert_is_the_mean_of_moments(&moving(0.0), integrator);
    }
}

#[test]
fn so_it_is_where_what_moves_shines() {
    let mut scene = moving(4.0);
    scene.environment = Environment::default();
    scene.lights.clear();
    assert_is_the_mean_of_moments(&scene, Integrator::Path);
}

#[test]
fn so_it_is_where_the_camera_flies() {
    let mut scene = moving(0.0);
    scene.settings.frames = 8;
    scene.camera.path = CameraPath::Orbit { target: Vec3::ZERO, radius: 6.0, height: 1.5, start: 0.3, turns: 1.0 };
    // An orbit begins at the first frame, so shifting the start time would shift the orbit.
    let mut moments = scene.clone();
    let eyes = (0..=64).map(|i| {
        let time = f64::from(i) / 64.0 * 2.0;
        let angle = 0.3 + std::f32::consts::TAU * (time - scene.settings.start) as f32 / 8.0;
        CameraKey { time, eye: Vec3::new(6.0 * angle.sin(), 1.5, 6.0 * angle.cos()), target: Vec3::ZERO }
    });
    moments.camera.path = CameraPath::Spline(Flight::new(eyes.collect(), Parametrisation::default()));
    let still = linear(Integrator::Whitted);
    let blurred = FrameSettings { shutter: Some(shutter()), ..still.clone() };
    assert_is_the_mean(
        &blocks(&picture(&scene, &blurred)),
        &blocks(&mean_of_moments(&moments, &still)),
        &blocks(&picture(&scene, &still)),
        "orbit",
    );
}

#[test]
fn so_it_is_where_a_lens_opens_and_is_pulled_from_one_thing_to_another() {
    let mut scene = moving(0.0);
    scene.motions.clear();
    scene.nodes[0].motion = NONE;
    scene.instances.iter_mut().for_each(|i| i.motion = NONE);
    let key = |time: f64| CameraKey { time, eye: Vec3::new(0.0, 1.5, 6.0), target: Vec3::ZERO };
    let lens = Lens { aperture: Aperture::Radius(0.5), focus: Focus::Target, iris: Iris::default() };
    scene.camera = Camera {
        path: CameraPath::Spline(Flight::new(vec![key(0.0), key(2.0)], Parametrisation::default())),
        lens: Some(lens),
        tracks: LensTracks {
            span: vec![(0.0, 0.6), (2.0, 0.9)],
            aperture: vec![(0.0, 0.0), (0.8, 0.0), (1.2, 0.6), (2.0, 0.6)],
            focus: vec![(0.0, Focus::Distance(3.0)), (2.0, Focus::Distance(9.0))],
        },
        ..Camera::default()
    };
    assert_is_the_mean_of_moments(&scene, Integrator::Whitted);
}

/// The golden scene of motion blur.
fn golden() -> Scene {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/scenes/blur.ron");
    let mut scene = load(Path::new(path)).unwrap();
    // Shutter times are in frames, so they depend on the frame rate.
    scene.settings.fps = 4.0;
    scene
}

#[test]
fn so_it_is_where_a_mesh_changes_shape() {
    let scene = golden();
    assert!(!scene.deforming.is_empty());
    for integrator in [Integrator::Path, Integrator::Whitted, Integrator::Normal] {
        assert_is_the_mean_of_moments(&scene, integrator);
    }
}

/// The golden scene, whose worm is made of fibres along it instead of triangles.
fn fibres(profile: CurveProfile) -> Scene {
    let mut scene = golden();
    let worm = &mut scene.meshes[scene.deforming[0].mesh as usize];
    let positions = &worm.triangles().unwrap().positions;
    let points = positions.iter().map(|&position| CurvePoint { position, radius: 0.08 });
    let strands = (0..positions.len() as u32).step_by(7).collect();
    let curves = Curves { points: points.collect(), strands, profile, ..Curves::default() };
    worm.shape = Shape::Curves(Arc::new(curves));
    scene
}

#[test]
fn so_it_is_where_curves_change_shape() {
    assert_is_the_mean_of_moments(&fibres(CurveProfile::Round), Integrator::Path);
    assert_is_the_mean_of_moments(&fibres(CurveProfile::Ribbon), Integrator::Normal);
}

#[test]
fn so_it_is_where_a_mesh_that_changes_shape_shines() {
    let mut scene = golden();
    scene.environment = Environment::default();
    scene.lights.clear();
    let worm = scene.deforming[0].mesh;
    let worm = scene.instances.iter().find(|i| i.mesh == worm).unwrap();
    let material = scene.material_slots[worm.slot_base as usize];
    scene.materials[material as usize].emission = Vec3::splat(3.0);
    assert_is_the_mean_of_moments(&scene, Integrator::Path);
}

#[test]
fn all_variants_blur_alike() {
    for integrator in [Integrator::Path, Integrator::Whitted, Integrator::Ao] {
        let settings = FrameSettings { samples: 16, shutter: Some(shutter()), ..settings(SIDE, SIDE, integrator) };
        render(moving(2.0), &settings);
        render(golden(), &settings);
        render(fibres(CurveProfile::Round), &settings);
    }
}

#[test]
fn a_shutter_changes_no_bit_where_nothing_moves() {
    let mut scene = moving(2.0);
    scene.motions.clear();
    scene.nodes[0].motion = NONE;
    scene.instances.iter_mut().for_each(|i| i.motion = NONE);
    let still = FrameSettings { samples: 16, ..linear(Integrator::Path) };
    let open = FrameSettings { shutter: Some(shutter()), ..still.clone() };
    assert!(picture(&scene, &still) == picture(&scene, &open));
}
