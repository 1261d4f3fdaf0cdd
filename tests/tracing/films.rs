//! Renders that are interrupted and continued: bitwise equal to uninterrupted ones, wherever the interruption is.

use super::common::{ball, mesh, on_each_device, render, scene, settings};
use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng::scene::{Environment, Integrator, PixelFilter, Scene, ToneMap};
use throng_device::{Accumulation, Delivery, Developer, Device, Frame, FrameSettings, Region, Rendered, Samples};
use throng_picture::{
    aov::{Aov, AovSet},
    pixels::PixelType,
};
use throng_render::Poser;

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

/// The film and the picture after continuing to each of `stops`.
fn in_pieces(
    device: &mut dyn Device,
    frame: &Frame,
    settings: &FrameSettings,
    stops: &[u32],
) -> (Accumulation, Vec<u8>) {
    let mut film = Samples::new(settings);
    let mut pixels = Vec::new();
    for &until in stops {
        let rendered = device.add_samples(frame, settings, Delivery::default(), &mut film, until, &|| false);
        pixels = rendered.unwrap().pixels.to_vec();
    }
    (downloaded(device, film), pixels)
}

fn downloaded(device: &mut dyn Device, mut film: Samples) -> Accumulation {
    device.download(&mut film).unwrap();
    film.into_host().unwrap()
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
        device.submit(frame, &settings, Delivery::default()).unwrap();
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
fn what_is_brighter_than_white_is_sampled_while_its_noise_is_seen() {
    let scene = Scene { environment: Environment::Constant { radiance: Vec3::ONE }, ..lit_ball() };
    let rays = |tone_map| {
        let settings = FrameSettings {
            exposure: 6.0,
            samples: 16,
            noise: Some(1e-6),
            tone_map,
            ..settings(40, 24, Integrator::Path)
        };
        render(scene.clone(), &settings).rays.primary
    };
    assert_eq!(rays(ToneMap::None), 8 * 40 * 24);
    for tone_map in [ToneMap::Aces, ToneMap::Agx, ToneMap::PbrNeutral] {
        assert!(rays(tone_map) > 10 * 40 * 24, "{tone_map:?}");
    }
}

#[test]
fn a_film_of_another_picture_is_refused() {
    let small = settings(8, 8, Integrator::Ao);
    let large = settings(16, 8, Integrator::Ao);
    let scene = Arc::new(lit_ball());
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let mut film = Samples::new(&small);
        let result = device.add_samples(&frame, &large, Delivery::default(), &mut film, 1, &|| false);
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
        let mut film = Samples::from(in_pieces(device, &frame, &few, &[5]).0);
        let more = device.add_samples(&frame, &many, Delivery::default(), &mut film, 20, &|| false);
        let film = downloaded(device, film);
        let (at_once, picture) = in_pieces(device, &frame, &many, &[20]);
        assert!(film == at_once, "{}", device.describe());
        assert!(more.unwrap().pixels == picture, "{}", device.describe());
    });
}

/// Adds samples `range` to an empty film, and returns the film with the picture and the AOVs.
fn part(
    device: &mut dyn Device,
    frame: &Frame,
    settings: &FrameSettings,
    range: std::ops::Range<u32>,
) -> (Accumulation, Rendered) {
    let mut film = Samples::from(Accumulation::from_sample(settings, range.start));
    let settings = FrameSettings { samples: range.end, ..settings.clone() };
    let delivery = Delivery { layer_sums: settings.open_ended, ..Delivery::default() };
    let rendered = device.add_samples(frame, &settings, delivery, &mut film, range.end, &|| false);
    (downloaded(device, film), rendered.unwrap())
}

