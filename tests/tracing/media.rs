//! Scattering media: light is conserved, or has the requested colour.

use crate::common::{scene, settings, sphere, visit_renders};
use glam::{Affine3, Vec3};
use throng::scene::{Camera, CameraPath, Environment, Integrator, Lobes, Material, MaterialKind, scatter_albedo};
use throng_device::{FrameSettings, PixelType};

/// Mean radiance of a ball of a medium in a white environment, seen from close up. Its surface does not refract.
fn ball(extinction: Vec3, albedo: Vec3, anisotropy: f32) -> Vec3 {
    let mut scene = scene(vec![sphere()], &[(0, Affine3::IDENTITY)]);
    let lobes = Lobes {
        roughness: 0.0,
        ior: 1.0,
        transmission: 1.0,
        thin: 0,
        extinction: extinction.into(),
        scatter_albedo: albedo.into(),
        scatter_anisotropy: anisotropy,
        ..Lobes::default()
    };
    scene.materials = vec![Material { kind: MaterialKind::Layered, color: Vec3::ONE, lobes, ..Material::default() }];
    scene.environment = Environment::Constant { radiance: Vec3::ONE };
    scene.camera =
        Camera { path: CameraPath::Still { eye: Vec3::new(0.0, 0.0, 3.0), target: Vec3::ZERO }, ..Camera::default() };
    let settings = FrameSettings { samples: 64, pixels: PixelType::F32, ..settings(24, 24, Integrator::Path) };
    // A GPU's exponential function differs in the last bits, so paths in a medium diverge: pixels differ, but means agree.
    let mut means: Vec<Vec3> = Vec::new();
    visit_renders(scene, &settings, |device, rendered| {
        let pixels: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
        let mean = pixels.as_chunks::<3>().0.iter().copied().map(Vec3::from).sum::<Vec3>() / 576.0;
        let first = *means.first().unwrap_or(&mean);
        let most = if device.starts_with("cpu") { 0.0 } else { 2e-3 };
        assert!((mean - first).abs().max_element() <= most, "{device}: {mean}, others {first}");
        means.push(mean);
    });
    means[0]
}

#[test]
fn media_that_absorb_nothing_are_not_seen() {
    for (density, anisotropy) in [(0.3, 0.0), (3.0, 0.6), (20.0, -0.5)] {
        let mean = ball(density * Vec3::new(1.0, 0.5, 2.0), Vec3::ONE, anisotropy);
        assert!((mean - 1.0).abs().max_element() < 0.03, "{density} {anisotropy}: {mean}");
    }
}

#[test]
fn deep_media_have_the_colour_that_they_are_to_have() {
    let color = Vec3::new(0.2, 0.5, 0.8);
    for anisotropy in [0.0, 0.5] {
        let seen = ball(Vec3::splat(300.0), scatter_albedo(color, anisotropy), anisotropy);
        // Part of the picture shows the environment.
        let behind = ball(Vec3::splat(300.0), Vec3::splat(1e-6), 0.0);
        let own = (seen - behind) / (Vec3::ONE - behind);
        assert!((own - color).abs().max_element() < 0.05, "{anisotropy}: {own}");
    }
}

#[test]
fn clear_media_absorb_as_if_scattering_vanished() {
    let extinction = Vec3::new(0.5, 1.0, 2.0);
    let (clear, milky) = (ball(extinction, Vec3::ZERO, 0.0), ball(extinction, Vec3::splat(1e-6), 0.0));
    assert!((clear - milky).abs().max_element() < 0.01, "{clear} {milky}");
}
