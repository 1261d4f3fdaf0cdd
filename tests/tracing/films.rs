//! Pictures that are put aside and gone on with: the same bits as at once, wherever the break is.

use super::common::{ball, mesh, on_each_device, scene, settings};
use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng::{
    scene::{Environment, Integrator, Scene},
    seams::{
        device::{Accumulation, Device, Frame, FrameSettings},
        render::Poser,
    },
};

fn lit_ball() -> Scene {
    let (positions, triangles) = ball(2);
    let mut scene = scene(
        vec![mesh(positions, triangles)],
        &[(0, Affine3::IDENTITY), (0, Affine3::from_translation(Vec3::X * 1.5))],
    );
    scene.environment = Environment::Gradient {
        zenith: Vec3::new(0.2, 0.3, 2.0),
        horizon: Vec3::splat(0.8),
        nadir: Vec3::new(0.3, 0.1, 0.0),
    };
    scene
}

/// The film and the picture after going on to each of `stops`.
fn in_pieces(
    device: &mut dyn Device,
    frame: &Frame,
    settings: &FrameSettings,
    stops: &[u32],
) -> (Accumulation, Vec<u8>) {
    let mut film = Accumulation::new(settings);
    let mut pixels = Vec::new();
    for &until in stops {
        let rendered = device.add_samples(frame, settings, &mut film, until, &|| false);
        pixels = rendered.unwrap().pixels.to_vec();
    }
    (film, pixels)
}

fn assert_any_break_is_fine(integrator: Integrator, noise: Option<f32>) {
    let mut settings = settings(40, 24, integrator);
    (settings.samples, settings.noise) = (70, noise);
    let scene = Arc::new(lit_ball());
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let (film, picture) = in_pieces(device, &frame, &settings, &[70]);
        for stops in [&[1, 2, 70][..], &[15, 16, 17, 33, 64, 69, 70], &[32, 70, 70]] {
            let (found, pixels) = in_pieces(device, &frame, &settings, stops);
            assert!(found == film, "{}: {stops:?}", device.describe());
            assert!(pixels == picture, "{}: {stops:?}", device.describe());
        }
        device.submit(frame, &settings).unwrap();
        assert!(device.collect(&|| false).unwrap().pixels == picture);
    });
}

#[test]
fn a_picture_goes_on_from_any_sample() {
    for integrator in [Integrator::Path, Integrator::Whitted, Integrator::Ao] {
        assert_any_break_is_fine(integrator, None);
    }
}

#[test]
fn so_does_one_that_is_sampled_where_it_is_noisy() {
    assert_any_break_is_fine(Integrator::Path, Some(0.02));
}

#[test]
fn a_film_of_another_picture_is_refused() {
    let small = settings(8, 8, Integrator::Ao);
    let large = settings(16, 8, Integrator::Ao);
    let scene = Arc::new(lit_ball());
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let mut film = Accumulation::new(&small);
        let result = device.add_samples(&frame, &large, &mut film, 1, &|| false);
        assert!(result.is_err());
    });
}

#[test]
fn with_an_open_end_a_picture_goes_on_to_more_samples_than_it_was_meant_to_have() {
    let scene = Arc::new(lit_ball());
    let mut few = settings(40, 24, Integrator::Path);
    (few.samples, few.open_ended) = (5, true);
    let many = FrameSettings { samples: 20, ..few.clone() };
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let (mut film, _) = in_pieces(device, &frame, &few, &[5]);
        let more = device.add_samples(&frame, &many, &mut film, 20, &|| false);
        let (at_once, picture) = in_pieces(device, &frame, &many, &[20]);
        assert!(film == at_once, "{}", device.describe());
        assert!(more.unwrap().pixels == picture, "{}", device.describe());
    });
}
