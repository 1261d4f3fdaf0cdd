//! Batches: frames that a device renders together have the bits of frames that are rendered one by one.

use crate::common::on_each_device;
use glam::{Mat3, Vec3};
use std::{path::Path, sync::Arc};
use throng::{
    loader::load,
    scene::{Integrator, PixelFilter, Scene, ToCamera, View, Views, anim},
};
use throng_device::{Delivery, Device, Frame, FrameSettings, PixelType, RayCounts, Rendered};
use throng_picture::{
    aov::{Aov, AovSet},
    film::FilmSettings,
};
use throng_render::{PoseSettings, Poser};

/// Neither side is a multiple of a tile, so tiles contain pixels of two pictures.
const SIZE: (u32, u32) = (20, 13);
const FRAMES: u32 = 5;

fn golden(name: &str) -> Scene {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scenes").join(name)).unwrap()
}

fn settings(scene: &Scene, integrator: Integrator) -> FrameSettings {
    let (width, height) = SIZE;
    FrameSettings { width, height, samples: 3, integrator, ..FrameSettings::from(&scene.settings) }
}

/// Frames of one moment, from cameras beside the scene's own.
fn frames(scene: &Arc<Scene>, device: &dyn Device, settings: &FrameSettings) -> Vec<Frame> {
    let camera = anim::camera_of_frame(scene, 1);
    let (forward, right, up) = camera.basis();
    let view = |index: u32| View {
        name: String::new(),
        eye: camera.eye + 0.1 * index as f32 * (right + Vec3::Y),
        axes: Mat3::from_cols(right, up, -forward),
        optics: None,
        distance: 5.0,
        time: scene.time_of(1),
    };
    let views = Views::new((0..FRAMES).map(view).collect()).map(Arc::new);
    let mut poser = Poser::new(scene.clone(), device.node_layout());
    poser.configure(PoseSettings { views, ..PoseSettings::of(settings) });
    (1..=FRAMES).map(|number| poser.pose(number).frame).collect()
}

fn assert_same(found: &Rendered, expected: &Rendered, what: &str) {
    assert!(found.pixels == expected.pixels, "{what}: pixels differ");
    assert_eq!(found.aovs.len(), expected.aovs.len(), "{what}");
    for (found, expected) in found.aovs.iter().zip(&expected.aovs) {
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(bits(&found.values) == bits(&expected.values), "{what}: {} differs", found.aov);
    }
}

/// Renders frames one by one and as a batch on every device. The pictures, layers and total numbers of rays must be equal.
fn check(scene: Scene, settings: &FrameSettings) {
    let scene = Arc::new(scene);
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frames = frames(&scene, device, settings);
        let alone: Vec<Rendered> = frames
            .iter()
            .map(|frame| {
                device.submit(frame.clone(), settings, Delivery::default()).unwrap();
                device.collect(&|| false).unwrap()
            })
            .collect();
        assert!(alone[0].pixels != alone[1].pixels, "the cameras differ");
        // The second batch has other frames in the memory of the first one.
        for (first, count) in [(0, FRAMES as usize), (1, 3)] {
            device.submit_batch(frames[first..first + count].to_vec(), settings, Delivery::default()).unwrap();
            let (mut rays, mut expected) = (RayCounts::default(), RayCounts::default());
            for (frame, alone) in frames[first..].iter().zip(&alone[first..first + count]) {
                let what = format!("{}, {}, frame {}", device.describe(), scene.name, frame.number);
                let found = device.collect(&|| false).unwrap();
                assert_same(&found, alone, &what);
                rays += found.rays;
                expected += alone.rays;
            }
            assert_eq!(rays, expected, "{}", device.describe());
        }
    });
}

#[test]
fn pictures_and_layers_of_a_batch_are_those_of_single_frames() {
    let scene = golden("paths.ron");
    let aovs = AovSet::from_iter(Aov::ALL.into_iter().filter(|&aov| aov != Aov::Motion)).gathered();
    let plain = FrameSettings { aovs, transparent: true, ..settings(&scene, Integrator::Path) };
    assert!(plain.film.dither > 0.0);
    check(scene.clone(), &plain);
    // More samples than devices gather layers for along with the picture.
    let wide = FrameSettings { samples: 20, pixels: PixelType::F32, ..plain };
    check(scene, &wide);
}

#[test]
fn shadows_on_catchers_fade_at_the_edges_of_each_picture() {
    let mut scene = golden("paths.ron");
    scene.materials.iter_mut().for_each(|material| material.to_camera = ToCamera::ShadowCatcher);
    let aovs = [Aov::Alpha, Aov::Shadow, Aov::Variance].into_iter().collect();
    let fading = FrameSettings { aovs, fades_shadows: true, ..settings(&scene, Integrator::Path) };
    check(scene, &fading);
}

#[test]
fn filters_with_negative_weights_and_other_schedules_have_batches() {
    let scene = golden("textures.ron");
    let film = FilmSettings { filter: PixelFilter::Mitchell, ..FilmSettings::default() };
    let signed = FrameSettings { samples: 16, film, pixels: PixelType::U16, ..settings(&scene, Integrator::Whitted) };
    check(scene.clone(), &signed);
    for integrator in [Integrator::Steps, Integrator::Ao, Integrator::Normal] {
        check(scene.clone(), &settings(&scene, integrator));
    }
}

#[test]
fn instances_may_move_while_the_shutter_is_open() {
    let scene = golden("blur.ron");
    let aovs = [Aov::Depth, Aov::Normal, Aov::Wireframe].into_iter().collect();
    let blurred = FrameSettings { aovs, ..settings(&scene, Integrator::Path) };
    assert!(blurred.shutter.is_some());
    check(scene, &blurred);
}

#[test]
fn stars_and_skies_are_those_of_single_frames() {
    let scene = golden("night.ron");
    let settings = settings(&scene, Integrator::Path);
    check(scene, &settings);
}
