//! Scenes with large coordinates: the picture of objects near the camera depends neither on their position nor on the size of the ground.

use crate::common::{ball, mesh, render, scene, settings, sphere};
use glam::{Affine3, Vec3};
use throng::scene::{
    Assembly, Camera, CameraPath, Environment, Instance, Integrator, Light, Motion, MotionPart, Phase, Projection,
    Scene, Shutter,
};

/// A ball, a round mesh and a ground of size `size` at `offset`, lit by the sun. The view from above shows only the ground behind them.
fn on_ground(size: f32, offset: Vec3) -> Scene {
    let corners = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)].map(|(x, z)| Vec3::new(x, 0.0, z));
    let ground = mesh(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]);
    let (positions, triangles) = ball(2);
    let at = |x: f32, y: f32| Affine3::from_translation(offset + Vec3::new(x, y, 0.0));
    let placements =
        [(0, at(0.0, 0.0) * Affine3::from_scale(Vec3::splat(size))), (1, at(-2.0, 1.0)), (2, at(1.5, 1.0))];
    let mut scene = scene(vec![ground, sphere(), mesh(positions, triangles)], &placements);
    scene.environment = Environment::Constant { radiance: Vec3::splat(0.3) };
    let toward = Vec3::new(1.0, 1.0, 0.5).normalize();
    scene.lights.push(Light::Sun { direction: toward, irradiance: Vec3::splat(1.5), angular_radius: 0.0 });
    scene.camera = Camera {
        path: CameraPath::Still { eye: offset + Vec3::new(0.5, 6.0, 6.5), target: offset + Vec3::new(-0.5, 0.5, 0.0) },
        projection: Projection::Perspective { fov_y: 0.7 },
        ..Camera::default()
    };
    scene
}

/// Number of pixels in which two scenes differ by more than a tenth of white.
fn differing(a: Scene, b: Scene, integrator: Integrator) -> usize {
    let mut settings = settings(128, 72, integrator);
    settings.samples = 4;
    settings.shutter = a.motions.first().and(Shutter::centred(0.5).ok());
    let [a, b] = [a, b].map(|scene| render(scene, &settings).pixels.to_vec());
    a.chunks(3).zip(b.chunks(3)).filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 25)).count()
}

/// Maximum number of differing pixels: rounding may change a path at an edge.
const MOST: usize = 4;

#[test]
fn what_is_far_from_the_origin_looks_as_it_does_at_the_origin() {
    for integrator in [Integrator::Path, Integrator::Whitted] {
        // Multiples of a half, which are exact as floats of this size. The first offset is small enough for two-level scenes.
        for offset in
            [[4_000.0, 0.0, 0.5], [10_000.0, 0.0, -10_000.0], [100_000.5, 250.0, 0.5], [455_123.5, 120.5, 5_412_345.5]]
        {
            let found = differing(on_ground(100.0, offset.into()), on_ground(100.0, Vec3::ZERO), integrator);
            assert!(found <= MOST, "{offset:?}, {integrator}: {found}");
        }
    }
}

#[test]
fn what_stands_on_a_very_large_ground_has_its_shadow() {
    for integrator in [Integrator::Path, Integrator::Whitted] {
        for size in [4e3, 1e6, 1e7] {
            let found = differing(on_ground(size, Vec3::ZERO), on_ground(100.0, Vec3::ZERO), integrator);
            assert!(found <= MOST, "{size}, {integrator}: {found}");
        }
    }
}

/// On a tilted ground, no coordinate is exact.
#[test]
fn the_same_holds_on_a_slope() {
    let tilted = |size: f32| {
        let mut scene = on_ground(size, Vec3::ZERO);
        let turn = Affine3::from_rotation_z(0.3) * Affine3::from_rotation_x(-0.2);
        scene.instances.iter_mut().for_each(|own| own.local = turn * own.local);
        let CameraPath::Still { eye, target } = &mut scene.camera.path else { unreachable!() };
        (*eye, *target) = (turn.transform_point3(*eye), turn.transform_point3(*target));
        scene.camera.up = turn.transform_vector3(Vec3::Y);
        scene
    };
    let found = differing(tilted(1e6), tilted(100.0), Integrator::Whitted);
    assert!(found <= MOST, "{found}");
}

/// With motion blur and with assemblies.
#[test]
fn the_same_holds_for_what_moves_and_for_copies_of_groups() {
    let moving = |mut scene: Scene| {
        let bob = MotionPart::Bob { offset: Vec3::new(0.0, 0.5, 0.0), period: 1.0 };
        scene.motions = vec![Motion { parts: vec![bob], phase: Phase::Same }];
        scene.instances[1].motion = 0;
        scene
    };
    let grouped = |mut scene: Scene| {
        let local = Affine3::from_translation(scene.instances[1].local.translation);
        let group = Instance { local, mesh: scene.meshes.len() as u32, ..scene.instances[1] };
        scene.instances.insert(1, group);
        for own in &mut scene.instances[2..] {
            own.local = local.inverse() * own.local;
        }
        scene.assemblies = vec![Assembly { name: "two".into(), instances: 2..4 }];
        scene
    };
    let offset = Vec3::new(455_123.5, 120.5, 5_412_345.5);
    for (size, offset) in [(100.0, offset), (1e6, Vec3::ZERO)] {
        let close = || on_ground(100.0, Vec3::ZERO);
        let found = differing(grouped(on_ground(size, offset)), close(), Integrator::Whitted);
        assert!(found <= MOST, "in a group, {offset}, {size}: {found}");
        let found = differing(moving(on_ground(size, offset)), moving(close()), Integrator::Whitted);
        assert!(found <= MOST, "moving, {offset}, {size}: {found}");
    }
}
