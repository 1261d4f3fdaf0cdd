//! Alpha: a transparent picture composited over a background equals the picture with that background.

use crate::common::{mesh, render, scene, settings, sphere};
use glam::{Affine3, Vec3};
use throng::scene::{
    Alpha, Aperture, Camera, CameraPath, Environment, Focus, Instance, Integrator, Iris, Lens, Light, Motion,
    MotionPart, Phase, PixelFilter, Scene, Shutter, ToCamera,
};
use throng_device::{FrameSettings, PixelType, Rendered};
use throng_output::{Backdrop, Pixels};
use throng_picture::{
    aov::{Aov, AovSet},
    film::FilmSettings,
};

const SIDE: u32 = 40;
/// Two background colours.
const A: Vec3 = Vec3::new(0.2, 0.3, 0.5);
const B: Vec3 = Vec3::new(0.6, 0.5, 0.3);

/// Objects that do not depend on the lighting: a ball that moves in front of and behind a pane of opacity 0.25, and a triangle that is out
/// of focus.
fn glowing() -> Scene {
    let at = |x: f32, z: f32| Affine3::from_translation(Vec3::new(x, 0.0, z));
    let corner = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let pane = mesh(vec![corner(-0.7, -3.0), corner(0.9, -3.0), corner(0.2, 3.0)], vec![[0, 1, 2]]);
    let mut scene = scene(vec![sphere(), pane], &[(0, at(-1.0, 0.0)), (1, at(0.3, 3.0)), (1, at(1.6, -6.0))]);
    let glow = |emission: Vec3| throng::scene::Material { color: Vec3::ZERO, emission, ..scene.materials[0] };
    let blend = throng::scene::Material { alpha: Alpha::Blend, opacity: 0.25, ..glow(Vec3::new(0.1, 0.7, 0.2)) };
    scene.materials = vec![glow(Vec3::new(0.7, 0.3, 0.2)), blend, glow(Vec3::new(0.3, 0.3, 0.8))];
    scene.material_slots = vec![0, 1, 2];
    for (slot, instance) in scene.instances.iter_mut().enumerate() {
        instance.slot_base = slot as u32;
    }
    scene.settings.fps = 1.0;
    scene.motions = vec![Motion {
        parts: vec![MotionPart::Bob { offset: Vec3::new(0.9, 0.4, 0.0), period: 4.0 }],
        phase: Phase::Same,
    }];
    scene.instances[0].motion = 0;
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 10.0), target: Vec3::ZERO },
        lens: Some(Lens { aperture: Aperture::Radius(0.3), focus: Focus::Distance(10.0), iris: Iris::default() }),
        ..Camera::default()
    };
    scene
}

fn blurred(integrator: Integrator, filter: PixelFilter) -> FrameSettings {
    FrameSettings {
        samples: 32,
        film: FilmSettings { filter, ..FilmSettings::default() },
        shutter: Some(Shutter::centred(0.8).unwrap()),
        pixels: PixelType::F32,
        aovs: AovSet::from_iter([Aov::Alpha]),
        ..settings(SIDE, SIDE, integrator)
    }
}

fn over(color: Vec3, settings: &FrameSettings) -> Rendered {
    let mut scene = glowing();
    scene.environment = Environment::Constant { radiance: color };
    render(scene, settings)
}

fn floats(rendered: &Rendered) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(&rendered.pixels)
}

#[test]
fn alpha_is_what_pictures_over_two_backgrounds_tell() {
    for integrator in [Integrator::Whitted, Integrator::Path] {
        for filter in [PixelFilter::Gaussian, PixelFilter::Box, PixelFilter::Mitchell, PixelFilter::Shared] {
            let opaque = blurred(integrator, filter);
            let cut_out = over(A, &FrameSettings { transparent: true, ..opaque.clone() });
            let (own, alpha) = (floats(&cut_out), cut_out.alpha().unwrap());
            let (on_a, on_b) = (floats(&over(A, &opaque)), floats(&over(B, &opaque)));
            let mut partial = 0;
            for (pixel, &alpha) in alpha.iter().enumerate() {
                let solved = 1.0 - (on_b[3 * pixel] - on_a[3 * pixel]) / (B.x - A.x);
                assert!((alpha - solved.clamp(0.0, 1.0)).abs() < 1e-4, "{integrator} {filter}: {alpha} and {solved}");
                for channel in 0..3 {
                    let composed = own[3 * pixel + channel] + (1.0 - solved) * B[channel];
                    let difference = composed - on_b[3 * pixel + channel];
                    assert!(difference.abs() < 1e-4, "{integrator} {filter}: {difference}");
                }
                partial += usize::from((0.01..0.99).contains(&alpha));
            }
            assert!(partial > 100 && alpha.contains(&0.0), "{partial} pixels of {}", alpha.len());
        }
    }
}