#[test]
fn parts_are_joined_to_the_film_and_the_layers_of_all_samples() {
    let scene = Arc::new(lit_ball());
    let mut settings = settings(40, 24, Integrator::Path);
    (settings.samples, settings.open_ended) = (21, true);
    settings.pixels = PixelType::F32;
    settings.film.filter = PixelFilter::Mitchell;
    settings.aovs = Aov::ALL.into_iter().filter(|&aov| aov != Aov::Motion).collect::<AovSet>().gathered();
    let developer = Developer::new().unwrap();
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let (whole, rendered) = part(device, &frame, &settings, 0..21);
        let ranges = [0..1, 1..4, 4..15, 15..21];
        let parts = ranges.map(|range| part(device, &frame, &settings, range).0);
        for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
            let mut joined = Accumulation::for_joining(&settings);
            for index in order {
                developer.join(&settings, (&mut joined, 0), (&parts[index], 0), 40 * 24);
            }
            let name = device.describe();
            assert!(joined.sums == whole.sums && joined.odd == whole.odd, "{name}: {order:?}");
            assert!(joined.layers == whole.layers, "{name}: {order:?}");
            let (pixels, aovs) = developer.finish(&settings, &mut joined);
            assert!(pixels == rendered.pixels, "{name}");
            for (found, expected) in aovs.iter().zip(&rendered.aovs) {
                assert!(found == expected, "{name}: {:?}", found.aov);
            }
        }
    });
}

#[test]
fn regions_have_the_pixels_of_the_whole_picture() {
    let scene = Arc::new(lit_ball());
    let mut settings = settings(40, 24, Integrator::Path);
    settings.aovs = [Aov::Normal].into_iter().collect();
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        for open_ended in [false, true] {
            let settings = FrameSettings { open_ended, ..settings.clone() };
            let samples = settings.samples;
            let (_, whole) = part(device, &frame, &settings, 0..samples);
            let region = Region { x: 11, y: 3, width: 19, height: 13 };
            let cut = FrameSettings { region: Some(region), ..settings };
            let (_, found) = part(device, &frame, &cut, 0..samples);
            for row in 0..13 {
                let (own, of) = (row * 19, (row + 3) * 40 + 11);
                let (own, of) = (3 * own..3 * (own + 19), 3 * of..3 * (of + 19));
                assert!(found.pixels[own.clone()] == whole.pixels[of.clone()], "{}: {row}", device.describe());
                assert!(found.aovs[0].values[own] == whole.aovs[0].values[of], "{}: {row}", device.describe());
            }
        }
    });
}

#[test]
fn samples_that_are_shared_make_the_same_picture_with_less_noise() {
    let mut settings = settings(44, 28, Integrator::Path);
    (settings.samples, settings.pixels) = (16, PixelType::F32);
    settings.aovs = [Aov::Albedo, Aov::Variance].into_iter().collect();
    // Mean radiance, the variance estimated from the difference of two pictures, and the variance in their layers.
    let mut measure = |filter| {
        settings.film.filter = filter;
        let pictures = [1, 2].map(|seed| render(lit_ball(), &FrameSettings { seed, ..settings.clone() }));
        let [a, b] = pictures.each_ref().map(|picture| bytemuck::pod_collect_to_vec::<u8, f32>(&picture.pixels));
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        let squares: Vec<f32> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a - b) * (a - b)).collect();
        let told = pictures.map(|picture| mean(&picture.aovs[1].values));
        (mean(&[a, b].concat()), mean(&squares), mean(&told))
    };
    let (own, shared) = (measure(PixelFilter::Gaussian), measure(PixelFilter::Shared));
    assert!((shared.0 / own.0 - 1.0).abs() < 0.01, "{own:?} {shared:?}");
    assert!(shared.1 < 0.65 * own.1 && shared.2 > shared.1, "{own:?} {shared:?}");
    // Halves of the samples are distributed less evenly, so the layers of both filters overestimate the variance by a similar factor.
    assert!((0.27..0.37).contains(&(shared.2 / own.2)), "{own:?} {shared:?}");
}

