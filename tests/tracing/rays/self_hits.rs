//! A ray that leaves a surface does not hit it again: a convex body has no ambient occlusion.

use crate::common::{Random, ball, mesh, render_on_each, scene, settings, sphere};
use glam::{Affine3, EulerRot, Quat, Vec3};
use throng::scene::{Camera, CameraPath, Integrator, Mesh, Projection};

/// Renders the body's ambient occlusion on every device. Returns the number of pixels on the body and the maximum number of dark pixels of
/// a device.
fn occlusion(body: Mesh, transform: Affine3, reach: f32, size: u32) -> (u64, usize) {
    let mut scene = scene(vec![body], &[(0, transform)]);
    let target = transform.translation;
    scene.camera = Camera {
        path: CameraPath::Still { eye: target + Vec3::new(2.0, 1.5, 2.5) * reach, target },
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 0.5 },
        ..Camera::default()
    };
    let all = render_on_each(scene, &settings(size, size, Integrator::Ao));
    let dark = |pixels: &[u8]| pixels.iter().filter(|&&p| p != 255).count();
    (all[0].rays.shadow, all.iter().map(|one| dark(&one.pixels)).max().unwrap_or(0))
}

#[test]
fn a_million_rays_that_leave_instanced_surfaces_meet_none_of_them_again() {
    let mut random = Random::new(21);
    let mut total = 0;
    for exponent in [-4, -2, 0, 2, 4] {
        for case in 0..4 {
            let size = 10f32.powi(exponent);
            let rotation =
                Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), random.range(0.0, 7.0));
            let mirror = if case % 2 == 0 { 1.0 } else { -1.0 };
            let scale = Vec3::new(mirror, random.range(0.3, 1.0), random.range(0.3, 1.0)) * size;
            let transform = Affine3::from_scale_rotation_translation(scale, rotation, random.cube() * 100.0 * size);
            let body = if case < 2 {
                let (positions, triangles) = ball(4);
                mesh(positions, triangles)
            } else {
                sphere()
            };
            let (rays, dark) = occlusion(body, transform, size, 600);
            assert_eq!(dark, 0, "of {rays} rays; scale {scale}, {}", if case < 2 { "mesh" } else { "sphere" });
            total += rays;
        }
    }
    assert!(total >= 1_000_000, "only {total} rays");
}

#[test]
fn small_instances_far_from_the_origin_stay_free_of_self_hits() {
    for distance in [1e2, 1e3, 1e4] {
        let transform = Affine3::from_scale_rotation_translation(
            Vec3::splat(0.01 * distance),
            Quat::from_rotation_y(0.4),
            Vec3::new(distance, -distance, 0.3 * distance),
        );
        let (positions, triangles) = ball(3);
        let (rays, dark) = occlusion(mesh(positions, triangles), transform, 0.01 * distance, 300);
        assert!(rays > 1000);
        assert_eq!(dark, 0, "{distance} away, {rays} rays");
    }
}
