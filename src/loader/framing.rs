//! The camera that a scene gets when it has none: a turntable around everything, slightly from above.

use super::instances::{instance_world, node_worlds};
use crate::{
    math::Aabb,
    scene::{Camera, CameraPath, Scene},
};
use glam::Vec3;
use rayon::prelude::*;

/// Vertical field of view.
const FOV_DEGREES: f32 = 40.0;
/// How far above the horizon the camera is.
const ELEVATION_DEGREES: f32 = 18.0;
/// Empty space around the bounding sphere, as a factor.
const MARGIN: f32 = 1.08;

/// World bounds of all instances at rest.
pub fn world_bounds(scene: &Scene) -> Aabb {
    let boxes: Vec<Aabb> = scene.meshes.par_iter().map(|m| m.bounds()).collect();
    let worlds = node_worlds(&scene.nodes);
    scene
        .instances
        .par_iter()
        .map(|i| boxes[i.mesh as usize].transformed(&instance_world(i, &worlds)))
        .reduce(|| Aabb::EMPTY, |a, b| a.union(b))
}

/// One turn around `bounds`, whose bounding sphere fits into any picture at least as wide as high.
pub fn turntable(bounds: &Aabb) -> Camera {
    let radius = (bounds.diagonal() * 0.5).clamp(f32::MIN_POSITIVE, f32::MAX / 16.0);
    let radius = if radius < 1e-12 { 1.0 } else { radius };
    let fov_y = FOV_DEGREES.to_radians();
    let distance = MARGIN * radius / (fov_y * 0.5).sin();
    let (height, around) = ELEVATION_DEGREES.to_radians().sin_cos();
    let target = if bounds.is_empty() {
        Vec3::ZERO
    } else {
        bounds.center()
    };
    let path = CameraPath::Orbit {
        target,
        radius: distance * around,
        height: distance * height,
        start: 30f32.to_radians(),
        turns: 1.0,
    };
    Camera {
        path,
        up: Vec3::Y,
        fov_y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounding_sphere_fits_with_a_margin() {
        let camera = turntable(&Aabb {
            min: Vec3::new(-1.0, 2.0, 0.0),
            max: Vec3::new(3.0, 4.0, 1.0),
        });
        let CameraPath::Orbit {
            target,
            radius,
            height,
            ..
        } = camera.path
        else {
            panic!("{camera:?}")
        };
        let sphere = Vec3::new(4.0, 2.0, 1.0).length() * 0.5;
        let half_angle = (sphere / radius.hypot(height)).asin();
        assert_eq!(target, Vec3::new(1.0, 3.0, 0.5));
        assert!(half_angle < camera.fov_y * 0.5 && half_angle > camera.fov_y * 0.4);
    }

    #[test]
    fn an_empty_or_flat_scene_has_a_camera_too() {
        for bounds in [
            Aabb::EMPTY,
            Aabb {
                min: Vec3::ONE,
                max: Vec3::ONE,
            },
        ] {
            let CameraPath::Orbit { radius, .. } = turntable(&bounds).path else {
                panic!()
            };
            assert!(radius > 0.0 && radius.is_finite());
        }
    }
}