#[test]
fn shared_samples_of_some_tiles_leave_those_beside_them_where_they_are() {
    let steep = Environment::Gradient { zenith: Vec3::splat(9.0), horizon: Vec3::ONE, nadir: Vec3::ZERO };
    let scene = Arc::new(Scene { environment: steep, ..scene(Vec::new(), &[]) });
    let mut settings = settings(64, 24, Integrator::Path);
    (settings.samples, settings.pixels) = (512, PixelType::F32);
    settings.film.filter = PixelFilter::Shared;
    let row_means = |pixels: &[u8]| -> Vec<f32> {
        let values: Vec<f32> = bytemuck::pod_collect_to_vec(pixels);
        values.chunks(3 * 64).map(|row| row.iter().sum::<f32>() / row.len() as f32).collect()
    };
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let all = row_means(&in_pieces(device, &frame, &settings, &[512]).1);
        let mut film = Samples::new(&settings);
        device.add_samples(&frame, &settings, Delivery::default(), &mut film, 8, &|| false).unwrap();
        // The first row of tiles.
        film.go_on_in((0..8).collect(), 8);
        let some = device.add_samples(&frame, &settings, Delivery::default(), &mut film, 512, &|| false).unwrap();
        let some = row_means(&some.pixels);
        for y in 6..10 {
            let slope = (all[y + 1] - all[y - 1]).abs() / 2.0;
            let moved = (some[y] - all[y]) / slope;
            assert!(slope > 0.01 && moved.abs() < 0.03, "{}: row {y} is drawn by {moved} pixels", device.describe());
        }
    });
}

#[test]
fn films_go_on_where_they_stayed() {
    let scene = Arc::new(lit_ball());
    let mut settings = settings(40, 24, Integrator::Path);
    settings.samples = 32;
    settings.film.filter = PixelFilter::Shared;
    settings.aovs = [Aov::Albedo, Aov::Variance].into_iter().collect();
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        let delivery = Delivery { unfinished_aovs: true, ..Delivery::default() };
        let [all, kept] = [false, true].map(|stays| {
            let mut film = Samples::new(&settings);
            device.add_samples(&frame, &settings, delivery, &mut film, 8, &|| false).unwrap();
            let next = [(8, vec![2, 3, 9]), (8, vec![4, 5]), (16, vec![3])];
            let mut last = None;
            for (from, tiles) in next {
                if !stays {
                    film = downloaded(device, film).into();
                }
                film.go_on_in(tiles, from);
                last = Some(device.add_samples(&frame, &settings, delivery, &mut film, 2 * from, &|| false).unwrap());
            }
            (film, last.unwrap())
        });
        assert!(all.1.pixels == kept.1.pixels, "{}", device.describe());
        // A device that has done other work in between must not continue from old sums.
        let (mut film, _) = kept;
        let stayed = film.host().is_err();
        device.submit(frame.clone(), &settings, Delivery::default()).unwrap();
        device.collect(&|| false).unwrap();
        film.go_on_in(vec![3], 16);
        assert_eq!(device.download(&mut film).is_err(), stayed, "{}", device.describe());
        let more = device.add_samples(&frame, &settings, delivery, &mut film, 32, &|| false);
        assert_eq!(more.is_err(), stayed, "{}", device.describe());
    });
}

#[test]
fn parts_of_pictures_have_the_gaussian_instead_of_shared_samples() {
    let scene = Arc::new(lit_ball());
    let region = Some(Region { x: 3, y: 2, width: 20, height: 9 });
    let usual = settings(40, 24, Integrator::Path);
    let parts: [&dyn Fn(&mut FrameSettings); 4] =
        [&|it| it.region = region, &|it| it.open_ended = true, &|it| it.noise = Some(0.1), &|it| {
            it.aovs = [Aov::Instance].into_iter().collect()
        }];
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
        for (number, part) in parts.iter().enumerate() {
            let [usual, shared] = [PixelFilter::Gaussian, PixelFilter::Shared].map(|filter| {
                let mut settings = FrameSettings { samples: 4, ..usual.clone() };
                settings.film.filter = filter;
                part(&mut settings);
                device.submit(frame.clone(), &settings, Delivery::default()).unwrap();
                device.collect(&|| false).unwrap().pixels
            });
            assert!(usual == shared, "{}: {number}", device.describe());
        }
    });
}