#[test]
fn shadows_on_the_environment_are_those_in_alpha() {
    let mut scene = glowing();
    let floor = [Vec3::new(-9.0, -2.0, 9.0), Vec3::new(9.0, -2.0, 9.0), Vec3::new(0.0, -2.0, -20.0)];
    let floor = mesh(floor.into(), vec![[0, 1, 2]]);
    let slot_base = scene.materials.len() as u32;
    let mesh = scene.meshes.len() as u32;
    let catcher = throng::scene::Material { to_camera: ToCamera::ShadowCatcher, ..Default::default() };
    scene.meshes.push(floor);
    scene.materials.push(catcher);
    scene.material_slots.push(slot_base);
    scene.instances.push(Instance { mesh, slot_base, local: Affine3::IDENTITY, ..scene.instances[1] });
    scene.environment = Environment::Constant { radiance: A };
    let direction = Vec3::new(0.2, 1.0, 0.3).normalize();
    scene.lights = vec![Light::Sun { direction, irradiance: Vec3::splat(3.0), angular_radius: 0.05 }];
    let whitted = (Integrator::Whitted, PixelFilter::Gaussian);
    for (integrator, filter) in
        [whitted, (Integrator::Path, PixelFilter::Gaussian), (Integrator::Path, PixelFilter::Shared)]
    {
        // With shared samples, only one of the two layers is available.
        let aovs = |own: Aov| match filter {
            PixelFilter::Shared => AovSet::from_iter([own]),
            _ => AovSet::from_iter([Aov::Alpha, Aov::Shadow]),
        };
        let opaque = FrameSettings { aovs: aovs(Aov::Shadow), ..blurred(integrator, filter) };
        let cut_out = FrameSettings { transparent: true, aovs: aovs(Aov::Alpha), ..opaque.clone() };
        assert_eq!(cut_out.shares_samples() && opaque.shares_samples(), filter == PixelFilter::Shared);
        let cut_out = render(scene.clone(), &cut_out);
        let (own, alpha) = (floats(&cut_out), cut_out.alpha().unwrap());
        let shown = floats(&render(scene.clone(), &opaque));
        let mut shadows = cut_out.aovs.iter().filter(|image| image.aov == Aov::Shadow);
        let is_unknown = shadows.all(|image| image.values.iter().all(|&light| light == 0.0));
        assert!(is_unknown, "what is behind a cut-out is not known");
        for (index, found) in shown.iter().enumerate() {
            let composed = own[index] + (1.0 - alpha[index / 3]) * A[index % 3];
            assert!((composed - found).abs() < 1e-4, "{integrator}: {composed} and {found}");
        }
        let floor = alpha.iter().rev().take(SIDE as usize / 2 * SIDE as usize);
        assert!(floor.filter(|alpha| (0.01..0.99).contains(*alpha)).count() > 20, "{integrator}");
    }
}

#[test]
fn display_colours_lie_over_backgrounds_as_if_they_had_been_rendered_there() {
    let opaque = FrameSettings { pixels: PixelType::U8, ..blurred(Integrator::Path, PixelFilter::Gaussian) };
    let cut_out = over(A, &FrameSettings { transparent: true, ..opaque.clone() });
    // Rounded to 8 bits, as in files.
    let alpha: Vec<f32> = cut_out.alpha().unwrap().iter().map(|alpha| (alpha * 255.0).round() / 255.0).collect();
    for color in [A, B] {
        let rendered = over(color, &opaque);
        let mut composed = Pixels::from_bytes(PixelType::U8, &cut_out.pixels);
        Backdrop::of_color(color.to_array()).lay_under(&mut composed, &alpha);
        let composed = composed.bytes().unwrap();
        let pairs = composed.iter().zip(&rendered.pixels[..]);
        let differences: Vec<u8> = pairs.map(|(a, b)| a.abs_diff(*b)).collect();
        let sum: u32 = differences.iter().copied().map(u32::from).sum();
        assert!(differences.iter().all(|&difference| difference <= 4), "{:?}", differences.iter().max());
        assert!(f64::from(sum) / differences.len() as f64 <= 1.0);
    }
}

#[test]
fn what_is_not_asked_for_changes_nothing() {
    let with = blurred(Integrator::Path, PixelFilter::Gaussian);
    let without = FrameSettings { aovs: AovSet::default(), ..with.clone() };
    assert!(over(A, &with).pixels == over(A, &without).pixels);
}

#[test]
fn views_are_black_and_transparent_where_nothing_is_hit() {
    for integrator in Integrator::ALL {
        let settings = FrameSettings { transparent: true, ..blurred(integrator, PixelFilter::Box) };
        let rendered = over(A, &settings);
        let (own, alpha) = (floats(&rendered), rendered.alpha().unwrap());
        for (pixel, _) in alpha.iter().enumerate().filter(|(_, alpha)| **alpha == 0.0) {
            assert_eq!(own[3 * pixel..][..3], [0.0; 3], "{integrator}");
        }
        assert!(alpha.contains(&1.0) && alpha.contains(&0.0), "{integrator}");
    }
}
